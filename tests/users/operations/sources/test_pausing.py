from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotFound
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Connection, ConnectionEntry
from users.operations.sources.pausing import (
    enqueue_due_source_pauses,
    pause_source,
    pause_sources_past_ingestion_end,
    resume_source,
)
from users.operations.sources.sources import connect_source
from users.operations.users.users import UserChanges, delete_user, update_user
from users.states import CONNECTION_MOVES, ConnectionFault, ConnectionStatus

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
# Seven days after this day are over on the day of NOON.
ENDED = date(2026, 3, 1)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="u-1")


def timeline(tenant):
    lines = ConnectionEntry.objects.for_tenant(tenant).order_by("id")
    return list(lines.values_list("kind", "detail"))


def test_a_source_paused_by_hand_stays_paused_until_it_is_resumed(user, alice_tenant):
    connect_source(user=user, actor=ACTOR, provider="oura")

    paused = pause_source(user=user, actor=ACTOR, provider="oura")

    assert (paused.status, paused.pause_cause) == ("paused", "by_hand")
    assert timeline(alice_tenant)[-1] == ("paused", "by_hand")
    assert audited(alice_tenant)[-1] == ("move_source", "source", "oura")

    resumed = resume_source(user=user, actor=ACTOR, provider="oura")

    assert (resumed.status, resumed.pause_cause) == ("connected", "")
    assert timeline(alice_tenant)[-1] == ("resumed", "")


def test_resuming_asks_a_source_for_what_it_has_recorded_since(user, monkeypatch):
    items = []
    monkeypatch.setattr(
        "users.operations.sources.pausing.schedule_cloud_source_refresh",
        lambda *, connection: items.append((connection.provider, connection.status)),
    )
    connect_source(user=user, actor=ACTOR, provider="oura")
    pause_source(user=user, actor=ACTOR, provider="oura")

    resume_source(user=user, actor=ACTOR, provider="oura")

    assert items == [("oura", "connected")]


def test_pausing_or_resuming_again_changes_nothing(user, alice_tenant):
    connect_source(user=user, actor=ACTOR, provider="oura")
    running = stored_rows(alice_tenant)
    resume_source(user=user, actor=ACTOR, provider="oura")
    assert stored_rows(alice_tenant) == running
    pause_source(user=user, actor=ACTOR, provider="oura")
    paused = stored_rows(alice_tenant)

    pause_source(user=user, actor=ACTOR, provider="oura")

    assert stored_rows(alice_tenant) == paused


@pytest.mark.parametrize("operation", [pause_source, resume_source])
def test_what_is_not_connected_is_not_paused_or_resumed(user, alice_tenant, operation):
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound) as refusal:
        operation(user=user, actor=ACTOR, provider="oura")

    assert refusal.value.code == "source_not_connected"
    assert stored_rows(alice_tenant) == before


@pytest.fixture
def ended(user, time_machine):
    """A user with one connected and one broken source, whose ingestion is over."""
    time_machine.move_to(NOON, tick=False)
    connect_source(user=user, actor=ACTOR, provider="oura")
    broken = connect_source(user=user, actor=ACTOR, provider="fitbit")
    move_status(
        broken,
        moves=CONNECTION_MOVES,
        to=ConnectionStatus.ERROR,
        error_type=ConnectionFault.UNKNOWN,
    )
    return update_user(user=user, actor=ACTOR, changes=UserChanges(ingestion_end=ENDED))


def statuses(tenant):
    rows = Connection.objects.for_tenant(tenant).order_by("id")
    return list(rows.values_list("status", flat=True))


def test_sources_pause_when_seven_days_after_the_end_are_over(ended, alice_tenant):
    paused = pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid
    )

    assert paused == 2
    assert statuses(alice_tenant) == ["paused", "paused"]
    assert audited(alice_tenant)[-2:] == [
        ("move_source", "source", "oura"),
        ("move_source", "source", "fitbit"),
    ]


def test_sources_run_through_the_seventh_day_after_the_end(
    ended, alice_tenant, time_machine
):
    time_machine.move_to(datetime(2026, 3, 8, 23, 59, tzinfo=UTC), tick=False)
    before = stored_rows(alice_tenant)

    paused = pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid
    )

    assert paused == 0
    assert enqueue_due_source_pauses() == 0
    assert stored_rows(alice_tenant) == before


def test_pausing_twice_changes_nothing(ended, alice_tenant):
    pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid
    )
    before = stored_rows(alice_tenant)

    again = pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid
    )

    assert again == 0
    assert enqueue_due_source_pauses() == 0
    assert stored_rows(alice_tenant) == before


def test_pausing_leaves_strangers_and_the_deleted_alone(
    ended, alice_tenant, charlie_tenant
):
    stranger = pause_sources_past_ingestion_end(
        tenant=charlie_tenant, actor=ACTOR, user_uuid=ended.uuid
    )
    delete_user(user=ended, actor=ACTOR)
    deleted = pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid
    )

    assert (stranger, deleted) == (0, 0)
    assert enqueue_due_source_pauses() == 0
    assert statuses(alice_tenant) == ["connected", "error"]


@pytest.mark.parametrize("end", [None, date(2026, 3, 2)])
def test_a_later_end_resumes_what_was_paused(ended, alice_tenant, end):
    pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid
    )

    update_user(user=ended, actor=ACTOR, changes=UserChanges(ingestion_end=end))

    assert statuses(alice_tenant) == ["connected", "connected"]


def test_an_end_that_is_over_too_resumes_nothing(ended, alice_tenant):
    pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid
    )

    update_user(
        user=ended, actor=ACTOR, changes=UserChanges(ingestion_end=date(2026, 2, 1))
    )

    assert statuses(alice_tenant) == ["paused", "paused"]


def test_the_sweep_enqueues_one_pause_for_each_user(ended, alice_tenant):
    number = enqueue_due_source_pauses()

    job = ProcrastinateJob.objects.get(task_name="users.pause")
    assert number == 1
    assert job.args == {"tenant_pk": alice_tenant.pk, "user_id": str(ended.uuid)}


def test_a_later_end_leaves_what_was_paused_by_hand(user, alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    connect_source(user=user, actor=ACTOR, provider="oura")
    pause_source(user=user, actor=ACTOR, provider="oura")
    update_user(user=user, actor=ACTOR, changes=UserChanges(ingestion_end=ENDED))
    pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid
    )

    update_user(user=user, actor=ACTOR, changes=UserChanges(ingestion_end=None))

    assert statuses(alice_tenant) == ["paused"]


def test_resuming_is_refused_while_ingestion_is_over(ended, alice_tenant):
    pause_sources_past_ingestion_end(
        tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid
    )
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        resume_source(user=ended, actor=ACTOR, provider="oura")

    assert refusal.value.code == "ingestion_over"
    assert stored_rows(alice_tenant) == before
