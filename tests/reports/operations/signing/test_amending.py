"""A signed report on the desk again: it stays as it is until it is signed anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portal.lib.errors import DomainError, NotAllowed, NotFound
from reports.models import ParsingJob
from reports.operations.review.reviews import claim_review
from reports.operations.review.rows import edit_review_row_text
from reports.operations.signing.amending import (
    open_amendment_review,
    withdraw_report_amendment,
)
from reports.operations.signing.signing import is_review_unchanged_since_signing
from reports.payloads import build_parsing_job_payload
from reports.queries import get_parsing_job, get_review, list_rows_changed_by_review
from reports.states import ParsingJobStatus
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
    tenant_and_actor,
    text_of,
)

pytestmark = pytest.mark.django_db


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


def test_an_amendment_replaces_the_results_and_tells_so(review):
    decide_all(review)
    sign(review)

    amendment = open_amendment_review(
        **tenant_and_actor(review), job_id=review.job_id, why="a typo"
    )
    claim_review(**tenant_and_actor(review), review_id=amendment.id)
    text = replace(text_of(amendment), value="101")
    edit_review_row_text(**tenant_and_actor(review), ref=ref_of(amendment), text=text)
    assert values(review.tenant, review.job_id) == ["105", "105"]
    sign(amendment)

    assert values(review.tenant, review.job_id) == ["101", "105"]
    first, second = emitted(review.tenant)
    assert first["data"]["id"] == second["data"]["id"]
    assert second["data"]["status"] == "completed"
    (changed,) = list_rows_changed_by_review(tenant=review.tenant, review=amendment)
    assert (changed.before["value"], changed.after["value"]) == ("105", "101")
    old = get_review(tenant=review.tenant, review_id=review.id)
    assert is_review_unchanged_since_signing(tenant=review.tenant, review=old)


def test_a_withdrawn_amendment_leaves_the_results(review):
    decide_all(review)
    sign(review)
    amendment = open_amendment_review(
        **tenant_and_actor(review), job_id=review.job_id, why="a typo"
    )
    claim_review(**tenant_and_actor(review), review_id=amendment.id)
    with pytest.raises(DomainError) as refusal:
        open_amendment_review(
            **tenant_and_actor(review), job_id=review.job_id, why="again"
        )
    assert refusal.value.code == "amendment_open"

    withdraw_report_amendment(**tenant_and_actor(review), review_id=amendment.id)

    job = get_parsing_job(tenant=review.tenant, job_id=review.job_id)
    assert (job.version, job.status) == (1, "completed")
    assert len(emitted(review.tenant)) == 1


def test_a_first_review_is_not_withdrawn(review):
    with pytest.raises(DomainError) as refusal:
        withdraw_report_amendment(**tenant_and_actor(review), review_id=review.id)

    assert refusal.value.code == "not_an_amendment"


def test_a_report_that_was_never_reviewed_is_amended_from_the_machines_rows(user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.COMPLETED, report=make_parsed(), pages=1
    )

    review = open_amendment_review(
        tenant=user.tenant, actor=NORA, job_id=job.id, why="doubt"
    )

    assert (review.number, len(rows_of(review))) == (1, 1)
    assert rows_of(review)[0].decision == "undecided"


def test_what_waits_or_is_anothers_is_not_amended(review, charlie_tenant):
    with pytest.raises(DomainError) as refusal:
        open_amendment_review(
            **tenant_and_actor(review), job_id=review.job_id, why="doubt"
        )
    assert refusal.value.code == "report_not_completed"
    with pytest.raises(NotFound):
        open_amendment_review(
            tenant=charlie_tenant, actor=NORA, job_id=review.job_id, why="doubt"
        )
    review.tenant.lab_report_human_review_enabled = False
    with pytest.raises(NotAllowed):
        open_amendment_review(
            **tenant_and_actor(review), job_id=review.job_id, why="doubt"
        )

    assert ParsingJob.objects.for_tenant(review.tenant).get().status == "pending_review"
