from __future__ import annotations

import threading
from datetime import date, timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from accounts.models import Membership
from accounts.states import Role
from labs.models import LabAccount, Order, OrderApproval
from labs.operations.documents.order_documents import (
    render_requisition_as_first_printed,
)
from labs.operations.order_status.status import advance_order
from labs.operations.orders.approvals import SeenOrder, approve_orders, refuse_orders
from labs.operations.orders.placing import import_order
from labs.operations.orders.recreations import RecreationRequest, recreate_order
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.approvals import list_waiting_approvals
from labs.queries.orders.orders import get_order_with_details
from labs.states.orders import UpdateReason
from portal.lib.errors import DomainError, NotAllowed
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    ADDRESS,
    PHYSICIAN,
    make_lab_test,
    make_order,
    order_request,
    set_up_production,
)
from tests.factories.physicians import actor_of, make_physician, require_approval
from tests.factories.users import make_user
from tests.jobs import queued
from tests.labs.holdings import refused
from tests.labs.printed import pages_of

NOW = timezone.now
SECOND = "1245319599"


def seen(order):
    return SeenOrder(order.pk, order.updated_at)


def approve(physician, *orders):
    return approve_orders(
        tenant=physician.tenant,
        actor=actor_of(physician.member),
        seen=[seen(order) for order in orders],
        confirmed_at=NOW(),
    )


def refuse(physician, *orders, reason="Not indicated"):
    return refuse_orders(
        tenant=physician.tenant,
        actor=actor_of(physician.member),
        seen=[seen(order) for order in orders],
        reason=reason,
        confirmed_at=NOW(),
    )


def codes(outcomes):
    return [one.refusal and one.refusal.code for one in outcomes]


def is_refused(tenant, code, **wanted):
    panel = make_lab_test(tenant=tenant)
    set_up_production(tenant=tenant, lab=panel.lab)
    user = make_user(tenant=tenant)
    with refused(tenant, code):
        make_order(tenant=tenant, user=user, lab_test=panel, **wanted)


def requisitions():
    return [job.inputs["order_id"] for job in queued() if "requisition" in job.name]


@pytest.fixture
def vera(alice_production):
    require_approval(alice_production)
    return make_physician(tenant=alice_production)


@pytest.fixture
def waiting(alice_production, vera):
    return make_order(tenant=alice_production, physician=None)


def read(order):
    return get_order_with_details(tenant=order.tenant, order_id=order.pk)


@pytest.mark.django_db
def test_an_order_waits_and_goes_to_the_lab_with_its_approver(waiting, vera):
    assert requisitions() == []
    create_requisition(tenant=waiting.tenant, actor=ACTOR, order_id=waiting.pk)
    with pytest.raises(DomainError) as held:
        advance_order(order=waiting, actor=ACTOR, to="requisition_created")
    assert held.value.code == "order_not_approved"
    assert read(waiting).status == "received.walk_in_test.ordered"

    assert codes(approve(vera, waiting)) == [None]

    assert requisitions() == [str(waiting.pk)]
    create_requisition(tenant=waiting.tenant, actor=ACTOR, order_id=waiting.pk)
    order = read(waiting)
    assert order.status == "received.walk_in_test.requisition_created"
    assert {k: order.physician[k] for k in PHYSICIAN} == PHYSICIAN
    [text] = pages_of(render_requisition_as_first_printed(order).body)
    assert "Vera Example" in text
    assert "1234567893" in text
    assert "Account physician" not in text
    approval = OrderApproval.objects.for_tenant(order.tenant).get()
    assert (approval.status, approval.physician, approval.asked) == (
        "approved",
        vera,
        None,
    )
    assert ("approve_order", "order", str(order.pk)) in audited(order.tenant)


@pytest.mark.django_db
def test_a_refused_order_is_cancelled_with_its_reason(waiting, vera):
    assert codes(refuse(vera, waiting, reason=" Repeat of last week ")) == [None]

    order = read(waiting)
    assert order.status == "cancelled.walk_in_test.cancelled"
    assert order.events.last().why == "Repeat of last week"
    assert order.physician is None
    assert requisitions() == []
    assert codes(approve(vera, order)) == ["approval_decided"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reason", "code"), [("  ", "reason_missing"), ("x" * 201, "reason_too_long")]
)
def test_a_refusal_needs_its_reason(waiting, vera, reason, code):
    with refused(waiting.tenant, code):
        refuse(vera, waiting, reason=reason)


@pytest.mark.django_db
def test_one_of_many_that_changed_meanwhile_holds_up_no_other(waiting, vera):
    other = make_order(tenant=waiting.tenant, physician=None)
    Order.objects.for_tenant(waiting.tenant).filter(pk=other.pk).update(
        updated_at=other.updated_at + timedelta(seconds=1)
    )

    assert codes(approve(vera, waiting, other)) == [None, "order_changed"]

    assert requisitions() == [str(waiting.pk)]
    assert read(other).physician is None


@pytest.mark.django_db
def test_who_lost_the_role_or_never_had_it_decides_nothing(waiting, vera, alice):
    for member in (vera.member, alice):
        Membership.objects.filter(member=member).update(roles=[Role.OWNER])
        with pytest.raises(NotAllowed) as refusal:
            approve_orders(
                tenant=waiting.tenant,
                actor=actor_of(member),
                seen=[seen(waiting)],
                confirmed_at=NOW(),
            )
        assert refusal.value.code == "not_a_physician"
    assert requisitions() == []


@pytest.mark.django_db
def test_without_a_signature_nothing_is_approved(waiting, vera):
    vera.signature = b""
    vera.save()

    with refused(waiting.tenant, "signature_missing"):
        approve(vera, waiting)


@pytest.mark.django_db
def test_a_license_of_another_state_approves_nothing(alice_production, waiting):
    nora = make_physician(
        tenant=alice_production, npi=SECOND, name="Nora Example", states=("NM",)
    )

    assert list_waiting_approvals(tenant=alice_production, physician=nora) == []
    assert codes(approve(nora, waiting)) == ["approval_not_found"]
    is_refused(
        alice_production,
        "physician_required",
        physician=None,
        patient_address={**ADDRESS, "state": "TX"},
    )


@pytest.mark.django_db
def test_the_named_physician_is_asked_and_their_stand_in_while_they_are_away(
    alice_production, vera
):
    nora = make_physician(tenant=alice_production, npi=SECOND, name="Nora Example")
    signed = {"signature_image": {"content": "aGk=", "content_type": "image/png"}}
    order = make_order(tenant=alice_production, physician={**PHYSICIAN, **signed})
    assert "signature_image" not in read(order).physician
    assert codes(approve(nora, order)) == ["approval_not_found"]

    make_physician(
        tenant=alice_production,
        member=vera.member,
        stand_in_id=nora.pk,
        away_from=date(2026, 11, 23),
        away_until=date(2026, 11, 25),
    )
    with time_machine.travel("2026-11-26T00:00:00Z", tick=False):
        assert codes(approve(nora, order)) == ["approval_not_found"]
    with time_machine.travel("2026-11-25T23:59:00Z", tick=False):
        assert codes(approve(nora, order)) == [None]

    assert read(order).physician["npi"] == SECOND


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("named", "code"),
    [
        ({**PHYSICIAN, "npi": "1987654328"}, "physician_not_registered"),
        ({**PHYSICIAN, "npi": "1234567890"}, "npi_invalid"),
        ({**PHYSICIAN, "npi": SECOND}, "physician_not_licensed"),
    ],
)
def test_a_named_physician_is_one_of_the_team_with_a_license(
    alice_production, vera, named, code
):
    make_physician(tenant=alice_production, npi=SECOND, states=("NM",))

    is_refused(alice_production, code, physician=named)


@pytest.mark.django_db
def test_an_account_that_leaves_ordering_to_the_team_needs_a_named_one(
    alice_production, vera
):
    panel = make_lab_test(tenant=alice_production)
    account = set_up_production(tenant=alice_production, lab=panel.lab)
    LabAccount.unscoped.filter(pk=account.pk).update(delegated_flow="order_delegated")

    user = make_user(tenant=alice_production)

    with refused(alice_production, "physician_missing"):
        make_order(tenant=alice_production, user=user, lab_test=panel, physician=None)


@pytest.mark.django_db
def test_a_recreated_order_is_approved_anew_and_an_imported_one_never(waiting, vera):
    approve(vera, waiting)
    recreated = recreate_order(
        order=read(waiting),
        actor=ACTOR,
        recreation=RecreationRequest(reason=UpdateReason.OTHER),
    )
    user = make_user(tenant=waiting.tenant)
    imported = import_order(
        tenant=waiting.tenant,
        actor=ACTOR,
        request=order_request(
            user=user, panels=(waiting.lab_test,), physician=PHYSICIAN
        ),
        sample_id="S-1",
    )

    [one] = list_waiting_approvals(tenant=waiting.tenant, physician=vera)
    assert (one.order_id, one.asked) == (recreated.pk, vera)
    assert imported.status == "received.walk_in_test.requisition_bypassed"


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_one_does(alice_production):
    require_approval(alice_production)
    vera = make_physician(tenant=alice_production)
    nora = make_physician(tenant=alice_production, npi=SECOND, name="Nora Example")
    order = make_order(tenant=alice_production, physician=None)
    start, found = threading.Barrier(2), {}

    def run(name, decide):
        try:
            start.wait()
            found[name] = codes(decide())
        finally:
            connection.close()

    threads = [
        threading.Thread(target=run, args=("vera", lambda: approve(vera, order))),
        threading.Thread(target=run, args=("nora", lambda: refuse(nora, order))),
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(found.values(), key=str) == [["approval_decided"], [None]]
    is_approved = found["vera"] == [None]
    assert requisitions() == ([str(order.pk)] if is_approved else [])
    assert read(order).status_parts.low == ("ordered" if is_approved else "cancelled")
