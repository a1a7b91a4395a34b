from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from labs.models import LabTest, Order, OrderTransaction
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.order_status.status import advance_order
from labs.operations.orders.kits import KitRequest, order_kit
from labs.operations.orders.recreations import (
    RecreationRequest,
    preview_recreation,
    recreate_order,
)
from labs.queries.orders.orders import get_order_with_details
from labs.states.accounts import LabAccountStatus
from labs.states.catalogue import CollectionMethod, LabTestStatus
from labs.states.orders import UpdateReason
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)
from tests.factories.users import make_user
from tests.labs.holdings import holdings, refused
from tests.outbox import emitted, emitted_types

pytestmark = pytest.mark.django_db


def place(tenant, panel, **wanted):
    return make_order(tenant=tenant, lab_test=panel, **wanted)


def statuses(order):
    kept = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    return [event.status for event in kept.events.all()]


def test_an_order_of_the_wrong_lab_gets_a_fresh_account(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    wrong = make_lab_account(tenant=alice_tenant, lab=panel.lab)
    order = place(alice_tenant, panel, comments="Keep me")
    right = make_lab_account(tenant=alice_tenant, lab=panel.lab)

    new = recreate_order(
        order=order,
        actor=ACTOR,
        recreation=RecreationRequest(reason=UpdateReason.INCORRECT_LAB),
    )

    assert order.lab_account == wrong
    assert (new.lab_account, new.account_reason) == (right, "other_active")
    assert (new.parent_id, new.origin) == (order.pk, "recreation")
    assert (new.update_reason, new.comments) == ("INCORRECT_LAB", "Keep me")
    assert new.transaction_id == order.transaction_id
    assert OrderTransaction.objects.for_tenant(alice_tenant).count() == 1
    assert statuses(order)[-1] == "cancelled.walk_in_test.cancelled"
    assert emitted_types(alice_tenant)[-2:] == [
        "labtest.order.updated",
        "labtest.order.created",
    ]
    assert emitted(alice_tenant)[-2]["data"]["id"] == str(order.pk)


def test_without_another_account_the_wrong_one_is_still_not_carried_over(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    wrong = make_lab_account(tenant=alice_tenant, lab=panel.lab)
    order = place(alice_tenant, panel)

    with refused(alice_tenant, "lab_account_incorrect"):
        recreate_order(
            order=order,
            actor=ACTOR,
            recreation=RecreationRequest(
                reason=UpdateReason.INCORRECT_LAB, lab_account_id=wrong.pk
            ),
        )
    new = recreate_order(
        order=order,
        actor=ACTOR,
        recreation=RecreationRequest(reason=UpdateReason.INCORRECT_LAB),
    )

    assert (new.lab_account, new.account_reason) == (None, "platform_instead")


def test_only_inactive_others_stop_a_recreation(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    make_lab_account(tenant=alice_tenant, lab=panel.lab)
    order = place(alice_tenant, panel)
    make_lab_account(
        tenant=alice_tenant, lab=panel.lab, status=LabAccountStatus.SUSPENDED
    )

    with refused(alice_tenant, "lab_account_not_active"):
        recreate_order(
            order=order,
            actor=ACTOR,
            recreation=RecreationRequest(reason=UpdateReason.INCORRECT_LAB),
        )


def test_any_other_reason_keeps_the_account_and_changes_what_is_given(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=panel.lab)
    order = place(alice_tenant, panel)
    make_lab_account(tenant=alice_tenant, lab=panel.lab)
    details = {**PATIENT, "last_name": "Sample"}

    new = recreate_order(
        order=order,
        actor=ACTOR,
        recreation=RecreationRequest(
            reason=UpdateReason.INCORRECT_PATIENT_DETAILS, patient_details=details
        ),
    )

    assert (new.lab_account, new.account_reason) == (account, "carried_over")
    assert new.patient_details == details
    assert new.patient_name == "Ada Sample"


def test_another_lab_resolves_an_account_anew(alice_tenant):
    order = place(alice_tenant, make_lab_test(tenant=alice_tenant))
    other = make_lab_test(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=other.lab)

    new = recreate_order(
        order=order,
        actor=ACTOR,
        recreation=RecreationRequest(
            reason=UpdateReason.INCORRECT_TEST,
            order_set=OrderSet(lab_test_ids=(other.pk,)),
        ),
    )

    assert (new.lab, new.lab_account) == (other.lab, account)


def test_a_panel_archived_since_may_be_recreated_and_processed(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    order = place(alice_tenant, panel)
    LabTest.objects.for_tenant(alice_tenant).update(status=LabTestStatus.INACTIVE)

    new = recreate_order(
        order=order,
        actor=ACTOR,
        recreation=RecreationRequest(reason=UpdateReason.OTHER),
    )
    advance_order(order=new, actor=ACTOR, to="requisition_created")

    assert new.lab_test == panel
    assert statuses(new)[-1] == "received.walk_in_test.requisition_created"


def test_an_order_past_cancelling_is_not_recreated(alice_tenant):
    order = place(alice_tenant, make_lab_test(tenant=alice_tenant))
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    advance_order(order=order, actor=ACTOR, to="completed")

    with refused(alice_tenant, "order_not_cancellable"):
        recreate_order(
            order=order,
            actor=ACTOR,
            recreation=RecreationRequest(reason=UpdateReason.OTHER),
        )


def test_a_preview_says_what_a_recreation_does_and_writes_nothing(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    make_lab_account(tenant=alice_tenant, lab=panel.lab)
    order = place(alice_tenant, panel, comments="Keep me")
    right = make_lab_account(tenant=alice_tenant, lab=panel.lab)
    before = holdings(alice_tenant)

    plan = preview_recreation(
        order=order, recreation=RecreationRequest(reason=UpdateReason.INCORRECT_LAB)
    )

    assert (plan.account.account, plan.account.reason) == (right, "other_active")
    assert plan.resolved.panels == (panel,)
    assert plan.request.comments == "Keep me"
    assert holdings(alice_tenant) == before


def test_a_kit_that_nobody_is_registered_to_is_not_recreated(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)
    kit = order_kit(
        tenant=alice_tenant,
        actor=ACTOR,
        request=KitRequest(
            user_id=make_user(tenant=alice_tenant).uuid,
            lab_test_id=panel.pk,
            shipping_address={**ADDRESS, "receiver_name": "Ada Example"},
        ),
    )

    with refused(alice_tenant, "kit_not_registered"):
        recreate_order(
            order=kit,
            actor=ACTOR,
            recreation=RecreationRequest(reason=UpdateReason.OTHER),
        )


def test_answers_to_what_the_new_tests_do_not_ask_stay_behind(alice_tenant):
    first = make_lab_test(tenant=alice_tenant)
    shared = first.markers.get()
    question = {
        "id": 7,
        "code": "weight",
        "required": True,
        "type": "numeric",
        "value": "Weight?",
        "answers": [],
    }
    shared.aoe_questions = [question]
    gone = make_marker(lab=first.lab, aoe_questions=[{**question, "id": 8}])
    shared.save()
    first.markers.add(gone)
    items = [
        {"marker_id": shared.pk, "question_id": 7, "answer": "70"},
        {"marker_id": gone.pk, "question_id": 8, "answer": "80"},
    ]
    order = place(alice_tenant, first, aoe_answers=tuple(items))
    other = make_lab_test(tenant=alice_tenant, lab=first.lab, markers=(shared,))

    new = recreate_order(
        order=order,
        actor=ACTOR,
        recreation=RecreationRequest(
            reason=UpdateReason.INCORRECT_TEST,
            order_set=OrderSet(lab_test_ids=(other.pk,)),
        ),
    )

    assert new.aoe_answers == items[:1]


@pytest.mark.django_db(transaction=True)
def test_of_racing_recreations_one_is_made(alice_tenant):
    order = make_order(tenant=alice_tenant)

    def recreate(_):
        try:
            mine = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
            recreate_order(
                order=mine,
                actor=ACTOR,
                recreation=RecreationRequest(reason=UpdateReason.OTHER),
            )
            return "recreated"
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(recreate, range(4)))

    assert sorted(answers) == ["order_not_cancellable"] * 3 + ["recreated"]
    assert Order.objects.for_tenant(alice_tenant).count() == 2
