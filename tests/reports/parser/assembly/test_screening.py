"""Documents that are no lab report, however much their lines look like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.report import FailureReason, UnreadableReport
from tests.reports.parser.drawing import Drawn, read, row

XS = (40, 200, 280, 360)

PAPERS: dict[str, list[list[Drawn] | str]] = {
    "pills": [
        "Supplement facts   Serving size 1 tablet",
        row(XS, "Vitamin D", "25 mcg", "", "125 %"),
        row(XS, "Iron", "18 mg", "", "100 %"),
        row(XS, "Zinc", "11 mg", "", "100 %"),
    ],
    "drinking water": [
        "Drinking water analysis by our laboratory",
        row(XS, "Parameter", "Result", "Unit", "Limit"),
        row(XS, "Nitrate", "12", "mg/L", "50"),
        row(XS, "Iron", "40", "ug/L", "200"),
    ],
    "a prescription": [
        row(XS, "Tab. Metformin", "500 mg", "1-0-1", "30 days"),
        row(XS, "Inj. Vitamin D3", "60000 IU", "weekly", "8 weeks"),
        row(XS, "Tab. Folic acid", "5 mg", "1-0-0", "90 days"),
        "Review with HbA1c and creatinine after 3 months",
    ],
    "an explanation": [
        "About your cholesterol test",
        row(XS, "Category", "Total cholesterol", "LDL", "HDL"),
        row(XS, "Desirable", "< 200 mg/dL", "< 100 mg/dL", "> 60 mg/dL"),
        row(XS, "High", ">= 240 mg/dL", ">= 160 mg/dL", "< 40 mg/dL"),
    ],
    "a bill": [
        "TAX INVOICE Alpha Diagnostics Laboratory",
        row(XS, "Test Name", "Qty", "Rate", "Amount"),
        row(XS, "HbA1c", "1", "450.00", "450.00"),
        row(XS, "TSH", "1", "250.00", "250.00"),
        row(XS, "", "", "Total payable", "700.00"),
    ],
}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_of_another_kind_gives_no_row(tmp_path: Path, paper: str) -> None:
    with pytest.raises(UnreadableReport) as refused:
        read(tmp_path, PAPERS[paper])

    assert refused.value.reason is FailureReason.INVALID_INPUT


def test_sensitivities_of_a_culture_are_results_of_a_laboratory(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            "CULTURE AND SENSITIVITY, URINE",
            row(XS, "Antibiotic", "MIC", "Interpretation"),
            row(XS, "Amikacin", "<=2", "Sensitive"),
            row(XS, "Ciprofloxacin", ">=4", "Resistant"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Amikacin", "<=2"),
        ("Ciprofloxacin", ">=4"),
    ]
