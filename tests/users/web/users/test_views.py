from __future__ import annotations

import csv
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.states import Role
from tests.factories.accounts import ACTOR, make_member
from tests.factories.labs import make_order
from tests.factories.users import make_batch_arrival, make_regular_arrivals, make_user
from users.models import User
from users.operations.sources.sources import connect_source
from users.operations.users.users import delete_user

PLACE = "/t/alice-health/sandbox"
LIST = f"{PLACE}/users/"
FILE = f"{LIST}file/"
HTMX = {"HX-Request": "true"}


def ids_on(reply):
    return [user.client_user_id for user, *_ in reply.context["users"]]


def reads(tenant):
    return list(
        AuditEntry.objects.for_tenant(tenant)
        .filter(verb="read")
        .order_by("pk")
        .values_list("subject", "subject_id", "actor_label")
    )


@pytest.fixture
def three_users(alice_tenant):
    return [
        make_user(tenant=alice_tenant, client_user_id=name)
        for name in ("mbr_1", "mbr_2", "other")
    ]


def test_the_list_shows_the_newest_user_first(alice_web, three_users):
    reply = alice_web.get(LIST)

    assert reply.status_code == HTTPStatus.OK
    assert ids_on(reply) == ["other", "mbr_2", "mbr_1"]
    assert "Showing 1 to 3 of 3" in reply.content.decode()


def test_the_list_holds_no_user_of_another_tenant(
    alice_web, three_users, charlie_tenant, alice_production
):
    make_user(tenant=charlie_tenant, client_user_id="charlies")
    make_user(tenant=alice_production, client_user_id="live one")

    assert ids_on(alice_web.get(LIST)) == ["other", "mbr_2", "mbr_1"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=MBR", ["mbr_2", "mbr_1"]),
        ("q=mbr_2", ["mbr_2"]),
        ("q=nothing", []),
        ("sort=client_user_id", ["mbr_1", "mbr_2", "other"]),
        ("sort=-client_user_id", ["other", "mbr_2", "mbr_1"]),
        ("sort=created_on", ["mbr_1", "mbr_2", "other"]),
        ("source=oura", ["mbr_2"]),
        ("source=garmin", []),
        ("status=connected", ["mbr_2"]),
        ("source=oura&status=error", []),
        ("last_data=none", ["other", "mbr_1"]),
        ("last_data=not_7_days&sort=client_user_id", ["mbr_1", "other"]),
        ("sort=-last_data", ["mbr_2", "other", "mbr_1"]),
        ("sort=-sources", ["mbr_2", "other", "mbr_1"]),
        ("sort=sources&last_data=none", ["other", "mbr_1"]),
        ("sort=-zone", ["other", "mbr_2", "mbr_1"]),
        ("sort=-orders", ["mbr_1", "other", "mbr_2"]),
        ("offset=2", ["mbr_1"]),
        ("offset=3", []),
    ],
)
def test_the_list_is_searched_filtered_sorted_and_paged(
    alice_web, three_users, query, found
):
    connect_source(user=three_users[1], actor=ACTOR, provider="oura")
    make_batch_arrival(three_users[1], "oura", timezone.now() - timedelta(days=2))
    make_order(tenant=three_users[0].tenant, user=three_users[0])

    assert ids_on(alice_web.get(f"{LIST}?{query}")) == found


def test_a_whole_user_id_finds_its_user(alice_web, three_users):
    assert ids_on(alice_web.get(LIST, {"q": str(three_users[0].uuid)})) == ["mbr_1"]


@pytest.mark.parametrize(
    "query",
    [
        "limit=501",
        "limit=x",
        "offset=-1",
        "offset=99999999999999999999",
        "sort=password",
        "source=nobody",
        "status=asleep",
        "last_data=tomorrow",
        "region=atlantis",
        "window=ajar",
        "q=%00",
    ],
)
def test_a_value_that_means_nothing_is_not_an_error(alice_web, three_users, query):
    reply = alice_web.get(f"{LIST}?{query}")

    assert reply.status_code == HTTPStatus.OK
    assert reply.context["pager"].limit == 50


def test_htmx_gets_the_table_and_the_filters_alone(alice_web, three_users):
    reply = alice_web.get(LIST, {"q": "mbr"}, headers=HTMX)

    html = reply.content.decode()
    assert "<h1>" not in html
    assert html.count('id="user-list"') == 1
    assert html.count('hx-swap-oob="true"') == 3
    assert f'href="{FILE}?q=mbr"' in html
    assert {"HX-Request", "HX-Boosted"} <= set(reply["Vary"].split(", "))


def test_a_boosted_request_gets_the_page(alice_web, three_users):
    reply = alice_web.get(LIST, headers={**HTMX, "HX-Boosted": "true"})

    assert "<h1>Users</h1>" in reply.content.decode()


def test_a_search_keeps_filters_and_forgets_the_page(alice_web, three_users):
    html = alice_web.get(
        LIST, {"source": "oura", "limit": "25", "offset": "25"}
    ).content.decode()

    assert '<input type="hidden" name="source" value="oura">' in html
    assert '<input type="hidden" name="limit" value="25">' in html
    assert 'name="offset"' not in html
    assert 'name="sort"' not in html


def test_no_user_and_no_match_read_differently(alice_web, alice_tenant):
    none = alice_web.get(LIST).content.decode()
    make_user(tenant=alice_tenant)
    no_match = alice_web.get(LIST, {"q": "zzz"}).content.decode()

    assert ("No users yet" in none, "/v2/user" in none) == (True, True)
    assert ("No users match" in no_match, "Clear filters" in no_match) == (True, True)


def test_an_id_is_escaped(alice_web, alice_tenant):
    make_user(tenant=alice_tenant, client_user_id="<script>alert(1)</script>")

    assert "<script>alert" not in alice_web.get(LIST).content.decode()


def test_the_list_is_audited_without_what_was_searched(alice_web, alice_tenant):
    alice_web.get(LIST, {"q": "mbr_1"})

    assert reads(alice_tenant) == [
        ("user_list", "offset=0 limit=50", "alice@assay.example")
    ]


@pytest.mark.parametrize("number", [1, 2, 40])
def test_the_list_costs_the_same_at_any_length(alice_web, alice_tenant, number):
    for _ in range(number):
        connect_source(
            user=make_user(tenant=alice_tenant), actor=ACTOR, provider="oura"
        )
    alice_web.get(LIST)  # the session notes the place once

    with CaptureQueriesContext(connection) as queries:
        alice_web.get(LIST)
    with CaptureQueriesContext(connection) as by_last_data:
        alice_web.get(f"{LIST}?sort=last_data")

    assert len(queries) == LIST_QUERIES
    assert len(by_last_data) == LIST_QUERIES  # keys go by rows, which it does not count


# Session, member, saved views, users. The place, the switcher, total, sources, counts
# and audit go by rows, which Django does not count.
LIST_QUERIES = 4


def test_the_list_and_the_page_say_when_data_last_came(
    alice_web, alice_tenant, three_users
):
    user = three_users[0]
    connect_source(user=user, actor=ACTOR, provider="oura")
    last = timezone.now() - timedelta(hours=30)
    make_batch_arrival(user, "oura", last)

    listed = alice_web.get(LIST)
    pages = [alice_web.get(f"{LIST}{user.uuid}/{tab}") for tab in ("", "summaries/")]

    assert [heard for _, _, heard, _ in listed.context["users"]] == [None, None, last]
    assert listed.content.decode().count("No data yet") == 2
    for page in (listed, *pages):
        assert last.strftime('datetime="%Y-%m-%dT%H:%M:%S+00:00"') in (
            page.content.decode()
        )
        assert "dot--warn" in page.content.decode()


def test_a_file_holds_what_the_list_shows_and_no_birth_date(alice_web, alice_tenant):
    with time_machine.travel(datetime(2026, 3, 20, 12, tzinfo=UTC), tick=False):
        risky = make_user(
            tenant=alice_tenant,
            client_user_id="=1+1",
            fallback_time_zone="Europe/Rome",
            fallback_birth_date=date(1991, 6, 14),
            ingestion_start=date(2025, 3, 1),
        )
    for source in ("oura", "fitbit"):
        connect_source(user=risky, actor=ACTOR, provider=source)
    make_batch_arrival(risky, "oura", datetime(2026, 3, 21, 8, 30, tzinfo=UTC))
    make_user(tenant=alice_tenant, client_user_id="without a source")

    reply = alice_web.get(f"{FILE}?source=oura")

    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    assert reply["Content-Disposition"].startswith('attachment; filename="users-')
    [row] = csv.DictReader(reply.text.splitlines())
    assert row == {
        "user_id": str(risky.uuid),
        "client_user_id": "'=1+1",
        "created_on": "2026-03-20T12:00:00Z",
        "sources": "oura fitbit",
        "last_data": "2026-03-21T08:30:00Z",
        "fallback_time_zone": "Europe/Rome",
        "ingestion_start": "2025-03-01",
        "ingestion_end": "",
        "orders": "0",
    }
    assert reads(alice_tenant) == [("user_file", "users=1", "alice@assay.example")]


def test_a_file_keeps_the_order_of_the_list_and_not_its_page(
    alice_web, three_users, charlie_tenant
):
    make_user(tenant=charlie_tenant, client_user_id="charlies")

    reply = alice_web.get(f"{FILE}?sort=client_user_id&offset=2&limit=25")

    ids = [row["client_user_id"] for row in csv.DictReader(reply.text.splitlines())]
    assert ids == ["mbr_1", "mbr_2", "other"]


@pytest.mark.parametrize("query", ["", "q=mbr"])
def test_a_file_is_never_cut_short(
    alice_web, alice_tenant, three_users, monkeypatch, query
):
    for place in ("users.queries.users.users", "users.web.users.views"):
        monkeypatch.setattr(f"{place}.COUNTED_UP_TO", 1)

    reply = alice_web.get(f"{FILE}?{query}")

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert f'href="{LIST}?{query or "view=all"}"' in reply.text
    assert reads(alice_tenant) == []


def test_a_list_too_long_to_look_through_says_so(alice_web, three_users, monkeypatch):
    monkeypatch.setattr("users.queries.users.users.COUNTED_UP_TO", 2)

    some = alice_web.get(f"{LIST}?last_data=none")
    none = alice_web.get(f"{LIST}?last_data=day")
    file = alice_web.get(f"{FILE}?last_data=none")

    assert "Showing 1 to 2 of 2 among the first 2 users" in some.text
    assert "The first 2 users were searched" in none.text
    assert file.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_an_exact_id_opens_its_user(alice_web, three_users):
    reply = alice_web.get(f"{LIST}resolve/", {"client_user_id": "mbr_2"})

    assert (reply.status_code, reply["Location"]) == (
        HTTPStatus.FOUND,
        f"{LIST}{three_users[1].uuid}/",
    )


@pytest.mark.parametrize("wanted", ["MBR_2", "mbr", " mbr_2", "", "x" * 256])
def test_an_id_that_is_not_exact_opens_nothing(alice_web, three_users, wanted):
    reply = alice_web.get(f"{LIST}resolve/", {"client_user_id": wanted})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == ["client_user_id"]


def test_asking_to_resolve_shows_an_empty_form(alice_web, alice_team):
    reply = alice_web.get(f"{LIST}resolve/")

    assert reply.status_code == HTTPStatus.OK
    assert not reply.context["form"].is_bound


@pytest.fixture
def dana(alice_tenant):
    return make_user(
        tenant=alice_tenant,
        client_user_id="mbr_dana",
        fallback_time_zone="Europe/Rome",
        fallback_birth_date=date(1991, 6, 14),
        ingestion_start=date(2025, 3, 1),
    )


def test_a_user_s_page_shows_ids_sources_and_fallbacks(alice_web, alice_tenant, dana):
    connect_source(user=dana, actor=ACTOR, provider="oura")

    reply = alice_web.get(f"{LIST}{dana.uuid}/")

    html = reply.content.decode()
    assert reply.status_code == HTTPStatus.OK
    for shown in ("mbr_dana", str(dana.uuid), "Oura", "Europe/Rome", "1 Mar 2025"):
        assert shown in html
    assert reads(alice_tenant) == [("user", str(dana.uuid), "alice@assay.example")]


def test_a_birth_date_is_hidden_until_asked_for(alice_web, alice_tenant, dana):
    hidden = alice_web.get(f"{LIST}{dana.uuid}/").content.decode()
    shown = alice_web.get(f"{LIST}{dana.uuid}/?show=birth-date").content.decode()

    assert ("14 Jun 1991" in hidden, "14 Jun 1991" in shown) == (False, True)
    assert [subject for subject, _, _ in reads(alice_tenant)] == [
        "user",
        "user",
        "audit",
        "fallback_birth_date",
    ]


def test_a_birth_date_says_what_it_makes_of_the_heart_rate(
    alice_web, dana, time_machine
):
    time_machine.move_to(datetime(2026, 6, 13, 12, tzinfo=UTC))
    hidden = alice_web.get(f"{LIST}{dana.uuid}/").content.decode()
    shown = alice_web.get(f"{LIST}{dana.uuid}/?show=birth-date").content.decode()

    assert "heart rate" not in hidden
    assert "Maximum heart rate: 186 bpm" in shown


def test_a_birth_date_is_not_for_a_viewer(alice_team, alice_tenant, dana):
    viewer = Client()
    viewer.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))

    html = viewer.get(f"{LIST}{dana.uuid}/?show=birth-date").content.decode()

    assert "14 Jun 1991" not in html
    assert "?show=birth-date" not in html
    assert [subject for subject, _, _ in reads(alice_tenant)] == ["user"]


def test_a_source_we_do_not_know_keeps_its_slug(alice_web, alice_tenant, dana):
    connection = connect_source(user=dana, actor=ACTOR, provider="oura")
    connection.provider, connection.status = "moonwatch", "waiting_for_moon"
    connection.save(update_fields=["provider", "status"])

    html = alice_web.get(f"{LIST}{dana.uuid}/").content.decode()

    assert "moonwatch" in html
    assert "Waiting for moon" in html


@pytest.mark.parametrize(
    "wanted", ["not-a-uuid", "00000000-0000-4000-8000-000000000000"]
)
def test_an_unknown_user_is_not_found(alice_web, alice_tenant, wanted):
    assert alice_web.get(f"{LIST}{wanted}/").status_code == HTTPStatus.NOT_FOUND
    assert reads(alice_tenant) == []


def test_a_deleted_user_is_not_found(alice_web, alice_tenant, dana):
    delete_user(user=dana, actor=ACTOR)

    assert alice_web.get(f"{LIST}{dana.uuid}/").status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_a_user_of_another_team_or_environment_is_not_found(
    alice_web, charlie_tenant, alice_production, environment, dana
):
    strange = make_user(tenant=charlie_tenant)

    reply = alice_web.get(f"/t/alice-health/{environment}/users/{strange.uuid}/")

    assert reply.status_code == HTTPStatus.NOT_FOUND
    assert (
        alice_web.get(f"/t/alice-health/production/users/{dana.uuid}/").status_code
        == HTTPStatus.NOT_FOUND
    )
    assert User.objects.for_tenant(alice_production).count() == 0


def test_a_users_page_says_what_has_gone_silent(alice_web, alice_tenant):
    user = make_user(tenant=alice_tenant)
    for provider, days in (("oura", 5), ("fitbit", 0)):
        connect_source(user=user, actor=ACTOR, provider=provider)
        make_regular_arrivals(user, provider, timezone.now() - timedelta(days=days))

    reply = alice_web.get(f"/t/alice-health/sandbox/users/{user.uuid}/")

    assert [
        (row.provider.slug, row.resource, row.pace) for row in reply.context["silent"]
    ] == [("oura", "Sleep cycle", "every day")]
    assert b"Silent resources" in reply.content
