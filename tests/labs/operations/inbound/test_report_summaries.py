from __future__ import annotations

import datetime

import pytest

from labs.operations.inbound import report_summaries
from labs.operations.inbound.report_summaries import summarize_lab_report
from tests.factories.hl7 import make_oru, make_test, obx, obx_with_document
from tests.factories.inbound import make_unmatched, take
from tests.factories.labs import make_lab
from tests.factories.reports import make_pdf

pytestmark = pytest.mark.django_db


def report_of(tenant, *tests):
    message = take(tenant, make_oru(*tests), lab=make_lab())
    report = message.reports.get()
    report.tenant = tenant
    return report


def test_a_report_is_summarized_without_its_documents(alice_tenant):
    lines = (obx(flag="N"), obx(flag="H", id="X"), obx_with_document(make_pdf()))
    report = report_of(alice_tenant, make_test(*lines, placer="NOBODYS"))

    summary = summarize_lab_report(report)

    assert (summary.patient.given, summary.patient.family) == ("Ada", "Example")
    assert summary.patient.birth_date == datetime.date(1990, 5, 17)
    assert summary.tests == (("2345", "Test 2345"),)
    assert (summary.interpretation, summary.status) == ("abnormal", "final")


def test_of_a_long_report_patient_tests_and_critical_results_are_told(
    alice_tenant, monkeypatch
):
    test = make_test(obx(flag="HH"), obx(id="X"), placer="NOBODYS", status="P")
    report = report_of(alice_tenant, test)
    monkeypatch.setattr(report_summaries, "_READ_WHOLE", 100)

    summary = summarize_lab_report(report)

    assert summary.patient.family == "Example"
    assert summary.tests == (("2345", "Test 2345"),)
    assert (summary.interpretation, summary.status) == ("critical", "partial")


def test_a_report_that_can_t_be_read_any_more_is_summarized_as_empty(alice_tenant):
    report = make_unmatched(tenant=alice_tenant)
    report.text = "MSH|^~\\&|\rOBX|1|NM\r"

    summary = summarize_lab_report(report)

    assert (summary.patient.family, summary.tests) == ("", ())
    assert (summary.interpretation, summary.status) == (None, "partial")
