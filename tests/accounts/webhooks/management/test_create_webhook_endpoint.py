from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from accounts.webhooks.models import Endpoint
from portal.lib.secrets.encryption import decrypt_secret
from tests.factories.webhooks import PUBLIC_URL

pytestmark = pytest.mark.django_db


def test_it_prints_the_id_and_the_secret_of_the_endpoint_it_made(
    alice_production, capsys
):
    call_command(
        "create_webhook_endpoint",
        "--team=alice-health",
        f"--url={PUBLIC_URL}",
        "--environment=production",
    )

    endpoint = Endpoint.objects.for_tenant(alice_production).get()
    assert capsys.readouterr().out.split() == [
        str(endpoint.uuid),
        decrypt_secret(endpoint.secret),
    ]
    assert endpoint.url == PUBLIC_URL


@pytest.mark.parametrize(
    ("team", "url"),
    [("nobody", PUBLIC_URL), ("alice-health", "http://127.0.0.1/")],
)
def test_a_team_or_an_address_that_can_not_be_makes_nothing(alice_tenant, team, url):
    with pytest.raises(CommandError):
        call_command("create_webhook_endpoint", f"--team={team}", f"--url={url}")

    assert not Endpoint.unscoped.exists()
