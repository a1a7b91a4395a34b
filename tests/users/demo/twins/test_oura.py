"""The twin of Oura, against a client that others made from its document.

oura-toolkit, unchanged, is generated from the document that Oura publishes.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from importlib import import_module

import pytest

from users.gateways.sources import find_source_gateway

oura = pytest.importorskip("oura_toolkit.api")
BACK = "https://assay.example/connect/back/oura/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
PERIOD = {"start_date": date(2026, 3, 1), "end_date": date(2026, 3, 10)}


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def client(oura_twin):
    grant = find_source_gateway("oura").connect(
        code=oura_twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )
    assert grant.external_user_id == "10129"
    settings = oura.Configuration(host=oura_twin.url, access_token=grant.access_token)
    with oura.ApiClient(settings) as client:
        yield client


def ask(client, collection, question="", **asked):
    """What the client's call for a collection returns."""
    module = import_module(f"oura_toolkit.api.api.{collection}_routes_api")
    (routes,) = (
        value
        for name, value in vars(module).items()
        if name.endswith("RoutesApi") and isinstance(value, type)
    )
    call = question or next(
        name
        for name in vars(routes)
        if name.startswith(("multiple", "single_personal")) and name.endswith("_get")
    )
    answer = getattr(routes(client), call)(**asked)
    return getattr(answer, "actual_instance", answer)


def test_it_reads_nights_days_and_workouts_as_we_do(oura_twin, client):
    oura_twin.add_night(NOON - 13 * HOUR, NOON - 5 * HOUR)
    oura_twin.add_day(date(2026, 3, 8))
    oura_twin.add_workout(NOON - 20 * HOUR)

    (night,) = ask(client, "sleep", **PERIOD).data
    (score,) = ask(client, "daily_sleep", **PERIOD).data
    (day,) = ask(client, "daily_activity", **PERIOD).data
    (workout,) = ask(client, "workout", **PERIOD).data

    assert (night.day, night.total_sleep_duration) == ("2026-03-09", 28_800)
    assert (score.score, day.steps, workout.activity) == (82, 8123, "running")


def test_it_goes_on_at_the_next_token_as_we_do(oura_twin, client):
    for number in range(60):
        oura_twin.add_heart_rate(NOON - HOUR + timedelta(minutes=number), 60)
    asked = {
        "start_datetime": NOON - 2 * HOUR,
        "end_datetime": NOON,
    }

    first = ask(client, "heart_rate", **asked)
    second = ask(client, "heart_rate", **asked, next_token=first.next_token)

    assert (len(first.data), len(second.data), second.next_token) == (50, 10, None)


def test_it_knows_the_person_as_we_do(client):
    info = ask(client, "personal_info")

    assert (info.id, info.height) == ("10129", 1.68)


def test_it_subscribes_lists_and_renews_as_we_do(oura_twin, client):
    routes = "webhook_subscription"
    client.configuration.api_key = {
        "ClientIdAuth": oura_twin.client_id,
        "ClientSecretAuth": oura_twin.client_secret,
    }
    made = ask(
        client,
        routes,
        "create_webhook_subscription_v2_webhook_subscription_post",
        create_webhook_subscription_request=oura.CreateWebhookSubscriptionRequest(
            callback_url="https://assay.example/push/",
            verification_token="t-1",
            event_type="create",
            data_type="sleep",
        ),
    )
    renewed = ask(
        client,
        routes,
        "renew_webhook_subscription_v2_webhook_subscription_renew_id_put",
        id=made.id,
    )
    (kept,) = ask(
        client, routes, "list_webhook_subscriptions_v2_webhook_subscription_get"
    )

    assert (kept.id, kept.data_type) == (made.id, "sleep")
    assert renewed.expiration_time == NOON + timedelta(days=90)
