from __future__ import annotations

from io import BytesIO
from uuid import uuid4

import pikepdf
import pytest
from django.test import Client
from django.urls import reverse

from accounts.states import Role
from labs.models import Order
from labs.operations.documents.order_documents import (
    render_requisition_as_first_printed,
)
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.orders import get_order_with_details
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.labs import make_order
from tests.factories.users import make_user
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="mbr_1")
    return [make_order(tenant=alice_tenant, user=user) for _ in range(3)]


def url(tenant):
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse("labs:bulk_orders", kwargs=place)


def statuses(tenant):
    rows = Order.objects.for_tenant(tenant).order_by("created_at", "pk")
    return [order.status_parts.low for order in rows]


def test_a_plan_says_what_happens_to_which_and_each_is_done_by_itself(
    alice_web, alice_tenant, charlie_tenant, orders
):
    ended, changing, fine = orders
    stranger = make_order(tenant=charlie_tenant, user=make_user(tenant=charlie_tenant))
    cancel_order(order=ended, actor=ACTOR)
    chosen = [str(one.pk) for one in (*orders, stranger)] + ["x", str(uuid4())]
    before = emitted_types(alice_tenant)

    plan = alice_web.get(url(alice_tenant), {"action": "cancel", "order": chosen})

    doing = {each.row.pk for each in plan.context["doing"]}
    assert doing == {changing.pk, fine.pk}
    (skipped,) = plan.context["skipping"]
    assert (skipped.row.pk, bool(skipped.skips)) == (ended.pk, True)
    assert emitted_types(alice_tenant) == before
    assert audited(alice_tenant)[-1] == ("read", "order_list", "selected=3")

    # One is cancelled by another member between the plan and the press.
    cancel_order(order=changing, actor=ACTOR)
    alice_web.post(url(alice_tenant), {"action": "cancel", "order": chosen})

    assert statuses(alice_tenant) == ["cancelled"] * 3
    assert emitted_types(alice_tenant).count("labtest.order.updated") == 3
    assert statuses(charlie_tenant) == ["ordered"]


def test_last_events_are_resent_for_each_chosen_order(alice_web, alice_tenant, orders):
    before = len(emitted_types(alice_tenant))
    chosen = [str(one.pk) for one in orders[:2]]

    reply = alice_web.post(url(alice_tenant), {"action": "resend", "order": chosen})

    assert reply["Location"].endswith("/orders/")
    assert len(emitted_types(alice_tenant)) == before + 2
    assert [line[0] for line in audited(alice_tenant)].count("resend_order_events") == 2


def test_requisitions_are_printed_as_one_file_and_each_is_a_read(
    alice_web, alice_team, alice_tenant, orders
):
    for order in orders[:2]:
        create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)
    sent = {"action": "print", "order": [str(one.pk) for one in orders]}
    operator = Client()
    operator.force_login(make_member(team=alice_team, roles=(Role.DEVELOPER,)))

    plan = alice_web.get(url(alice_tenant), sent)
    reply = alice_web.post(url(alice_tenant), sent)

    assert [each.row.pk for each in plan.context["skipping"]] == [orders[2].pk]
    assert reply["Content-Type"] == "application/pdf"
    single = render_requisition_as_first_printed(
        get_order_with_details(tenant=alice_tenant, order_id=orders[0].pk)
    )
    with (
        pikepdf.open(BytesIO(single.body)) as one,
        pikepdf.open(BytesIO(reply.content)) as merged,
    ):
        assert len(merged.pages) == 2 * len(one.pages)
    reads = [
        line for line in audited(alice_tenant) if line[:2] == ("read", "requisition")
    ]
    assert {line[2] for line in reads} == {str(one.pk) for one in orders[:2]}
    before = audited(alice_tenant)
    assert operator.post(url(alice_tenant), sent).status_code == 403
    assert audited(alice_tenant) == before


def test_an_unknown_action_and_who_may_not_change_orders_change_nothing(
    alice_web, alice_team, alice_tenant, orders
):
    viewer = Client()
    viewer.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))
    sent = {"action": "cancel", "order": [str(one.pk) for one in orders]}
    before = emitted_types(alice_tenant)

    assert viewer.post(url(alice_tenant), sent).status_code == 403
    assert (
        'id="bulk"'
        not in viewer.get(
            url(alice_tenant).replace("selected/", ""), {"view": "all"}
        ).content.decode()
    )
    assert alice_web.post(url(alice_tenant), {**sent, "action": "x"}).status_code == 302

    assert statuses(alice_tenant) == ["ordered"] * 3
    assert emitted_types(alice_tenant) == before
    page = alice_web.get(url(alice_tenant).replace("selected/", ""), {"view": "all"})
    assert page.content.decode().count('form="bulk"') == 3
