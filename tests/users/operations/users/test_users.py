from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime

import pytest
from django.db import connection

from accounts.models import AuditEntry
from portal.lib.errors import DomainError, Invalid, NotFound
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.users.holdings import count_live_users, stored_rows
from users.models import User
from users.operations.users.users import (
    SANDBOX_USER_LIMIT,
    ClientUserIdTaken,
    UserChanges,
    UserRequest,
    create_user,
    delete_user,
    update_user,
)

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_create_keeps_what_was_asked(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)

    user = create_user(
        tenant=alice_tenant,
        actor=ACTOR,
        request=UserRequest(
            client_user_id="u-1",
            fallback_time_zone="Europe/Berlin",
            fallback_birth_date=date(1990, 5, 17),
            ingestion_start=date(2026, 1, 1),
            ingestion_end=date(2026, 12, 31),
        ),
    )

    stored = User.objects.for_tenant(alice_tenant).get()
    assert stored == user
    assert stored.client_user_id == "u-1"
    assert stored.created_on == NOON
    assert stored.fallback_time_zone == "Europe/Berlin"
    assert stored.fallback_time_zone_source == "manual"
    assert stored.fallback_time_zone_updated_at == NOON
    assert stored.fallback_birth_date == date(1990, 5, 17)
    assert stored.fallback_birth_date_source == "manual"
    assert stored.fallback_birth_date_updated_at == NOON
    assert stored.ingestion_start == date(2026, 1, 1)
    assert stored.ingestion_end == date(2026, 12, 31)
    assert stored.deleted_at is None
    assert count_live_users(alice_tenant) == 1
    assert emitted(alice_tenant) == []


def test_create_is_audited_with_the_birth_date_by_name_alone(alice_tenant):
    user = make_user(
        tenant=alice_tenant,
        client_user_id="u-1",
        fallback_birth_date=date(1990, 5, 17),
        ingestion_start=date(2026, 1, 1),
    )

    assert audited(alice_tenant) == [("create_user", "user", str(user.uuid))]
    assert (
        AuditEntry.objects.for_tenant(alice_tenant).get(verb="create_user").user_uuid
        == user.uuid
    )
    assert changes_of(alice_tenant, "create_user") == {
        "ingestion_start": [None, "2026-01-01"],
        "fields": ["client_user_id", "fallback_birth_date"],
    }


@pytest.mark.parametrize(
    "personal",
    [
        *("jo@example.com", "jo+tag@mail.example.org", "+49 30 1234567", "+1555"),
        *("user <jo@example.com>", "u-1 jo@example.com", "tel:+1 (555) 010-0100"),
        *("a+15550100100", "u 7, (555) 010-0100"),
    ],
)
def test_create_refuses_personal_data_as_client_user_id(alice_tenant, personal):
    before = stored_rows(alice_tenant)

    with pytest.raises(Invalid) as refusal:
        make_user(tenant=alice_tenant, client_user_id=personal)

    assert refusal.value.code == "client_user_id_personal"
    assert refusal.value.field == "client_user_id"
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("legal", ["4915112345678", "a@b", "a/b c", "+", "+x1", " "])
def test_create_takes_what_is_no_plain_address_or_number(alice_tenant, legal):
    user = make_user(tenant=alice_tenant, client_user_id=legal)

    assert user.client_user_id == legal


def test_create_refuses_an_end_of_ingestion_before_its_start(alice_tenant):
    before = stored_rows(alice_tenant)

    with pytest.raises(Invalid) as refusal:
        make_user(
            tenant=alice_tenant,
            ingestion_start=date(2026, 1, 2),
            ingestion_end=date(2026, 1, 1),
        )

    assert refusal.value.code == "ingestion_ends_before_start"
    assert refusal.value.field == "ingestion_end"
    assert stored_rows(alice_tenant) == before


def test_create_takes_an_ingestion_of_one_day(alice_tenant):
    day = date(2026, 1, 1)

    user = make_user(tenant=alice_tenant, ingestion_start=day, ingestion_end=day)

    assert (user.ingestion_start, user.ingestion_end) == (day, day)


def test_create_refuses_a_client_user_id_in_use_and_names_its_holder(alice_tenant):
    holder = make_user(tenant=alice_tenant, client_user_id="u-1")
    before = stored_rows(alice_tenant)

    with pytest.raises(ClientUserIdTaken) as refusal:
        make_user(tenant=alice_tenant, client_user_id="u-1")

    assert refusal.value.code == "client_user_id_taken"
    assert refusal.value.user_uuid == holder.uuid
    assert refusal.value.created_on == holder.created_on
    assert stored_rows(alice_tenant) == before


def test_client_user_ids_are_unique_only_within_a_tenant(
    alice_tenant, alice_production, charlie_tenant
):
    for tenant in (alice_tenant, alice_production, charlie_tenant):
        make_user(tenant=tenant, client_user_id="u-1")

        assert count_live_users(tenant) == 1


def test_a_deleted_users_client_user_id_is_free(alice_tenant):
    first = make_user(tenant=alice_tenant, client_user_id="u-1")
    delete_user(user=first, actor=ACTOR)

    second = make_user(tenant=alice_tenant, client_user_id="u-1")

    assert second.uuid != first.uuid
    assert count_live_users(alice_tenant) == 1


def test_the_sandbox_takes_fifty_users_and_no_more(alice_tenant):
    for _ in range(SANDBOX_USER_LIMIT):
        make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        make_user(tenant=alice_tenant)

    assert SANDBOX_USER_LIMIT == 50
    assert refusal.value.code == "sandbox_user_limit"
    assert stored_rows(alice_tenant) == before


def test_a_full_sandbox_still_names_the_holder_of_a_client_user_id(alice_tenant):
    for number in range(SANDBOX_USER_LIMIT):
        make_user(tenant=alice_tenant, client_user_id=f"u-{number}")

    with pytest.raises(ClientUserIdTaken):
        make_user(tenant=alice_tenant, client_user_id="u-7")


def test_a_deleted_user_makes_room_in_the_sandbox(alice_tenant):
    users = [make_user(tenant=alice_tenant) for _ in range(SANDBOX_USER_LIMIT)]
    delete_user(user=users[0], actor=ACTOR)

    make_user(tenant=alice_tenant)

    assert count_live_users(alice_tenant) == SANDBOX_USER_LIMIT


def test_production_has_no_limit(alice_production):
    for _ in range(SANDBOX_USER_LIMIT + 1):
        make_user(tenant=alice_production)

    assert count_live_users(alice_production) == SANDBOX_USER_LIMIT + 1


def outcomes(calls):
    """Run calls at once, each on a connection of its own; errors as their codes."""

    def run(call):
        try:
            call()
        except DomainError as error:
            return error.code
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(len(calls)) as pool:
        return sorted(pool.map(run, calls))


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_users_are_all_counted(alice_production):
    done = outcomes([lambda: make_user(tenant=alice_production)] * 8)

    assert done == ["done"] * 8
    assert count_live_users(alice_production) == 8
    assert User.objects.for_tenant(alice_production).count() == 8


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_users_with_one_client_user_id_one_is_made(alice_production):
    done = outcomes(
        [lambda: make_user(tenant=alice_production, client_user_id="u-1")] * 6
    )

    assert done == ["client_user_id_taken"] * 5 + ["done"]
    assert count_live_users(alice_production) == 1
    assert [verb for verb, *_ in audited(alice_production)] == ["create_user"]


@pytest.mark.django_db(transaction=True)
def test_concurrent_users_never_pass_the_sandbox_limit(alice_tenant):
    for _ in range(SANDBOX_USER_LIMIT - 2):
        make_user(tenant=alice_tenant)

    done = outcomes([lambda: make_user(tenant=alice_tenant)] * 6)

    assert done == ["done"] * 2 + ["sandbox_user_limit"] * 4
    assert count_live_users(alice_tenant) == SANDBOX_USER_LIMIT
    assert User.objects.for_tenant(alice_tenant).count() == SANDBOX_USER_LIMIT


def test_change_keeps_what_is_not_named(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    user = make_user(
        tenant=alice_tenant,
        client_user_id="u-1",
        fallback_time_zone="Europe/Berlin",
        fallback_birth_date=date(1990, 5, 17),
        ingestion_start=date(2026, 1, 1),
    )
    time_machine.move_to(LATER, tick=False)

    changed = update_user(
        user=user, actor=ACTOR, changes=UserChanges(ingestion_end=date(2026, 6, 30))
    )

    stored = User.objects.for_tenant(alice_tenant).get()
    assert stored == changed
    assert stored.client_user_id == "u-1"
    assert stored.fallback_time_zone == "Europe/Berlin"
    assert stored.fallback_time_zone_updated_at == NOON
    assert stored.fallback_birth_date == date(1990, 5, 17)
    assert stored.ingestion_start == date(2026, 1, 1)
    assert stored.ingestion_end == date(2026, 6, 30)
    assert changes_of(alice_tenant, "change_user") == {
        "ingestion_end": [None, "2026-06-30"]
    }
    assert emitted(alice_tenant) == []


def test_change_clears_with_none(alice_tenant):
    user = make_user(
        tenant=alice_tenant,
        fallback_time_zone="Europe/Berlin",
        fallback_birth_date=date(1990, 5, 17),
        ingestion_start=date(2026, 1, 1),
        ingestion_end=date(2026, 2, 1),
    )

    update_user(
        user=user,
        actor=ACTOR,
        changes=UserChanges(
            fallback_time_zone=None,
            fallback_birth_date=None,
            ingestion_start=None,
            ingestion_end=None,
        ),
    )

    stored = User.objects.for_tenant(alice_tenant).get()
    assert stored.fallback_time_zone == ""
    assert stored.fallback_time_zone_source == ""
    assert stored.fallback_time_zone_updated_at is None
    assert stored.fallback_birth_date is None
    assert stored.fallback_birth_date_source == ""
    assert stored.fallback_birth_date_updated_at is None
    assert stored.ingestion_start is None
    assert stored.ingestion_end is None
    assert changes_of(alice_tenant, "change_user") == {
        "fallback_time_zone": ["Europe/Berlin", None],
        "ingestion_start": ["2026-01-01", None],
        "ingestion_end": ["2026-02-01", None],
        "fields": ["fallback_birth_date"],
    }


def test_a_new_fallback_gets_a_new_time_of_update(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    user = make_user(tenant=alice_tenant, fallback_time_zone="Europe/Berlin")
    time_machine.move_to(LATER, tick=False)

    same = update_user(
        user=user, actor=ACTOR, changes=UserChanges(fallback_time_zone="Europe/Berlin")
    )
    other = update_user(
        user=user, actor=ACTOR, changes=UserChanges(fallback_time_zone="Asia/Tokyo")
    )

    assert same.fallback_time_zone_updated_at == NOON
    assert other.fallback_time_zone_updated_at == LATER


def test_a_birth_date_stored_before_the_rule_stops_no_other_change(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    User.objects.for_tenant(alice_tenant).update(fallback_birth_date=date(1850, 1, 1))
    later = UserChanges(client_user_id="u-2")
    worse = UserChanges(fallback_birth_date=date(1851, 1, 1))

    changed = update_user(user=user, actor=ACTOR, changes=later)
    with pytest.raises(Invalid) as refusal:
        update_user(user=user, actor=ACTOR, changes=worse)

    assert changed.client_user_id == "u-2"
    assert refusal.value.code == "dob_too_early"
    stored = User.objects.for_tenant(alice_tenant).get()
    assert stored.fallback_birth_date == date(1850, 1, 1)


def test_a_change_of_nothing_leaves_no_trace(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    before = stored_rows(alice_tenant)

    update_user(user=user, actor=ACTOR, changes=UserChanges(client_user_id="u-1"))

    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (UserChanges(client_user_id="jo@example.com"), "client_user_id_personal"),
        (UserChanges(client_user_id="u-2"), "client_user_id_taken"),
        (
            UserChanges(ingestion_end=date(2025, 12, 31)),
            "ingestion_ends_before_start",
        ),
    ],
)
def test_a_refused_change_leaves_no_trace(alice_tenant, changes, code):
    user = make_user(
        tenant=alice_tenant, client_user_id="u-1", ingestion_start=date(2026, 1, 1)
    )
    make_user(tenant=alice_tenant, client_user_id="u-2")
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        update_user(user=user, actor=ACTOR, changes=changes)

    assert refusal.value.code == code
    assert stored_rows(alice_tenant) == before


def test_a_deleted_user_is_not_changed(alice_tenant):
    user = make_user(tenant=alice_tenant)
    delete_user(user=user, actor=ACTOR)
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        update_user(user=user, actor=ACTOR, changes=UserChanges(client_user_id="u-9"))

    assert stored_rows(alice_tenant) == before


@pytest.mark.django_db(transaction=True)
def test_concurrent_changes_of_different_fields_are_both_kept(alice_tenant):
    user = make_user(tenant=alice_tenant)
    start, end = date(2026, 1, 1), date(2026, 2, 1)

    done = outcomes(
        [
            lambda: update_user(
                user=user, actor=ACTOR, changes=UserChanges(ingestion_start=start)
            ),
            lambda: update_user(
                user=user, actor=ACTOR, changes=UserChanges(ingestion_end=end)
            ),
        ]
    )

    stored = User.objects.for_tenant(alice_tenant).get()
    assert done == ["done", "done"]
    assert (stored.ingestion_start, stored.ingestion_end) == (start, end)
