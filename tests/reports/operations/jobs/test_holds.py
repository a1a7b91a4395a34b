"""Reports that a check holds, and their release and rejection."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from accounts.states import ReportCheck
from reports.models import ParsingJob, ReportResult, Review
from reports.operations.jobs.parsing import store_parsing_results
from reports.operations.jobs.status import mark_parsing_job_started
from reports.parser.report import Metadata, Note, NoteCode, RowState
from reports.states import HoldReason
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_parsed, make_parsing_job
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from users.models import UserInfo

pytestmark = pytest.mark.django_db
UPDATED = "lab_report.parsing_job.updated"
PATH = "/lab_report/v1/parser/job"
ROSA = {
    "patient_first_name": "Rosa",
    "patient_last_name": "Beispiel",
    "dob": "1980-04-15",
    "gender": "female",
}


def make_person(tenant: Any, **changes: Any) -> Any:
    user = make_user(tenant=tenant)
    about = {
        "first_name": "Rosa",
        "last_name": "Beispiel",
        "gender": "female",
        "dob": date(1980, 4, 15),
        "email": "rosa@assay.example",
        "phone_number": "+12025550143",
        "address": {},
    }
    UserInfo(tenant=tenant, user=user, **{**about, **changes}).save(force_insert=True)
    return user


def store(
    user: Any,
    metadata: dict[str, Any],
    *,
    notes: tuple[Note, ...] = (),
    content: bytes = b"%PDF-1.7 one",
    **fields: Any,
) -> ParsingJob:
    """Store what a parser read as the worker does."""
    job = make_parsing_job(user=user, content=content, **fields)
    job.tenant.refresh_from_db()
    mark_parsing_job_started(job=job, actor=ACTOR)
    report = make_parsed(metadata=Metadata(**metadata), notes=notes)
    store_parsing_results(job=job, actor=ACTOR, report=report)
    return ParsingJob.objects.for_tenant(user.tenant).get(id=job.id)


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({}, []),
        ({"patient_first_name": "Dr. R. M.", "patient_last_name": "BEISPIEL"}, []),
        ({"patient_first_name": "Beispiel", "patient_last_name": "Rosa"}, []),
        ({"patient_last_name": "Neumann"}, []),  # a maiden name, born on that day
        ({"dob": None, "possible_dobs": ("1980-04-15", "1980-03-04")}, []),
        ({"dob": None, "age": 44.0, "date_collected": "2026-03-02"}, []),
        ({"dob": None, "gender": None}, []),
        ({"patient_first_name": None, "patient_last_name": None}, []),
        ({"patient_first_name": "Otto"}, ["name_mismatch"]),
        ({"patient_last_name": "Neumann", "dob": None}, ["name_mismatch"]),
        ({"dob": "1981-04-15"}, ["birth_date_mismatch"]),
        ({"dob": None, "age": 12.0}, ["birth_date_mismatch"]),
        ({"gender": "male"}, ["sex_mismatch"]),
        ({"date_collected": "2020-01-02"}, ["report_too_old"]),
        ({"date_reported": "2031-01-02"}, ["date_in_future"]),
    ],
)
def test_a_report_of_another_person_or_time_is_held(
    alice_tenant, time_machine, changes, reasons
) -> None:
    time_machine.move_to("2026-11-24T12:00:00Z", tick=False)
    job = store(make_person(alice_tenant), {**ROSA, **changes})

    assert job.hold_reasons == reasons
    assert job.status == ("pending_review" if reasons else "completed")
    assert not Review.objects.for_tenant(alice_tenant).exists()
    (event,) = emitted(alice_tenant)
    assert event["event_type"] == UPDATED
    assert event["data"]["data"]["hold_reasons"] == reasons


def test_a_user_of_whom_nothing_is_known_holds_nothing(alice_tenant) -> None:
    job = store(make_user(tenant=alice_tenant), ROSA)

    assert (job.status, job.hold_reasons) == ("completed", [])


def test_two_patients_and_hidden_text_hold_a_report(alice_tenant) -> None:
    notes = tuple(
        Note(code, RowState.LOOK)
        for code in (NoteCode.SECOND_PERSON, NoteCode.HIDDEN_TEXT)
    )

    job = store(make_person(alice_tenant), ROSA, notes=notes)

    assert job.hold_reasons == ["several_patients", "hidden_text"]


def test_a_known_file_or_specimen_holds_a_report_at_any_user(alice_tenant) -> None:
    specimen = {"specimen_number": "SP-10023", "date_collected": "2026-11-02"}
    known = {**ROSA, **specimen}
    first = store(make_person(alice_tenant), known)
    again = store(make_person(alice_tenant), ROSA)
    sample = store(make_person(alice_tenant), known, content=b"%PDF-1.7 two")
    day = {**known, "date_collected": "2026-11-03"}
    other = store(make_person(alice_tenant), day, content=b"%PDF-1.7 three")

    assert [job.hold_reasons for job in (first, again, sample, other)] == [
        [],
        ["duplicate_report"],
        ["duplicate_specimen"],
        [],
    ]


@pytest.mark.parametrize(
    ("mode", "holds", "findings"),
    [
        ("hold", ["name_mismatch"], ["name_mismatch"]),
        ("mark", [], ["name_mismatch"]),
        ("off", [], []),
    ],
)
def test_the_team_decides_what_a_failed_check_does(
    alice_tenant, mode, holds, findings
) -> None:
    alice_tenant.lab_report_checks = {ReportCheck.NAME: mode}
    alice_tenant.save(update_fields=["lab_report_checks"])

    job = store(make_person(alice_tenant), {**ROSA, "patient_first_name": "Otto"})

    assert (job.hold_reasons, job.findings) == (holds, findings)


def hold(tenant: Any, **fields: Any) -> ParsingJob:
    return store(make_person(tenant), {**ROSA, "patient_first_name": "Otto"}, **fields)


def test_a_held_report_is_released_by_api_with_a_reason(
    alice_api, alice_tenant
) -> None:
    job = hold(alice_tenant)
    before = emitted_types(alice_tenant)

    refused = alice_api.post(f"{PATH}/{job.id}/release", {}, format="json")
    assert refused.status_code == 422
    assert emitted_types(alice_tenant) == before

    reply = alice_api.post(
        f"{PATH}/{job.id}/release", {"reason": "Her second name."}, format="json"
    )

    answer = reply.json()
    assert (reply.status_code, answer["status"]) == (200, "completed")
    assert answer["data"]["hold_reasons"] == []
    assert [row["is_reviewed"] for row in answer["data"]["results"]] == [False]
    assert emitted_types(alice_tenant) == [*before, UPDATED]
    again = alice_api.post(
        f"{PATH}/{job.id}/release", {"reason": "Once more."}, format="json"
    )
    assert again.status_code == 400
    assert emitted_types(alice_tenant) == [*before, UPDATED]


def test_a_held_report_is_rejected_by_api_and_its_values_go(
    alice_api, alice_tenant
) -> None:
    job = hold(alice_tenant)

    reply = alice_api.post(
        f"{PATH}/{job.id}/reject", {"reason": "wrong_person"}, format="json"
    )

    answer = reply.json()
    assert (reply.status_code, answer["status"]) == (200, "failed")
    assert (answer["failure_reason"], answer["data"]) == ("invalid_input", None)
    assert not ReportResult.objects.for_tenant(alice_tenant).exists()


def test_another_team_releases_and_rejects_nothing(charlie_api, alice_tenant) -> None:
    job = hold(alice_tenant)

    for act, body in (
        ("release", {"reason": "Mine."}),
        ("reject", {"reason": "unreadable"}),
    ):
        reply = charlie_api.post(f"{PATH}/{job.id}/{act}", body, format="json")
        assert reply.status_code == 404
    job.refresh_from_db()
    assert (job.status, job.hold_reasons) == (
        "pending_review",
        [HoldReason.NAME_MISMATCH],
    )


def test_release_leaves_a_review_that_was_asked_for(alice_api, alice_tenant) -> None:
    job = hold(alice_tenant, needs_human_review=True)

    reply = alice_api.post(
        f"{PATH}/{job.id}/release", {"reason": "Her second name."}, format="json"
    )

    review = Review.objects.for_tenant(alice_tenant).get()
    assert reply.json()["status"] == "pending_review"
    assert reply.json()["data"]["hold_reasons"] == []
    assert (review.status, review.identity_decided) == ("open", "Her second name.")


def test_a_held_report_says_why_on_its_page_and_is_decided_there(
    alice_web, alice_tenant
) -> None:
    job = hold(alice_tenant)
    page = f"/t/alice-health/sandbox/reports/{job.id}/"

    shown = alice_web.get(page).content.decode()
    assert "The name on the report differs from the user" in shown
    assert "Otto" not in shown
    assert "Otto" in alice_web.get(f"{page}?reveal=patient").content.decode()
    before = emitted_types(alice_tenant)
    alice_web.post(f"{page}hold/", {"verdict": "release", "reason": " "})
    assert emitted_types(alice_tenant) == before
    alice_web.post(f"{page}hold/", {"verdict": "release", "reason": "Second name."})
    job.refresh_from_db()
    assert (job.status, job.hold_reasons) == ("completed", [])
    assert emitted_types(alice_tenant) == [*before, UPDATED]
