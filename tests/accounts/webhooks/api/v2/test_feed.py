from __future__ import annotations

from datetime import UTC, datetime
from threading import Event as Signal
from threading import Thread
from types import SimpleNamespace
from uuid import uuid4

import orjson
import pytest
import time_machine
from django.db import connection, transaction

from accounts.models import AuditEntry
from accounts.webhooks import feed
from accounts.webhooks.models import Event
from accounts.webhooks.operations import UserRef
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.webhooks import KIND, make_event
from tests.statements import count_statements

PATH = "/v2/events"
OTHER_KIND = "lab_report.parsing_job.updated"


def read(api, **query):
    reply = api.get(PATH, query)
    assert reply.status_code == 200, reply.content
    return reply.json()


def ids(page):
    return [item["id"] for item in page["data"]]


@pytest.mark.django_db
def test_an_item_is_the_envelope_as_it_is_posted(alice_api, alice_tenant):
    event = make_event(tenant=alice_tenant)

    reply = alice_api.get(PATH)

    check_answer(reply, "get", PATH)
    assert reply.json()["data"] == [
        {
            "id": event.message_id,
            "created_at": event.created_at.isoformat(),
            "event": orjson.loads(event.body),
        }
    ]


@pytest.mark.django_db
def test_a_reader_is_told_from_when_on_nothing_is_missing(alice_api, alice_team):
    alice_team.event_retention_days = 30
    alice_team.save()

    with time_machine.travel(datetime(2026, 3, 31, 12, tzinfo=UTC), tick=False):
        reply = alice_api.get(PATH)

    assert reply.headers["Events-Kept-Since"] == "2026-03-01T12:00:00+00:00"


@pytest.mark.django_db
def test_pages_follow_one_another_to_an_end_that_stays(
    alice_api, alice_tenant, charlie_tenant, alice_production
):
    for tenant in (charlie_tenant, alice_production):
        make_event(tenant=tenant)
    made = [make_event(tenant=alice_tenant).message_id for _ in range(5)]

    first = read(alice_api, limit=2)
    second = read(alice_api, limit=2, after=first["next_cursor"])
    third = read(alice_api, limit=2, after=second["next_cursor"])
    end = read(alice_api, limit=2, after=third["next_cursor"])
    late = make_event(tenant=alice_tenant).message_id

    assert [ids(page) for page in (first, second, third)] == [
        made[:2],
        made[2:4],
        made[4:],
    ]
    assert end == {"data": [], "next_cursor": third["next_cursor"]}
    assert ids(read(alice_api, after=end["next_cursor"])) == [late]


@pytest.mark.django_db
def test_an_empty_feed_gives_a_cursor_to_begin_with(alice_api, alice_tenant):
    cursor = read(alice_api)["next_cursor"]

    event = make_event(tenant=alice_tenant)

    assert ids(read(alice_api, after=cursor)) == [event.message_id]


@pytest.mark.django_db
def test_an_exact_type_is_found(alice_api, alice_tenant):
    make_event(tenant=alice_tenant)
    event = make_event(tenant=alice_tenant, event_type=OTHER_KIND)
    make_event(tenant=alice_tenant)

    assert ids(read(alice_api, event_type=[OTHER_KIND])) == [event.message_id]


@pytest.mark.django_db
def test_a_prefix_and_several_types_are_found(alice_api, alice_tenant):
    made = [
        make_event(tenant=alice_tenant, event_type=kind).message_id
        for kind in (KIND, "provider.connection.created", OTHER_KIND)
    ]

    prefix = read(alice_api, event_type=["provider."])
    several = read(alice_api, event_type=["provider.", OTHER_KIND])

    assert (ids(prefix), ids(several)) == (made[1:2], made[1:])


@pytest.mark.django_db
def test_a_page_passes_over_a_bounded_number_of_other_types(
    alice_api, alice_tenant, monkeypatch
):
    monkeypatch.setattr(feed, "SCANNED_MAX", 2)
    for kind in (KIND, KIND, OTHER_KIND):
        last = make_event(tenant=alice_tenant, event_type=kind)

    first = read(alice_api, event_type=[OTHER_KIND])
    second = read(alice_api, event_type=[OTHER_KIND], after=first["next_cursor"])

    assert (ids(first), ids(second)) == ([], [last.message_id])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("limit=0", (["query", "limit"], "greater_than_equal")),
        ("limit=501", (["query", "limit"], "less_than_equal")),
        ("after=nonsense", (["query", "after"], "value_error")),
        ("after=WyItMSJd", (["query", "after"], "value_error")),
        ("event_type=no.such", (["query", "event_type", 0], "enum")),
        (f"event_type={KIND}&event_type=x.", (["query", "event_type", 1], "enum")),
    ],
)
def test_a_malformed_query_is_422(alice_api, query, line):
    assert error_lines(alice_api.get(f"{PATH}?{query}")) == [line]


@pytest.mark.django_db
def test_a_page_with_events_is_in_the_audit_and_an_empty_one_is_not(
    alice_api, alice_tenant
):
    read(alice_api)
    event = make_event(tenant=alice_tenant)
    read(alice_api)

    reads = AuditEntry.objects.for_tenant(alice_tenant).filter(subject="events")
    assert [(line.verb, line.subject_id) for line in reads] == [
        ("read", event.message_id)
    ]


@pytest.mark.django_db
def test_a_page_takes_two_queries_for_one_and_for_many(alice_tenant):
    make_event(tenant=alice_tenant)
    with count_statements() as for_one:
        feed.list_event_feed(tenant=alice_tenant, after=0, limit=10)
    for _ in range(9):
        make_event(tenant=alice_tenant)

    with count_statements() as for_many:
        page = feed.list_event_feed(tenant=alice_tenant, after=0, limit=10)

    assert len(page.events) == 10
    assert len(for_one) == len(for_many) == 2


class Writer(Thread):
    """Another process that writes an event, and commits when it is told to."""

    def __init__(self, tenant):
        super().__init__()
        self.tenant = tenant
        self.written, self.may_end = Signal(), Signal()

    def run(self):
        try:
            with transaction.atomic():
                user = UserRef(user_uuid=uuid4(), client_user_id="slow")
                self.event = make_event(tenant=self.tenant, user=user)
                self.written.set()
                self.may_end.wait(10)
        finally:
            connection.close()

    def end(self):
        self.may_end.set()
        self.join(10)


@pytest.mark.django_db(transaction=True)
def test_an_event_that_is_committed_late_is_not_passed_over(
    alice_api, alice_tenant, charlie_api, charlie_tenant
):
    before = make_event(tenant=alice_tenant)
    slow = Writer(alice_tenant)
    slow.start()
    assert slow.written.wait(10)
    quick = make_event(tenant=alice_tenant)
    elsewhere = make_event(tenant=charlie_tenant)

    held_back = read(alice_api)
    others = read(charlie_api)
    slow.end()
    whole = read(alice_api, after=held_back["next_cursor"])

    assert slow.event.pk < quick.pk
    assert ids(held_back) == [before.message_id]
    assert ids(others) == [elsewhere.message_id]
    assert ids(whole) == [slow.event.message_id, quick.message_id]


@pytest.mark.django_db(transaction=True)
def test_a_writer_between_the_two_looks_of_the_feed_is_not_passed_over(
    alice_tenant, monkeypatch
):
    slow = Writer(alice_tenant)
    fetch = feed.rows.fetch_rows

    def fetch_then_write(query, inputs):
        found = fetch(query, inputs)
        if not slow.written.is_set():
            slow.start()
            assert slow.written.wait(10)
            make_event(tenant=alice_tenant)
        return found

    # The feed's alone: the writer reads rows too.
    monkeypatch.setattr(feed, "rows", SimpleNamespace(fetch_rows=fetch_then_write))

    page = feed.list_event_feed(tenant=alice_tenant, after=0, limit=10)
    slow.end()
    rest = feed.list_event_feed(tenant=alice_tenant, after=page.position, limit=10)

    seen = [event.message_id for event in (*page.events, *rest.events)]
    stored = Event.objects.for_tenant(alice_tenant).order_by("pk")
    assert seen == list(stored.values_list("message_id", flat=True))
    assert len(seen) == 2
