from __future__ import annotations

from datetime import date

import pytest
import time_machine

from labs.gateways.base import LabUnavailable, Requisition
from labs.models import Lab, LabAccount, Order
from labs.operations.orders import requisitions
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.requisitions import (
    REQUISITION_JOB,
    build_requisition_comment,
    create_requisition,
    enqueue_due_requisitions,
)
from labs.queries.orders.orders import get_order_with_details
from portal.lib.tenancy import across_tenants
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    comment_lab,
    make_lab_account,
    make_lab_test,
    make_order,
)
from tests.jobs import queued
from tests.labs.holdings import holdings, refused


class FakeLab:
    """A lab that answers as it is told to."""

    def __init__(self, answer):
        self.answer = answer

    def request_requisition(self, order):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def lab_answers(monkeypatch):
    def answers(answer):
        monkeypatch.setattr(
            requisitions, "get_lab_gateway", lambda *_account: FakeLab(answer)
        )

    return answers


def make(order):
    create_requisition(tenant=order.tenant, actor=ACTOR, order_id=order.pk)


def read(order):
    return get_order_with_details(tenant=order.tenant, order_id=order.pk)


@pytest.mark.django_db
def test_a_requisition_moves_the_order_and_brings_its_sample_id(
    alice_production, lab_answers
):
    order = make_order(tenant=alice_production)
    lab_answers(Requisition("Q-77"))

    make(order)

    kept = read(order)
    assert kept.status == "received.walk_in_test.requisition_created"
    assert kept.sample_id == "Q-77"


@pytest.mark.django_db
def test_a_second_run_changes_nothing(alice_production):
    order = make_order(tenant=alice_production)
    make(order)
    before = holdings(alice_production)

    make(order)

    assert holdings(alice_production) == before


@pytest.mark.django_db
def test_a_lab_that_does_not_answer_leaves_the_order_for_the_next_run(
    alice_production, lab_answers
):
    order = make_order(tenant=alice_production)
    before = holdings(alice_production)
    lab_answers(LabUnavailable())

    with pytest.raises(LabUnavailable):
        make(order)

    assert holdings(alice_production) == before


@pytest.mark.django_db
def test_an_order_cancelled_while_the_lab_answers_stays_cancelled(
    alice_production, monkeypatch
):
    order = make_order(tenant=alice_production)

    class Slow:
        def request_requisition(self, asked):
            cancel_order(order=order, actor=ACTOR)
            return Requisition("Q-1")

    monkeypatch.setattr(requisitions, "get_lab_gateway", lambda *_account: Slow())

    make(order)

    kept = read(order)
    assert (kept.status, kept.sample_id) == ("cancelled.walk_in_test.cancelled", "")


@pytest.mark.django_db
def test_a_sample_id_of_another_order_is_refused(alice_production, lab_answers):
    panel = make_lab_test(tenant=alice_production)
    first, second = (make_order(tenant=alice_production, lab_test=panel) for _ in "12")
    lab_answers(Requisition("Q-1"))
    make(first)

    with refused(alice_production, "sample_id_taken"):
        make(second)


@pytest.mark.django_db
def test_orders_are_started_on_their_day_and_once(alice_production):
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        order = make_order(tenant=alice_production, activate_by=date(2026, 3, 9))
        with across_tenants(why="as the periodic job"):
            early = enqueue_due_requisitions()
            clock.move_to("2026-03-09T00:05:00Z")
            due = enqueue_due_requisitions()

    assert (early, due) == (0, 1)
    assert [(job.name, job.inputs["order_id"]) for job in queued()] == [
        (REQUISITION_JOB, str(order.pk))
    ]
    make(order)
    with across_tenants(why="as the periodic job"):
        assert enqueue_due_requisitions() == 0


@pytest.mark.django_db(transaction=True)
def test_the_job_makes_the_requisition_of_a_production_order(
    alice_production, run_jobs
):
    order = make_order(tenant=alice_production)

    run_jobs()

    kept = Order.objects.for_tenant(alice_production).get(pk=order.pk)
    assert kept.status == "received.walk_in_test.requisition_created"
    assert len(kept.sample_id) == 12


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("default", "comments", "printed"),
    [
        ("Call us.", "Hold the aspirin.", "Call us.\nHold the aspirin."),
        ("Call us.", "", "Call us."),
        ("", " Hold the aspirin. ", "Hold the aspirin."),
    ],
)
def test_an_accounts_text_is_printed_before_the_orders_own(
    alice_tenant, default, comments, printed
):
    lab = comment_lab()
    account = make_lab_account(
        tenant=alice_tenant, lab=lab, default_clinical_notes=default
    )

    assert (
        build_requisition_comment(lab=lab, account=account, comments=comments)
        == printed
    )
    bare = build_requisition_comment(lab=lab, account=None, comments=comments)
    assert bare == comments.strip()


@pytest.mark.parametrize(
    ("slug", "prints"),
    [
        ("quest", True),
        ("sonora_quest", True),
        ("labcorp", True),
        ("bioreference", True),
        ("ussl", False),
        ("manual", False),
    ],
)
def test_four_labs_print_comments(slug, prints):
    account = LabAccount(default_clinical_notes="Call us.")

    printed = build_requisition_comment(
        lab=Lab(slug=slug), account=account, comments="Now."
    )

    assert printed == ("Call us.\nNow." if prints else "")
