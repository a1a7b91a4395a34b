from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

import pytest

from accounts.webhooks.models import Delivery, Replay
from tests.accounts.webhooks.web.test_deliveries import page
from tests.factories.webhooks import (
    make_attempted_delivery,
    make_delivery,
    make_endpoint,
)

pytestmark = pytest.mark.django_db

WISHES = {"rate": "20", "stop_after": "20", "probe_first": "on"}


@pytest.fixture
def endpoint(alice_tenant):
    return make_endpoint(tenant=alice_tenant, description="Warehouse")


@pytest.fixture
def failed(endpoint):
    made = []
    for age in (3, 2, 1):
        delivery = make_delivery(endpoint=endpoint, age=timedelta(hours=age))
        make_attempted_delivery(delivery, status="failed")
        made.append(delivery)
    return made


def replays(endpoint):
    return list(Replay.objects.for_tenant(endpoint.tenant))


def statuses(endpoint):
    rows = Delivery.objects.for_tenant(endpoint.tenant).order_by("created_at")
    return list(rows.values_list("status", flat=True))


def ready(endpoint, query=""):
    return f"{page(endpoint)}replay/{query}"


def test_before_anything_is_sent_it_says_how_much_it_would_be(
    alice_web, endpoint, failed
):
    make_attempted_delivery(make_delivery(endpoint=endpoint), code=200)

    reply = alice_web.get(ready(endpoint))

    extent = reply.context["extent"]
    assert (extent.number, extent.users) == (3, 3)
    for text in (
        "same body and <code>webhook-id</code>",
        "Scheduled retries of these events are replaced.",
    ):
        assert text in reply.text
    assert replays(endpoint) == []


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("?outcome=failed", 3),
        ("?outcome=held", 0),
        ("?period=24h", 3),
        ("?outcome=failed&period=1h", 0),
    ],
)
def test_the_logs_filter_is_what_is_replayed(
    alice_web, endpoint, failed, query, number
):
    reply = alice_web.get(ready(endpoint, query))

    assert reply.context["extent"].number == number


def test_what_was_ticked_is_replayed_and_nothing_else(alice_web, endpoint, failed):
    ticked = "&".join(f"message={each.event.message_id}" for each in failed[:2])

    alice_web.post(ready(endpoint, f"?{ticked}"), {"rate": "20", "stop_after": "0"})

    [replay] = replays(endpoint)
    assert (replay.total, replay.status, replay.stop_after) == (2, "running", 0)


def test_a_replay_is_probed_watched_and_cancelled(alice_web, endpoint, failed):
    started = alice_web.post(ready(endpoint), WISHES)
    where = started.headers["Location"]

    waiting = alice_web.get(where)
    assert (waiting.context["poll_seconds"], waiting.context["probe"]) == (3, None)
    failed[0].refresh_from_db()
    make_attempted_delivery(failed[0], code=200)
    probed = alice_web.get(where)
    assert "Replay remaining 2" in probed.text
    assert probed.context["poll_seconds"] is None
    alice_web.post(f"{where}continue/")
    [replay] = replays(endpoint)
    assert replay.status == "running"
    alice_web.post(f"{where}cancel/")

    ended = alice_web.get(where)
    assert (ended.context["replay"].status, ended.context["poll_seconds"]) == (
        "cancelled",
        None,
    )
    assert (ended.context["done"].sent, ended.context["done"].left) == (1, 2)
    assert statuses(endpoint) == ["delivered", "failed", "failed"]


def test_what_a_replay_sent_is_a_filter_of_the_log(alice_web, endpoint, failed):
    alice_web.post(ready(endpoint), WISHES)
    [replay] = replays(endpoint)

    reply = alice_web.get(f"{page(endpoint)}?replay={replay.uuid}")

    assert [row.delivery.pk for row in reply.context["rows"]] == [failed[0].pk]


def test_a_second_replay_is_refused_in_place(alice_web, endpoint, failed):
    alice_web.post(ready(endpoint), WISHES)

    reply = alice_web.post(ready(endpoint), WISHES)

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "Nothing was sent." in reply.text
    assert len(replays(endpoint)) == 1
