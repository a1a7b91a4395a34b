from __future__ import annotations

from contextlib import contextmanager

import pytest

from accounts.models import AuditEntry
from labs.models import InboundMessage, InboundReport
from labs.operations.inbound.review import (
    dismiss_lab_message,
    match_lab_report_manually,
    reject_lab_report,
    restore_rejected_lab_report,
)
from labs.operations.orders.placing import cancel_order
from labs.queries.results.results import find_current_result_version
from labs.states.inbound import MatchStatus, MessageStatus
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.inbound import make_order_sent_to_lab, make_unmatched, take
from tests.factories.labs import make_lab, make_order

pytestmark = pytest.mark.django_db
WHY = "The lab misspelt the name; called them."


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


@pytest.fixture
def report(order):
    return make_unmatched(tenant=order.tenant, lab=order.lab)


@contextmanager
def refused(tenant, code):
    def held():
        return [
            list(InboundReport.objects.for_tenant(tenant).values()),
            list(InboundMessage.objects.for_tenant(tenant).values()),
            AuditEntry.objects.for_tenant(tenant).count(),
        ]

    before = held()
    with pytest.raises(DomainError) as caught:
        yield
    assert caught.value.code == code
    assert held() == before


def test_a_person_gives_a_report_to_an_order_and_its_results_are_stored(order, report):
    matched = match_lab_report_manually(
        report=report, actor=ACTOR, order_id=order.pk, why=WHY
    )

    entry = AuditEntry.objects.for_tenant(order.tenant).get(verb="match_report")
    assert (matched.status, matched.order_id) == (MatchStatus.MATCHED, order.pk)
    assert (matched.why, matched.resolved_by) == (WHY, ACTOR.label)
    assert entry.changes == {"order": [None, str(order.pk)]}
    assert entry.user_uuid == order.user.uuid
    assert find_current_result_version(order=order).number == 1


def test_a_match_needs_a_reason_and_an_order_of_this_lab_that_takes_results(
    order, report, charlie_tenant
):
    def match(**told):
        match_lab_report_manually(
            **{"report": report, "actor": ACTOR, "order_id": order.pk, "why": WHY}
            | told
        )

    other = make_order_sent_to_lab(tenant=order.tenant)
    theirs = make_order(tenant=charlie_tenant)
    gone = make_order(tenant=order.tenant, lab_test=order.lab_test)
    cancel_order(order=gone, actor=ACTOR)
    with refused(order.tenant, "why_missing"):
        match(why=" ")
    with refused(order.tenant, "why_too_long"):
        match(why="x" * 501)
    with refused(order.tenant, "other_lab"):
        match(order_id=other.pk)
    with refused(order.tenant, "order_not_found"):
        match(order_id=theirs.pk)
    with refused(order.tenant, "results_not_expected"):
        match(order_id=gone.pk)


def test_a_report_is_matched_once(order, report):
    match_lab_report_manually(report=report, actor=ACTOR, order_id=order.pk, why=WHY)

    with refused(order.tenant, "transition_not_allowed"):
        match_lab_report_manually(
            report=report, actor=ACTOR, order_id=order.pk, why=WHY
        )
    with refused(order.tenant, "transition_not_allowed"):
        reject_lab_report(report=report, actor=ACTOR, why=WHY)


def test_a_rejected_report_is_kept_and_can_be_put_back(report):
    rejected = reject_lab_report(report=report, actor=ACTOR, why=WHY)
    said = (rejected.status, rejected.why)

    back = restore_rejected_lab_report(report=report, actor=ACTOR)

    assert said == (MatchStatus.REJECTED, WHY)
    assert (back.status, back.why, back.resolved_at) == ("unmatched", "", None)
    assert back.text == report.text


def test_a_malformed_message_is_dismissed_with_a_reason_and_kept(alice_tenant):
    message = take(alice_tenant, b"no message", lab=make_lab())
    with refused(alice_tenant, "why_missing"):
        dismiss_lab_message(message=message, actor=ACTOR, why="")

    dismiss_lab_message(message=message, actor=ACTOR, why=WHY)

    kept = InboundMessage.objects.for_tenant(alice_tenant).get()
    assert (kept.status, kept.why) == (MessageStatus.DISMISSED, WHY)
    assert bytes(kept.content) == b"no message"
