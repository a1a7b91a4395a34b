"""What a review settles beside its rows."""

from __future__ import annotations

import pytest
from django.utils import timezone

from accounts.models import AuditEntry
from portal.lib.errors import Conflict, DomainError, NotFound
from reports.models import Review
from reports.operations.review.gates import (
    CriticalNotification,
    confirm_mismatched_patient_identity,
    keep_duplicate_report,
    move_report_to_other_user,
    record_critical_value_notification,
    record_page_shown_to_reviewer,
    replace_duplicate_report,
)
from reports.operations.review.saving import RowRef
from reports.parser.report import Interpretation
from reports.states import ParsingJobStatus
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_parsing_job,
    make_review,
)
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.reports.desk import NORA, decide_all, ref_of, rows_of, sign, tenant_and_actor

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(alice_tenant):
    report = make_parsed(
        results=(
            make_parsed_result(interpretation=Interpretation.CRITICAL),
            make_parsed_result(),
        )
    )
    user = make_user(tenant=alice_tenant)
    return make_review(user=user, report=report, claimed_by=NORA, pages=2)


def stored(review):
    return Review.objects.for_tenant(review.tenant).get(id=review.id)


def notice():
    return CriticalNotification(told="Dr. Example", at=timezone.now(), way="phone")


def test_pages_are_noted_once_each_in_order(review):
    for page in (2, 1, 2):
        record_page_shown_to_reviewer(
            **tenant_and_actor(review), review_id=review.id, page=page
        )

    assert stored(review).pages_shown == [1, 2]


@pytest.mark.parametrize("page", [0, 3])
def test_a_page_the_report_lacks_is_refused(review, page):
    with pytest.raises(DomainError) as refusal:
        record_page_shown_to_reviewer(
            **tenant_and_actor(review), review_id=review.id, page=page
        )

    assert refusal.value.code == "page_unknown"
    assert stored(review).pages_shown == []


@pytest.mark.parametrize(
    "settle", [confirm_mismatched_patient_identity, keep_duplicate_report]
)
def test_what_is_settled_says_why(review, settle):
    with pytest.raises(DomainError) as refusal:
        settle(**tenant_and_actor(review), review_id=review.id, reason="  ")
    assert refusal.value.code == "reason_missing"
    assert (stored(review).identity_decided, stored(review).duplicate_decided) == (
        "",
        "",
    )

    settle(**tenant_and_actor(review), review_id=review.id, reason=" asked by phone ")

    settled = stored(review)
    assert "asked by phone" in {settled.identity_decided, settled.duplicate_decided}


def test_a_critical_value_is_acknowledged_with_who_was_told(review):
    record_critical_value_notification(
        **tenant_and_actor(review), ref=ref_of(review), notice=notice()
    )

    told = rows_of(review)[0].acknowledged
    assert (told["told"], told["way"]) == ("Dr. Example", "phone")


def test_only_a_critical_row_as_it_stands_is_acknowledged(review):
    for ref, error, code in (
        (ref_of(review, 1), DomainError, "not_critical"),
        (RowRef(review.id, 0, 9), Conflict, "row_changed"),
        (RowRef(review.id, 9, 1), NotFound, "row_not_found"),
    ):
        with pytest.raises(error) as refusal:
            record_critical_value_notification(
                **tenant_and_actor(review), ref=ref, notice=notice()
            )
        assert refusal.value.code == code

    assert [row.acknowledged for row in rows_of(review)] == [None, None]


def test_a_report_moves_to_another_user_and_the_audit_tells_both(alice_tenant):
    review = make_review(user=make_user(tenant=alice_tenant), claimed_by=NORA)
    other = make_user(tenant=alice_tenant)
    fields = {
        **tenant_and_actor(review),
        "review_id": review.id,
        "reason": "a namesake",
    }
    before = review.job.user.uuid
    with pytest.raises(DomainError) as same:
        move_report_to_other_user(**fields, user_id=before)
    with pytest.raises(NotFound):
        move_report_to_other_user(**fields, user_id=review.id)

    moved = move_report_to_other_user(**fields, user_id=other.uuid)

    assert same.value.code == "same_user"
    assert (moved.job.user.uuid, moved.identity_decided) == (other.uuid, "")
    rows = AuditEntry.objects.for_tenant(alice_tenant).filter(verb="move_report")
    assert {entry.user_uuid for entry in rows} == {before, other.uuid}
    decide_all(review)
    sign(review)
    assert emitted(alice_tenant)[0]["user_id"] == str(other.uuid)


def test_a_replaced_duplicate_counts_no_more_once_the_new_one_is_signed(alice_tenant):
    user = make_user(tenant=alice_tenant)
    older = make_parsing_job(user=user, status=ParsingJobStatus.COMPLETED)
    review = make_review(user=user, claimed_by=NORA)
    fields = {
        **tenant_and_actor(review),
        "review_id": review.id,
        "reason": "a better scan",
    }
    with pytest.raises(NotFound) as unknown:
        replace_duplicate_report(**fields, job_id=review.job_id)
    assert unknown.value.code == "duplicate_not_found"

    replace_duplicate_report(**fields, job_id=older.id)
    decide_all(review)
    older.refresh_from_db()
    assert older.replaced_by is None
    sign(review)

    older.refresh_from_db()
    assert (older.replaced_by_id, older.status) == (review.job_id, "completed")
