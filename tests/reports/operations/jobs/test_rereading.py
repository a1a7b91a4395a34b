"""A report read again: a difference to look at, and no result touched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.models import AuditEntry
from portal.lib.errors import DomainError, NotFound
from reports.models import Rereading, Review
from reports.operations.jobs.rereading import (
    enqueue_report_rereading,
    fail_rereading_after_retries,
    get_rereading,
    list_rereading_differences,
    parse_report_again,
)
from reports.operations.review.rows import edit_review_row_text
from reports.operations.signing.amending import ReadingChoice, open_amendment_review
from reports.payloads import build_parsing_job_payload
from reports.queries import get_parsing_job
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_pdf,
    make_review,
)
from tests.factories.users import make_user
from tests.reports.desk import (
    NORA,
    decide_all,
    ref_of,
    rows_of,
    sign,
    tenant_and_actor,
    text_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(alice_tenant):
    """The machine once read two of the four rows that are printed."""
    report = make_parsed(
        results=(
            make_parsed_result(),
            make_parsed_result(test_name="Sodium", value="14.0", units="mmol/L"),
        )
    )
    return make_review(
        user=make_user(tenant=alice_tenant),
        report=report,
        content=make_pdf(),
        claimed_by=NORA,
    )


def test_a_report_that_is_read_again_shows_what_differs_and_changes_nothing(review):
    tenant = review.tenant
    fields = {"tenant": tenant, "actor": NORA, "job_id": review.job_id}
    with pytest.raises(DomainError) as early:
        enqueue_report_rereading(**fields)
    assert early.value.code == "report_not_completed"
    text = replace(text_of(review), value="101")
    edit_review_row_text(**tenant_and_actor(review), ref=ref_of(review), text=text)
    decide_all(review)
    sign(review)
    before = build_parsing_job_payload(
        get_parsing_job(tenant=tenant, job_id=review.job_id)
    )

    made = enqueue_report_rereading(**fields)
    with pytest.raises(DomainError) as twice:
        enqueue_report_rereading(**fields)
    assert twice.value.code == "rereading_open"
    parse_report_again(tenant_pk=tenant.pk, rereading_id=made.pk)

    found = get_rereading(tenant=tenant, job_id=review.job_id, rereading_id=made.pk)
    items = [
        (
            diff.decision,
            (diff.before or {}).get("value"),
            (diff.after or {}).get("value"),
        )
        for diff in list_rereading_differences(rereading=found)
    ]
    assert items == [
        ("edited", "101", "105"),
        ("confirmed", "14.0", "140"),
        ("undecided", None, "0.9"),
        ("undecided", None, "4.1"),
    ]
    after = build_parsing_job_payload(
        get_parsing_job(tenant=tenant, job_id=review.job_id)
    )
    assert after == before
    audited = AuditEntry.objects.for_tenant(tenant).filter(verb="reread_report")
    assert audited.count() == 1


def test_an_amendment_begins_with_the_rows_chosen_of_a_reading(review):
    tenant = review.tenant
    text = replace(text_of(review), value="101")
    edit_review_row_text(**tenant_and_actor(review), ref=ref_of(review), text=text)
    decide_all(review)
    sign(review)
    signed = {"tenant": tenant, "actor": NORA, "job_id": review.job_id}
    made = enqueue_report_rereading(**signed)
    parse_report_again(tenant_pk=tenant.pk, rereading_id=made.pk)
    wrong = {
        "report_changed": ReadingChoice(made.pk, 0, frozenset({1})),
        "row_not_found": ReadingChoice(made.pk, 1, frozenset({1, 9})),
        "rereading_not_found": ReadingChoice(made.pk + 1, 1, frozenset({1})),
    }
    for code, chosen in wrong.items():
        with pytest.raises(DomainError) as refused:
            open_amendment_review(**signed, why="read again", chosen=chosen)
        assert refused.value.code == code
    assert Review.objects.for_tenant(tenant).count() == 1

    chosen = ReadingChoice(made.pk, 1, frozenset({1, 3}))
    amended = open_amendment_review(**signed, why="read again", chosen=chosen)

    rows = [
        (row.values["test_name"], row.values["value"], row.decision)
        for row in rows_of(amended)
    ]
    assert rows == [
        ("Glucose", "101", "edited"),
        ("Sodium", "140", "undecided"),
        ("Potassium", "4.1", "undecided"),
    ]


def test_a_reading_that_fails_says_why_and_is_no_strangers(review, charlie_tenant):
    rows = Rereading.objects.for_tenant(review.tenant)
    made = Rereading(tenant=review.tenant, job=review.job, asked_by_key="7")
    made.save(force_insert=True)

    fail_rereading_after_retries(tenant_pk=review.tenant.pk, rereading_id=made.pk)
    parse_report_again(tenant_pk=review.tenant.pk, rereading_id=made.pk)

    ended = rows.get()
    assert (ended.failure, ended.rows) == ("processing_error", None)
    with pytest.raises(NotFound):
        get_rereading(tenant=charlie_tenant, job_id=review.job_id, rereading_id=made.pk)
