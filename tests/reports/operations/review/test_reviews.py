"""Who works on a review: opened for a report, claimed under a lease, taken over."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.models import AuditEntry
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound
from reports.models import Review, ReviewRowVersion
from reports.operations.jobs.parsing import PARSER, store_parsing_results
from reports.operations.review.reviews import (
    LEASE,
    claim_review,
    lock_claimed_review,
    release_review,
    take_over_review,
)
from reports.parser.report import Confidence, Note, NoteCode, RowState
from reports.queries import list_reviews_of_job
from reports.states import ParsingJobStatus
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_parsing_job,
    make_review,
)
from tests.factories.users import make_user
from tests.reports.desk import NORA, OTTO, rows_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def review(user):
    return make_review(user=user)


def who(review):
    return Review.objects.for_tenant(review.tenant).get(id=review.id).claimed_by_key


def test_a_report_that_asked_for_review_goes_to_the_desk(user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.STARTED, needs_human_review=True
    )
    report = make_parsed(
        results=(make_parsed_result(), make_parsed_result(test_name="Sodium")),
        notes=(Note(NoteCode.DUPLICATE, RowState.LOOK, (1,)),),
    )

    store_parsing_results(job=job, actor=PARSER, report=report)

    (review,) = list_reviews_of_job(job=job)
    first, second = rows_of(review)
    assert (review.number, review.status, review.flagged) == (1, "open", 1)
    assert (first.state, second.state) == ("auto", "look")
    assert (first.values["value"], first.decision) == ("105", "undecided")
    versions = ReviewRowVersion.objects.for_tenant(user.tenant)
    assert versions.filter(row__review=review, version=1).count() == 2


@pytest.mark.parametrize(
    ("bound", "enabled", "status"),
    [
        (90, True, "pending_review"),
        (80, True, "completed"),
        (None, True, "completed"),
        (90, False, "completed"),
    ],
)
def test_a_row_below_the_teams_bound_sends_its_report_to_the_desk(
    user, bound, enabled, status
):
    user.tenant.lab_report_review_below = bound
    user.tenant.lab_report_human_review_enabled = enabled
    job = make_parsing_job(user=user, status=ParsingJobStatus.STARTED)
    unsure = make_parsed_result(confidence=Confidence(overall=0.8))

    store_parsing_results(job=job, actor=PARSER, report=make_parsed(results=(unsure,)))

    assert (job.status, job.needs_human_review) == (status, False)
    assert len(list_reviews_of_job(job=job)) == (status == "pending_review")


def test_a_claim_holds_for_its_lease_and_keeps_others_out(review, time_machine):
    time_machine.move_to("2026-04-01T12:00:00Z", tick=False)

    claimed = claim_review(tenant=review.tenant, actor=NORA, review_id=review.id)

    assert claimed.claimed_until == timezone.now() + LEASE
    with pytest.raises(Conflict) as refusal:
        claim_review(tenant=review.tenant, actor=OTTO, review_id=review.id)
    assert refusal.value.code == "review_claimed"
    assert who(review) == NORA.key
    (entry,) = AuditEntry.objects.for_tenant(review.tenant).filter(verb="claim_review")
    assert entry.changes == {"review": 1, "claimed_by": ["", "7"]}


def test_an_ended_lease_goes_to_who_claims_next(review, time_machine):
    time_machine.move_to("2026-04-01T12:00:00Z", tick=False)
    claim_review(tenant=review.tenant, actor=NORA, review_id=review.id)

    time_machine.shift(LEASE + timedelta(seconds=1))
    claim_review(tenant=review.tenant, actor=OTTO, review_id=review.id)

    assert who(review) == OTTO.key


def test_a_review_is_taken_over_by_hand_and_the_other_is_told(review):
    claim_review(tenant=review.tenant, actor=NORA, review_id=review.id)

    take_over_review(
        tenant=review.tenant, actor=OTTO, review_id=review.id, why="called away"
    )

    with pytest.raises(Conflict) as refusal:
        lock_claimed_review(tenant=review.tenant, actor=NORA, review_id=review.id)
    assert refusal.value.code == "claim_lost"
    entry = AuditEntry.objects.for_tenant(review.tenant).get(verb="take_over_review")
    assert entry.changes["claimed_by"] == ["7", "8"]


def test_a_released_review_is_anybodys(review):
    claim_review(tenant=review.tenant, actor=NORA, review_id=review.id)

    release_review(tenant=review.tenant, actor=NORA, review_id=review.id)

    assert who(review) == ""
    with pytest.raises(Conflict) as refusal:
        lock_claimed_review(tenant=review.tenant, actor=NORA, review_id=review.id)
    assert refusal.value.code == "claim_needed"


@pytest.mark.parametrize("kind", [ActorKind.API_KEY, ActorKind.SYSTEM])
def test_only_a_person_reviews(review, kind):
    with pytest.raises(NotAllowed):
        claim_review(
            tenant=review.tenant,
            actor=replace(Actor.system("7"), kind=kind),
            review_id=review.id,
        )

    assert who(review) == ""


def test_a_take_over_says_why(review):
    with pytest.raises(DomainError) as refusal:
        take_over_review(tenant=review.tenant, actor=OTTO, review_id=review.id, why=" ")

    assert refusal.value.code == "reason_missing"
    assert who(review) == ""


def test_a_stranger_finds_no_review(review, charlie_tenant):
    for review_id in (review.id, uuid4()):
        with pytest.raises(NotFound) as refusal:
            claim_review(tenant=charlie_tenant, actor=NORA, review_id=review_id)
        assert refusal.value.code == "review_not_found"

    assert who(review) == ""
