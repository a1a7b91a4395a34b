from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, date, datetime

import pytest

from portal.lib.errors import Invalid, NotFound
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.users.factories import ADDRESS, GUARANTOR, info_request
from tests.users.holdings import stored_rows
from users.models import UserInfo
from users.operations.users.demographics import record_user_info
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
REQUIRED = [
    "address",
    "dob",
    "email",
    "first_name",
    "gender",
    "last_name",
    "phone_number",
]


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def info_changes(tenant):
    return [
        row["changes"]
        for row in stored_rows(tenant)["AuditEntry"]
        if row["verb"] == "record_user_info"
    ]


def test_info_is_kept_whole(user, alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)

    info = record_user_info(
        user=user,
        actor=ACTOR,
        request=info_request(race="asian", medical_proxy=GUARANTOR),
    )

    stored = UserInfo.objects.for_tenant(alice_tenant).get()
    assert stored == info
    assert stored.user == user
    assert stored.first_name == "Ada"
    assert stored.dob == date(1990, 5, 17)
    assert stored.address == asdict(ADDRESS)
    assert stored.medical_proxy == asdict(GUARANTOR)
    assert stored.race == "asian"
    assert stored.ethnicity == ""
    assert stored.updated_at == NOON
    assert emitted(alice_tenant) == []


def test_info_is_audited_by_field_names_alone(user, alice_tenant):
    record_user_info(user=user, actor=ACTOR, request=info_request())

    assert audited(alice_tenant)[-1] == (
        "record_user_info",
        "user_info",
        str(user.uuid),
    )
    assert info_changes(alice_tenant) == [{"fields": REQUIRED}]


def test_a_second_write_replaces_the_first(user, alice_tenant):
    record_user_info(
        user=user, actor=ACTOR, request=info_request(race="asian", gender="female")
    )

    record_user_info(
        user=user,
        actor=ACTOR,
        request=info_request(address=replace(ADDRESS, city="Tempe")),
    )

    stored = UserInfo.objects.for_tenant(alice_tenant).get()
    assert stored.race == ""
    assert stored.address["city"] == "Tempe"
    assert info_changes(alice_tenant)[1] == {"fields": ["address", "race"]}


def test_the_same_write_again_leaves_no_trace(user, alice_tenant):
    wanted = info_request(medical_proxy=GUARANTOR)
    record_user_info(user=user, actor=ACTOR, request=wanted)
    before = stored_rows(alice_tenant)

    record_user_info(user=user, actor=ACTOR, request=wanted)

    assert stored_rows(alice_tenant) == before


def test_a_birth_date_of_today_is_taken_and_of_tomorrow_refused(
    user, alice_tenant, time_machine
):
    time_machine.move_to(NOON, tick=False)
    record_user_info(user=user, actor=ACTOR, request=info_request(dob=date(2026, 3, 1)))
    before = stored_rows(alice_tenant)

    with pytest.raises(Invalid) as refusal:
        record_user_info(
            user=user, actor=ACTOR, request=info_request(dob=date(2026, 3, 2))
        )

    assert (refusal.value.code, refusal.value.field) == ("dob_in_future", "dob")
    early = info_request(dob=date(1899, 12, 31))
    with pytest.raises(Invalid) as refusal:
        record_user_info(user=user, actor=ACTOR, request=early)
    assert (refusal.value.code, refusal.value.field) == ("dob_too_early", "dob")
    assert stored_rows(alice_tenant) == before


def test_info_of_a_deleted_user_is_refused(user, alice_tenant):
    delete_user(user=user, actor=ACTOR)
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        record_user_info(user=user, actor=ACTOR, request=info_request())

    assert stored_rows(alice_tenant) == before
