"""How a review ends, and what leaves then."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest
from django.utils import timezone

from accounts.webhooks.catalogue import EVENT_TYPES
from portal.lib.errors import DomainError, NotAllowed, NotFound
from reports.models import ParsingJob, ReportResult, ReviewRow, SignOff
from reports.operations.review_amending import amend_report, withdraw_amendment
from reports.operations.review_gates import (
    Notice,
    acknowledge_critical,
    decide_identity,
    keep_duplicate,
)
from reports.operations.review_rows import choose_loinc, edit_row, exclude_row
from reports.operations.review_signing import (
    NotReady,
    approve_report,
    reject_report,
    signature_holds,
)
from reports.operations.reviews import claim_review
from reports.parser.report import (
    Interpretation,
    LoincMatchStatus,
    Note,
    NoteCode,
    RowState,
)
from reports.payloads import parsing_job_payload
from reports.queries import parsing_job, review_diff, review_of
from reports.states import ParsingJobStatus, RejectionReason
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_parsing_job,
    make_review,
)
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.reports.desk import (
    NORA,
    decide_all,
    ref_of,
    rows_of,
    sign,
    signature,
    text_of,
    working,
)

pytestmark = pytest.mark.django_db
UPDATED = "lab_report.parsing_job.updated"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def review(user):
    report = make_parsed(
        results=(make_parsed_result(), make_parsed_result(test_name="Sodium"))
    )
    return make_review(user=user, report=report, claimed_by=NORA)


def values(tenant, job_id):
    payload = parsing_job_payload(parsing_job(tenant=tenant, job_id=job_id))
    return [result["value"] for result in payload["data"]["results"]]


def refused(review):
    """The codes of a refusal to sign, and that it left nothing."""
    with pytest.raises(NotReady) as refusal:
        sign(review)
    assert emitted(review.tenant) == []
    assert not SignOff.objects.for_tenant(review.tenant).exists()
    assert not ReportResult.objects.for_tenant(review.tenant).filter(version=1).exists()
    return {gap.code: gap.at for gap in refusal.value.gaps}


def test_a_signed_review_is_what_the_api_and_the_event_tell(review):
    edit_row(
        **working(review), ref=ref_of(review), text=replace(text_of(review), value="85")
    )
    assert values(review.tenant, review.job_id) == ["105", "105"]
    exclude_row(**working(review), ref=ref_of(review, 1), reason="printed twice")
    decide_all(review)

    sign_off = sign(review)

    (envelope,) = emitted(review.tenant)
    job = parsing_job(tenant=review.tenant, job_id=review.job_id)
    assert envelope["event_type"] == UPDATED
    jsonschema.validate(envelope["data"], EVENT_TYPES[UPDATED].schema)
    assert envelope["data"] == parsing_job_payload(job)
    assert (job.status, job.is_reviewed, job.version) == ("completed", True, 1)
    assert values(review.tenant, job.id) == ["85"]
    assert (sign_off.member_key, sign_off.meaning) == (NORA.key, "accuracy")
    assert sign_off.sha256 == hashlib.sha256(sign_off.document.encode()).hexdigest()
    machine = ReportResult.objects.for_tenant(review.tenant).filter(version=0)
    assert [row.value for row in machine.order_by("position")] == ["105", "105"]


def test_every_rule_that_is_not_met_is_named(user):
    report = make_parsed(
        results=(
            make_parsed_result(),
            make_parsed_result(loinc_match_status=LoincMatchStatus.NEEDS_REVIEW),
            make_parsed_result(interpretation=Interpretation.CRITICAL),
        )
    )
    user.fallback_birth_date = datetime(1980, 1, 2, tzinfo=UTC).date()
    user.save(update_fields=["fallback_birth_date"])
    make_parsing_job(user=user, status=ParsingJobStatus.COMPLETED)
    review = make_review(
        user=user,
        report=report,
        claimed_by=NORA,
        pages=2,
        metadata={"dob": "1990-01-02"},
    )

    assert refused(review) == {
        "flagged_row_undecided": (1, 2),
        "row_unconfirmed": (0,),
        "page_not_shown": (1, 2),
        "critical_unacknowledged": (2,),
        "identity_undecided": (),
        "duplicate_undecided": (),
    }


def test_a_review_is_signed_once_all_of_it_is_settled(user):
    critical = make_parsed_result(interpretation=Interpretation.CRITICAL, flag="HH")
    review = make_review(
        user=user,
        report=make_parsed(results=(critical,)),
        claimed_by=NORA,
        metadata={"dob": "1990-01-02"},
    )
    user.fallback_birth_date = datetime(1980, 1, 2, tzinfo=UTC).date()
    user.save(update_fields=["fallback_birth_date"])
    make_parsing_job(user=user, status=ParsingJobStatus.COMPLETED)
    decide_all(review)
    assert set(refused(review)) == {
        "critical_unacknowledged",
        "identity_undecided",
        "duplicate_undecided",
    }

    decide_identity(**working(review), review_id=review.id, reason="typing slip")
    keep_duplicate(**working(review), review_id=review.id, reason="sent twice")
    notice = Notice(told="Dr. Example", at=timezone.now(), way="phone")
    acknowledge_critical(**working(review), ref=ref_of(review), notice=notice)
    sign(review)

    assert parsing_job(tenant=user.tenant, job_id=review.job_id).is_reviewed


def test_nothing_but_excluded_rows_can_not_be_signed(user):
    review = make_review(user=user, claimed_by=NORA)
    exclude_row(**working(review), ref=ref_of(review), reason="a footer")
    decide_all(review)

    assert refused(review) == {"no_rows_left": ()}


@pytest.mark.parametrize("ago", [timedelta(minutes=16), timedelta(minutes=-1)])
def test_a_signature_needs_a_fresh_authentication(review, ago):
    decide_all(review)

    with pytest.raises(DomainError) as refusal:
        approve_report(
            **working(review),
            review_id=review.id,
            signature=signature(authenticated_at=timezone.now() - ago),
        )

    assert refusal.value.code == "reauthentication_needed"
    assert emitted(review.tenant) == []


def test_a_code_in_doubt_is_the_reviewers_once_signed(user):
    report = make_parsed(
        results=(make_parsed_result(loinc_match_status=LoincMatchStatus.NEEDS_REVIEW),),
        notes=(Note(NoteCode.DATE_IN_FUTURE, RowState.LOOK),),
    )
    review = make_review(user=user, report=report, claimed_by=NORA)
    decide_all(review)

    sign(review)

    row = ReportResult.objects.for_tenant(user.tenant).get(version=1)
    assert (row.loinc_match_status, row.state) == ("auto_match", "auto")


def test_a_change_behind_a_signature_is_found(review):
    decide_all(review)
    sign(review)
    signed = review_of(tenant=review.tenant, review_id=review.id)
    assert signature_holds(tenant=review.tenant, review=signed)

    row = rows_of(review)[0]
    row.values["value"] = "106"
    ReviewRow.save(row, update_fields=["values"])

    assert not signature_holds(tenant=review.tenant, review=signed)


@pytest.mark.parametrize(
    ("reason", "wire"),
    [
        (RejectionReason.NOT_A_REPORT, "invalid_input"),
        (RejectionReason.WRONG_PERSON, "invalid_input"),
        (RejectionReason.UNREADABLE, "low_quality"),
        (RejectionReason.OTHER_LANGUAGE, "not_english"),
    ],
)
def test_a_rejected_report_fails_with_the_wires_reason(review, reason, wire):
    reject_report(**working(review), review_id=review.id, reason=reason)

    job = parsing_job(tenant=review.tenant, job_id=review.job_id)
    (envelope,) = emitted(review.tenant)
    assert (job.status, job.failure_reason, job.is_reviewed) == ("failed", wire, False)
    assert envelope["data"]["data"] is None
    assert not ReportResult.objects.for_tenant(review.tenant).exists()


def test_an_ended_review_takes_no_change(review):
    decide_all(review)
    sign(review)

    for act in (sign, decide_again):
        with pytest.raises(DomainError) as refusal:
            act(review)
        assert refusal.value.code == "review_ended"
    assert len(emitted(review.tenant)) == 1


def decide_again(review):
    choose_loinc(**working(review), ref=ref_of(review), loinc_code=None)


def test_an_amendment_replaces_the_results_and_tells_so(review):
    decide_all(review)
    sign(review)

    amendment = amend_report(**working(review), job_id=review.job_id, why="a typo")
    claim_review(**working(review), review_id=amendment.id)
    text = replace(text_of(amendment), value="101")
    edit_row(**working(review), ref=ref_of(amendment), text=text)
    assert values(review.tenant, review.job_id) == ["105", "105"]
    sign(amendment)

    assert values(review.tenant, review.job_id) == ["101", "105"]
    first, second = emitted(review.tenant)
    assert first["data"]["id"] == second["data"]["id"]
    assert second["data"]["status"] == "completed"
    (changed,) = review_diff(tenant=review.tenant, review=amendment)
    assert (changed.before["value"], changed.after["value"]) == ("105", "101")
    old = review_of(tenant=review.tenant, review_id=review.id)
    assert signature_holds(tenant=review.tenant, review=old)


def test_a_withdrawn_amendment_leaves_the_results(review):
    decide_all(review)
    sign(review)
    amendment = amend_report(**working(review), job_id=review.job_id, why="a typo")
    claim_review(**working(review), review_id=amendment.id)
    with pytest.raises(DomainError) as refusal:
        amend_report(**working(review), job_id=review.job_id, why="again")
    assert refusal.value.code == "amendment_open"

    withdraw_amendment(**working(review), review_id=amendment.id)

    job = parsing_job(tenant=review.tenant, job_id=review.job_id)
    assert (job.version, job.status) == (1, "completed")
    assert len(emitted(review.tenant)) == 1


def test_a_first_review_is_not_withdrawn(review):
    with pytest.raises(DomainError) as refusal:
        withdraw_amendment(**working(review), review_id=review.id)

    assert refusal.value.code == "not_an_amendment"


def test_a_report_that_was_never_reviewed_is_amended_from_the_machines_rows(user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.COMPLETED, report=make_parsed(), pages=1
    )

    review = amend_report(tenant=user.tenant, actor=NORA, job_id=job.id, why="doubt")

    assert (review.number, len(rows_of(review))) == (1, 1)
    assert rows_of(review)[0].decision == "undecided"


def test_what_waits_or_is_anothers_is_not_amended(review, charlie_tenant):
    with pytest.raises(DomainError) as refusal:
        amend_report(**working(review), job_id=review.job_id, why="doubt")
    assert refusal.value.code == "report_not_completed"
    with pytest.raises(NotFound):
        amend_report(
            tenant=charlie_tenant, actor=NORA, job_id=review.job_id, why="doubt"
        )
    review.tenant.lab_report_human_review_enabled = False
    with pytest.raises(NotAllowed):
        amend_report(**working(review), job_id=review.job_id, why="doubt")

    assert ParsingJob.objects.for_tenant(review.tenant).get().status == "pending_review"
