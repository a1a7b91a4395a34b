from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.contrib.messages import get_messages
from django.db import connection as database
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Connection
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.devices import DeviceDetails, record_device_details
from users.operations.sources.pausing import pause_source
from users.operations.sources.pulls import record_completed_backfill
from users.operations.sources.sources import (
    connect_source,
    disconnect_source,
    record_data_arrival,
)
from users.operations.users.users import UserChanges, update_user
from users.states import ConnectionFault, explain_connection_status

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
FAULT = ConnectionFault.TOKEN_REFRESH_FAILED


@pytest.fixture
def user(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    return make_user(tenant=alice_tenant, client_user_id="u-1")


@pytest.fixture
def oura(user):
    return connect_source(user=user, actor=ACTOR, provider="oura")


def page(user, *rest):
    return "/".join(["/t/alice-health/sandbox/users", str(user.uuid), *rest, ""])


def flash_messages(reply):
    return [(each.level_tag, str(each)) for each in get_messages(reply.wsgi_request)]


def status(tenant):
    return Connection.objects.for_tenant(tenant).get().status


def test_the_users_page_says_why_a_source_is_broken_and_what_to_do(
    alice_web, user, oura
):
    mark_connection_failed(connection=oura, actor=ACTOR, fault=FAULT)
    condition = explain_connection_status("error", error_type=FAULT)

    text = unescape(alice_web.get(page(user)).content.decode())

    assert str(condition.sentence) in text
    assert str(condition.next_step) in text
    assert page(user, "links") in text
    assert page(user, "sources", "oura") in text


def test_a_sources_page_shows_what_came_and_what_happened(
    alice_web, alice_tenant, user, oura
):
    record_data_arrival(
        user=user,
        provider="oura",
        resource="heartrate",
        at=NOON,
        received=9,
        created=9,
        updated=0,
        dropped=0,
        oldest=NOON - timedelta(days=2),
        newest=NOON,
    )
    record_device_details(user=user, details=DeviceDetails("oura", "ring-1", "ring"))
    for resource in ("sleep", "heartrate"):
        record_completed_backfill(
            connection=oura,
            actor=ACTOR,
            resource=resource,
            range_start=NOON - timedelta(days=2),
            range_end=NOON,
        )
    disconnect_source(user=user, actor=ACTOR, provider="oura")
    again = connect_source(user=user, actor=ACTOR, provider="oura")
    mark_connection_failed(connection=again, actor=ACTOR, fault=FAULT)

    reply = alice_web.get(page(user, "sources", "oura"))

    [(former, lines)] = reply.context["former"]
    read = AuditEntry.objects.for_tenant(alice_tenant).order_by("id").last()
    assert reply.status_code == 200
    assert [each.label for each in reply.context["timeline"]] == ["Failed", "Connected"]
    assert "webhook sent" in reply.context["timeline"][0].detail
    assert former == oura
    assert [each.label for each in lines] == [
        "Disconnected",
        "Past data available",
        "Connected",
    ]
    assert lines[1].detail == "Sleep, Heart rate · one webhook sent for each"
    assert [each.resource for each in reply.context["supplies"]] == ["heartrate"]
    assert len(reply.context["devices"]) == 1
    assert (read.verb, read.subject, read.subject_id) == ("read", "source", "oura")


def test_a_sources_page_asks_the_same_however_much_happened(alice_web, user, oura):
    def queries():
        with CaptureQueriesContext(database) as asked:
            alice_web.get(page(user, "sources", "oura"))
        return len(asked)

    queries()
    few = queries()
    disconnect_source(user=user, actor=ACTOR, provider="oura")
    connect_source(user=user, actor=ACTOR, provider="oura")

    assert queries() == few


@pytest.mark.parametrize(("verb", "after"), [("pause", "paused"), ("resume", "paused")])
def test_a_source_is_paused_and_resumed_by_hand(
    alice_web, alice_tenant, user, oura, verb, after
):
    if verb == "resume":
        pause_source(user=user, actor=ACTOR, provider="oura")
        after = "connected"

    reply = alice_web.post(page(user, "sources", "oura", verb))

    assert reply.url == page(user, "sources", "oura")
    assert status(alice_tenant) == after


def test_resuming_after_the_end_of_ingestion_says_what_to_do(
    alice_web, alice_tenant, user, oura
):
    pause_source(user=user, actor=ACTOR, provider="oura")
    ended = UserChanges(ingestion_end=NOON.date() - timedelta(days=30))
    update_user(user=user, actor=ACTOR, changes=ended)

    reply = alice_web.post(page(user, "sources", "oura", "resume"))

    assert [level for level, _ in flash_messages(reply)] == ["error"]
    assert status(alice_tenant) == "paused"


def test_a_source_is_disconnected_once_it_was_asked(
    alice_web, alice_tenant, user, oura
):
    place = page(user, "sources", "oura", "disconnect")
    asked = alice_web.get(place)
    assert asked.status_code == 200
    assert Connection.objects.for_tenant(alice_tenant).live().count() == 1

    reply = alice_web.post(place)

    assert reply.url == page(user)
    assert Connection.objects.for_tenant(alice_tenant).live().count() == 0
    assert alice_web.get(place).status_code == 404
    assert alice_web.get(page(user, "sources", "oura")).status_code == 200


def test_a_refresh_says_what_was_asked_and_when_it_may_be_asked_again(alice_web, user):
    connect_source(user=user, actor=ACTOR, provider="apple_health_kit")
    replies = [alice_web.post(page(user, "refresh")) for _ in range(9)]

    assert [flash_messages(reply)[-1][0] for reply in replies] == ["info"] * 8 + [
        "error"
    ]
    assert "60 min" in flash_messages(replies[-1])[-1][1]


@pytest.mark.parametrize(
    "rest",
    [
        ("refresh",),
        ("sources", "oura", "pause"),
        ("sources", "oura", "resume"),
        ("sources", "oura", "disconnect"),
    ],
)
def test_who_may_only_read_changes_nothing(bob, alice_tenant, user, oura, rest):
    client = Client()
    client.force_login(bob)
    before = stored_rows(alice_tenant)

    assert client.post(page(user, *rest)).status_code == 403
    assert stored_rows(alice_tenant) == before
    assert (
        "<form method"
        not in client.get(page(user, "sources", "oura"))
        .content.decode()
        .split("<main", 1)[1]
        .split("</main", 1)[0]
    )


def test_a_source_that_was_never_connected_is_404(alice_web, user):
    for rest in ((), ("disconnect",)):
        assert alice_web.get(page(user, "sources", "oura", *rest)).status_code == 404
