"""Results of orders that ended without them, such as a lost kit that was found."""

from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from labs.models import CriticalAlert, InboundReport, Order, OrderEvent
from labs.operations.inbound.matching import list_candidate_orders_for_lab_report
from labs.operations.inbound.review import (
    add_lab_report_to_ended_order,
    match_lab_report_manually,
    parse_stored_lab_report,
)
from labs.operations.order_status.status import advance_order
from labs.operations.orders.kits import KitRequest, order_kit
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.recreations import RecreationRequest, recreate_order
from labs.operations.orders.replacements import replace_kit
from labs.queries.results.results import (
    find_current_result_version,
    list_results_of_version,
)
from labs.states.orders import UpdateReason
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import take
from tests.factories.labs import (
    ADDRESS,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)
from tests.factories.users import make_user
from tests.labs.holdings import refused
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db
SHIPPING = {**ADDRESS, "receiver_name": "Ada Example", "phone_number": "+15550101"}
WHY = "The lab confirms that the sample is of this order."


@pytest.fixture
def panel(alice_production):
    lab = make_lab(tenant=alice_production)
    make_lab_account(tenant=alice_production, lab=lab)
    marker = make_marker(lab=lab, provider_id="2345")
    return make_lab_test(
        tenant=alice_production, lab=lab, markers=(marker,), method="testkit"
    )


def make_sent_kit(tenant, panel):
    order = make_order(tenant=tenant, lab_test=panel)
    advance_order(
        order=order,
        actor=ACTOR,
        to="requisition_created",
        changes={"sample_id": f"AS{order.pk.hex[:10].upper()}"},
    )
    return order


def lose(order):
    for low in ("transit_customer", "lost"):
        advance_order(order=order, actor=ACTOR, to=low)
    return order


def report_of(order, value="91", flag="N", control_id="C1"):
    raw = make_oru(
        make_test(obx(value, flag=flag), placer=order.sample_id), control_id=control_id
    )
    message = take(order.tenant, raw, lab=order.lab, account=order.lab_account)
    row = message.reports.get()
    row.tenant = order.tenant
    return row


def lows(order):
    rows = OrderEvent.objects.for_tenant(order.tenant).filter(order=order)
    return [row.status.split(".")[2] for row in rows.order_by("pk")]


def values(order):
    version = find_current_result_version(order=order)
    return [row.result for row in list_results_of_version(version)] if version else None


def candidates(row):
    found = list_candidate_orders_for_lab_report(
        tenant=row.tenant,
        lab=row.message.lab,
        account=row.message.lab_account,
        report=parse_stored_lab_report(row),
    )
    return {one.order.pk for one in found}


def test_results_of_a_lost_kit_wait_and_name_the_kit_that_replaced_it(
    alice_production, panel
):
    lost = lose(make_sent_kit(alice_production, panel))
    again = replace_kit(order=lost, actor=ACTOR)

    row = report_of(lost)

    assert (row.status, row.reason) == ("unmatched", "not_expected")
    assert candidates(row) == {lost.pk, again.pk}
    assert values(lost) is values(again) is None


def test_a_kit_that_is_not_registered_yet_is_named_by_the_one_it_replaces(
    alice_production, panel
):
    request = KitRequest(
        user_id=make_user(tenant=alice_production).uuid,
        lab_test_id=panel.pk,
        shipping_address=SHIPPING,
    )
    kit = order_kit(tenant=alice_production, actor=ACTOR, request=request)
    lost = lose(kit)
    again = replace_kit(order=lost, actor=ACTOR)

    row = report_of(lost)

    assert candidates(row) == {lost.pk, again.pk}
    with refused(alice_production, "no_person"):
        match_lab_report_manually(report=row, actor=ACTOR, order_id=again.pk, why=WHY)
    with refused(alice_production, "no_person"):
        add_lab_report_to_ended_order(
            report=row, actor=ACTOR, order_id=lost.pk, why=WHY
        )


def test_results_of_a_lost_kit_complete_the_kit_that_replaced_it(
    alice_production, panel
):
    lost = lose(make_sent_kit(alice_production, panel))
    again = replace_kit(order=lost, actor=ACTOR)
    advance_order(order=again, actor=ACTOR, to="requisition_created")
    before = lows(lost)

    match_lab_report_manually(
        report=report_of(lost), actor=ACTOR, order_id=again.pk, why=WHY
    )

    assert (values(lost), values(again)) == (None, ["91"])
    assert lows(lost) == before
    assert lows(again)[-2:] == ["delivered_to_lab", "completed"]


def test_results_of_a_recreated_order_are_matched_to_the_new_one(
    alice_production, panel
):
    old = make_sent_kit(alice_production, panel)
    new = recreate_order(
        order=old, actor=ACTOR, recreation=RecreationRequest(reason=UpdateReason.OTHER)
    )
    advance_order(order=new, actor=ACTOR, to="requisition_created")
    row = report_of(old)
    assert (row.status, candidates(row)) == ("unmatched", {old.pk, new.pk})

    match_lab_report_manually(report=row, actor=ACTOR, order_id=new.pk, why=WHY)

    assert (values(old), values(new)) == (None, ["91"])
    assert lows(old)[-1] == "cancelled"


@pytest.mark.parametrize("end", ["lost", "cancelled"])
def test_results_are_added_to_the_ended_order_they_are_of(alice_production, panel, end):
    order = make_sent_kit(alice_production, panel)
    if end == "lost":
        lose(order)
    else:
        order = cancel_order(order=order, actor=ACTOR)
    order.tenant = alice_production
    history, sent = lows(order), emitted_types(alice_production)
    row = report_of(order, flag="HH")
    (alert,) = CriticalAlert.objects.for_tenant(alice_production)
    assert (values(order), alert.order_id) == (None, None)

    added = add_lab_report_to_ended_order(
        report=row, actor=ACTOR, order_id=order.pk, why=WHY
    )

    kept = Order.objects.for_tenant(alice_production).get(pk=order.pk)
    entry = AuditEntry.objects.for_tenant(alice_production).get(
        verb="add_report_to_ended_order"
    )
    alert.refresh_from_db()
    assert (added.status, added.order_id, added.why) == ("matched", order.pk, WHY)
    assert values(order) == ["91"]
    assert (kept.status.split(".")[2], lows(order)) == (end, history)
    assert emitted_types(alice_production)[len(sent) :] == [
        "labtest.match_review.created",
        "labtest.order_tracking.updated",
        "labtest.order.updated",
        "labtest.result.critical",
        "labtest.match_review.updated",
    ]
    assert alert.order_id == order.pk
    assert entry.changes == {"order": [None, str(order.pk)]}
    assert (entry.actor_label, entry.user_uuid) == (ACTOR.label, order.user.uuid)


def test_a_correction_of_results_that_were_added_waits_for_a_person_too(
    alice_production, panel
):
    lost = lose(make_sent_kit(alice_production, panel))
    add_lab_report_to_ended_order(
        report=report_of(lost), actor=ACTOR, order_id=lost.pk, why=WHY
    )

    corrected = report_of(lost, value="95", control_id="C2")
    waiting = (corrected.status, corrected.reason)
    add_lab_report_to_ended_order(
        report=corrected, actor=ACTOR, order_id=lost.pk, why=WHY
    )

    version = find_current_result_version(order=lost)
    assert waiting == ("unmatched", "not_expected")
    assert (version.number, version.is_correction) == (2, True)
    assert values(lost) == ["95"]
    assert lows(lost)[-1] == "lost"


def test_results_are_added_to_an_ended_order_of_the_lab_once_and_with_a_reason(
    alice_production, charlie_tenant, panel
):
    lost = lose(make_sent_kit(alice_production, panel))
    going = make_sent_kit(alice_production, panel)
    row = report_of(lost)

    def add(**told):
        add_lab_report_to_ended_order(
            **{"report": row, "actor": ACTOR, "order_id": lost.pk, "why": WHY} | told
        )

    elsewhere = cancel_order(order=make_order(tenant=alice_production), actor=ACTOR)
    theirs = cancel_order(order=make_order(tenant=charlie_tenant), actor=ACTOR)
    for code, told in (
        ("why_missing", {"why": " "}),
        ("why_too_long", {"why": "x" * 501}),
        ("order_not_ended", {"order_id": going.pk}),
        ("other_lab", {"order_id": elsewhere.pk}),
        ("order_not_found", {"order_id": theirs.pk}),
    ):
        with refused(alice_production, code):
            add(**told)
    assert InboundReport.objects.for_tenant(alice_production).get().status == (
        "unmatched"
    )

    add()
    with refused(alice_production, "transition_not_allowed"):
        add()
