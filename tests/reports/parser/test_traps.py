"""What looks like a result on real reports and is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.report import FailureReason, UnreadableReport
from tests.reports.parser.drawing import Drawn, Ink, printed, read, row

XS = (40, 220, 300, 380)
TITLES = row(XS, "Test", "Result", "Unit", "Reference range")
SODIUM = row(XS, "Sodium", "140", "mmol/L", "135 - 145")
GLUCOSE = row(XS, "Glucose", "98", "mg/dL", "70 - 100")
READ = [
    ("Sodium", "140", "mmol/L", "135 - 145"),
    ("Glucose", "98", "mg/dL", "70 - 100"),
]

EXPLANATIONS: dict[str, list[list[Drawn] | str]] = {
    "lipid goals": [
        "Interpretation:",
        row((60, 220, 340), "NLA recommendations", "LDL cholesterol", "Non HDL"),
        row((60, 220, 340), "Optimal", "<100", "<130"),
        row((60, 220, 340), "Borderline High", "130-159", "160 - 189"),
    ],
    "glycation bands": [
        "As per American Diabetes Association (ADA):",
        row((60, 240), "Reference Group", "HbA1c in %"),
        row((60, 240), "Non diabetic adults >=18 years", "4.0 - 5.6"),
        row((60, 240), "At risk (Prediabetes)", "5.7 - 6.4"),
    ],
    "stages of alcohol": [
        "Stages of influence",
        row((70, 245, 330), "Sobriety", "10 - 50", "mg/dL"),
        row((70, 245, 330), "Stupor", "270 - 400", "mg/dL"),
    ],
    "kidney stages": [
        "Chronic kidney disease",
        row((70, 245, 330), "Stage G2", "60 - 89", "mildly decreased"),
        row((70, 245, 330), "Stage G5", "< 15", "kidney failure"),
    ],
    "cut-offs by age": [
        row((70, 245, 330), "Age group", "NT-proBNP", "Unit"),
        row((70, 245, 330), "< 50 years", "> 450", "pg/mL"),
        row((70, 245, 330), "All ages", "< 300", "pg/mL"),
    ],
    "trimesters": [
        "Pregnancy",
        row((70, 245, 330), "First trimester", "0.10 - 2.50", "mIU/L"),
        row((70, 245, 330), "Third trimester", "0.30 - 3.50", "mIU/L"),
    ],
    "references": [
        "References",
        "1. Example A, Sample B. Clin Biochem. 2020;53(4):112-119.",
        "2. Specimen C et al. Eur J Examples 2019; 40: 111 - 188.",
    ],
}


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_an_explanation_between_rows_adds_none(tmp_path: Path, name: str) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            SODIUM,
            *EXPLANATIONS[name],
            [Ink(40, "GLUCOSE, PLASMA", bold=True)],
            GLUCOSE,
        ],
    )

    assert printed(report) == READ


def test_header_and_footer_lines_are_no_rows(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Accession No", "24118", "Age", "45 Y"),
            row(XS, "Lab No", "9021187", "Phone", "5550100"),
            row(XS, "Height", "164 cm", "Weight", "70 kg"),
            TITLES,
            SODIUM,
            GLUCOSE,
            row(XS, "Sample Id", "7731", "", "12 - 14"),
            "Page 1 of 3",
        ],
    )

    assert printed(report) == READ


def test_a_watermark_over_the_rows_is_left_out(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [Ink(150, "SAMPLE COPY", y=180, size=60, grey=0.8, angle=40)],
            [Ink(200, "DUPLICATE", y=92, size=34, grey=0.85)],
            TITLES,
            SODIUM,
            GLUCOSE,
        ],
    )

    assert printed(report) == READ


def test_a_later_page_that_quotes_the_results_adds_none(tmp_path: Path) -> None:
    report = read(tmp_path, [TITLES, SODIUM, GLUCOSE], [TITLES, SODIUM, GLUCOSE])

    assert printed(report) == READ


def test_a_radiology_page_between_adds_none(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [TITLES, SODIUM, GLUCOSE],
        [
            "ULTRASOUND ABDOMEN",
            "The liver measures 14.5 cm and shows normal echotexture.",
            "Right kidney 10.2 x 4.1 cm, left kidney 9.8 x 4.4 cm.",
            "IMPRESSION: No significant abnormality seen.",
        ],
    )

    assert printed(report) == READ


def test_ranges_of_several_tests_by_phase_add_none(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "FSH", "5.2", "IU/L", "(1 - 25)"),
            row(XS, "LH", "14.1", "IU/L", "(1 - 96)"),
            "Follicular: FSH 3 - 10 IU/L, LH 2 - 12 IU/L, oestradiol 70 - 530 pmol/L",
            "Mid cycle: FSH 4 - 25 IU/L, LH 14 - 96 IU/L, oestradiol 230 - 1310 pmol/L",
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("FSH", "5.2"),
        ("LH", "14.1"),
    ]


OTHER_PAPERS: dict[str, list[list[Drawn] | str]] = {
    "receipt": [
        "INVOICE No 5512    GST 27AAACD",
        row(XS, "Test", "Qty", "Price", "Amount"),
        row(XS, "Hemoglobin", "1", "150.00", "150.00"),
        row(XS, "TSH", "1", "350.00", "350.00"),
        row(XS, "Grand Total", "", "", "500.00"),
    ],
    "medication list": [
        row(XS, "Metformin", "500 mg", "twice daily"),
        row(XS, "Vitamin D3", "1000 IU", "daily"),
        row(XS, "Iron", "325 mg", "daily"),
    ],
    "resume": [
        "CURRICULUM VITAE",
        "Education: BSc Biochemistry, 2015 - 2018, grade 72 %",
        "Skills: PCR 4/5, ELISA 5/5, Python 3/5",
    ],
    "radiology": [
        "X-RAY CHEST PA VIEW",
        "Cardiothoracic ratio 0.48, both lung fields are clear.",
        "Nodule of 6 mm in the right upper lobe, compare in 3 months.",
    ],
    "timetable": [
        row(XS, "Subject", "Date", "Time", "Room"),
        row(XS, "Chemistry", "12/05/2024", "09:00 - 12:00", "101"),
        row(XS, "Biology", "14/05/2024", "09:00 - 12:00", "102"),
    ],
}


@pytest.mark.parametrize("name", OTHER_PAPERS)
def test_a_paper_that_is_no_lab_report_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableReport) as refused:
        read(tmp_path, OTHER_PAPERS[name])

    assert refused.value.reason is FailureReason.INVALID_INPUT


def test_limits_of_several_risks_in_one_line_are_no_result(tmp_path: Path) -> None:
    xs = (40, 240, 280, 413)
    low, middle, high = (
        f"Risque {of} : < {limit} g/L"
        for of, limit in (("faible", "1,16"), ("modéré", "1,00"), ("élevé", "0,70"))
    )
    report = read(
        tmp_path,
        [
            row(xs, "Glycémie", "1,12", "g/L", "0,70 à 1,10"),
            row(xs, "Cholestérol HDL", "0,48", "g/L", "> 0,40"),
            row(xs, "Gamma GT", "38", "UI/L", "< 55"),
            [(60, f"{low}   {middle}   {high}")],
            [(60, low), (200, middle), (340, high)],
        ],
    )

    assert [result.test_name for result in report.results] == [
        "Glycémie",
        "Cholestérol HDL",
        "Gamma GT",
    ]


def test_numbers_of_two_columns_are_never_one_value(tmp_path: Path) -> None:
    xs = (40, 230, 320, 400)
    report = read(
        tmp_path,
        [
            row(xs, "Exame", "Resultado", "Unidade", "Referência"),
            row(xs, "Hemoglobina", "13,9", "g/dL", "13,4 a 16,7"),
            row(xs, "Neutrófilos", "58,0 4.205", "", "1.800 a 7.700"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [("Hemoglobina", "13,9")]
