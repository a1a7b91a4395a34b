from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from portal.lib.database.transitions import move_status
from portal.lib.errors import NotFound
from tests.factories.accounts import ACTOR
from tests.factories.users import make_batch_arrival, make_user
from tests.statements import count_statements
from tests.users.factories import info_request
from users.models import User
from users.operations.sources.sources import connect_source, disconnect_source
from users.operations.users.demographics import record_user_info
from users.operations.users.users import delete_user
from users.queries import (
    SORTS,
    count_live_users,
    find_user,
    find_user_by_client_user_id,
    latest_user_info,
    list_live_user_connections,
    list_users_page,
    lock_user,
    search_users,
    user_overview,
)
from users.states import CONNECTION_MOVES, ConnectionStatus

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def three(alice_tenant, time_machine):
    """Ada (oura, fitbit broken), Ben (oura), Cleo (none), made a second apart."""
    users = []
    for number, name in enumerate(("Ada-1", "ben-2", "Cleo_3")):
        time_machine.move_to(NOON + timedelta(seconds=number), tick=False)
        users.append(make_user(tenant=alice_tenant, client_user_id=name))
    ada, ben, _ = users
    connect_source(user=ada, actor=ACTOR, provider="oura")
    connect_source(user=ben, actor=ACTOR, provider="oura")
    fitbit = connect_source(user=ada, actor=ACTOR, provider="fitbit")
    move_status(fitbit, moves=CONNECTION_MOVES, to=ConnectionStatus.ERROR)
    return users


def names(page):
    return [user.client_user_id for user in page.users]


def test_the_list_shows_the_newest_first(alice_tenant, three):
    page = search_users(tenant=alice_tenant)

    assert names(page) == ["Cleo_3", "ben-2", "Ada-1"]
    assert (page.total, page.is_total_exact) == (3, True)
    assert [
        (source.provider, source.status) for source in page.sources[three[0].pk]
    ] == [("oura", "connected"), ("fitbit", "error")]
    assert page.sources[three[2].pk] == []


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("created_on", ["Ada-1", "ben-2", "Cleo_3"]),
        ("-created_on", ["Cleo_3", "ben-2", "Ada-1"]),
        ("client_user_id", ["Ada-1", "Cleo_3", "ben-2"]),
        ("-client_user_id", ["ben-2", "Cleo_3", "Ada-1"]),
    ],
)
def test_the_list_is_sorted_as_asked(alice_tenant, three, sort, order):
    assert sort in SORTS
    found = names(search_users(tenant=alice_tenant, sort=sort))
    # The database's collation decides on capitals; the rest is ours.
    assert sorted(found) == sorted(order)
    assert found == (
        order
        if "created_on" in sort
        else list(
            User.objects.for_tenant(alice_tenant)
            .order_by(sort)
            .values_list("client_user_id", flat=True)
        )
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ADA", ["Ada-1"]),
        ("da-", ["Ada-1"]),
        ("eo_", ["Cleo_3"]),
        ("e%3", []),
        ("B", ["ben-2"]),
        ("be", ["ben-2"]),
        ("en", []),
        ("%", []),
        ("\\", []),
        (" cleo ", ["Cleo_3"]),
        ("nobody", []),
        ("\0", []),
        ("", ["Cleo_3", "ben-2", "Ada-1"]),
    ],
)
def test_the_list_is_searched_by_part_of_a_client_user_id(
    alice_tenant, three, text, found
):
    page = search_users(tenant=alice_tenant, text=text)

    assert names(page) == found
    assert page.total == len(found)


def test_the_list_is_searched_by_a_user_id_from_six_letters_on(alice_tenant, three):
    whole = str(three[1].uuid)
    for text in (whole, whole.upper(), whole[:6], whole[11:21]):
        assert names(search_users(tenant=alice_tenant, text=text)) == ["ben-2"]
    assert names(search_users(tenant=alice_tenant, text=whole[:5])) == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"provider": "oura"}, ["ben-2", "Ada-1"]),
        ({"provider": "fitbit"}, ["Ada-1"]),
        ({"status": "error"}, ["Ada-1"]),
        ({"status": "connected"}, ["ben-2", "Ada-1"]),
        ({"provider": "oura", "status": "error"}, []),
        ({"provider": "oura", "text": "ben"}, ["ben-2"]),
        ({"provider": "nobody"}, []),
        ({"provider": "\0"}, []),
        ({"status": "\0"}, []),
    ],
)
def test_the_list_is_filtered_by_live_connections(alice_tenant, three, wanted, found):
    page = search_users(tenant=alice_tenant, **wanted)

    assert names(page) == found
    assert page.total == len(found)


def test_an_ended_connection_does_not_count_for_the_filter(alice_tenant, three):
    disconnect_source(user=three[1], actor=ACTOR, provider="oura")

    assert names(search_users(tenant=alice_tenant, provider="oura")) == ["Ada-1"]


def test_the_list_is_cut_into_pages(alice_tenant, three):
    page = search_users(tenant=alice_tenant, offset=1, limit=1)

    assert names(page) == ["ben-2"]
    assert page.total == 3


def test_a_long_filtered_list_is_counted_up_to_a_bound(
    alice_tenant, three, monkeypatch
):
    monkeypatch.setattr("users.queries.users.users.COUNTED_UP_TO", 1)

    filtered = search_users(tenant=alice_tenant, provider="oura")
    whole = search_users(tenant=alice_tenant)

    assert (filtered.total, filtered.is_total_exact) == (1, False)
    assert (whole.total, whole.is_total_exact) == (3, True)


def test_the_list_is_fenced(alice_tenant, alice_production, charlie_tenant, three):
    delete_user(user=three[0], actor=ACTOR)

    assert names(search_users(tenant=alice_tenant)) == ["Cleo_3", "ben-2"]
    for stranger in (alice_production, charlie_tenant):
        for wanted in ({}, {"text": "ben"}, {"text": str(three[1].uuid)}):
            page = search_users(tenant=stranger, **wanted)
            assert (names(page), page.total) == ([], 0)


@pytest.fixture
def users_in_zones(three, time_machine):
    """Ada in Rome, ended yesterday; Ben in Tokyo, from today on; Cleo from tomorrow."""
    time_machine.move_to(NOON, tick=False)
    today = NOON.date()
    ada, ben, cleo = three
    ada.fallback_time_zone, ada.ingestion_end = "Europe/Rome", today - timedelta(days=1)
    ben.fallback_time_zone, ben.ingestion_start = "Asia/Tokyo", today
    cleo.ingestion_start = today + timedelta(days=1)
    for user in three:
        user.save()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"region": "europe"}, ["Ada-1"]),
        ({"region": "asia_pacific"}, ["ben-2"]),
        ({"region": "americas"}, []),
        ({"region": "none"}, ["Cleo_3"]),
        ({"window": "open"}, ["ben-2"]),
        ({"window": "ended"}, ["Ada-1"]),
        ({"window": "future"}, ["Cleo_3"]),
        ({"window": "ended", "region": "asia_pacific"}, []),
        ({"window": "ended", "text": "ada", "last_data": "none"}, ["Ada-1"]),
    ],
)
def test_the_list_is_narrowed_by_time_zone_and_ingestion_window(
    alice_tenant, users_in_zones, wanted, found
):
    page = search_users(tenant=alice_tenant, **wanted)

    assert names(page) == found
    assert (page.total, page.is_total_exact) == (len(found), True)


@pytest.fixture
def last_seen_users(three, time_machine):
    """Ada an hour ago, Ben three days ago, Cleo never."""
    ada, ben, _ = three
    now = NOON + timedelta(days=10)
    time_machine.move_to(now, tick=False)
    make_batch_arrival(ada, "oura", now - timedelta(days=40))
    make_batch_arrival(ada, "fitbit", now - timedelta(hours=1))
    make_batch_arrival(ben, "oura", now - timedelta(days=3))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"last_data": "day"}, ["Ada-1"]),
        ({"last_data": "not_3_days"}, ["Cleo_3", "ben-2"]),
        ({"last_data": "not_7_days"}, ["Cleo_3"]),
        ({"last_data": "not_30_days"}, ["Cleo_3"]),
        ({"last_data": "none"}, ["Cleo_3"]),
        ({"last_data": "not_3_days", "sort": "created_on"}, ["ben-2", "Cleo_3"]),
        ({"last_data": "not_3_days", "provider": "oura"}, ["ben-2"]),
        ({"last_data": "day", "text": "ben"}, []),
        ({"last_data": "none", "text": "nobody"}, []),
        ({"last_data": "day", "status": "connected"}, ["Ada-1"]),
        ({"sort": "last_data"}, ["Cleo_3", "ben-2", "Ada-1"]),
        ({"sort": "-last_data"}, ["Ada-1", "ben-2", "Cleo_3"]),
    ],
)
def test_the_list_is_narrowed_and_sorted_by_last_data(
    alice_tenant, last_seen_users, wanted, found
):
    page = search_users(tenant=alice_tenant, **wanted)

    assert names(page) == found
    assert (page.total, page.is_total_exact, page.among) == (len(found), True, None)


def test_a_list_by_last_data_is_cut_into_pages_with_their_sources(
    alice_tenant, last_seen_users
):
    page = search_users(tenant=alice_tenant, sort="last_data", offset=2, limit=1)

    [ada] = page.users
    assert (ada.client_user_id, page.total) == ("Ada-1", 3)
    assert [source.provider for source in page.sources[ada.id]] == ["oura", "fitbit"]


def test_a_list_by_last_data_says_how_many_it_looked_through(
    alice_tenant, last_seen_users, monkeypatch
):
    monkeypatch.setattr("users.queries.users.users.COUNTED_UP_TO", 2)

    newest = search_users(tenant=alice_tenant, sort="last_data")
    oldest = search_users(tenant=alice_tenant, last_data="none", sort="created_on")

    assert (names(newest), newest.total) == (["Cleo_3", "ben-2"], 2)
    assert (newest.is_total_exact, newest.among) == (False, 2)
    assert (names(oldest), oldest.total, oldest.among) == ([], 0, 2)


def test_a_list_by_last_data_is_fenced(
    alice_tenant, charlie_tenant, last_seen_users, three
):
    delete_user(user=three[2], actor=ACTOR)

    assert names(search_users(tenant=alice_tenant, sort="last_data")) == [
        "ben-2",
        "Ada-1",
    ]
    assert names(search_users(tenant=charlie_tenant, sort="last_data")) == []


@pytest.mark.parametrize("number", [1, 2, 50])
def test_the_list_costs_the_same_statements_however_long(alice_tenant, number):
    for _ in range(number):
        connect_source(
            user=make_user(tenant=alice_tenant), actor=ACTOR, provider="oura"
        )

    with count_statements() as plain:
        page = search_users(tenant=alice_tenant)
    with count_statements() as filtered:
        search_users(tenant=alice_tenant, text="u", provider="oura")
    with count_statements() as silent:
        search_users(tenant=alice_tenant, last_data="none")

    assert len(page.users) == number
    assert len(plain) == 3, plain
    assert len(filtered) == 3, filtered
    assert len(silent) == 3, silent


def test_an_empty_page_asks_for_no_sources(alice_tenant):
    with count_statements() as statements:
        page = list_users_page(tenant=alice_tenant, offset=0, limit=100)

    assert page.users == []
    assert len(statements) == 2


def test_rows_are_what_the_model_has(alice_tenant, three):
    rows = list_users_page(tenant=alice_tenant, offset=0, limit=500).users

    for row in rows:
        user = User.objects.for_tenant(alice_tenant).get(pk=row.id)
        assert row._asdict() == {name: getattr(user, name) for name in row._fields}


def test_one_user_is_found_by_either_id_in_the_own_tenant_alone(
    alice_tenant, charlie_tenant, three
):
    ada = three[0]

    assert find_user(tenant=alice_tenant, user_id=ada.uuid).user.id == ada.pk
    resolved = find_user_by_client_user_id(tenant=alice_tenant, client_user_id="Ada-1")
    assert resolved.user.id == ada.pk
    assert [each.provider for each in resolved.sources] == ["oura", "fitbit"]
    assert find_user(tenant=charlie_tenant, user_id=ada.uuid) is None
    assert (
        find_user_by_client_user_id(tenant=charlie_tenant, client_user_id="Ada-1")
        is None
    )
    assert (
        find_user_by_client_user_id(tenant=alice_tenant, client_user_id="Ada\0") is None
    )
    delete_user(user=ada, actor=ACTOR)
    assert find_user(tenant=alice_tenant, user_id=ada.uuid) is None
    assert (
        find_user_by_client_user_id(tenant=alice_tenant, client_user_id="Ada-1") is None
    )


def test_the_overview_has_the_live_connections(alice_tenant, three):
    disconnect_source(user=three[0], actor=ACTOR, provider="oura")

    overview = user_overview(tenant=alice_tenant, user_id=three[0].uuid)

    assert overview.user == three[0]
    assert [each.provider for each in overview.connections] == ["fitbit"]
    assert list_live_user_connections(user=three[2]) == []


def test_the_overview_of_a_stranger_is_not_found(alice_tenant, charlie_tenant, three):
    for tenant, user_id in ((charlie_tenant, three[0].uuid), (alice_tenant, uuid4())):
        with pytest.raises(NotFound):
            user_overview(tenant=tenant, user_id=user_id)


def test_latest_info_is_what_was_recorded(alice_tenant, three):
    record_user_info(user=three[0], actor=ACTOR, request=info_request())

    assert latest_user_info(user=three[0]).first_name == "Ada"
    assert latest_user_info(user=three[1]) is None


def test_the_count_of_an_unused_tenant_is_zero(alice_production):
    assert count_live_users(tenant=alice_production) == 0


def test_a_deleted_user_is_not_locked(alice_tenant, three):
    assert lock_user(three[1]) == three[1]
    delete_user(user=three[0], actor=ACTOR)

    with pytest.raises(NotFound):
        lock_user(three[0])
