from __future__ import annotations

from uuid import uuid4

from django.db import connection, transaction

from labs.models import Order, OrderCount
from labs.operations.orders.order_counts import fold_order_counts
from labs.queries.orders.order_counts import OrderKind, fetch_order_counts
from labs.queries.orders.orders import count_orders_of_live_users
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_test, make_order
from tests.factories.users import make_user
from users.operations.users.users import delete_user, undo_delete_user

KIT = OrderKind("received.testkit.ordered", "testkit")
LOST = OrderKind("failed.testkit.lost", "testkit")


def counted(tenant):
    """By triggers, which must say what counting says."""
    found = {kind: n for kind, n in fetch_order_counts(tenant=tenant).items() if n}
    truth: dict[OrderKind, int] = {}
    live = Order.objects.for_tenant(tenant).live()
    for kind in live.values_list("status", "method"):
        truth[OrderKind(*kind)] = truth.get(OrderKind(*kind), 0) + 1
    assert found == truth
    assert count_orders_of_live_users(tenant=tenant) == sum(truth.values())
    return found


def test_every_way_to_change_orders_changes_their_counts(alice_tenant, charlie_tenant):
    panel = make_lab_test(tenant=alice_tenant, method="testkit")
    user = make_user(tenant=alice_tenant, client_user_id="a")
    kept = make_user(tenant=alice_tenant, client_user_id="b")
    one, _, three = (
        make_order(tenant=alice_tenant, user=person, lab_test=panel)
        for person in (user, user, kept)
    )
    make_order(tenant=charlie_tenant)
    assert counted(alice_tenant) == {KIT: 3}

    mine = Order.objects.for_tenant(alice_tenant)
    mine.filter(pk=one.pk).update(status=LOST.status)
    mine.filter(pk=one.pk).update(comments="no other kind")
    assert counted(alice_tenant) == {KIT: 2, LOST: 1}

    delete_user(user=user, actor=ACTOR)
    assert counted(alice_tenant) == {KIT: 1}
    mine.filter(pk=one.pk).update(status=KIT.status)
    undo_delete_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)
    assert counted(alice_tenant) == {KIT: 3}

    copies = list(mine.filter(pk=three.pk))
    for copy in copies:
        copy.pk, copy.sample_id = uuid4(), ""
    Order.objects.for_tenant(alice_tenant).bulk_create(copies)
    with transaction.atomic():
        mine.filter(pk=three.pk).update(status=LOST.status)
        transaction.set_rollback(True)
    assert counted(alice_tenant) == {KIT: 4}

    before = OrderCount.objects.for_tenant(alice_tenant).count()
    fold_order_counts()
    assert before > OrderCount.objects.for_tenant(alice_tenant).count() == 1
    assert counted(alice_tenant) == {KIT: 4}
    assert len(counted(charlie_tenant)) == 1

    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM labs_orderevent WHERE order_id = ANY(%s)", [[copies[0].pk]]
        )
        cursor.execute("DELETE FROM labs_order WHERE id = ANY(%s)", [[copies[0].pk]])
    assert counted(alice_tenant) == {KIT: 3}
