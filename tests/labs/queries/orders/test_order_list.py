from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from labs.models import CriticalAlert, Order, ResultVersion
from labs.queries.orders import order_list, order_sorts
from labs.queries.orders.attention import count_orders_needing_attention
from labs.queries.orders.order_list import (
    ListFilters,
    count_orders_per_day,
    count_orders_per_status,
    count_orders_per_user,
    find_orders_by_id,
    list_orders,
    list_orders_needing_attention,
)
from labs.states.catalogue import CollectionMethod
from labs.states.order_queues import Stage, WorkState
from portal.lib.database import sorting
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_account, make_lab_test, make_order
from tests.factories.users import make_user
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
READY = "received.walk_in_test.requisition_created"
DONE = "completed.walk_in_test.completed"
HELD_UP = "collecting_sample.testkit.problem_in_transit_lab"
LOST = "failed.testkit.lost"
UNKNOWN = "received.walk_in_test.beamed_up"
NAMELESS = "orbiting"


@pytest.fixture(autouse=True)
def _frozen():
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def dana(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_dana")


@pytest.fixture
def panel(alice_tenant):
    return make_lab_test(tenant=alice_tenant)


@pytest.fixture
def place(alice_tenant, dana, panel):
    """Make an order some days ago, whatever its status."""

    def make(*, days=1, tenant=alice_tenant, user=dana, lab_test=panel, **columns):
        order = make_order(tenant=tenant, user=user, lab_test=lab_test)
        at = NOW - timedelta(days=days)
        columns = {"created_at": at, "updated_at": at, **columns}
        Order.objects.for_tenant(tenant).filter(pk=order.pk).update(**columns)
        order.refresh_from_db()
        return order

    return make


def listed(tenant, *, offset=0, limit=50, **filters):
    page = list_orders(
        tenant=tenant,
        filters=ListFilters(**filters),
        per_status=count_orders_per_status(tenant=tenant),
        offset=offset,
        limit=limit,
    )
    return [order.pk for order in page.orders]


def pks(*orders):
    return [order.pk for order in orders]


def test_the_list_has_live_orders_of_the_tenant_the_newest_first(
    alice_tenant, alice_production, charlie_tenant, place
):
    one, two = place(days=2), place(days=1)
    place(tenant=charlie_tenant, user=None, lab_test=None)
    place(tenant=alice_production, user=None, lab_test=None)
    gone = make_user(tenant=alice_tenant)
    place(user=gone)
    delete_user(user=gone, actor=ACTOR)

    assert listed(alice_tenant) == pks(two, one)
    assert listed(alice_tenant, order_by="created_at") == pks(one, two)
    assert count_orders_per_status(tenant=alice_tenant) == {one.status: 2}


def test_tabs_hold_orders_by_what_is_to_be_done(alice_tenant, place):
    ready, done, lost, unknown, nameless = (
        place(days=days, status=status)
        for days, status in enumerate((READY, DONE, LOST, UNKNOWN, NAMELESS), start=1)
    )

    def tab(work):
        return listed(alice_tenant, work=work)

    assert tab(WorkState.IN_PROGRESS) == pks(ready, unknown, nameless)
    assert tab(WorkState.RESULTS) == pks(done)
    assert tab(WorkState.CLOSED) == pks(lost)
    assert tab(WorkState.ATTENTION) == pks(lost)
    assert tab(WorkState.ALL) == pks(ready, done, lost, unknown, nameless)


def test_filters_combine(alice_tenant, place, panel):
    kit = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)
    ready = place(days=1, status=READY)
    unknown = place(days=2, status=NAMELESS)
    held_up = place(days=3, lab_test=kit, status=HELD_UP)
    critical = place(days=4, status=DONE, interpretation="critical")
    account = make_lab_account(tenant=alice_tenant, lab=panel.lab)
    ready.lab_account = account
    ready.save(update_fields=["lab_account"])

    def found(**filters):
        return listed(alice_tenant, **filters)

    assert found(status="requisition_created") == pks(ready)
    assert found(status=NAMELESS) == pks(unknown)
    assert found(stage=Stage.COLLECTING) == pks(held_up)
    assert found(method="walk_in_test") == pks(ready, unknown, critical)
    assert found(method="testkit", stage=Stage.READY) == []
    assert found(method="at_home_phlebotomy") == []
    assert found(lab=kit.lab.slug) == pks(held_up)
    assert found(lab="no-such-lab") == []
    assert found(account_id=account.pk) == pks(ready)
    assert found(on_platform=True, lab=panel.lab.slug) == pks(unknown, critical)
    assert found(result="critical") == pks(critical)
    assert found(result="none", lab=panel.lab.slug) == pks(ready, unknown)
    assert found(result="critical", method="testkit") == []
    assert found(user_uuid=ready.user.uuid, status="completed") == pks(critical)
    since = ready.created_at - timedelta(days=2)
    assert found(created_from=since) == pks(ready, unknown, held_up)
    assert found(created_from=since, created_until=ready.created_at) == pks(
        unknown, held_up
    )


def test_search_finds_any_part_of_an_id_but_no_names(alice_tenant, place, dana):
    other = make_user(tenant=alice_tenant, client_user_id="a.b*c")
    mine = place(days=1, sample_id="SB12345678")
    theirs = place(days=2, user=other)

    def found(text):
        return listed(alice_tenant, text=text)

    assert found(str(mine.pk)) == pks(mine)
    assert found(mine.pk.hex[:8].upper()) == pks(mine)
    assert found("sb12345678") == pks(mine)
    assert found("b1234") == pks(mine)
    assert found("b9") == []
    assert found("MBR_") == pks(mine)
    assert found("a.b*") == pks(theirs)
    assert found(str(dana.uuid)) == pks(mine)
    assert found("Ada") == []
    assert found("mbr\0") == []


def test_search_by_what_many_users_begin_with(alice_tenant, place, monkeypatch):
    monkeypatch.setattr(order_list, "_FEW_USERS", 1)
    users = [
        make_user(tenant=alice_tenant, client_user_id=f"a.b*{number}")
        for number in range(3)
    ]
    orders = [place(days=days, user=user) for days, user in enumerate(users, start=1)]
    place()

    assert listed(alice_tenant, text="A.b*") == pks(*orders)


def alert_of(order):
    """Let a critical result of an order wait."""
    now = timezone.now()
    version = ResultVersion(
        tenant=order.tenant,
        order=order,
        number=1,
        status="final",
        interpretation="critical",
        reported_at=now,
        actor_kind="system",
    )
    version.save(force_insert=True)
    CriticalAlert(
        tenant=order.tenant, order=order, version=version, due_at=now, escalate_at=now
    ).save(force_insert=True)


def test_a_critical_result_needs_attention_before_what_changed_last(
    alice_tenant, place
):
    held_up = place(days=90, status=HELD_UP, updated_at=NOW - timedelta(days=1))
    lost = place(days=2, status=LOST)
    critical = place(days=3, status=DONE, interpretation="critical")
    place(days=8, status=LOST)
    place(days=1, status=DONE, interpretation="critical")  # acknowledged, or never open
    alert_of(critical)
    place(days=1, status=DONE, interpretation="abnormal")

    found = list_orders_needing_attention(tenant=alice_tenant, limit=5)

    assert pks(*found) == pks(critical, held_up, lost)
    assert pks(*list_orders_needing_attention(tenant=alice_tenant, limit=1)) == pks(
        critical
    )
    assert count_orders_needing_attention(tenant=alice_tenant) == 3


def test_an_order_without_requisition_is_stuck_in_production_alone(
    alice_tenant, alice_production, place
):
    ordered = "received.walk_in_test.ordered"
    hours = {"created_at": NOW - timedelta(hours=2), "status": ordered}
    place(**hours)
    production = {"tenant": alice_production, "user": None, "lab_test": None}
    stuck = place(**production, **hours)
    place(**production, status=ordered, created_at=NOW - timedelta(minutes=59))
    place(**production, **hours, activate_by=date(2026, 3, 20))
    overdue = place(**production, **hours, activate_by=date(2026, 3, 19))

    assert count_orders_needing_attention(tenant=alice_tenant) == 0
    assert count_orders_needing_attention(tenant=alice_production) == 2
    assert count_orders_needing_attention(tenant=alice_production, up_to=0) == 1
    found = list_orders_needing_attention(tenant=alice_production, limit=5)
    assert {order.pk for order in found} == {stuck.pk, overdue.pk}


def test_totals_are_exact_up_to_a_limit(alice_tenant, place, monkeypatch):
    monkeypatch.setattr(order_list, "COUNTED_UP_TO", 2)
    for days in (1, 2, 3):
        place(days=days)

    def page(**wanted):
        found = list_orders(tenant=alice_tenant, filters=ListFilters(), **wanted)
        return len(found.orders), found.total, found.is_exact

    assert page(limit=1) == (1, 2, False)
    assert page(limit=5) == (3, 2, False)
    assert page(limit=1, offset=9) == (0, 2, False)
    assert list(count_orders_per_status(tenant=alice_tenant).values()) == [3]


def test_a_page_past_the_end_knows_how_many_there_are(alice_tenant, place):
    place(days=1)
    place(days=2)

    page = list_orders(tenant=alice_tenant, filters=ListFilters(), offset=50)

    assert (page.orders, page.total, page.is_exact) == ([], 2, True)


@pytest.mark.parametrize("number", [1, 3])
def test_a_page_takes_two_queries_where_it_has_all(
    alice_tenant, place, number, django_assert_num_queries
):
    for days in range(number):
        place(days=days)

    with django_assert_num_queries(2):
        page = list_orders(tenant=alice_tenant, filters=ListFilters())
        for order in page.orders:
            assert order.user.client_user_id == "mbr_dana"
            assert order.lab.name
            assert order.lab_test.name
            assert order.lab_account is None


def test_patients_are_loaded_only_where_they_are_asked_for(alice_tenant, place):
    place()

    def deferred(*, with_patients):
        page = list_orders(
            tenant=alice_tenant,
            filters=ListFilters(),
            with_patients=with_patients,
        )
        [order] = page.orders
        return order.get_deferred_fields() & {"patient_name", "patient_details"}

    assert deferred(with_patients=False) == {"patient_name", "patient_details"}
    assert deferred(with_patients=True) == {"patient_details"}


def test_orders_are_found_by_id_or_sample(alice_tenant, charlie_tenant, place):
    order = place(sample_id="SB12345678")

    def found(text, tenant=alice_tenant):
        return pks(*find_orders_by_id(tenant=tenant, text=text, limit=5))

    assert found(str(order.pk)) == found(order.pk.hex[7:13]) == pks(order)
    assert found("sb12345678") == found("234") == pks(order)
    assert found(order.pk.hex[:5]) == found("mbr_dana") == []
    assert found(str(order.pk), charlie_tenant) == []


def test_orders_are_counted_by_the_utc_day_they_were_placed_on(alice_tenant, place):
    for days in (0, 0, 3, 30):
        place(days=days)

    counted = count_orders_per_day(tenant=alice_tenant, since=NOW - timedelta(days=7))

    assert counted == {date(2026, 3, 20): 2, date(2026, 3, 17): 1}


def test_orders_are_counted_per_user(
    alice_tenant, alice_production, charlie_tenant, dana, place
):
    other = make_user(tenant=alice_tenant)
    idle = make_user(tenant=alice_tenant)
    for user in (dana, dana, other):
        place(user=user)
    keys = [dana.pk, idle.pk]

    assert count_orders_per_user(tenant=alice_tenant, user_keys=keys) == {dana.pk: 2}
    assert count_orders_per_user(tenant=alice_tenant, user_keys=[]) == {}
    for stranger in (alice_production, charlie_tenant):
        assert count_orders_per_user(tenant=stranger, user_keys=keys) == {}


@pytest.mark.parametrize("is_attention", [False, True])
def test_a_sort_without_index_sorts_the_newest_and_pages_exactly(
    alice_tenant, place, monkeypatch, is_attention
):
    late = {"status": LOST} if is_attention else {}
    late |= {"updated_at": NOW - timedelta(days=1)}
    oldest = place(days=4, sample_id="a", **late)
    second, third, newest = (
        place(days=days, sample_id=sample, **late)
        for days, sample in ((3, "c"), (2, "b"), (1, "d"))
    )
    work = WorkState.ATTENTION if is_attention else WorkState.ALL
    wanted = {"work": work, "order_by": "sample_id"}
    assert listed(alice_tenant, **wanted) == pks(oldest, third, second, newest)

    for module in (sorting, order_sorts):
        monkeypatch.setattr(module, "SORTED_UP_TO", 3)
    down = {"work": work, "order_by": "-sample_id"}
    assert listed(alice_tenant, **wanted) == pks(third, second, newest)
    assert listed(alice_tenant, **down, limit=2) == pks(newest, second)
    assert listed(alice_tenant, **down, offset=2, limit=2) == pks(third)


def test_orders_are_sorted_by_status_and_user_whole(
    alice_tenant, charlie_tenant, dana, place, monkeypatch
):
    for module in (sorting, order_sorts):
        monkeypatch.setattr(module, "SORTED_UP_TO", 1)
    anna = make_user(tenant=alice_tenant, client_user_id="mbr_anna")
    gone = make_user(tenant=alice_tenant, client_user_id="mbr_gone")
    place(tenant=charlie_tenant, user=None, lab_test=None)
    place(days=1, user=gone, status=LOST)
    done, ready, lost, older = (
        place(days=days, user=user, status=status)
        for days, user, status in (
            (2, dana, DONE),
            (3, anna, READY),
            (4, dana, LOST),
            (5, anna, DONE),
        )
    )
    delete_user(user=gone, actor=ACTOR)
    by_status = pks(done, older, lost, ready)
    by_status_down = pks(ready, lost, done, older)

    assert listed(alice_tenant, order_by="status") == by_status
    assert listed(alice_tenant, order_by="-status") == by_status_down
    for offset in range(5):
        some = slice(offset, offset + 2)
        page = {"offset": offset, "limit": 2}
        assert listed(alice_tenant, order_by="status", **page) == by_status[some]
        assert listed(alice_tenant, order_by="-status", **page) == by_status_down[some]
    assert listed(alice_tenant, order_by="-status", work=WorkState.RESULTS) == pks(
        done, older
    )
    assert listed(alice_tenant, order_by="user__client_user_id") == pks(
        ready, older, done, lost
    )
    assert listed(alice_tenant, order_by="-user__client_user_id") == pks(
        done, lost, ready, older
    )
    # With another filter no index has the order.
    assert listed(alice_tenant, order_by="status", text="mbr_anna") == pks(ready)
