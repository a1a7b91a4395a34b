"""Two readers of one report: blind to each other, settled by a third."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portal.lib.errors import DomainError, NotAllowed
from reports.models import ReportResult, Signature
from reports.operations.review.additions import add_review_row
from reports.operations.review.checks import RowText
from reports.operations.review.gates import request_second_read
from reports.operations.review.reviews import claim_review
from reports.operations.review.rows import (
    confirm_review_row,
    edit_review_row_text,
    set_review_row_loinc_code,
)
from reports.operations.review.second_reads import resolve_disputed_row
from reports.operations.signing.amending import withdraw_report_amendment
from reports.operations.signing.signing import (
    NotReady,
    is_review_unchanged_since_signing,
    waive_second_read,
)
from reports.queries import (
    get_parsing_job,
    get_review,
    list_report_results,
    list_reviews_of_job,
)
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.reports.desk import (
    NORA,
    OTTO,
    PIA,
    decide_all,
    ref_of,
    rows_of,
    sign,
    text_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(alice_tenant):
    alice_tenant.lab_report_second_read_percent = 100
    alice_tenant.save(update_fields=["lab_report_second_read_percent"])
    return make_user(tenant=alice_tenant)


@pytest.fixture
def first(user):
    """Nora edited the first of two rows, added one, and signed."""
    report = make_parsed(
        results=(make_parsed_result(), make_parsed_result(test_name="Sodium"))
    )
    review = make_review(user=user, report=report, claimed_by=NORA)
    edit(review, NORA, "85")
    add(review, NORA)
    decide_all(review)
    sign(review)
    return review


def edit(review, actor, value, position=0):
    text = replace(text_of(review, position), value=value)
    edit_review_row_text(
        tenant=review.tenant, actor=actor, ref=ref_of(review, position), text=text
    )


def add(review, actor, value="4.1"):
    text = RowText(test_name="Potassium", value=value, units="mmol/L")
    add_review_row(tenant=review.tenant, actor=actor, review_id=review.id, text=text)


def opened(review):
    """The review that was opened last of its report, its tenant that of the test."""
    found = list_reviews_of_job(job=review.job)[-1]
    found.tenant, found.job = review.tenant, review.job
    return found


def claimed(review, actor):
    found = opened(review)
    claim_review(tenant=review.tenant, actor=actor, review_id=found.id)
    return found


def shown(review):
    job = get_parsing_job(tenant=review.tenant, job_id=review.job_id)
    return job.status, job.version, [row.value for row in list_report_results(job)]


def test_a_second_reader_begins_where_the_first_did_and_nothing_leaves_before(first):
    second = opened(first)

    assert (second.kind, second.number, second.pages_shown) == ("second", 2, [])
    rows = rows_of(second)
    assert [row.values["value"] for row in rows] == ["105", "105"]
    assert {(row.decision, row.version) for row in rows} == {("undecided", 1)}
    assert shown(first) == ("pending_review", 0, ["105", "105"])
    assert emitted(first.tenant) == []
    with pytest.raises(NotAllowed) as refusal:
        claim_review(tenant=first.tenant, actor=NORA, review_id=second.id)
    assert refusal.value.code == "another_reader_needed"


def test_what_both_readers_say_is_kept_as_it_was_signed_first(first):
    second = claimed(first, OTTO)
    add(second, OTTO, "4.10")
    edit(second, OTTO, "85.0")
    decide_all(second, OTTO)

    sign(second, OTTO)

    assert shown(first) == ("completed", 1, ["85", "105", "4.1"])
    assert len(emitted(first.tenant)) == 1
    assert Signature.objects.for_tenant(first.tenant).count() == 2
    assert opened(first).id == second.id


def test_a_third_person_settles_what_two_readers_dispute(first):
    second = claimed(first, OTTO)
    edit(second, OTTO, "95")
    decide_all(second, OTTO)
    sign(second, OTTO)
    assert emitted(first.tenant) == []

    dispute = opened(first)
    rows = rows_of(dispute)
    assert (dispute.kind, dispute.number) == ("dispute", 3)
    assert [row.decision for row in rows] == ["undecided", "confirmed", "undecided"]
    told = rows[0].disputed
    sides = (told["first"]["values"]["value"], told["second"]["values"]["value"])
    assert sides == ("85", "95")
    assert (rows[1].disputed, rows[2].disputed["second"]) == (None, None)
    for reader in (NORA, OTTO):
        with pytest.raises(NotAllowed):
            claim_review(tenant=first.tenant, actor=reader, review_id=dispute.id)
    claimed(first, PIA)
    fields = {"tenant": first.tenant, "actor": PIA}
    with pytest.raises(DomainError) as refusal:
        resolve_disputed_row(**fields, ref=ref_of(dispute, 1), side="first")
    assert refusal.value.code == "row_not_disputed"
    with pytest.raises(NotReady) as unready:
        sign(dispute, PIA)
    assert unready.value.gaps[0].code == "flagged_row_undecided"

    resolve_disputed_row(**fields, ref=ref_of(dispute), side="second")
    resolve_disputed_row(**fields, ref=ref_of(dispute, 2), side="second")
    decide_all(dispute, PIA)
    sign(dispute, PIA)

    assert shown(first) == ("completed", 3, ["95", "105"])
    assert [row.decision for row in rows_of(dispute)][2] == "excluded"
    assert len(emitted(first.tenant)) == 1
    for number in (first.id, second.id, dispute.id):
        signed = get_review(tenant=first.tenant, review_id=number)
        assert is_review_unchanged_since_signing(tenant=first.tenant, review=signed)


def test_a_second_read_that_nobody_can_do_is_waived(first):
    second = opened(first)
    with pytest.raises(DomainError) as refusal:
        waive_second_read(tenant=first.tenant, actor=NORA, review_id=second.id, why=" ")
    assert refusal.value.code == "reason_missing"

    waive_second_read(
        tenant=first.tenant, actor=NORA, review_id=second.id, why="on leave"
    )

    assert shown(first) == ("completed", 1, ["85", "105", "4.1"])
    assert opened(first).status == "withdrawn"
    assert ReportResult.objects.for_tenant(first.tenant).filter(version=1).count() == 3


def test_a_reader_may_ask_for_a_second_read(user):
    user.tenant.lab_report_second_read_percent = 0
    user.tenant.save(update_fields=["lab_report_second_read_percent"])
    review = make_review(user=user, claimed_by=NORA)
    request_second_read(tenant=user.tenant, actor=NORA, review_id=review.id)
    decide_all(review)
    sign(review)

    second = claimed(review, OTTO)
    for refused, code in (
        (request_second_read, "not_a_first_read"),
        (withdraw_report_amendment, "not_an_amendment"),
    ):
        with pytest.raises(DomainError) as refusal:
            refused(tenant=user.tenant, actor=OTTO, review_id=second.id)
        assert refusal.value.code == code
    confirm_review_row(tenant=user.tenant, actor=OTTO, ref=ref_of(second))
    set_review_row_loinc_code(
        tenant=user.tenant, actor=OTTO, ref=ref_of(second), loinc_code="2339-0"
    )
    decide_all(second, OTTO)
    sign(second, OTTO)

    assert opened(review).kind == "dispute"
