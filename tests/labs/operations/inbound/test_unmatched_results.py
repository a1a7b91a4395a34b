from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import connection

from labs.models import InboundReport, ResultVersion
from labs.operations.inbound.unmatched_results import (
    DEFAULT_NOTE,
    accept_unmatched_result,
    resolve_unmatched_result,
)
from labs.operations.orders.placing import cancel_order
from labs.queries.orders.orders import get_order_with_details
from labs.states.match_reviews import MatchResolution
from portal.lib.errors import DomainError
from portal.lib.tenancy import acting_for
from tests.factories.accounts import ACTOR
from tests.factories.inbound import make_order_sent_to_lab, make_unmatched
from tests.factories.labs import make_order
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


@pytest.fixture
def report(order):
    return make_unmatched(tenant=order.tenant, lab=order.lab)


def rows(tenant):
    return [
        *InboundReport.objects.for_tenant(tenant).order_by("pk").values(),
        *holdings(tenant),
    ]


@contextmanager
def refused(tenant, code):
    before = rows(tenant)
    with pytest.raises(DomainError) as caught:
        yield
    assert caught.value.code == code
    assert rows(tenant) == before


def accept(report, **given):
    return accept_unmatched_result(report=report, actor=ACTOR, **given)


def resolve(report, action, **given):
    return resolve_unmatched_result(
        report=report, actor=ACTOR, action=MatchResolution(action), **given
    )


def test_a_result_is_accepted_for_an_order_and_again_changes_nothing(order, report):
    accepted = accept(report, order_id=order.pk, note="Hers")
    before = rows(order.tenant)
    again = accept(report, order_id=order.pk)

    kept = InboundReport.objects.for_tenant(order.tenant).get()
    assert accepted.pk == again.pk == order.pk
    assert accepted.status == "completed.walk_in_test.completed"
    assert (kept.status, kept.why, kept.reason) == ("matched", "Hers", "no_order")
    assert rows(order.tenant) == before


def test_a_user_with_one_order_is_enough_and_a_note_is_not_needed(order, report):
    accept(report, user_id=order.user.uuid)
    before = rows(order.tenant)
    accept(report, user_id=order.user.uuid)

    kept = InboundReport.objects.for_tenant(order.tenant).get()
    assert (kept.order_id, kept.why) == (order.pk, DEFAULT_NOTE)
    assert rows(order.tenant) == before


def test_no_order_is_guessed(order, report, charlie_tenant):
    other = make_user(tenant=order.tenant)
    theirs = make_order(tenant=charlie_tenant)
    make_order(tenant=order.tenant, lab_test=order.lab_test, user=order.user)

    with refused(order.tenant, "order_missing"):
        accept(report)
    with refused(order.tenant, "order_ambiguous"):
        accept(report, user_id=order.user.uuid)
    for given in (
        {"user_id": other.uuid},
        {"user_id": other.uuid, "order_id": order.pk},
        {"order_id": theirs.pk},
        {"order_id": uuid4()},
    ):
        with refused(order.tenant, "order_not_found"):
            accept(report, **given)
    with refused(order.tenant, "why_too_long"):
        accept(report, order_id=order.pk, note="x" * 501)


def test_an_order_that_ended_gets_the_results_as_it_is(order, report):
    gone = make_order(tenant=order.tenant, lab_test=order.lab_test, user=order.user)
    gone = cancel_order(order=gone, actor=ACTOR)

    accepted = accept(report, order_id=gone.pk)

    assert accepted.status == gone.status
    assert ResultVersion.objects.for_tenant(order.tenant).get().order_id == gone.pk


def test_an_order_that_takes_no_results_yet_and_another_lab_are_refused(order, report):
    early = make_order(tenant=order.tenant, lab_test=order.lab_test)
    elsewhere = make_order_sent_to_lab(tenant=order.tenant)

    with refused(order.tenant, "results_not_expected"):
        accept(report, order_id=early.pk)
    with refused(order.tenant, "other_lab"):
        accept(report, order_id=elsewhere.pk)


@pytest.mark.parametrize(
    ("action", "status"), [("reject", "rejected"), ("unsure", "unmatched")]
)
def test_a_result_is_resolved_without_an_order_and_again_changes_nothing(
    order, report, action, status
):
    resolved = resolve(report, action, note="Ask the lab")
    before = rows(order.tenant)
    again = resolve(report, action, note="Otherwise")

    assert (resolved.status, again.status) == (status, status)
    assert (resolved.escalated_at is None) == (action == "reject")
    assert again.why == "Ask the lab"
    assert rows(order.tenant) == before


def test_an_escalated_result_can_still_be_accepted_or_rejected(order, report):
    other = make_unmatched(tenant=order.tenant, lab=order.lab)
    for one in (report, other):
        resolve(one, "unsure")

    accept(report, order_id=order.pk)

    assert resolve(other, "reject").status == "rejected"


def test_what_was_decided_is_not_decided_otherwise(order, report):
    rejected = make_unmatched(tenant=order.tenant, lab=order.lab)
    another = make_order_sent_to_lab(tenant=order.tenant)
    resolve(rejected, "reject")
    accept(report, order_id=order.pk)
    another.lab, another.lab_test = order.lab, order.lab_test
    another.save(update_fields=["lab", "lab_test"])

    with refused(order.tenant, "transition_not_allowed"):
        accept(rejected, order_id=order.pk)
    with refused(order.tenant, "transition_not_allowed"):
        accept(report, order_id=another.pk)
    with refused(order.tenant, "transition_not_allowed"):
        resolve(report, "reject")
    for one in (report, rejected):
        with refused(order.tenant, "report_not_unmatched"):
            resolve(one, "unsure")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("same", [True, False])
def test_of_two_that_accept_at_once_one_wins(alice_tenant, same):
    orders = [make_order_sent_to_lab(tenant=alice_tenant)] * 2
    if not same:
        other = make_order_sent_to_lab(tenant=alice_tenant)
        other.lab, other.lab_test = orders[0].lab, orders[0].lab_test
        other.save(update_fields=["lab", "lab_test"])
        orders[1] = other
    report = make_unmatched(tenant=alice_tenant, lab=orders[0].lab)
    told, start = len(emitted_types(alice_tenant)), Barrier(2)

    def work(order):
        try:
            with acting_for(alice_tenant):
                start.wait()
                return accept(report, order_id=order.pk).pk
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(work, orders))

    winner = InboundReport.objects.for_tenant(alice_tenant).get().order_id
    expected = [
        order.pk if order.pk == winner else "transition_not_allowed" for order in orders
    ]
    assert answers == expected
    assert ResultVersion.objects.for_tenant(alice_tenant).get().order_id == winner
    reviews = emitted_types(alice_tenant)[told:].count("labtest.match_review.updated")
    assert reviews == 1
    assert get_order_with_details(tenant=alice_tenant, order_id=winner).interpretation
