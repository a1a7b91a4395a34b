"""Units and ranges in odd places: pages drawn in text, each row listed beside its page.

The pages mix what reports of many laboratories do; none is the look of one of them.
"""

from __future__ import annotations

import re

import pytest

from reports.parser.layout.word_repair import repair_misread_unit
from reports.parser.pages import Page, Word
from reports.parser.parsing import parse_report_pages

HEAD = "Example Laboratory\nPatient: Alex Example      Age: 40 Y   Sex: M\n"
TITLES = "Test                 Result     Unit       Reference range\n"


def page_of(text):
    """A page of the text: a line of 14 points, a letter of five, '~' half a line."""
    words, top = [], 36.0
    for line in text.splitlines():
        if line.strip("~-") == "" and line:
            top += {"~": 7, "~-": -7}[line]
            continue
        for cell in re.finditer(r"\S+(?: \S+)*", line):
            left = 30 + 5.0 * cell.start()
            for piece in cell[0].split():
                right = left + 4.5 * len(piece)
                words.append(Word(piece, left, top, right, top + 9, 9.0))
                left = right + 2.5
        top += 14
    return Page(1, max(word.x1 for word in words) + 30, 842.0, tuple(words))


def rows_of(text):
    return [
        (row.test_name, row.value, row.units or "", row.reference_range or "")
        for row in parse_report_pages([page_of(HEAD + text)]).results
    ]


def test_a_band_that_goes_on_from_a_range_stays_with_it():
    rows = rows_of(
        TITLES
        + "Glucose              98         mg/dL      70 - 99\n"
        + "                                           Impaired: 100 - 125\n"
        + "Uric acid            5.1        mg/dL      Male: 3.4 - 7.0\n"
        + "                                           Female: 2.4 - 6.0\n"
    )

    assert [row[3] for row in rows] == [
        "70 - 99 Impaired: 100 - 125",
        "Male: 3.4 - 7.0 Female: 2.4 - 6.0",
    ]


@pytest.mark.parametrize(
    ("line", "unit", "spread"),
    [
        ("Haemoglobin, g/dL    13.2       13.0 - 17.0", "g/dL", "13.0 - 17.0"),
        ("Haemoglobin          13.2       g/dL 13.0 - 17.0", "g/dL", "13.0 - 17.0"),
        (
            "Haemoglobin          13.2       Low 13.0 - 17.0 g/dL",
            "g/dL",
            "13.0 - 17.0 g/dL",
        ),
        (
            "Haemoglobin          13.2       M: 13 - 17 F: 12 - 15 g/dL",
            "g/dL",
            "M: 13 - 17 F: 12 - 15 g/dL",
        ),
    ],
)
def test_a_unit_beside_a_name_or_in_a_range_is_that_of_the_value(line, unit, spread):
    rows = rows_of(
        "Test                 Result     Reference range\n"
        + f"{line}\n"
        + "Total WBC            7.8        x E9/L (4.0 - 10.0)\n"
        + "Total Cholesterol    182        < 200 mg/dL\n"
    )

    assert rows == [
        ("Haemoglobin", "13.2", unit, spread),
        ("Total WBC", "7.8", "x E9/L", "(4.0 - 10.0)"),
        ("Total Cholesterol", "182", "mg/dL", "< 200 mg/dL"),
    ]


def test_a_heading_gives_its_unit_to_the_tests_that_are_measured_in_it():
    rows = rows_of(
        "Test                 Result     Reference range\n"
        "DIFFERENTIAL COUNT (%)\n"
        "Neutrophils          61         40 - 80\n"
        "Lymphocytes          30         20 - 40\n"
        "Platelet count       245        150 - 410\n"
        "ELECTROLYTES (mmol/L)\n"
        "Sodium               140        135 - 145\n"
        "Potassium            4.2        3.5 - 5.1\n"
        "pH                   7.40       7.35 - 7.45\n"
    )

    assert [(name, unit) for name, _, unit, _ in rows] == [
        ("Neutrophils", "%"),
        ("Lymphocytes", "%"),
        ("Platelet count", ""),
        ("Sodium", "mmol/L"),
        ("Potassium", "mmol/L"),
        ("pH", ""),
    ]


def test_columns_of_unknown_titles_are_known_by_what_stands_in_each():
    rows = rows_of(
        "Nr   Test             Result     Given      Range\n"
        "01A  Haemoglobin      13.2       g/dL       (13.0 - 17.0)\n"
        "02B  Glucose          98         mg/dL      (70 - 100)\n"
    )

    assert rows == [
        ("Haemoglobin", "13.2", "g/dL", "(13.0 - 17.0)"),
        ("Glucose", "98", "mg/dL", "(70 - 100)"),
    ]


def test_what_is_said_behind_a_bracketed_range_is_a_flag():
    rows = rows_of(
        "- Total Cholesterol: 210 mg/dL (Reference: <200 mg/dL) - HIGH\n"
        "- Haemoglobin: 13.5 g/dL (Reference: 13.0-17.0 g/dL)\n"
        "- Glucose: 98 mg/dL (Reference: up to 100 mg/dL)\n"
    )

    assert rows == [
        ("Total Cholesterol", "210", "mg/dL", "<200 mg/dL"),
        ("Haemoglobin", "13.5", "g/dL", "13.0-17.0 g/dL"),
        ("Glucose", "98", "mg/dL", "up to 100 mg/dL"),
    ]


def test_findings_of_a_smear_are_results_and_sentences_of_it_are_not():
    page = page_of(
        HEAD
        + TITLES
        + "Haemoglobin          13.2       g/dL       13.0 - 17.0\n"
        + "Hematocrit           40.1       %          40 - 50\n"
        + "PERIPHERAL SMEAR\n"
        + "RBC                  Normocytic normochromic\n"
        + "Parasites            Not seen              Technician\n"
        + "Impression           Picture of iron deficiency, advise ferritin\n"
    )

    rows = parse_report_pages([page]).results

    assert [(row.test_name, row.value, row.reference_range) for row in rows[2:]] == [
        ("RBC", "Normocytic normochromic", None),
        ("Parasites", "Not seen", None),
    ]
    assert rows[2].loinc_matches[0].loinc_code == "6742-1"


def test_words_behind_a_number_are_its_unit_and_never_part_of_the_value():
    rows = rows_of(
        "Sodium: 140 mmol/L (Normal: 135 - 145)\n"
        "Urea: 28 mg/dL (Normal: 15 - 40)\n"
        "Calcium: 9.1 mg/dL (Normal: 8.6 - 10.2)\n"
        "ESR: 12 mm (1 hr) (Normal: 0 - 15)\n"
    )

    assert [row[:3] for row in rows[3:]] == [("ESR", "12", "mm (1 hr)")]


def test_a_limit_alone_in_its_column_is_a_range_open_to_one_side():
    page = page_of(
        HEAD
        + "Test Name        Result    Units      Low     High\n"
        + "Haemoglobin      13.2      g/dL       13.0    17.0\n"
        + "CRP              9.1       mg/L               5.0\n"
        + "HDL              45        mg/dL      40\n"
    )

    rows = parse_report_pages([page]).results

    assert [
        (row.reference_range, row.min_reference_range, row.max_reference_range)
        for row in rows
    ] == [("13.0 - 17.0", 13.0, 17.0), ("≤ 5.0", None, 5.0), ("≥ 40", 40.0, None)]


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("mg/di", "mg/dl"),
        ("uIU/m1", "uIU/ml"),
        ("mmo1/L", "mmol/L"),
        ("10^3/u1", "10^3/ul"),
        ("10A3/uL", "10^3/uL"),
        ("q/dL", "g/dL"),
        ("cells/cum", "cells/cumm"),
        ("Cells/Cunm", "Cells/Cumm"),
        ("1akhs/cumm", "lakhs/cumm"),
        ("o/o", "%"),
        # No unit, or one as it is: nothing is corrected.
        ("9/uL", "9/uL"),
        ("1/1", "1/1"),
        ("A/G", "A/G"),
        ("cumm", "cumm"),
    ],
)
def test_signs_of_a_unit_in_a_picture_are_corrected_towards_units_alone(read, printed):
    assert repair_misread_unit(read) == printed
