from __future__ import annotations

import csv
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from uuid import uuid4

import pytest
import time_machine
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.states import Role
from labs.models import Order
from labs.states.order_queues import WorkState
from labs.web.orders.filters import OrderListQuery
from tests.audit import audited
from tests.factories.accounts import make_member
from tests.factories.labs import make_lab_account, make_lab_test, make_order
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox"
LIST = f"{PLACE}/orders/"
FILE = f"{LIST}file/"
HTMX = {"HX-Request": "true"}
DONE = "completed.walk_in_test.completed"


@pytest.fixture
def dana(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_dana")


@pytest.fixture
def panel(alice_tenant):
    return make_lab_test(tenant=alice_tenant, name="Metabolic Core")


@pytest.fixture
def order(alice_tenant, dana, panel):
    return make_order(tenant=alice_tenant, user=dana, lab_test=panel)


def change(order, **columns):
    Order.objects.for_tenant(order.tenant).filter(pk=order.pk).update(**columns)


def as_role(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    return client


def shown(reply):
    assert reply.status_code == HTTPStatus.OK
    return [row.order.pk for row in reply.context["rows"]]


def asked(query):
    return OrderListQuery.from_query(QueryDict(query))


def test_a_row_says_whose_order_it_is_what_was_ordered_and_how_it_stands(
    alice_web, order, alice_production, charlie_tenant
):
    for tenant in (alice_production, charlie_tenant):
        make_order(tenant=tenant)
    change(order, status="received.walk_in_test.beamed_up", interpretation="critical")

    reply = alice_web.get(LIST)

    assert shown(reply) == [order.pk]
    words = ("mbr_dana", "Metabolic Core", order.lab.name, "Platform account")
    for text in (*words, "Walk-in", "Critical", f"{LIST}{order.pk}/"):
        assert text in reply.text
    # Once in its row, in its own words, once where it can be chosen.
    assert reply.text.count("Beamed up") == 2


@pytest.mark.parametrize(
    ("tab", "is_there"),
    [
        ("in_progress", False),
        ("attention", False),
        ("results", True),
        ("closed", False),
        ("nonsense", True),
    ],
)
def test_tabs_count_and_hold_orders_by_their_work(alice_web, order, tab, is_there):
    change(order, status=DONE)

    reply = alice_web.get(f"{LIST}?tab={tab}")

    assert shown(reply) == [order.pk] * is_there
    assert reply.context["tabs"] == [
        (WorkState.IN_PROGRESS, "0", ""),
        (WorkState.ATTENTION, "0", ""),
        (WorkState.RESULTS, "1", ""),
        (WorkState.CLOSED, "0", ""),
        (WorkState.ALL, "1", ""),
    ]


def test_filters_combine_and_say_what_they_are(
    alice_web, alice_tenant, alice_team, order
):
    account = make_lab_account(
        tenant=alice_tenant, lab=order.lab, account_name="Clinic"
    )
    change(order, lab_account=account)
    query = (
        f"lab={order.lab.slug}&account={account.pk}&method=walk_in_test&result=none"
        f"&stage=ordered&status=ordered&created=7d&user={order.user.uuid}&q=mbr_da"
    )

    reply = alice_web.get(f"{LIST}?{query}")

    assert shown(reply) == [order.pk]
    for name, words in {
        "lab": order.lab.name,
        "account": "Clinic",
        "method": "Walk-in",
        "result": "None yet",
        "stage": "Ordered",
        "status": "Ordered",
    }.items():
        assert reply.context[f"{name}_words"] == words
    assert shown(alice_web.get(f"{LIST}?{query}&result=critical")) == []
    assert shown(alice_web.get(f"{LIST}?account=platform")) == []


def test_an_unknown_lab_or_account_matches_nothing(alice_web, order):
    assert shown(alice_web.get(f"{LIST}?lab=no-such-lab")) == []
    assert shown(alice_web.get(f"{LIST}?account={uuid4()}")) == []


@time_machine.travel(datetime(2026, 3, 20, 3, tzinfo=UTC), tick=False)
def test_days_are_the_readers_own_and_both_included():
    """In Phoenix, seven hours behind, it is still the 19th."""
    with timezone.override("America/Phoenix"):
        between = asked("since=2026-03-17&until=2026-03-18").filters
        today = asked("created=today").filters
        week = asked("created=7d").filters

    assert between.created_from == datetime(2026, 3, 17, 7, tzinfo=UTC)
    assert between.created_until == datetime(2026, 3, 19, 7, tzinfo=UTC)
    assert today.created_from == datetime(2026, 3, 19, 7, tzinfo=UTC)
    assert week.created_from == datetime(2026, 3, 13, 7, tzinfo=UTC)
    assert week.created_until is None


@time_machine.travel(datetime(2026, 3, 20, 12, tzinfo=UTC), tick=False)
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", ""),
        ("created=30d", "Last 30 days"),
        ("since=2026-03-01", "since 1 Mar"),
        ("until=2025-03-01", "until 1 Mar 2025"),
        ("since=2026-03-01&until=2026-03-02&created=7d", "1 Mar to 2 Mar"),
        ("since=yesterday&created=eon&until=9999-12-31", "until 31 Dec 9999"),
    ],
)
def test_days_are_put_in_words(query, words):
    assert asked(query).created_label == words
    assert asked(query).filters.created_until != date.max


def test_a_new_search_keeps_the_filters_but_not_the_page():
    query = "tab=results&account=platform&created=7d&q=mbr&limit=25&offset=50&lab=&x=1"

    kept = asked(query).search_parameters

    assert kept == [
        ("tab", "results"),
        ("account", "platform"),
        ("created", "7d"),
        ("limit", 25),
    ]
    assert asked(query).parameters_without_days == [
        ("tab", "results"),
        ("account", "platform"),
        ("limit", 25),
        ("q", "mbr"),
    ]


def test_search_as_one_types_gets_the_list_with_its_filters(alice_web, order):
    reply = alice_web.get(f"{LIST}?q=mbr", headers=HTMX)

    assert shown(reply) == [order.pk]
    assert "<html" not in reply.text
    for part in ("order-list", "order-chips", "order-days", "saved-views"):
        assert reply.text.count(f'id="{part}"') == 1


def test_patients_are_masked_until_they_are_asked_for(alice_web, alice_tenant, order):
    masked = alice_web.get(LIST)
    revealed = alice_web.post(f"{LIST}?q=mbr")

    assert "Ada Example" not in masked.text
    assert "Ada Example" in revealed.text
    assert "1990-05-17" in revealed.text
    place = "offset=0 limit=50"
    assert audited(alice_tenant)[-3:] == [
        ("read", "order_list", place),
        ("read", "order_list", place),
        ("read", "order_list_patients", place),
    ]


def test_who_may_not_see_patients_sees_none(alice_team, alice_tenant, order):
    reply = as_role(alice_team, Role.DEVELOPER).post(LIST)

    assert shown(reply) == [order.pk]
    assert "Ada Example" not in reply.text
    assert "Show patients" not in reply.text
    assert audited(alice_tenant)[-1] == ("read", "order_list", "offset=0 limit=50")


def test_a_file_holds_what_the_list_shows_and_no_patient(
    alice_web, alice_tenant, panel, order
):
    risky = make_user(tenant=alice_tenant, client_user_id="=1+1")
    with time_machine.travel(datetime(2026, 3, 20, 12, tzinfo=UTC), tick=False):
        other = make_order(tenant=alice_tenant, user=risky, lab_test=panel)

    reply = alice_web.get(f"{FILE}?tab=in_progress&until=2026-03-21")

    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    assert reply["Content-Disposition"].startswith('attachment; filename="orders-')
    [row] = csv.DictReader(reply.text.splitlines())
    assert row == {
        "order_id": str(other.pk),
        "created_at": "2026-03-20T12:00:00Z",
        "user_id": str(risky.uuid),
        "client_user_id": "'=1+1",
        "lab": panel.lab.name,
        "lab_account": "Platform account",
        "tests": "Metabolic Core",
        "collection_method": "walk_in_test",
        "status": "received.walk_in_test.ordered",
        "interpretation": "",
        "sample_id": "",
        "updated_at": "2026-03-20T12:00:00Z",
    }
    assert audited(alice_tenant)[-1] == ("read", "order_file", "orders=1")


def test_a_file_is_never_cut_short(alice_web, alice_tenant, order, panel, monkeypatch):
    monkeypatch.setattr("labs.queries.orders.order_list.COUNTED_UP_TO", 1)
    make_order(tenant=alice_tenant, lab_test=panel)
    before = audited(alice_tenant)

    reply = alice_web.get(f"{FILE}?method=walk_in_test")

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert f'href="{LIST}?method=walk_in_test"' in reply.text
    assert audited(alice_tenant) == before


def test_an_empty_list_says_why(alice_web, order):
    def said(query):
        return alice_web.get(f"{LIST}?{query}").text

    assert "No orders match these filters" in said("q=nobody")
    assert "No order is delayed" in said("tab=attention")
    assert "This page is past the end" in said("offset=50")
    order.user.deleted_at = timezone.now()
    order.user.save(update_fields=["deleted_at"])
    assert "No orders yet" in said("view=all")


def test_an_order_that_starts_later_says_when(alice_web, alice_tenant, dana, panel):
    day = timezone.now().date() + timedelta(days=40)
    make_order(tenant=alice_tenant, user=dana, lab_test=panel, activate_by=day)

    reply = alice_web.get(LIST)

    [row] = reply.context["rows"]
    assert row.starts_on == day
    assert f"Starts {day.day} " in reply.text


def test_a_list_takes_as_many_queries_for_fifty_orders_as_for_one(
    alice_web, alice_tenant, dana, panel, order
):
    def queries():
        with CaptureQueriesContext(connection) as taken:
            alice_web.get(LIST)
        return len(taken)

    queries()
    one = queries()
    make_order(tenant=alice_tenant, user=dana, lab_test=panel)
    two = queries()
    for _ in range(48):
        make_order(tenant=alice_tenant, user=dana, lab_test=panel)

    assert one == two == queries() == LIST_QUERIES


# Session, member, saved views; the page's ids, its rows, lab accounts, labs. The place,
# the switcher, the counts and the audit go by rows, which Django does not count.
LIST_QUERIES = 7


def test_a_user_has_a_tab_of_orders(alice_web, alice_tenant, order, dana):
    make_order(tenant=alice_tenant)

    reply = alice_web.get(f"{PLACE}/users/{dana.uuid}/orders/")

    assert shown(reply) == [order.pk]
    assert audited(alice_tenant)[-1] == ("read", "order_list", str(dana.uuid))
    for unknown in (uuid4(), "no-id"):
        reply = alice_web.get(f"{PLACE}/users/{unknown}/orders/")
        assert reply.status_code == HTTPStatus.NOT_FOUND


def test_a_user_without_orders_is_told_so(alice_web, dana):
    reply = alice_web.get(f"{PLACE}/users/{dana.uuid}/orders/")

    assert "No lab orders yet" in reply.text
