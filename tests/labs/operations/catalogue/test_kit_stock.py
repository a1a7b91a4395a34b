from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connection, transaction

from labs.models import KitStock
from labs.operations.catalogue.kit_stock import (
    KITS_MAX,
    SENT,
    KitStockChange,
    set_kit_stock,
    take_sent_kit_from_stock,
)
from labs.operations.order_status.status import advance_order, store_order_event
from portal.lib.errors import DomainError
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_kit_stock, make_lab_test, make_order
from tests.locks import wait_until_blocked
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


@pytest.fixture
def kit(alice_tenant):
    return make_lab_test(tenant=alice_tenant, name="Heart", method="testkit")


def stock_of(panel):
    rows = KitStock.objects.for_tenant(panel.tenant).filter(lab_test=panel)
    return rows.values_list("count", "warn_below").first()


def set_stock(panel, *changes, tenant=None):
    set_kit_stock(
        tenant=tenant or panel.tenant,
        actor=ACTOR,
        changes=[KitStockChange(panel.pk, *change) for change in changes],
    )


def test_the_stock_of_a_kit_is_entered_and_changed(kit, alice_tenant):
    set_stock(kit, (40, 10, None))
    first = stock_of(kit)
    set_stock(kit, (120, 10, 40))

    assert (first, stock_of(kit)) == ((40, 10), (120, 10))
    verbs = [line for line in audited(alice_tenant) if line[0] == "set_kit_stock"]
    assert verbs == [("set_kit_stock", "lab_test", str(kit.pk))] * 2


def test_the_audit_has_the_old_and_the_new_stock(kit, alice_tenant):
    set_stock(kit, (40, 10, None))
    set_stock(kit, (40, 10, 40))  # changes nothing, writes nothing

    assert changes_of(alice_tenant, "set_kit_stock") == {
        "count": [None, 40],
        "warn_below": [None, 10],
    }


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ((30, 10, 41), "kit_stock_changed"),
        ((30, 10, None), "kit_stock_changed"),
        ((-1, 10, 40), "kit_stock_invalid"),
        ((30, KITS_MAX + 1, 40), "kit_stock_invalid"),
    ],
)
def test_a_refused_change_changes_nothing(kit, alice_tenant, change, code):
    make_kit_stock(panel=kit, count=40)

    with pytest.raises(DomainError) as caught:
        set_stock(kit, change)

    assert caught.value.code == code
    assert stock_of(kit) == (40, 10)
    assert [line for line in audited(alice_tenant) if line[0] == "set_kit_stock"] == []


def test_one_refused_panel_refuses_all(kit, alice_tenant):
    walk_in = make_lab_test(tenant=alice_tenant)

    with pytest.raises(DomainError) as caught:
        set_kit_stock(
            tenant=alice_tenant,
            actor=ACTOR,
            changes=[
                KitStockChange(kit.pk, 5, 1, None),
                KitStockChange(walk_in.pk, 5, 1, None),
            ],
        )

    assert caught.value.code == "not_a_kit"
    assert (stock_of(kit), stock_of(walk_in)) == (None, None)


@pytest.mark.parametrize("whose", ["charlie", "nobody"])
def test_a_panel_of_another_team_is_not_found(kit, charlie_tenant, whose):
    panel_id = kit.pk if whose == "charlie" else uuid4()

    with pytest.raises(DomainError) as caught:
        set_kit_stock(
            tenant=charlie_tenant,
            actor=ACTOR,
            changes=[KitStockChange(panel_id, 5, 1, None)],
        )

    assert caught.value.code == "lab_test_not_found"
    assert stock_of(kit) is None
    assert not KitStock.objects.for_tenant(charlie_tenant).exists()


def send(order, *statuses):
    for status in statuses:
        advance_order(order=order, actor=ACTOR, to=status)


def test_a_sent_kit_lowers_the_stock_by_one_once(kit, alice_tenant):
    make_kit_stock(panel=kit, count=3)
    other = make_lab_test(tenant=alice_tenant, method="testkit")
    make_kit_stock(panel=other, count=3)
    order = make_order(tenant=alice_tenant, lab_test=kit)

    send(order, "requisition_created")
    before = stock_of(kit)
    send(order, "transit_customer")
    sent = stock_of(kit)
    send(order, "problem_in_transit_customer", "transit_customer", "with_customer")

    assert (before, sent, stock_of(kit)) == ((3, 10), (2, 10), (2, 10))
    assert stock_of(other) == (3, 10)


@pytest.mark.parametrize("count", [0, None])
def test_a_kit_is_sent_whatever_the_stock_says(kit, alice_tenant, count):
    if count is not None:
        make_kit_stock(panel=kit, count=count)
    order = make_order(tenant=alice_tenant, lab_test=kit)

    send(order, "requisition_created", "transit_customer")

    order.refresh_from_db()
    assert order.status == "collecting_sample.testkit.transit_customer"
    assert stock_of(kit) == (None if count is None else (0, 10))
    assert emitted_types(alice_tenant)[-1] == "labtest.order.updated"


@pytest.mark.parametrize("first", sorted(SENT))
def test_a_kit_that_skips_steps_was_sent_once(kit, first):
    make_kit_stock(panel=kit, count=3)
    order = make_order(tenant=kit.tenant, lab_test=kit)
    send(order, "requisition_created")

    for _number in range(2):
        order.status = first
        store_order_event(order, ACTOR)
        take_sent_kit_from_stock(order)

    assert stock_of(kit) == (2, 10)


def test_a_walk_in_order_takes_no_kit(kit, alice_tenant):
    make_kit_stock(panel=kit, count=3)
    order = make_order(tenant=alice_tenant)

    order.lab_test = kit
    order.status = "completed.walk_in_test.completed"
    store_order_event(order, ACTOR)
    take_sent_kit_from_stock(order)

    assert stock_of(kit) == (3, 10)


@pytest.mark.django_db(transaction=True)
def test_a_number_entered_while_a_kit_is_sent_is_not_lost_nor_wins(kit):
    """The entry waits for the kit, then finds that its number is old."""
    make_kit_stock(panel=kit, count=3)
    order = make_order(tenant=kit.tenant, lab_test=kit)
    send(order, "requisition_created")

    def enter():
        try:
            set_stock(kit, (30, 10, 3))
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()
        return "entered"

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            send(order, "transit_customer")
            entering = pool.submit(enter)
            wait_until_blocked()
        outcome = entering.result(timeout=30)

    assert (outcome, stock_of(kit)) == ("kit_stock_changed", (2, 10))


def test_a_refused_step_leaves_the_stock(kit, alice_tenant):
    make_kit_stock(panel=kit, count=3)
    order = make_order(tenant=alice_tenant, lab_test=kit)

    with pytest.raises(DomainError):
        send(order, "transit_customer")

    assert stock_of(kit) == (3, 10)
