"""What a text at the start of a line is, if not the name of a test."""

from __future__ import annotations

import pytest

from reports.parser.report import SampleType
from reports.parser.text.not_names import (
    find_specimen_in_text,
    is_administrative_line,
    is_category_label,
    is_explanation_table_title,
    is_test_method,
    starts_explanation_section,
)


@pytest.mark.parametrize(
    "text",
    [
        "Accession No",
        "Age / Sex",
        "Patient Name",
        "Lab No.",
        "Phone",
        "Page 2 of 3",
        "Tab. Metformin",
        "O/E - weight",
        "QRISK2 cardiovascular risk score",
        "Geburtsdatum",
    ],
)
def test_lines_about_the_patient_and_the_order_name_no_test(text: str) -> None:
    assert is_administrative_line(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Reference plasma", "Sex hormone binding globulin", "Tabersonine", "O2"),
        "Taxa de filtração glomerular",
    ],
)
def test_names_that_begin_alike_are_left_alone(text: str) -> None:
    assert not is_administrative_line(text)


@pytest.mark.parametrize("text", ["Borderline high", "Stage 2", "1st Trimester"])
def test_bands_of_a_range_are_categories(text: str) -> None:
    assert is_category_label(text)


@pytest.mark.parametrize(
    "text", ["Interpretation", "Note: 1. Fasting", "Tariff codes", "Vital signs"]
)
def test_an_explanation_opens_with_its_own_words(text: str) -> None:
    assert starts_explanation_section(text)


def test_titles_of_an_explanation_are_told_from_titles_of_results() -> None:
    assert is_explanation_table_title("LEVEL REFERENCE RANGE IN nmol/L COMMENTS")
    assert not is_explanation_table_title("Investigation Result Units")


@pytest.mark.parametrize("text", ["(Modified Jaffe,Kinetic)", "Method: HPLC", "ECLIA"])
def test_a_method_is_no_name(text: str) -> None:
    assert is_test_method(text)


@pytest.mark.parametrize(
    ("text", "specimen"),
    [
        ("LIPID SCREEN, SERUM", SampleType.BLOOD),
        ("SPECIMEN: URINE (RANDOM)", SampleType.URINE),
        ("Harnstatus", SampleType.URINE),
        ("Harnstoff", None),
        ("Spontanharn", SampleType.URINE),
        ("Stuhl", SampleType.STOOL),
        ("Lipids", None),
    ],
)
def test_a_heading_may_name_the_specimen(
    text: str, specimen: SampleType | None
) -> None:
    assert find_specimen_in_text(text) is specimen
