from __future__ import annotations

import io
from datetime import date

import pytest

from accounts.states import Environment
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_tenant
from tests.factories.users import make_user
from tests.users.holdings import count_live_users, stored_rows
from users.models import User
from users.operations.users.csv_import import (
    UserFileInvalid,
    UserImport,
    import_users_from_csv,
)
from users.operations.users.users import SANDBOX_USER_LIMIT

pytestmark = pytest.mark.django_db
HEAD = "client_user_id,fallback_time_zone,fallback_birth_date\n"


def take(tenant, content, *, is_dry_run=False, **wanted):
    """The outcome, and (line, column, code) of each row that made no user."""
    if isinstance(content, str):
        content = content.encode()
    notes = []
    done = import_users_from_csv(
        tenant=tenant,
        actor=ACTOR,
        file=io.BytesIO(content),
        is_dry_run=is_dry_run,
        note=lambda note: notes.append((note.line, note.column, note.code)),
        **wanted,
    )
    return done, notes


def ids(tenant):
    live = User.objects.for_tenant(tenant).live().order_by("id")
    return list(live.values_list("client_user_id", flat=True))


def test_a_file_makes_the_users_that_are_missing(alice_tenant):
    make_user(tenant=alice_tenant, client_user_id="here")
    content = (
        HEAD
        + "a,Europe/Paris,1990-05-17\nhere,Europe/Rome,\n\nb,,\n"
        + "a,Europe/Oslo,"
    )

    done, notes = take(alice_tenant, content)

    assert done == UserImport(rows=4, created=2, existing=1, refused=1, ignored=())
    assert notes == [
        (3, "client_user_id", "exists"),
        (6, "client_user_id", "id_repeated"),
    ]
    assert ids(alice_tenant) == ["here", "a", "b"]
    assert count_live_users(alice_tenant) == 3
    made = User.objects.for_tenant(alice_tenant).get(client_user_id="a")
    assert made.fallback_time_zone == "Europe/Paris"
    assert made.fallback_time_zone_source == "manual"
    assert made.fallback_birth_date == date(1990, 5, 17)
    here = User.objects.for_tenant(alice_tenant).get(client_user_id="here")
    assert here.fallback_time_zone == ""
    assert [verb for verb, *_ in audited(alice_tenant)[-3:]] == [
        "create_user",
        "create_user",
        "import_users",
    ]


def test_a_dry_run_tells_the_same_and_stores_nothing(alice_tenant):
    make_user(tenant=alice_tenant, client_user_id="here")
    content = HEAD + "a,,\nhere,,\nada@assay.example,,\na,,\n"
    before = stored_rows(alice_tenant)

    would = take(alice_tenant, content, is_dry_run=True)

    assert stored_rows(alice_tenant) == before
    assert would == take(alice_tenant, content)


@pytest.mark.parametrize(
    ("row", "column", "code"),
    [
        ("ada@assay.example,,", "client_user_id", "client_user_id_personal"),
        (",Europe/Paris,", "client_user_id", "id_missing"),
        (f"{'x' * 256},,", "client_user_id", "id_too_long"),
        ("=1+1,,", "client_user_id", "id_formula"),
        ("@SUM(A1),,", "client_user_id", "id_formula"),
        ("'=1+1,,", "client_user_id", "id_formula"),
        ("-2,,", "client_user_id", "id_formula"),
        ("a\u202eb,,", "client_user_id", "id_unseen"),
        ("a\u200b,,", "client_user_id", "id_unseen"),
        ("\u00a0a,,", "client_user_id", "id_unseen"),
        ("a\0,,", "client_user_id", "id_unseen"),
        ('"a\nb",,', "client_user_id", "id_unseen"),
        ("a,Europe/Atlantis,", "fallback_time_zone", "time_zone_unknown"),
        ("a,,17.05.1990", "fallback_birth_date", "date_invalid"),
        ("a,,1990-02-30", "fallback_birth_date", "date_invalid"),
        ("a,,\u0661\u0669\u0669\u0660-01-01", "fallback_birth_date", "date_invalid"),
        ("a,", "", "row_length"),
        ("a,,,", "", "row_length"),
    ],
    ids=range(18),
)
def test_a_row_that_is_no_user_is_told_and_the_others_go_on(
    alice_tenant, row, column, code
):
    done, notes = take(alice_tenant, f"{HEAD}{row}\nfine,,\n")

    assert notes == [(2, column, code)]
    assert (done.created, done.refused) == (1, 1)
    assert ids(alice_tenant) == ["fine"]


def test_bounds_of_ingestion_are_held_to_the_standing_rule(alice_tenant):
    content = "client_user_id,ingestion_start,ingestion_end\na,2026-02-02,2026-02-01\n"

    for is_dry_run in (True, False):
        _, notes = take(alice_tenant, content, is_dry_run=is_dry_run)
        assert notes == [(2, "ingestion_end", "ingestion_ends_before_start")]
    assert ids(alice_tenant) == []


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ((HEAD + "a,,\n").encode("utf-16"), "file_encoding"),
        (HEAD.encode() + b"a,,\n\xff\xfe,,\n", "file_encoding"),
        (HEAD + 'a,,\n"b,,\nc,,\n', "file_not_csv"),
        (HEAD + "a" * 70_000, "file_not_csv"),
        ("id,zone\na,UTC\n", "file_columns"),
        ("client_user_id,client_user_id\na,b\n", "file_columns"),
        (HEAD, "file_empty"),
        ("", "file_columns"),
    ],
    ids=range(8),
)
def test_a_file_that_cannot_be_read_to_its_end_stores_nothing(
    alice_tenant, content, code
):
    before = stored_rows(alice_tenant)

    with pytest.raises(UserFileInvalid) as refusal:
        take(alice_tenant, content)

    assert refusal.value.code == code
    assert stored_rows(alice_tenant) == before


def test_more_rows_than_allowed_store_nothing(alice_tenant):
    with pytest.raises(UserFileInvalid) as refusal:
        take(alice_tenant, HEAD + "a,,\nb,,\n", rows_max=1)

    assert refusal.value.code == "file_too_long"
    assert ids(alice_tenant) == []


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_spreadsheets_of_any_land_are_read(alice_tenant, sign):
    lines = ('"Client_User_Id"', "Notes", " fallback_time_zone "), ("a", "x", "UTC")
    content = "\r\n".join(sign.join(line) for line in lines)

    done, notes = take(alice_tenant, b"\xef\xbb\xbf" + content.encode())

    assert notes == []
    assert (done.created, done.ignored) == (1, ("notes",))
    assert ids(alice_tenant) == ["a"]


@pytest.mark.parametrize("is_dry_run", [True, False])
def test_the_sandbox_takes_no_more_than_it_holds(alice_tenant, is_dry_run):
    rows = "".join(f"u{number},,\n" for number in range(SANDBOX_USER_LIMIT + 2))

    done, notes = take(alice_tenant, HEAD + rows, is_dry_run=is_dry_run)

    assert (done.created, done.refused) == (SANDBOX_USER_LIMIT, 2)
    assert {code for *_, code in notes} == {"sandbox_user_limit"}


def test_production_takes_any_number_in_chunks(db):
    tenant = make_tenant(environment=Environment.PRODUCTION)
    rows = "".join(f"u{number},,\n" for number in range(205))

    done, notes = take(tenant, HEAD + rows)

    assert (done.created, notes) == (205, [])
    assert count_live_users(tenant) == 205
