"""Critical values of uploaded reports: limits, alert, page, acknowledgement."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.states import Role
from labs.models import CriticalAlert
from reports.models import ReportResult
from reports.operations.jobs.critical import open_or_close_alert_of_critical_values
from reports.operations.jobs.holds import reject_held_report
from reports.operations.jobs.parsing import store_parsing_results
from reports.operations.jobs.status import mark_parsing_job_started
from reports.operations.reading.files import erase_user_reports
from reports.operations.retention import (
    count_old_failed_reports,
    delete_old_failed_reports,
)
from reports.operations.review.gates import (
    CriticalNotification,
    move_report_to_other_user,
    record_critical_value_notification,
)
from reports.operations.review.rows import edit_review_row_text
from reports.operations.signing.signing import reject_report
from reports.parser.checks import run_report_checks
from reports.parser.checks.critical import (
    CriticalCriteria,
    load_critical_limits,
    mark_critical_result,
)
from reports.parser.report import Interpretation, LoincMatch, LoincMatchStatus, Metadata
from reports.states import RejectionReason
from tests.factories.accounts import ACTOR, make_member
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_parsing_job,
    make_review,
)
from tests.factories.users import make_user
from tests.jobs import queued
from tests.reports.desk import (
    NORA,
    decide_all,
    ref_of,
    sign,
    tenant_and_actor,
    text_of,
)

CODES = {
    "Potassium": "2823-3",
    "Sodium": "2951-2",
    "Glucose": "2345-7",
    "Hemoglobin": "718-7",
}


def make_result(name: str, value: str, unit: str | None, **changes: Any) -> Any:
    match = LoincMatch(CODES[name], name, name, (), 0.97)
    return make_parsed_result(
        test_name=name,
        value=value,
        units=unit,
        ucum=None,
        loinc_matches=(match,),
        loinc_match_status=LoincMatchStatus.AUTO_MATCH,
        interpretation=Interpretation.ABNORMAL,
        is_above_max_range=False,
        **changes,
    )


@pytest.mark.parametrize(
    ("name", "value", "unit", "days", "is_critical"),
    [
        ("Potassium", "6.9", "mmol/L", None, True),
        ("Potassium", "6.5", "mEq/L", None, True),
        ("Potassium", "6.4", "mmol/L", None, False),
        ("Potassium", "2.5", "mmol/L", 20_000, True),
        ("Potassium", "6.9", None, None, True),
        ("Potassium", ">8.0", "mmol/L", None, True),
        ("Potassium", "<3.0", "mmol/L", None, False),
        ("Sodium", "125", "mmol/L", 20_000, False),
        ("Sodium", "125", "mmol/L", 3_000, True),
        ("Glucose", "45", "mg/dL", 20_000, True),
        ("Glucose", "45", "mg/dL", 1, False),
        ("Glucose", "26", "mmol/L", 20_000, True),
        ("Glucose", "7.2", None, 20_000, False),
        ("Hemoglobin", "58", "g/L", 20_000, True),
        ("Hemoglobin", "9.1", "g/dL", 20_000, False),
        ("Potassium", "pending", "mmol/L", None, False),
    ],
)
def test_a_value_at_its_limit_or_beyond_is_critical(
    name, value, unit, days, is_critical
) -> None:
    found = mark_critical_result(
        make_result(name, value, unit),
        criteria=CriticalCriteria(load_critical_limits(), days),
        decimal_comma=False,
    )

    assert (found.interpretation is Interpretation.CRITICAL) == is_critical


def test_limits_of_one_analyte_in_one_unit_do_not_overlap_in_age() -> None:
    for one in load_critical_limits():
        same = [
            other
            for other in load_critical_limits()
            if (other.analyte, other.unit) == (one.analyte, one.unit)
        ]
        for age in (0, 1, 2, 30, 31, 5843, 5844, 30_000):
            fit = [
                o.key for o in same if (o.from_days or 0) <= age <= (o.to_days or 10**6)
            ]
            assert len(fit) <= 1, fit


def store(user: Any, *results: Any) -> Any:
    job = make_parsing_job(user=user)
    mark_parsing_job_started(job=job, actor=ACTOR)
    notes = run_report_checks(
        metadata=Metadata(), by_page={}, results=results, decimal_comma=False
    )
    report = make_parsed(metadata=Metadata(), results=results, notes=notes)
    return store_parsing_results(job=job, actor=ACTOR, report=report)


@pytest.mark.django_db
def test_a_critical_value_starts_a_clock_that_is_acknowledged(alice_tenant) -> None:
    clinician = Client()
    clinician.force_login(make_member(team=alice_tenant.team, roles=(Role.CLINICIAN,)))
    user = make_user(
        tenant=alice_tenant,
        client_user_id="mbr_rosa",
        fallback_birth_date=date(1980, 4, 15),
    )
    job = store(
        user,
        make_result("Potassium", "6.9", "mmol/L"),
        make_result("Sodium", "140", "mmol/L"),
    )

    alert = CriticalAlert.objects.for_tenant(alice_tenant).get()
    assert (alert.user_id, alert.parsed_report_id) == (user.id, job.id)
    assert [one["result"] for one in alert.parsed_results] == ["6.9"]
    rows = ReportResult.objects.for_tenant(alice_tenant).order_by("position")
    assert [row.interpretation for row in rows] == ["critical", "abnormal"]
    assert "labs.mail_critical" in [entry.name for entry in queued()]
    place = "/t/alice-health/sandbox"
    shown = clinician.get(f"{place}/critical/").content.decode()
    assert "mbr_rosa" in shown
    assert f"{place}/reports/{job.id}/" in shown
    reply = clinician.post(
        f"{place}/critical/{alert.pk}/acknowledge/",
        {"action": "Called the patient in.", "notification_method": "treating"},
    )
    assert reply.status_code == 302, reply.content.decode()
    alert.refresh_from_db()
    assert alert.acknowledged_at is not None
    assert alert.action == "Called the patient in."


@pytest.mark.django_db
def test_a_report_without_critical_values_starts_no_clock(alice_tenant) -> None:
    store(
        make_user(tenant=alice_tenant),
        make_result("Potassium", "5.4", "mmol/L"),
        # Impossible, and with the unit that would fit normal: slips, not emergencies.
        make_result("Sodium", "1400", "mmol/L"),
        make_result("Hemoglobin", "138", "g/dL"),
    )

    assert not CriticalAlert.objects.for_tenant(alice_tenant).exists()


@pytest.mark.django_db
def test_a_value_edited_to_a_critical_one_starts_the_clock_when_signed(
    alice_tenant,
) -> None:
    user = make_user(tenant=alice_tenant)
    report = make_parsed(results=(make_result("Potassium", "5.4", "mmol/L"),))
    review = make_review(user=user, report=report, claimed_by=NORA)
    edit_review_row_text(
        **tenant_and_actor(review),
        ref=ref_of(review),
        text=replace(text_of(review), value="6.9"),
    )
    assert not CriticalAlert.objects.for_tenant(alice_tenant).exists()
    record_critical_value_notification(
        **tenant_and_actor(review),
        ref=ref_of(review),
        notice=CriticalNotification("Dr. Sample", timezone.now(), "by phone"),
    )
    decide_all(review)

    sign(review)

    alert = CriticalAlert.objects.for_tenant(alice_tenant).get()
    assert (alert.user_id, alert.parsed_report_id) == (user.id, review.job_id)
    assert [one["result"] for one in alert.parsed_results] == ["6.9"]


def make_review_with_alert(user: Any) -> tuple[Any, CriticalAlert]:
    critical = replace(
        make_result("Potassium", "6.9", "mmol/L"),
        interpretation=Interpretation.CRITICAL,
    )
    report = make_parsed(results=(critical, make_result("Sodium", "140", "mmol/L")))
    review = make_review(user=user, report=report, claimed_by=NORA)
    open_or_close_alert_of_critical_values(
        job=review.job, actor=ACTOR, rows=review.job.results.all()
    )
    return review, CriticalAlert.objects.for_tenant(user.tenant).get()


@pytest.mark.django_db
@pytest.mark.parametrize("is_acknowledged", [False, True])
def test_the_alert_follows_its_report_to_another_user(
    alice_tenant, is_acknowledged
) -> None:
    review, alert = make_review_with_alert(make_user(tenant=alice_tenant))
    if is_acknowledged:
        alert.acknowledged_at = timezone.now()
        alert.action = "Called the patient in."
        alert.save()
    other = make_user(tenant=alice_tenant, client_user_id="mbr_other")

    move_report_to_other_user(
        **tenant_and_actor(review),
        review_id=review.id,
        user_id=other.uuid,
        reason="Their name is on it.",
    )

    alerts = CriticalAlert.objects.for_tenant(alice_tenant).order_by("pk")
    assert {(one.user_id, one.parsed_report_id) for one in alerts} == {
        (other.id, review.job_id)
    }
    # What was acknowledged was about another person: the right person's clock starts.
    (running,) = alerts.filter(acknowledged_at=None)
    assert (running.pk == alert.pk) != is_acknowledged
    assert [one["result"] for one in running.parsed_results] == ["6.9"]
    assert running.due_at >= alert.due_at


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reason", "is_open", "has_user"),
    [
        (RejectionReason.NOT_A_REPORT, False, True),
        (RejectionReason.UNREADABLE, True, True),
        (RejectionReason.OTHER_LANGUAGE, True, True),
        (RejectionReason.WRONG_PERSON, True, False),
    ],
)
@pytest.mark.parametrize("by", ["review", "hold"])
def test_the_alert_of_a_rejected_report_closes_only_if_no_value_can_be_real(
    alice_tenant, client, reason, is_open, has_user, by
) -> None:
    review, alert = make_review_with_alert(make_user(tenant=alice_tenant))
    if by == "review":
        reject_report(**tenant_and_actor(review), review_id=review.id, reason=reason)
    else:
        review.job.hold_reasons = ["name_mismatch"]
        review.job.save()
        reject_held_report(
            **tenant_and_actor(review), job_id=review.job_id, reason=reason
        )

    alert.refresh_from_db()
    assert (alert.acknowledged_at is None) == is_open
    assert (alert.user is not None) == has_user
    clinician = make_member(team=alice_tenant.team, roles=(Role.CLINICIAN,))
    client.force_login(clinician)
    page = client.get("/t/alice-health/sandbox/critical/").content.decode()
    assert str(review.job_id)[:8] in page
    assert ("Rejected: not a lab report." in page) != is_open
    if is_open:
        url = f"/t/alice-health/sandbox/critical/{alert.pk}/acknowledge/"
        assert client.get(url).status_code == 200
        action = {"action": "Found them.", "notification_method": "treating"}
        assert client.post(url, action).status_code == 302
        alert.refresh_from_db()
        assert alert.action == "Found them."


@pytest.mark.django_db
def test_a_critical_value_edited_away_closes_its_alert_when_signed(
    alice_tenant,
) -> None:
    review, alert = make_review_with_alert(make_user(tenant=alice_tenant))
    edit_review_row_text(
        **tenant_and_actor(review),
        ref=ref_of(review),
        text=replace(text_of(review), value="4.9"),
    )
    decide_all(review)
    alert.refresh_from_db()
    assert alert.acknowledged_at is None

    sign(review)

    closed = CriticalAlert.objects.for_tenant(alice_tenant).get(pk=alert.pk)
    assert closed.acknowledged_at is not None
    assert closed.action == "Signed without a critical value."
    assert closed.member_name == NORA.label
    assert CriticalAlert.objects.for_tenant(alice_tenant).count() == 1


@pytest.mark.django_db
def test_values_of_an_alert_go_with_their_report_and_only_once_acknowledged(
    alice_tenant, charlie_tenant, django_capture_on_commit_callbacks
) -> None:
    review, alert = make_review_with_alert(make_user(tenant=alice_tenant))
    _other, kept = make_review_with_alert(make_user(tenant=charlie_tenant))
    reject_report(
        **tenant_and_actor(review),
        review_id=review.id,
        reason=RejectionReason.WRONG_PERSON,
    )
    later = timezone.now() + timedelta(days=1)

    assert count_old_failed_reports(alice_tenant, later).number == 0
    assert list(delete_old_failed_reports(alice_tenant, later)) == []
    CriticalAlert.objects.for_tenant(alice_tenant).update(acknowledged_at=later)
    with django_capture_on_commit_callbacks(execute=True):
        assert list(delete_old_failed_reports(alice_tenant, later)) == [1]

    assert list(CriticalAlert.unscoped.values_list("pk", flat=True)) == [kept.pk]
    assert alert.pk != kept.pk


@pytest.mark.django_db
def test_erasure_takes_an_open_alert_of_a_report_of_nobody_known(alice_tenant) -> None:
    user = make_user(tenant=alice_tenant)
    review, _alert = make_review_with_alert(user)
    reject_report(
        **tenant_and_actor(review),
        review_id=review.id,
        reason=RejectionReason.WRONG_PERSON,
    )

    erase_user_reports(alice_tenant.pk, user.uuid)

    assert not CriticalAlert.objects.for_tenant(alice_tenant).exists()
