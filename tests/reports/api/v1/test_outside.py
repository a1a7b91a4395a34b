"""From an export of a phone to the API, the page, the event, and the erasure."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from io import BytesIO

import orjson
import pytest

from reports.models import OutsideReport
from tests.factories.accounts import ACTOR
from tests.factories.fhir import (
    apple_clinical_archive,
    diagnostic_report,
    make_outside_report,
    observation,
)
from tests.factories.users import make_user
from tests.outbox import emitted
from users.operations.imports.runs import run_health_data_import
from users.operations.imports.submission import (
    ImportRequest,
    create_health_data_import,
)
from users.operations.users.export import write_user_data_archive
from users.operations.users.users import delete_user, erase_user

pytestmark = pytest.mark.django_db
EVENT = "historical.data.outside_lab_report.created"


@pytest.fixture
def user(alice_tenant, time_machine):
    time_machine.move_to(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False)
    return make_user(tenant=alice_tenant)


def address(user, query=""):
    return f"/lab_report/v1/user/{user.uuid}/outside_report{query}"


def bring(user, content):
    request = ImportRequest(file_name="export.zip", chunks=[content])
    job = create_health_data_import(user=user, actor=ACTOR, request=request)
    run_health_data_import(tenant_pk=job.tenant_id, job_id=job.id)
    job.refresh_from_db()
    return job


def test_lab_results_of_an_export_reach_the_team_and_go_with_the_user(
    alice_api, alice_web, user, alice_tenant
):
    content = apple_clinical_archive(
        diagnostic_report("k", "gone", conclusion="See a doctor"),
        observation("k"),
        observation("alone", valueQuantity=None, valueString="Not detected"),
    )

    job = bring(user, content)
    again = bring(user, content)

    counts = {"created": 2, "updated": 0, "unchanged": 0}
    assert counts.items() <= job.counts["outside_lab_report"].items()
    assert again.counts["outside_lab_report"]["unchanged"] == 2
    events = [
        one["data"] for one in emitted(alice_tenant) if one["event_type"] == EVENT
    ]
    assert events == [
        {
            "user_id": str(user.uuid),
            "start_date": "2026-02-03T12:00:00+00:00",
            "end_date": "2026-02-03T13:00:00+00:00",
            "provider": "apple_health_kit",
        }
    ]

    served = alice_api.get(f"/fhir/R4/DiagnosticReport?patient={user.uuid}").json()
    assert {
        (one["resource"]["code"]["text"], len(one["resource"]["result"]))
        for one in served["entry"]
    } == {("Metabolic panel", 1), ("Potassium", 1)}
    answer = alice_api.get(address(user)).json()
    alone, panel = answer["data"]
    assert answer["next_cursor"] is None
    stored_ids = {panel.pop("id"), alone["id"]}
    assert panel == {
        "record_id": "DiagnosticReport/panel",
        "version": 1,
        "provider": "apple_health_kit",
        "institution": "Riverside Clinic",
        "laboratory": "Riverside Laboratory",
        "name": "Metabolic panel",
        "loinc": "24323-8",
        "codes": [{"system": "http://loinc.org", "code": "24323-8", "display": ""}],
        "status": "final",
        "collected": "2026-02-03",
        "issued": "2026-02-04T10:00:00Z",
        "conclusion": "See a doctor",
        "attachments": 0,
        "missing_results": 1,
        "is_reviewed": False,
        "fhir_version": "4.0.1",
        "created_at": "2026-03-01T12:00:00+00:00",
        "results": panel["results"],
    }
    (result,) = panel["results"]
    assert (result["value"], result["number"], result["unit"]) == ("5.6", 5.6, "mmol/L")
    assert alone["results"][0]["value"] == "Not detected"

    page = alice_web.get(f"/t/alice-health/sandbox/users/{user.uuid}/reports/")
    assert "Outside lab reports" in page.content.decode()
    for each in stored_ids:
        shown = alice_web.get(
            f"/t/alice-health/sandbox/users/{user.uuid}/reports/outside/{each}/"
        ).content.decode()
        assert "not reviewed" in shown
        assert ("Not detected" in shown) == (each == alone["id"])

    packed = BytesIO()
    write_user_data_archive(user=user, target=packed)
    with zipfile.ZipFile(packed) as archive:
        lines = archive.read("tables/reports.OutsideReport.ndjson").splitlines()
    assert {orjson.loads(line)["id"] for line in lines} == stored_ids

    delete_user(user=user, actor=ACTOR)
    assert alice_api.get(address(user)).status_code == HTTPStatus.NOT_FOUND
    erase_user(
        tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid, grace=timedelta(0)
    )
    assert not OutsideReport.unscoped.exists()


def test_pages_go_on_where_they_ended(alice_api, user):
    for n in range(3):
        make_outside_report(
            user=user, id_=f"k{n}", effectiveDateTime=f"2026-01-0{n + 1}"
        )

    first = alice_api.get(address(user, "?limit=2")).json()
    last = alice_api.get(
        address(user, f"?limit=2&next_cursor={first['next_cursor']}")
    ).json()

    dates = [one["collected"] for one in first["data"] + last["data"]]
    assert dates == ["2026-01-03", "2026-01-02", "2026-01-01"]
    assert last["next_cursor"] is None
    wrong = alice_api.get(address(user, "?next_cursor=nonsense"))
    assert wrong.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
