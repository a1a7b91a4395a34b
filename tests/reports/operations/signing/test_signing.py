"""How a review ends, and what leaves then."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from accounts.webhooks.catalogue import load_event_types
from portal.lib.errors import DomainError
from reports.models import ReportResult, ReviewRow, Signature
from reports.operations.reading.files import erase_user_reports
from reports.operations.review.gates import (
    CriticalNotification,
    confirm_mismatched_patient_identity,
    keep_duplicate_report,
    record_critical_value_notification,
)
from reports.operations.review.rows import (
    edit_review_row_text,
    exclude_review_row,
    set_review_row_loinc_code,
)
from reports.operations.signing.signing import (
    NotReady,
    is_review_unchanged_since_signing,
    reject_report,
    sign_and_approve_report,
)
from reports.parser.report import (
    Interpretation,
    LoincMatchStatus,
    Note,
    NoteCode,
    RowState,
)
from reports.payloads import build_parsing_job_payload
from reports.queries import get_parsing_job, get_review
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
    signing_intent,
    tenant_and_actor,
    text_of,
)

pytestmark = pytest.mark.django_db
DELETE = "DELETE FROM reports_signature"
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
    payload = build_parsing_job_payload(get_parsing_job(tenant=tenant, job_id=job_id))
    return [result["value"] for result in payload["data"]["results"]]


def refused(review):
    """The codes of a refusal to sign, and that it left nothing."""
    with pytest.raises(NotReady) as refusal:
        sign(review)
    assert emitted(review.tenant) == []
    assert not Signature.objects.for_tenant(review.tenant).exists()
    assert not ReportResult.objects.for_tenant(review.tenant).filter(version=1).exists()
    return {gap.code: gap.at for gap in refusal.value.gaps}


def test_a_signed_review_is_what_the_api_and_the_event_tell(review):
    edit_review_row_text(
        **tenant_and_actor(review),
        ref=ref_of(review),
        text=replace(text_of(review), value="85"),
    )
    assert values(review.tenant, review.job_id) == ["105", "105"]
    exclude_review_row(
        **tenant_and_actor(review), ref=ref_of(review, 1), reason="printed twice"
    )
    decide_all(review)

    signature = sign(review)

    (envelope,) = emitted(review.tenant)
    job = get_parsing_job(tenant=review.tenant, job_id=review.job_id)
    assert envelope["event_type"] == UPDATED
    jsonschema.validate(envelope["data"], load_event_types()[UPDATED].schema)
    assert envelope["data"] == build_parsing_job_payload(job)
    assert (job.status, job.is_reviewed, job.version) == ("completed", True, 1)
    assert values(review.tenant, job.id) == ["85"]
    assert (signature.member_key, signature.meaning) == (NORA.key, "accuracy")
    assert signature.sha256 == hashlib.sha256(signature.document.encode()).hexdigest()
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

    confirm_mismatched_patient_identity(
        **tenant_and_actor(review), review_id=review.id, reason="typing slip"
    )
    keep_duplicate_report(
        **tenant_and_actor(review), review_id=review.id, reason="sent twice"
    )
    notice = CriticalNotification(told="Dr. Example", at=timezone.now(), way="phone")
    record_critical_value_notification(
        **tenant_and_actor(review), ref=ref_of(review), notice=notice
    )
    sign(review)

    assert get_parsing_job(tenant=user.tenant, job_id=review.job_id).is_reviewed


def test_nothing_but_excluded_rows_can_not_be_signed(user):
    review = make_review(user=user, claimed_by=NORA)
    exclude_review_row(
        **tenant_and_actor(review), ref=ref_of(review), reason="a footer"
    )
    decide_all(review)

    assert refused(review) == {"no_rows_left": ()}


@pytest.mark.parametrize("ago", [timedelta(minutes=16), timedelta(minutes=-1)])
def test_a_signature_needs_a_fresh_authentication(review, ago):
    decide_all(review)

    with pytest.raises(DomainError) as refusal:
        sign_and_approve_report(
            **tenant_and_actor(review),
            review_id=review.id,
            intent=signing_intent(authenticated_at=timezone.now() - ago),
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
    signed = get_review(tenant=review.tenant, review_id=review.id)
    assert is_review_unchanged_since_signing(tenant=review.tenant, review=signed)

    row = rows_of(review)[0]
    row.values["value"] = "106"
    ReviewRow.save(row, update_fields=["values"])

    assert not is_review_unchanged_since_signing(tenant=review.tenant, review=signed)


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
    reject_report(**tenant_and_actor(review), review_id=review.id, reason=reason)

    job = get_parsing_job(tenant=review.tenant, job_id=review.job_id)
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
    set_review_row_loinc_code(
        **tenant_and_actor(review), ref=ref_of(review), loinc_code=None
    )


def test_a_signature_can_not_be_changed_or_deleted_but_goes_with_its_user(review):
    decide_all(review)
    sign(review)

    for statement in ("UPDATE reports_signature SET meaning = 'clinical'", DELETE):
        with (
            pytest.raises(ProgrammingError) as refusal,
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
        assert refusal.value.__cause__.sqlstate == "42501"
    assert Signature.objects.for_tenant(review.tenant).count() == 1

    erase_user_reports(review.tenant.pk, review.job.user.uuid)

    assert not Signature.objects.for_tenant(review.tenant).exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('assay.erasing')")
        assert cursor.fetchone() == ("off",)
