from __future__ import annotations

from dataclasses import replace
from datetime import date
from uuid import uuid4

import pytest
import time_machine

from labs.models import Order
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.order_status.status import advance_order
from labs.operations.orders.placing import (
    cancel_order,
    change_start_date,
    import_order,
    place_order,
    preview_order,
    record_sample_drawn,
)
from labs.operations.orders.plans import OrderRequest
from labs.operations.orders.requisitions import REQUISITION_JOB
from labs.queries.orders.orders import get_order_with_details
from labs.states.accounts import LabAccountStatus
from labs.states.catalogue import CollectionMethod
from labs.states.orders import CANCELLABLE, ORDER_STATUSES
from portal.lib.errors import Invalid
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_order,
    order_request,
)
from tests.factories.users import make_user
from tests.jobs import queued
from tests.labs.holdings import holdings, refused
from tests.outbox import emitted_types
from tests.statements import count_statements

pytestmark = pytest.mark.django_db

TODAY = date(2026, 3, 2)


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False):
        yield


def place(tenant, panel, **wanted):
    return make_order(tenant=tenant, lab_test=panel, **wanted)


def statuses(order):
    kept = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    return [event.status for event in kept.events.all()]


def test_a_placed_order_stands_at_ordered_and_is_told_of(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=panel.lab)

    order = place(alice_tenant, panel, comments="Fasting since midnight")

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert kept.status == "received.walk_in_test.ordered"
    assert (kept.lab_account, kept.account_reason) == (account, "only_active")
    assert (kept.patient_name, kept.patient_dob) == ("Ada Example", date(1990, 5, 17))
    assert (kept.origin, kept.comments) == ("initial", "Fasting since midnight")
    assert emitted_types(alice_tenant) == ["labtest.order.created"]
    assert audited(alice_tenant)[-1] == ("place_order", "order", str(order.pk))


def test_a_sandbox_order_waits_and_a_production_order_goes_on(
    alice_tenant, alice_production
):
    place(alice_tenant, make_lab_test(tenant=alice_tenant))
    assert queued() == []

    order = place(alice_production, make_lab_test(tenant=alice_production))

    assert [(job.name, job.inputs["order_id"]) for job in queued()] == [
        (REQUISITION_JOB, str(order.pk))
    ]


def test_a_scheduled_order_waits_for_its_day(alice_production):
    panel = make_lab_test(tenant=alice_production)

    place(alice_production, panel, activate_by=date(2026, 3, 9))
    later = queued()
    place(alice_production, panel, activate_by=TODAY)

    assert later == []
    assert len(queued()) == 1


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"comments": "x" * 1001}, "comments_too_long"),
        ({"activate_by": date(2026, 3, 1)}, "activate_by_past"),
        ({"billing_type": "commercial_insurance"}, "billing_not_allowed"),
        ({"patient_address": {**ADDRESS, "state": "NY"}}, "billing_not_allowed"),
        ({"patient_details": {**PATIENT, "dob": "2015-01-01"}}, "minor_not_allowed"),
        ({"lab_account_id": uuid4()}, "lab_account_not_found"),
        ({"order_set": OrderSet()}, "order_set_empty"),
        (
            {"aoe_answers": ({"marker_id": 1, "question_id": 1, "answer": "a"},)},
            "aoe_answer_unknown",
        ),
    ],
)
def test_a_bad_order_is_refused(alice_tenant, wanted, code):
    panel = make_lab_test(tenant=alice_tenant)
    make_lab_account(
        tenant=alice_tenant, lab=panel.lab, allowed_billing={"client_bill": ["AZ"]}
    )
    user = make_user(tenant=alice_tenant)

    with refused(alice_tenant, code) as caught:
        place_order(
            tenant=alice_tenant,
            actor=ACTOR,
            request=order_request(user=user, panels=(panel,), **wanted),
        )

    assert isinstance(caught.value, Invalid) == (code == "comments_too_long")


def test_an_order_wrong_in_several_ways_is_refused_for_the_first(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    account = make_lab_account(
        tenant=alice_tenant,
        lab=panel.lab,
        allowed_billing={"commercial_insurance": ["AZ"]},
    )
    suspended = make_lab_account(
        tenant=alice_tenant, lab=panel.lab, status=LabAccountStatus.SUSPENDED
    )
    answer = {"marker_id": 1, "question_id": 1, "answer": "a"}
    # What is wrong, by the code that refuses it and the value that mends it.
    mends = {
        "user_not_found": {"user_id": make_user(tenant=alice_tenant).uuid},
        "comments_too_long": {"comments": ""},
        "lab_account_not_found": {"lab_account_id": suspended.pk},
        "order_set_empty": {"order_set": OrderSet(lab_test_ids=(panel.pk,))},
        "lab_account_not_active": {"lab_account_id": account.pk},
        "billing_not_allowed": {"billing_type": "commercial_insurance"},
        "activate_by_past": {"activate_by": TODAY},
        "health_insurance_missing": {"health_insurance": {"member_id": "H-1"}},
        "minor_not_allowed": {"patient_details": PATIENT},
        "aoe_answer_unknown": {"aoe_answers": ()},
    }
    request = OrderRequest(
        user_id=uuid4(),
        order_set=OrderSet(),
        patient_details={**PATIENT, "dob": "2015-01-01"},
        patient_address=ADDRESS,
        lab_account_id=uuid4(),
        comments="x" * 1001,
        activate_by=date(2026, 3, 1),
        aoe_answers=(answer,),
    )

    for code, mend in mends.items():
        with refused(alice_tenant, code):
            preview_order(tenant=alice_tenant, request=request)
        request = replace(request, **mend)

    assert preview_order(tenant=alice_tenant, request=request).request == request


def test_a_comment_of_1000_characters_is_taken(alice_tenant):
    order = place(alice_tenant, make_lab_test(tenant=alice_tenant), comments="x" * 1000)

    assert (
        Order.objects.for_tenant(alice_tenant).get(pk=order.pk).comments == "x" * 1000
    )


def test_insurance_is_needed_where_it_pays(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    user = make_user(tenant=alice_tenant)
    request = order_request(
        user=user, panels=(panel,), billing_type="commercial_insurance"
    )

    with refused(alice_tenant, "health_insurance_missing"):
        place_order(tenant=alice_tenant, actor=ACTOR, request=request)


def test_a_user_of_strangers_is_not_found(alice_tenant, charlie_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    stranger = make_user(tenant=charlie_tenant)

    with refused(alice_tenant, "user_not_found"):
        place_order(
            tenant=alice_tenant,
            actor=ACTOR,
            request=order_request(user=stranger, panels=(panel,)),
        )


@pytest.mark.parametrize("status", ["pending", "ready_to_launch", "active"])
def test_import_accepts_an_account_that_is_being_set_up(alice_tenant, status):
    panel = make_lab_test(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=panel.lab, status=status)
    user = make_user(tenant=alice_tenant)

    order = import_order(
        tenant=alice_tenant,
        actor=ACTOR,
        request=order_request(user=user, panels=(panel,)),
        sample_id="Q-1",
    )

    assert order.lab_account == account
    assert (order.sample_id, statuses(order)) == (
        "Q-1",
        [
            "received.walk_in_test.ordered",
            "received.walk_in_test.requisition_bypassed",
        ],
    )
    assert emitted_types(alice_tenant) == [
        "labtest.order.created",
        "labtest.order.updated",
    ]
    assert queued() == []


def test_import_refuses_a_suspended_account_and_a_taken_sample(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    user = make_user(tenant=alice_tenant)
    request = order_request(user=user, panels=(panel,))

    def bring(sample_id):
        import_order(
            tenant=alice_tenant, actor=ACTOR, request=request, sample_id=sample_id
        )

    bring("Q-1")
    with refused(alice_tenant, "sample_id_taken"):
        bring("Q-1")
    with refused(alice_tenant, "sample_id_missing"):
        bring("  ")
    make_lab_account(tenant=alice_tenant, lab=panel.lab, status="suspended")
    with refused(alice_tenant, "lab_account_not_active"):
        bring("Q-2")


def test_a_sample_id_is_taken_over_all_teams_of_its_lab(alice_tenant, charlie_tenant):
    lab = make_lab()
    for tenant, fits in ((alice_tenant, True), (charlie_tenant, False)):
        request = order_request(
            user=make_user(tenant=tenant),
            panels=(make_lab_test(tenant=tenant, lab=lab),),
        )
        if fits:
            import_order(tenant=tenant, actor=ACTOR, request=request, sample_id="Q-1")
        else:
            with refused(tenant, "sample_id_taken"):
                import_order(
                    tenant=tenant, actor=ACTOR, request=request, sample_id="Q-1"
                )


@pytest.mark.parametrize("status", ORDER_STATUSES)
def test_what_is_cancellable_is_cancelled_and_nothing_else(alice_tenant, status):
    method = status.split(".")[1]
    panel = make_lab_test(tenant=alice_tenant, method=method)
    order = place(alice_tenant, panel)
    registrable = status.split(".")[2] in {"awaiting_registration", "registered"}
    Order.objects.for_tenant(alice_tenant).update(
        status=status, is_registrable=registrable
    )

    if status in CANCELLABLE:
        cancel_order(order=order, actor=ACTOR, why="Moved away")
        kept = Order.objects.for_tenant(alice_tenant).get()
        assert kept.status == f"cancelled.{method}.cancelled"
        assert kept.events.last().why == "Moved away"
        assert audited(alice_tenant)[-1][0] == "cancel_order"
    else:
        with refused(alice_tenant, "order_not_cancellable"):
            cancel_order(order=order, actor=ACTOR)


def test_a_scheduled_start_moves_until_it_has_come(alice_production):
    panel = make_lab_test(tenant=alice_production)
    order = place(alice_production, panel, activate_by=date(2026, 3, 9))

    moved = change_start_date(order=order, actor=ACTOR, day=date(2026, 3, 5))
    waiting = queued()
    started = change_start_date(order=order, actor=ACTOR, day=None)

    assert (moved.activate_by, started.activate_by) == (date(2026, 3, 5), None)
    assert (waiting, len(queued())) == ([], 1)
    with refused(alice_production, "order_activated"):
        change_start_date(order=order, actor=ACTOR, day=date(2026, 3, 9))


def test_a_scheduled_start_is_not_moved_into_the_past(alice_production):
    panel = make_lab_test(tenant=alice_production)
    order = place(alice_production, panel, activate_by=date(2026, 3, 9))

    with refused(alice_production, "activate_by_past"):
        change_start_date(order=order, actor=ACTOR, day=date(2026, 3, 1))


def test_a_draw_is_completed_on_site_only(alice_tenant):
    on_site = place(
        alice_tenant,
        make_lab_test(tenant=alice_tenant, method=CollectionMethod.ON_SITE_COLLECTION),
    )
    walk_in = place(alice_tenant, make_lab_test(tenant=alice_tenant))

    with refused(alice_tenant, "transition_not_allowed"):
        record_sample_drawn(order=on_site, actor=ACTOR)
    advance_order(order=on_site, actor=ACTOR, to="requisition_created")
    record_sample_drawn(order=on_site, actor=ACTOR)

    assert statuses(on_site)[-1] == "sample_with_lab.on_site_collection.draw_completed"
    with refused(alice_tenant, "not_on_site"):
        record_sample_drawn(order=walk_in, actor=ACTOR)


def test_the_audit_names_no_patient(alice_production):
    panel = make_lab_test(tenant=alice_production)
    order = place(alice_production, panel, activate_by=date(2026, 3, 9))
    change_start_date(order=order, actor=ACTOR, day=date(2026, 3, 5))

    assert changes_of(alice_production, "place_order") == {}
    assert changes_of(alice_production, "reschedule_activation") == {
        "activate_by": ["2026-03-09", "2026-03-05"]
    }


def test_a_preview_says_what_would_be_placed_and_writes_nothing(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=panel.lab)
    wanted = order_request(user=make_user(tenant=alice_tenant), panels=(panel,))
    before = holdings(alice_tenant)

    plan = preview_order(tenant=alice_tenant, request=wanted)

    assert holdings(alice_tenant) == before
    assert plan.resolved.panels == (panel,)
    assert (plan.account.account, plan.account.reason) == (account, "only_active")


def test_an_order_takes_as_many_statements_for_ten_panels_as_for_two(alice_tenant):
    lab = make_lab()
    panels = [make_lab_test(tenant=alice_tenant, lab=lab) for _ in range(10)]
    user = make_user(tenant=alice_tenant)
    make_order(tenant=alice_tenant, user=user, lab_test=panels[0])
    counts = {}

    for number in (1, 2, 10):
        wanted = order_request(user=user, panels=tuple(panels[:number]))
        with count_statements() as sent:
            place_order(tenant=alice_tenant, actor=ACTOR, request=wanted)
        counts[number] = len(sent)
    with count_statements() as again:
        place_order(tenant=alice_tenant, actor=ACTOR, request=wanted)

    # More than one panel is looked for as a made one; the first time it is made.
    assert counts == {1: 22, 2: 28, 10: 28}
    assert len(again) == 23
