"""Run django-garmin, unchanged, against the twin: its tables are SQLite's, in memory.

Arguments: the address of the twin, a code and the redirect address; messages of the
twin are read from standard input, one a line. It prints what it understood as JSON.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

import django
from django.conf import settings


def main(url: str, code: str, back: str) -> None:
    """Sign in, process each message, ask for the past, and take consent back."""
    settings.configure(
        SECRET_KEY="not-secret",
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={
            "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
        },
        INSTALLED_APPS=[
            "django.contrib.contenttypes",
            "django.contrib.auth",
            "healthdatamodel",
            "garmin",
        ],
        GARMIN_CLIENT_ID="twin-id",
        GARMIN_CLIENT_SECRET="twin-secret",
        GARMIN_REDIRECT_URI=back,
    )
    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from garmin import client, oauth, webhooks

    call_command("migrate", verbosity=0)
    # Where Garmin is.
    oauth.OAUTH_TOKEN_URL = f"{url}/di-oauth2-service/oauth/token"
    oauth.API_BASE_URL = url
    client.GarminClient.__init__.__kwdefaults__["base_url"] = url
    person = get_user_model().objects.create(username="nobody")
    tokens = oauth.exchange_code(code=code, code_verifier="v" * 43)
    connection = oauth.ingest_tokens(customer=person, tokens=tokens)
    outcome = {
        "user_id": connection.garmin_user_id,
        "permissions": sorted(connection.permissions),
        "counts": [
            webhooks.process_notification(json.loads(line)) for line in sys.stdin
        ],
    }
    oauth.refresh_access_token(connection)
    with client.GarminClient(connection) as http:
        http.request_backfill(
            "dailies",
            start=datetime(2026, 3, 1, tzinfo=UTC),
            end=datetime(2026, 3, 9, tzinfo=UTC),
        )
        try:
            http.list_summaries(
                "dailies",
                start=datetime(2026, 3, 8, tzinfo=UTC),
                end=datetime(2026, 3, 9, tzinfo=UTC),
            )
        except client.GarminAPIError as refusal:
            outcome["refused"] = str(refusal)
    oauth.revoke(connection)
    outcome["status"] = connection.status
    sys.stdout.write(json.dumps(outcome))


if __name__ == "__main__":
    main(*sys.argv[1:])
