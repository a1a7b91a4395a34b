"""Assay's own result report, rendered and read back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from labs.operations.documents.order_documents import render_results_report
from labs.operations.results.deliveries import store_result_delivery
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.results import get_results_of_order
from reports.parser.hidden_text import find_hidden_text
from reports.parser.parsing import parse_report
from reports.parser.report import Metadata
from tests.factories.accounts import ACTOR
from tests.factories.results import (
    delivery,
    make_order_awaiting_results,
    make_reported_result,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.django_db
def test_assays_own_result_report_names_its_patient_specimen_and_rows(
    alice_tenant, tmp_path: Path
) -> None:
    order = make_order_awaiting_results(tenant=alice_tenant)
    order.lab.name = "Lakeside Laboratory"
    order.lab.save()
    store_result_delivery(
        order=order,
        actor=ACTOR,
        delivery=delivery(
            make_reported_result("Glucose", "85"),
            make_reported_result(
                "Sodium", "131", unit="mmol/L", reference_range="135-145"
            ),
            make_reported_result(
                "Potassium", "6.9", unit="mmol/L", reference_range="3.5-5.1", flag="HH"
            ),
            collected_at=datetime(2026, 11, 19, 15, tzinfo=UTC),
        ),
    )
    order = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
    found = get_results_of_order(order=order)
    path = tmp_path / "own.pdf"
    path.write_bytes(render_results_report(found=found, tenant=alice_tenant).body)

    report = parse_report(path)

    numbers = report.metadata.printed_numbers
    assert order.sample_id in numbers
    assert report.metadata == Metadata(
        patient_first_name="Ada",
        patient_last_name="Example",
        dob="1990-05-17",
        gender="female",
        lab_name="Lakeside Laboratory",
        date_reported="2026-11-20",
        date_collected="2026-11-19",
        specimen_number=order.sample_id,
        printed_numbers=numbers,
    )
    assert [
        (row.test_name, row.value, row.units, row.reference_range, row.interpretation)
        for row in report.results
    ] == [
        ("Glucose", "85", "mg/dL", "65-99", "normal"),
        ("Sodium", "131", "mmol/L", "135-145", "abnormal"),
        ("Potassium", "6.9", "mmol/L", "3.5-5.1", "critical"),
    ]
    assert find_hidden_text((path,), report) == ()
