"""The moves of a job, pair by pair, and what each operation leaves behind."""

from __future__ import annotations

from itertools import product

import jsonschema
import pytest
from django.db import IntegrityError, transaction

from accounts.models import AuditEntry
from accounts.webhooks.catalogue import load_event_types
from portal.lib.errors import DomainError
from reports.models import ParsingJob, ParsingJobTransition, ReportResult
from reports.operations.jobs.parsing import PARSER, store_parsing_results
from reports.operations.jobs.status import (
    change_parsing_job_status,
    mark_parsing_job_failed,
    mark_parsing_job_started,
)
from reports.parser.report import (
    FailureReason,
    Metadata,
    Note,
    NoteCode,
    PageSize,
    Place,
    Point,
    RowState,
)
from reports.states import JOB_MOVES, ParsingJobFailureReason, ParsingJobStatus
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_parsed, make_parsed_result, make_parsing_job
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from tests.reports.uploads import nothing_happened, stored_files

pytestmark = pytest.mark.django_db
UPDATED = "lab_report.parsing_job.updated"
# Contract 7.3 and 7.5, spelt out a second time on purpose.
ALLOWED = {
    ("upload_pending", "started"): [],
    ("upload_pending", "failed"): [UPDATED],
    ("started", "completed"): [UPDATED],
    ("started", "failed"): [UPDATED],
    ("started", "pending_review"): [UPDATED],
    ("pending_review", "completed"): [UPDATED],
    ("pending_review", "failed"): [UPDATED],
}
EVERY = [*ParsingJobStatus.values, "archived"]
FORBIDDEN = [
    (old, new)
    for old, new in product(EVERY, ParsingJobStatus.values)
    if (old, new) not in ALLOWED
]


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def stored(job):
    return ParsingJob.objects.for_tenant(job.tenant).get(id=job.id)


@pytest.mark.parametrize(("old", "new"), ALLOWED)
def test_an_allowed_move_is_recorded_and_emitted(old, new, alice_tenant, user):
    job = make_parsing_job(user=user, status=old)

    change_parsing_job_status(
        job=job, to=ParsingJobStatus(new), actor=ACTOR, why="a test"
    )

    move = ParsingJobTransition.objects.for_tenant(alice_tenant).get()
    assert stored(job).status == job.status == new
    assert (move.job_id, move.old, move.new, move.why) == (job.pk, old, new, "a test")
    assert (move.actor_kind, move.actor_key) == (ACTOR.kind, ACTOR.key)
    assert emitted_types(alice_tenant) == ALLOWED[old, new]


@pytest.mark.parametrize(("old", "new"), FORBIDDEN)
def test_any_other_move_is_refused_and_leaves_no_trace(old, new, alice_tenant, user):
    job = make_parsing_job(user=user, status=old)

    with nothing_happened(alice_tenant), pytest.raises(DomainError) as refusal:
        change_parsing_job_status(job=job, to=ParsingJobStatus(new), actor=ACTOR)

    assert refusal.value.code == "transition_not_allowed"
    assert stored(job).status == old


def test_of_two_moves_from_one_status_the_second_is_refused(alice_tenant, user):
    job = make_parsing_job(user=user)
    seen_before = stored(job)
    mark_parsing_job_started(job=job, actor=PARSER)

    with nothing_happened(alice_tenant), pytest.raises(DomainError):
        mark_parsing_job_started(job=seen_before, actor=PARSER)


def test_each_status_and_reason_has_a_row_a_label_and_the_wires_name():
    assert {str(status) for status, _ in JOB_MOVES} == set(ParsingJobStatus.values)
    assert set(ParsingJobFailureReason.values) == {str(r) for r in FailureReason}
    assert all(ParsingJobStatus.labels)


def test_finishing_keeps_notes_places_and_the_state_of_rows(user, time_machine):
    time_machine.move_to("2026-04-01T12:00:00Z", tick=False)
    job = make_parsing_job(user=user, status=ParsingJobStatus.STARTED)
    report = make_parsed(
        metadata=Metadata(date_collected="2026-05-02"),
        results=(make_parsed_result(), make_parsed_result(ucum="mg/dL", flag="H")),
        notes=(Note(NoteCode.DUPLICATE, RowState.LOOK, (1, 0)),),
        unread=(Place(1, (Point(1.0, 2.0),)),),
        page_sizes=(PageSize(1, 612.0, 792.0),),
    )

    store_parsing_results(job=job, actor=PARSER, report=report)

    kept = stored(job)
    rows = ReportResult.objects.for_tenant(user.tenant).order_by("position")
    assert [note["code"] for note in kept.notes] == ["duplicate", "date_in_future"]
    assert kept.notes[1]["facts"] == {"date": "date_collected"}
    assert kept.unread == [{"page": 1, "polygon": [[1.0, 2.0]]}]
    assert kept.page_sizes == [{"page": 1, "width": 612.0, "height": 792.0}]
    assert [row.state for row in rows] == ["look", "look"]
    assert (rows[1].ucum, rows[1].flag) == ("mg/dL", "H")


def test_failing_drops_what_the_checks_found(user):
    job = make_parsing_job(
        user=user,
        status=ParsingJobStatus.PENDING_REVIEW,
        report=make_parsed(
            notes=(Note(NoteCode.DUPLICATE, RowState.LOOK, (0,)),),
            unread=(Place(1, (Point(1.0, 2.0),)),),
        ),
    )

    mark_parsing_job_failed(job=job, actor=ACTOR, reason=FailureReason.INVALID_INPUT)

    assert (stored(job).notes, stored(job).unread) == (None, None)


def test_finishing_stores_every_field_and_emits_the_job(alice_tenant, user):
    job = make_parsing_job(user=user, status=ParsingJobStatus.STARTED)
    report = make_parsed(
        results=(make_parsed_result(), make_parsed_result(test_name="Sodium")), pages=3
    )

    store_parsing_results(job=job, actor=PARSER, report=report)

    rows = ReportResult.objects.for_tenant(alice_tenant).order_by("position")
    (envelope,) = emitted(alice_tenant)
    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="finish_parsing")
    assert [(row.position, row.test_name) for row in rows] == [
        (0, "Glucose"),
        (1, "Sodium"),
    ]
    assert rows[0].provenance["value"] == {
        "page": 1,
        "polygon": [[240.0, 100.5], [260.0, 112.0]],
    }
    assert stored(job).pages == 3
    assert stored(job).finished_at is not None
    assert envelope["data"]["status"] == "completed"
    assert envelope["data"]["data"]["metadata"]["patient_first_name"] == "Rosa"
    assert [r["test_name"] for r in envelope["data"]["data"]["results"]] == [
        "Glucose",
        "Sodium",
    ]
    jsonschema.validate(envelope["data"], load_event_types()[UPDATED].schema)
    assert "provenance" not in envelope["data"]["data"]["results"][0]
    assert entry.changes == {"status": ["started", "completed"]}
    assert (entry.actor_kind, entry.actor_key) == ("system", "reports.parse")


def test_a_report_that_needs_review_waits_for_it(alice_tenant, user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.STARTED, needs_human_review=True
    )

    store_parsing_results(job=job, actor=PARSER, report=make_parsed())

    (envelope,) = emitted(alice_tenant)
    assert stored(job).status == "pending_review"
    assert len(envelope["data"]["data"]["results"]) == 1


def test_a_job_that_has_ended_takes_no_second_set_of_rows(alice_tenant, user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.COMPLETED, report=make_parsed()
    )

    with (
        nothing_happened(alice_tenant),
        pytest.raises(IntegrityError),
        transaction.atomic(),
    ):
        store_parsing_results(job=job, actor=PARSER, report=make_parsed())


def test_finishing_before_starting_is_refused(alice_tenant, user):
    job = make_parsing_job(user=user)

    with nothing_happened(alice_tenant), pytest.raises(DomainError):
        store_parsing_results(job=job, actor=PARSER, report=make_parsed())


@pytest.mark.parametrize("reason", FailureReason)
def test_a_failed_job_says_why_and_keeps_no_values(reason, alice_tenant, user):
    job = make_parsing_job(
        user=user,
        status=ParsingJobStatus.PENDING_REVIEW,
        report=make_parsed(metadata=Metadata()),
    )

    mark_parsing_job_failed(job=job, actor=PARSER, reason=reason)

    (envelope,) = emitted(alice_tenant)
    assert stored(job).failure_reason == reason
    assert stored(job).metadata is None
    assert not ReportResult.objects.for_tenant(alice_tenant).exists()
    assert envelope["data"]["failure_reason"] == reason
    assert envelope["data"]["data"] is None
    assert len(stored_files()) == 1
