"""A team's critical limits: by API and page, and what values they make critical."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import pytest
from django.test import Client

from accounts.models import AuditEntry
from labs.models import CriticalAlert
from reports.models import ReportResult, TeamCriticalLimit
from reports.operations.jobs import parsing
from reports.operations.jobs.parsing import store_parsing_results
from reports.operations.jobs.status import mark_parsing_job_started
from reports.parser.checks.critical import (
    CriticalCriteria,
    load_critical_limits,
    mark_critical_result,
)
from reports.parser.report import Interpretation, Metadata
from tests.clients import JSON
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_parsed, make_parsing_job
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.reports.operations.jobs.test_critical import make_result

PAGES = "/t/alice-health/sandbox/reports/critical-limits"
PATH = "/lab_report/v1/critical_limits"
OWN = {"marker": "potassium", "unit": "mEq/L", "low": 3.0, "high": 5.5}


def find(reply, limit_id):
    return next(one for one in reply.json()["limits"] if one["id"] == limit_id)


def interpret(tenant, value, *, gender=None, dob=None):
    """The interpretation that a report's potassium gets."""
    job = make_parsing_job(user=make_user(tenant=tenant), content=repr(value).encode())
    mark_parsing_job_started(job=job, actor=ACTOR)
    report = make_parsed(
        results=(make_result("Potassium", value, "mmol/L"),),
        metadata=Metadata(gender=gender, dob=dob, date_collected="2026-11-20"),
    )
    store_parsing_results(job=job, actor=ACTOR, report=report)
    return ReportResult.objects.for_tenant(tenant).get(job=job).interpretation


@pytest.mark.django_db
def test_a_team_changes_a_limit_and_reverts_it(alice_api, alice_tenant, charlie_api):
    listed = alice_api.get(PATH)
    assert len(listed.json()["limits"]) == 29
    assert find(listed, "potassium") == {
        "id": "potassium",
        "marker": "potassium",
        "name": "Potassium",
        "unit": "mmol/L",
        "low": 2.5,
        "high": 6.5,
        "sex": None,
        "from_age_days": None,
        "to_age_days": None,
        "is_changed": False,
        "default": {"low": 2.5, "high": 6.5},
        "sources": ["WakeMed Health & Hospitals, Critical Values Tables"],
        "changed_at": None,
    }
    assert interpret(alice_tenant, "6.2") == "abnormal"

    changed = alice_api.put(f"{PATH}/potassium", {"low": 2.8, "high": 6.0}, JSON)
    assert changed.status_code == 200
    assert (changed.json()["high"], changed.json()["is_changed"]) == (6.0, True)
    assert find(charlie_api.get(PATH), "potassium")["high"] == 6.5
    assert interpret(alice_tenant, "6.2") == "critical"
    assert CriticalAlert.objects.for_tenant(alice_tenant).count() == 1

    assert alice_api.put(f"{PATH}/potassium", {}, JSON).json()["high"] is None
    assert interpret(alice_tenant, "6.9") == "abnormal"  # the limit is off

    reverted = alice_api.delete(f"{PATH}/potassium")
    assert find(reverted, "potassium")["is_changed"] is False
    assert interpret(alice_tenant, "6.8") == "critical"
    entries = AuditEntry.unscoped.filter(subject="critical_limit").order_by("id")
    assert [(one.verb, one.changes) for one in entries] == [
        ("change_critical_limit", {"low": [2.5, 2.8], "high": [6.5, 6.0]}),
        ("change_critical_limit", {"low": [2.8, None], "high": [6.0, None]}),
        ("revert_critical_limit", {"low": [None, 2.5], "high": [None, 6.5]}),
    ]


@pytest.mark.django_db
def test_a_teams_own_limit_of_a_sex_and_age_decides_first(
    alice_api, alice_tenant, charlie_api
):
    added = alice_api.post(PATH, {**OWN, "sex": "female", "from_age_days": 23_741})
    assert added.status_code == 200
    own = added.json()
    assert (own["unit"], own["default"], own["sources"]) == ("mmol/L", None, [])

    judged = [
        interpret(alice_tenant, value, gender=gender, dob=dob)
        for value, gender, dob in (
            ("5.6", "female", "1950-01-01"),
            ("5.6", "male", "1950-01-01"),
            ("5.6", "female", "1990-01-01"),
            ("6.6", "male", "1950-01-01"),
        )
    ]
    assert judged == ["critical", "abnormal", "abnormal", "critical"]

    again = alice_api.post(PATH, {**OWN, "sex": "female", "from_age_days": 23_741})
    assert (again.status_code, again.json()["code"]) == (400, "limit_exists")
    assert charlie_api.delete(f"{PATH}/{own['id']}").status_code == 404
    assert charlie_api.put(f"{PATH}/{own['id']}", {"low": 3}, JSON).status_code == 404
    assert len(alice_api.delete(f"{PATH}/{own['id']}").json()["limits"]) == 29
    assert not TeamCriticalLimit.objects.for_tenant(alice_tenant).exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"marker": "kryptonite"}, "marker_unknown"),
        ({"unit": "mg"}, "unit_not_convertible"),
        ({"low": 6.0}, "limits_reversed"),
        ({"high": 90}, "limit_implausible"),
        ({"low": -1}, "limit_implausible"),
        ({"low": None, "high": None}, "limit_missing"),
        ({"from_age_days": 30, "to_age_days": 3}, "age_invalid"),
        ({"sex": "any"}, "sex_invalid"),
    ],
)
def test_an_impossible_limit_is_refused(alice_api, alice_tenant, changes, code):
    reply = alice_api.post(PATH, {**OWN, **changes})

    assert (reply.status_code, reply.json()["code"]) == (400, code)
    assert not TeamCriticalLimit.objects.for_tenant(alice_tenant).exists()
    assert not AuditEntry.unscoped.filter(subject="critical_limit").exists()


def test_limits_of_one_sex_decide_for_an_unknown_sex_only_without_others() -> None:
    shipped = next(one for one in load_critical_limits() if one.key == "potassium")
    woman = replace(shipped, key="w", low=None, high=5.0, sex="female", is_own=True)

    def judge(limits, sex):
        return mark_critical_result(
            make_result("Potassium", "5.2", "mmol/L"),
            criteria=CriticalCriteria(limits, sex=sex),
            decimal_comma=False,
        ).interpretation

    own = replace(shipped, key="o", is_own=True)
    assert judge((woman, shipped), "female") is Interpretation.CRITICAL
    assert judge((woman, shipped), "male") is Interpretation.ABNORMAL
    assert judge((woman, shipped), None) is Interpretation.CRITICAL
    assert judge((woman, own), None) is Interpretation.ABNORMAL


@pytest.mark.django_db
def test_owners_change_limits_on_their_page_and_others_read_them(
    alice_web, alice_tenant, bob
):
    bob_web = Client()
    bob_web.force_login(bob)
    add = {"analyte": "sodium", "unit": "mmol/L", "low": "125", "ages_in": "years"}
    refused = alice_web.post(f"{PAGES}/add/", {**add, "high": "990"})
    assert refused.status_code == 422
    saved = alice_web.post(f"{PAGES}/add/", {**add, "from_days": "12", "to_days": "15"})
    assert saved.status_code == 302
    own = TeamCriticalLimit.objects.for_tenant(alice_tenant).get()
    assert (own.from_days, own.to_days, own.low) == (4383, 5843, 125.0)
    changed = alice_web.post(f"{PAGES}/calcium/", {"high": "12.5"})
    assert changed.status_code == 302

    page = bob_web.get(f"{PAGES}/").content.decode()
    assert "From 12 years, under 16 years" in page
    assert "Kost GJ, JAMA 1990;263:704-707" in page
    assert "Changed" in page
    refused = bob_web.post(f"{PAGES}/calcium/", {"high": "12.5"})
    assert refused.status_code == 403
    page = alice_web.get(f"{PAGES}/calcium/").content.decode()
    assert 'value="12.5"' in page

    reverted = alice_web.post(f"{PAGES}/calcium/revert/")
    assert reverted.status_code == 302
    assert TeamCriticalLimit.objects.for_tenant(alice_tenant).count() == 1


@pytest.mark.django_db
def test_a_worker_killed_before_it_commits_leaves_nothing_and_the_next_run_all(
    alice_tenant, monkeypatch
):
    job = make_parsing_job(user=make_user(tenant=alice_tenant))
    report = make_parsed(
        results=(make_result("Potassium", "6.9", "mmol/L"),),
        metadata=Metadata(date_collected="2026-11-20"),
    )
    monkeypatch.setattr(parsing, "parse_uploaded_files", lambda _job: report)
    about = {"tenant_pk": alice_tenant.pk, "job_id": job.id}

    def stored():
        return [
            rows.objects.for_tenant(alice_tenant).count()
            for rows in (ReportResult, CriticalAlert)
        ]

    with monkeypatch.context() as killed:
        killed.setattr(parsing, "change_status_and_audit", Mock(side_effect=SystemExit))
        with pytest.raises(SystemExit):
            parsing.parse_submitted_report(**about)
    job.refresh_from_db()
    assert (job.status, stored()) == ("started", [0, 0])

    for _ in range(2):
        parsing.parse_submitted_report(**about)
    job.refresh_from_db()
    assert (job.status, stored()) == ("completed", [1, 1])
    assert len(emitted_types(alice_tenant)) == 1
