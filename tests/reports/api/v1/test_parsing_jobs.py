from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import AuditEntry
from reports.models import ParsingJob
from reports.operations.jobs.submission import MAX_BYTES
from reports.parser.report import (
    Fact,
    LoincMatch,
    LoincReason,
    Note,
    NoteCode,
    PageSize,
    Place,
    Point,
    RowState,
)
from reports.states import ParsingJobStatus
from tests.clients import error_lines
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_parsing_job,
    make_pdf,
    make_pdf_of,
)
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.reports.uploads import nothing_happened, upload

pytestmark = pytest.mark.django_db
PATH = "/lab_report/v1/parser/job"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def audited(tenant) -> list[tuple[str, str]]:
    rows = AuditEntry.objects.for_tenant(tenant).filter(subject="parsing_job")
    return list(rows.order_by("id").values_list("verb", "subject_id"))


@pytest.mark.parametrize("path", [PATH, f"{PATH}/"])
def test_an_upload_is_answered_with_the_pending_job(
    path, alice_api, alice_tenant, user
):
    reply = upload(alice_api, user=user, path=path)

    job = ParsingJob.objects.for_tenant(alice_tenant).get()
    assert reply.status_code == 200
    assert reply.json() == {
        "id": str(job.id),
        "status": "upload_pending",
        "failure_reason": None,
        "data": None,
        "needs_human_review": False,
        "is_reviewed": False,
        "order_id": None,
        "unread_script": None,
    }
    assert emitted_types(alice_tenant) == ["lab_report.parsing_job.created"]
    assert audited(alice_tenant) == [("submit_report", str(job.id))]


def test_a_body_of_another_type_is_refused(alice_api, alice_tenant, user):
    with nothing_happened(alice_tenant):
        reply = alice_api.post(PATH, {"user_id": str(user.uuid)})

    assert reply.status_code == 415
    assert reply.json()["code"] == "unsupported_media_type"


def test_an_upload_without_a_key_is_refused(client, alice_tenant, user):
    with nothing_happened(alice_tenant):
        reply = upload(client, user=user)

    assert reply.status_code == 401


def test_missing_parts_are_named(alice_api, alice_tenant):
    with nothing_happened(alice_tenant):
        reply = upload(alice_api, form={})

    assert sorted(error_lines(reply)) == [
        (["body", "file"], "missing"),
        (["body", "user_id"], "missing"),
    ]


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("user_id", "42", "uuid_parsing"),
        ("user_id", "", "uuid_parsing"),
        ("needs_human_review", "perhaps", "bool_parsing"),
        ("needs_human_review", "1", "bool_parsing"),
    ],
)
def test_a_malformed_part_is_named(field, value, kind, alice_api, alice_tenant, user):
    with nothing_happened(alice_tenant):
        reply = upload(alice_api, user=user, **{field: value})

    assert error_lines(reply) == [(["body", field], kind)]


def test_text_in_place_of_the_file_is_refused(alice_api, alice_tenant, user):
    with nothing_happened(alice_tenant):
        reply = upload(alice_api, form={"user_id": str(user.uuid), "file": "%PDF-1.7"})

    assert error_lines(reply) == [(["body", "file", 0], "value_error")]


def test_a_body_that_is_no_multipart_is_refused(alice_api, alice_tenant):
    with nothing_happened(alice_tenant):
        reply = alice_api.generic(
            "POST", PATH, b"no parts", content_type="multipart/form-data"
        )

    assert reply.status_code == 400
    assert reply.json()["code"] == "malformed_request"


def test_more_parts_than_anyone_needs_are_refused(alice_api, alice_tenant, user):
    with nothing_happened(alice_tenant):
        more = {f"more{number}": "x" for number in range(1001)}
        reply = upload(alice_api, form={"user_id": str(user.uuid), **more})

    assert reply.status_code == 400
    assert reply.json()["code"] == "malformed_request"


def test_a_false_flag_is_taken(alice_api, alice_tenant, user):
    reply = upload(alice_api, user=user, needs_human_review="false")

    assert reply.status_code == 200


def test_review_by_a_person_is_asked_for_with_the_upload(alice_api, alice_tenant, user):
    reply = upload(alice_api, user=user, needs_human_review="true")

    assert (reply.status_code, reply.json()["needs_human_review"]) == (200, True)
    assert ParsingJob.objects.for_tenant(alice_tenant).get().needs_human_review is True


def test_human_review_is_refused_where_the_team_has_none(alice_api, alice_tenant, user):
    alice_tenant.lab_report_human_review_enabled = False
    alice_tenant.save(update_fields=["lab_report_human_review_enabled"])

    with nothing_happened(alice_tenant):
        reply = upload(alice_api, user=user, needs_human_review="true")

    assert reply.status_code == 400
    assert reply.json()["code"] == "human_review_unavailable"


def test_a_team_without_the_feature_is_refused_before_its_body_is_read(
    alice_production_api, alice_production
):
    user = make_user(tenant=alice_production)

    with nothing_happened(alice_production):
        reply = upload(alice_production_api, user=user, form={})

    assert reply.status_code == 403
    assert reply.json()["code"] == "parsing_not_enabled"


def test_a_strangers_user_is_unknown(charlie_api, charlie_tenant, user):
    with nothing_happened(charlie_tenant):
        reply = upload(charlie_api, user=user)

    assert reply.status_code == 404
    assert reply.json()["code"] == "user_not_found"


def test_one_byte_over_ten_megabytes_is_refused(alice_api, alice_tenant, user):
    content = make_pdf().ljust(MAX_BYTES + 1, b" ")

    with nothing_happened(alice_tenant):
        reply = upload(alice_api, user=user, files=[content])

    assert reply.status_code == 413
    assert reply.json()["code"] == "file_too_large"


def test_ten_megabytes_together_are_the_limit_of_several_files(
    alice_api, alice_tenant, user
):
    half = MAX_BYTES // 2

    with nothing_happened(alice_tenant):
        reply = upload(alice_api, user=user, files=[b"x" * half, b"x" * half, b"x"])

    assert reply.status_code == 413


def test_a_body_that_says_it_is_too_long_is_not_read(alice_api, alice_tenant, user):
    read = []

    class Endless:
        def read(self, size=-1):
            read.append(size)
            return b"x" * max(size, 1)

        readline = read

    with nothing_happened(alice_tenant):
        reply = alice_api.generic(
            "POST",
            PATH,
            b"",
            **{
                "CONTENT_TYPE": "multipart/form-data; boundary=b",
                "CONTENT_LENGTH": str(50 * MAX_BYTES),
                "wsgi.input": Endless(),
            },
        )

    assert reply.status_code == 413
    assert read == []


def test_exactly_ten_megabytes_are_taken(alice_api, alice_tenant, user):
    content = make_pdf_of(MAX_BYTES)

    reply = upload(alice_api, user=user, files=[content])

    assert reply.status_code == 200


def test_a_file_without_a_content_type_is_refused(alice_api, alice_tenant, user):
    with nothing_happened(alice_tenant):
        reply = upload(
            alice_api,
            form={
                "user_id": str(user.uuid),
                "file": SimpleUploadedFile("r", make_pdf(), content_type=""),
            },
        )

    assert reply.status_code == 400
    assert reply.json()["code"] == "file_type_mismatch"


def test_a_job_is_read_with_its_data(alice_api, alice_tenant, user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.COMPLETED, report=make_parsed()
    )

    reply = alice_api.get(f"{PATH}/{job.id}")

    assert reply.status_code == 200
    assert reply.json() == {
        "id": str(job.id),
        "status": "completed",
        "failure_reason": None,
        "data": {
            "metadata": {
                "patient_first_name": "Rosa",
                "patient_last_name": None,
                "dob": None,
                "gender": None,
                "lab_name": None,
                "date_reported": None,
                "date_collected": None,
                "specimen_number": None,
            },
            "results": [
                {
                    "test_name": "Glucose",
                    "value": "105",
                    "type": "numeric",
                    "units": "mg/dL",
                    "min_reference_range": 70.0,
                    "max_reference_range": 99.0,
                    "reference_range": "70 - 99",
                    "source_panel_name": None,
                    "sample_type": None,
                    "measurement_kind": None,
                    "sensitivity": None,
                    "loinc_matches": [
                        {
                            "loinc_code": "2345-7",
                            "loinc_name": "Glucose [Mass/volume] in Serum or Plasma",
                            "display_name": "Glucose",
                            "aliases": ["Blood sugar"],
                            "confidence_score": 0.97,
                        }
                    ],
                    "loinc_match_status": "auto_match",
                    "interpretation": "abnormal",
                    "is_above_max_range": True,
                    "is_below_min_range": False,
                    "is_reviewed": False,
                }
            ],
            "hold_reasons": [],
        },
        "needs_human_review": False,
        "is_reviewed": False,
        "order_id": None,
        "unread_script": None,
    }
    assert audited(alice_tenant) == [("read", str(job.id))]


@pytest.mark.parametrize(
    "query", ["?include=provenance", "?include=x&include=provenance"]
)
def test_provenance_is_included_when_asked_for(query, alice_api, user):
    report = make_parsed(
        results=(
            make_parsed_result(
                ucum="mg/dL",
                flag="H",
                loinc_matches=(
                    LoincMatch(
                        "2345-7",
                        "Glucose [Mass/volume] in Serum or Plasma",
                        "Glucose",
                        (),
                        0.97,
                        (LoincReason.NAME, LoincReason.UNIT_AGREES),
                    ),
                ),
            ),
        ),
        notes=(
            Note(
                NoteCode.DUPLICATE,
                RowState.LOOK,
                (0,),
                (Fact("first", number=105.0), Fact("unit", text="mg/dL")),
            ),
        ),
        unread=(Place(1, (Point(10.0, 20.0), Point(30.0, 40.0))),),
        page_sizes=(PageSize(1, 612.0, 792.0),),
    )
    job = make_parsing_job(user=user, status=ParsingJobStatus.COMPLETED, report=report)

    reply = alice_api.get(f"{PATH}/{job.id}{query}")

    (result,) = reply.json()["data"]["results"]
    assert result["provenance"] == {
        "name": None,
        "value": {"page": 1, "polygon": [[240.0, 100.5], [260.0, 112.0]]},
        "units": None,
        "reference_range": None,
        "confidence": {
            "text": None,
            "row": None,
            "loinc": None,
            "unit": None,
            "range": None,
            "overall": None,
        },
        "ucum": "mg/dL",
        "flag": "H",
        "state": "look",
        "loinc_reasons": [{"loinc_code": "2345-7", "reasons": ["name", "unit_agrees"]}],
    }
    assert reply.json()["data"]["provenance"] == {
        "pages": [{"page": 1, "width": 612.0, "height": 792.0}],
        "notes": [
            {
                "code": "duplicate",
                "severity": "look",
                "rows": [0],
                "facts": {"first": 105.0, "unit": "mg/dL"},
            }
        ],
        "unread": [{"page": 1, "polygon": [[10.0, 20.0], [30.0, 40.0]]}],
        "findings": [],
    }


def test_provenance_is_left_out_unless_asked_for(alice_api, user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.COMPLETED, report=make_parsed()
    )

    data = alice_api.get(f"{PATH}/{job.id}").json()["data"]

    assert set(data) == {"metadata", "results", "hold_reasons"}
    (result,) = data["results"]
    assert "provenance" not in result
    assert set(result["loinc_matches"][0]) == {
        "loinc_code",
        "loinc_name",
        "display_name",
        "aliases",
        "confidence_score",
    }


def test_a_job_that_waits_for_review_shows_its_data(alice_api, user):
    job = make_parsing_job(
        user=user,
        status=ParsingJobStatus.PENDING_REVIEW,
        report=make_parsed(),
        needs_human_review=True,
    )

    reply = alice_api.get(f"{PATH}/{job.id}/")

    assert reply.json()["data"]["results"][0]["test_name"] == "Glucose"


def test_a_failed_job_says_why(alice_api, user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.FAILED, failure_reason="low_quality"
    )

    reply = alice_api.get(f"{PATH}/{job.id}")

    assert reply.json()["failure_reason"] == "low_quality"
    assert reply.json()["data"] is None


def test_a_status_we_do_not_know_is_shown_as_it_is(alice_api, user):
    job = make_parsing_job(user=user, status="archived")

    reply = alice_api.get(f"{PATH}/{job.id}")

    assert reply.json()["status"] == "archived"
    assert reply.json()["data"] is None


def test_a_malformed_job_id_is_named(alice_api):
    reply = alice_api.get(f"{PATH}/42")

    assert error_lines(reply) == [(["path", "job_id"], "uuid_parsing")]


@pytest.mark.parametrize("whose", ["stranger", "other environment", "nobody"])
def test_a_job_of_somebody_else_is_not_found(
    whose, alice_production_api, charlie_api, alice_api, alice_tenant, user
):
    job = make_parsing_job(user=user)
    api, job_id = {
        "stranger": (charlie_api, job.id),
        "other environment": (alice_production_api, job.id),
        "nobody": (alice_api, uuid.uuid4()),
    }[whose]

    reply = api.get(f"{PATH}/{job_id}")

    assert reply.status_code == 404
    assert reply.json()["code"] == "not_found"
    assert audited(alice_tenant) == []


def test_a_job_of_a_deleted_user_is_not_found(alice_api, user):
    job = make_parsing_job(user=user)
    alice_api.delete(f"/v2/user/{user.uuid}")

    reply = alice_api.get(f"{PATH}/{job.id}")

    assert reply.status_code == 404


def test_a_read_costs_the_same_for_one_row_and_for_fifty(
    alice_api, user, django_assert_num_queries
):
    row = make_parsed().results[0]
    small, large = (
        make_parsing_job(
            user=user,
            status=ParsingJobStatus.COMPLETED,
            report=make_parsed(results=(row,) * number),
        )
        for number in (1, 50)
    )
    alice_api.get(f"{PATH}/{small.id}")  # the key is known from here on

    for job in (small, large):
        # The job with its user, and its rows; the audit's line is not counted here.
        with django_assert_num_queries(2):
            alice_api.get(f"{PATH}/{job.id}")
