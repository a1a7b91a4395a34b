from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.declarations.hooks import AppHooks
from portal.lib.errors import DomainError, NotFound
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.users.factories import info_request
from tests.users.holdings import count_live_users, stored_rows
from users.models import Connection, User, UserInfo
from users.operations.sources.sources import connect_source
from users.operations.users.demographics import record_user_info
from users.operations.users.users import (
    SANDBOX_USER_LIMIT,
    ClientUserIdTaken,
    delete_user,
    enqueue_due_user_erasures,
    erase_user,
    undo_delete_user,
)

pytestmark = pytest.mark.django_db
DELETED = datetime(2026, 3, 1, 12, tzinfo=UTC)
WEEK = timedelta(days=7)
SECOND = timedelta(seconds=1)


@pytest.fixture
def deleted(alice_tenant, time_machine):
    """A user with a source, deleted at DELETED."""
    time_machine.move_to(DELETED, tick=False)
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    connect_source(user=user, actor=ACTOR, provider="oura")
    return delete_user(user=user, actor=ACTOR)


def test_delete_hides_the_user_and_disconnects_at_once(deleted, alice_tenant):
    assert list(User.objects.for_tenant(alice_tenant).live()) == []
    assert User.objects.for_tenant(alice_tenant).get().deleted_at == DELETED
    assert Connection.objects.for_tenant(alice_tenant).get().disconnected_at == DELETED
    assert count_live_users(alice_tenant) == 0
    assert audited(alice_tenant)[-2:] == [
        ("disconnect_source", "source", "oura"),
        ("delete_user", "user", str(deleted.uuid)),
    ]
    assert emitted_types(alice_tenant) == ["provider.connection.created"]


def test_a_deleted_user_is_not_deleted_again(deleted, alice_tenant):
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        delete_user(user=deleted, actor=ACTOR)

    assert stored_rows(alice_tenant) == before


def test_undo_brings_the_user_back_without_the_sources(deleted, alice_tenant):
    user = undo_delete_user(tenant=alice_tenant, actor=ACTOR, user_uuid=deleted.uuid)

    assert user == deleted
    assert User.objects.for_tenant(alice_tenant).live().get().deleted_at is None
    assert list(Connection.objects.for_tenant(alice_tenant).live()) == []
    assert count_live_users(alice_tenant) == 1
    assert audited(alice_tenant)[-1] == (
        "undo_delete_user",
        "user",
        str(deleted.uuid),
    )


def test_undo_takes_the_last_deleted_of_a_client_user_id(
    deleted, alice_tenant, time_machine
):
    time_machine.move_to(DELETED + SECOND, tick=False)
    last = make_user(tenant=alice_tenant, client_user_id="u-1")
    delete_user(user=last, actor=ACTOR)

    user = undo_delete_user(tenant=alice_tenant, actor=ACTOR, client_user_id="u-1")

    assert user == last
    assert count_live_users(alice_tenant) == 1


def test_undo_works_up_to_the_last_moment_of_the_seven_days(
    deleted, alice_tenant, time_machine
):
    time_machine.move_to(DELETED + WEEK - SECOND, tick=False)

    undo_delete_user(tenant=alice_tenant, actor=ACTOR, user_uuid=deleted.uuid)

    assert count_live_users(alice_tenant) == 1


def test_undo_refuses_once_the_seven_days_are_over(deleted, alice_tenant, time_machine):
    time_machine.move_to(DELETED + WEEK, tick=False)
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        undo_delete_user(tenant=alice_tenant, actor=ACTOR, user_uuid=deleted.uuid)

    assert refusal.value.code == "undo_grace_over"
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("ids", ["both", "neither"])
def test_undo_needs_exactly_one_id(deleted, alice_tenant, ids):
    named = {"user_uuid": deleted.uuid, "client_user_id": "u-1"}
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        undo_delete_user(
            tenant=alice_tenant, actor=ACTOR, **(named if ids == "both" else {})
        )

    assert refusal.value.code == "one_id_needed"
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("by", ["user_uuid", "client_user_id"])
def test_undo_refuses_when_a_live_user_has_the_client_user_id(
    deleted, alice_tenant, by
):
    holder = make_user(tenant=alice_tenant, client_user_id="u-1")
    named = {"user_uuid": deleted.uuid, "client_user_id": "u-1"}
    before = stored_rows(alice_tenant)

    with pytest.raises(ClientUserIdTaken) as refusal:
        undo_delete_user(tenant=alice_tenant, actor=ACTOR, **{by: named[by]})

    assert refusal.value.user_uuid == holder.uuid
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("by", ["user_uuid", "client_user_id"])
def test_undo_refuses_a_user_that_is_not_deleted(alice_tenant, by):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    named = {"user_uuid": user.uuid, "client_user_id": "u-1"}
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        undo_delete_user(tenant=alice_tenant, actor=ACTOR, **{by: named[by]})

    assert refusal.value.code == "user_not_deleted"
    assert stored_rows(alice_tenant) == before


def test_undo_finds_nobody_by_unknown_ids(alice_tenant):
    for named in ({"user_uuid": uuid4()}, {"client_user_id": "nobody"}):
        with pytest.raises(NotFound):
            undo_delete_user(tenant=alice_tenant, actor=ACTOR, **named)


def test_undo_finds_nobody_elses(deleted, charlie_tenant, alice_production):
    for tenant in (charlie_tenant, alice_production):
        for named in ({"user_uuid": deleted.uuid}, {"client_user_id": "u-1"}):
            with pytest.raises(NotFound):
                undo_delete_user(tenant=tenant, actor=ACTOR, **named)


def test_undo_refuses_over_the_sandbox_limit(deleted, alice_tenant):
    for _ in range(SANDBOX_USER_LIMIT):
        make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        undo_delete_user(tenant=alice_tenant, actor=ACTOR, user_uuid=deleted.uuid)

    assert refusal.value.code == "sandbox_user_limit"
    assert stored_rows(alice_tenant) == before


@pytest.fixture
def erasers(monkeypatch):
    """Erasers of its own in place of the apps', and the calls they got."""
    calls = []
    own = AppHooks(user_erasers=(lambda *inputs: calls.append(inputs),))
    monkeypatch.setattr("users.operations.users.users.list_app_hooks", lambda: [own])
    return calls


def test_erase_leaves_the_audit_alone(alice_tenant, time_machine, erasers):
    time_machine.move_to(DELETED, tick=False)
    user = make_user(
        tenant=alice_tenant, client_user_id="u-1", fallback_birth_date=date(1990, 5, 17)
    )
    other = make_user(tenant=alice_tenant, client_user_id="u-2")
    for each in (user, other):
        connect_source(user=each, actor=ACTOR, provider="oura")
        record_user_info(user=each, actor=ACTOR, request=info_request())
    delete_user(user=user, actor=ACTOR)
    lines = audited(alice_tenant)
    time_machine.move_to(DELETED + WEEK, tick=False)

    erased = erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)

    kept = stored_rows(alice_tenant)
    assert erased is True
    assert erasers == [(alice_tenant.pk, user.uuid)]
    assert [row["client_user_id"] for row in kept["User"]] == ["u-2"]
    assert [row["user_id"] for row in kept["Connection"]] == [other.pk]
    assert [row["user_id"] for row in kept["UserInfo"]] == [other.pk]
    assert [row["user_uuid"] for row in kept["Event"]] == [other.uuid]
    assert audited(alice_tenant) == [*lines, ("erase_user", "user", str(user.uuid))]
    assert "1990" not in str([row["changes"] for row in kept["AuditEntry"]])
    assert count_live_users(alice_tenant) == 1


def test_erase_waits_for_the_undo_to_be_over(
    deleted, alice_tenant, time_machine, erasers
):
    time_machine.move_to(DELETED + WEEK - SECOND, tick=False)
    before = stored_rows(alice_tenant)

    erased = erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=deleted.uuid)

    assert erased is False
    assert erasers == []
    assert stored_rows(alice_tenant) == before


def test_erase_leaves_live_users_and_strangers_alone(
    deleted, alice_tenant, charlie_tenant, time_machine, erasers
):
    live = make_user(tenant=alice_tenant)
    time_machine.move_to(DELETED + WEEK, tick=False)
    before = stored_rows(alice_tenant)

    for tenant, uuid in (
        (alice_tenant, live.uuid),
        (alice_tenant, uuid4()),
        (charlie_tenant, deleted.uuid),
    ):
        assert erase_user(tenant=tenant, actor=ACTOR, user_uuid=uuid) is False

    assert erasers == []
    assert stored_rows(alice_tenant) == before


def test_erase_runs_twice_without_harm(deleted, alice_tenant, time_machine):
    time_machine.move_to(DELETED + WEEK, tick=False)

    first = erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=deleted.uuid)
    second = erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=deleted.uuid)

    assert (first, second) == (True, False)
    assert UserInfo.objects.for_tenant(alice_tenant).count() == 0


def test_a_failing_eraser_keeps_everything(
    deleted, alice_tenant, time_machine, monkeypatch
):
    def fail(*_inputs):
        raise RuntimeError

    own = AppHooks(user_erasers=(fail,))
    monkeypatch.setattr("users.operations.users.users.list_app_hooks", lambda: [own])
    time_machine.move_to(DELETED + WEEK, tick=False)
    before = stored_rows(alice_tenant)

    with pytest.raises(RuntimeError):
        erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=deleted.uuid)

    assert stored_rows(alice_tenant) == before


def test_the_sweep_enqueues_those_whose_undo_is_over(
    deleted, alice_tenant, time_machine
):
    make_user(tenant=alice_tenant)
    time_machine.move_to(DELETED + SECOND, tick=False)
    later = make_user(tenant=alice_tenant)
    delete_user(user=later, actor=ACTOR)
    time_machine.move_to(DELETED + WEEK, tick=False)

    number = enqueue_due_user_erasures()

    job = ProcrastinateJob.objects.get(task_name="users.erase")
    assert number == 1
    assert job.args == {"tenant_pk": alice_tenant.pk, "user_id": str(deleted.uuid)}
