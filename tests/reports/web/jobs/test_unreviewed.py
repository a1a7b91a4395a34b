"""Every place where a value of a report appears says that nobody reviewed it."""

from __future__ import annotations

import zipfile
from io import BytesIO

import orjson
import pytest
from django.test import Client

from accounts.states import Role
from reports.operations.jobs.parsing import store_parsing_results
from reports.operations.jobs.status import mark_parsing_job_started
from reports.parser.report import Metadata
from tests.factories.accounts import ACTOR, make_member
from tests.factories.reports import make_parsed, make_parsing_job
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.reports.operations.jobs.test_critical import make_result
from users.operations.users.export import write_user_data_archive

TEAM = "/t/alice-health/sandbox"
PILL = "Unreviewed"
# What shows a report, or one of its values: the address, and how often it says so.
PAGES = {
    "the list of reports": (f"{TEAM}/reports/", 1),
    "the report, by its status and over its values": (
        f"{TEAM}/reports/{{job}}/",
        2,
    ),
    "the user's reports": (f"{TEAM}/users/{{user}}/reports/", 1),
    "critical results": (f"{TEAM}/critical/", 1),
}


@pytest.mark.django_db
def test_an_unreviewed_value_says_so_wherever_it_appears(alice_tenant, alice_api):
    user = make_user(tenant=alice_tenant)
    job = make_parsing_job(user=user)
    mark_parsing_job_started(job=job, actor=ACTOR)
    report = make_parsed(
        metadata=Metadata(date_collected="2026-11-20"),
        results=(make_result("Potassium", "6.9", "mmol/L"),),
    )
    store_parsing_results(job=job, actor=ACTOR, report=report)
    clinician = Client()
    clinician.force_login(
        make_member(
            team=alice_tenant.team,
            email="nora@assay.example",
            roles=(Role.OWNER, Role.CLINICIAN),
        )
    )

    for place, (path, times) in PAGES.items():
        page = clinician.get(path.format(job=job.id, user=user.uuid)).content.decode()
        assert page.count(PILL) == times, place
    answer = alice_api.get(f"/lab_report/v1/parser/job/{job.id}").json()
    assert answer["is_reviewed"] is False
    assert [row["is_reviewed"] for row in answer["data"]["results"]] == [False]
    *_, event = emitted(alice_tenant)
    assert [row["is_reviewed"] for row in event["data"]["data"]["results"]] == [False]
    written = BytesIO()
    write_user_data_archive(user=user, target=written)
    with zipfile.ZipFile(written) as archive:
        rows = archive.read("tables/reports.ReportResult.ndjson").splitlines()
    assert [orjson.loads(row)["is_reviewed"] for row in rows] == [False]

    # No trend, and so no page, file or portal of results, has what nobody signed.
    results = clinician.get(f"{TEAM}/users/{user.uuid}/results/").content.decode()
    assert "6.9" not in results
