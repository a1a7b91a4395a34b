"""The patient header in the forms that laboratories print. All people are invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.dates import read_date
from reports.parser.lines import read_lines
from reports.parser.metadata import read_metadata
from reports.parser.pages import read_pages
from reports.parser.report import Metadata
from tests.reports.parser.drawing import Drawn, draw, row

XS = (40, 130, 320, 410)


def header(path: Path, *lines: list[Drawn] | str) -> Metadata:
    pages = read_pages(draw(path / "a.pdf", lines))
    return read_metadata([read_lines(p.words, page=p.number) for p in pages])


def test_labels_and_texts_may_stand_in_columns(tmp_path: Path) -> None:
    assert header(
        tmp_path,
        "Willow Diagnostics",
        row(XS, "Patient Name", ": Ms. ROBIN SAMPLE", "Lab No", ": SMP-77120"),
        row(XS, "Age / Sex", ": 52 Yrs / F", "Collected", ": 18-Jan-2024 08:20AM"),
        row(XS, "DOB", ": 1971-06-21", "Reported", ": 19-Jan-2024 04:45PM"),
    ) == Metadata(
        patient_first_name="ROBIN",
        patient_last_name="SAMPLE",
        dob="1971-06-21",
        gender="female",
        lab_name="Willow Diagnostics",
        date_reported="2024-01-19",
        date_collected="2024-01-18",
        specimen_number="SMP-77120",
    )


def test_several_labels_may_share_a_line(tmp_path: Path) -> None:
    found = header(
        tmp_path, "PATIENT: PRETEND, Casey    DOB: 21/06/1971    SEX: M    MRN: 881"
    )

    assert (found.patient_first_name, found.patient_last_name) == ("Casey", "PRETEND")
    assert (found.dob, found.gender) == ("1971-06-21", "male")


def test_what_is_not_printed_is_none(tmp_path: Path) -> None:
    assert header(tmp_path, "Some text") == Metadata()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-02-03", "2024-02-03"),
        ("18-Jan-2024 08:20AM", "2024-01-18"),
        ("21/Aug/2024", "2024-08-21"),
        ("July 8, 1990", "1990-07-08"),
        ("8 July 1990", "1990-07-08"),
        ("21/06/1971", "1971-06-21"),
        ("11/30/1968", "1968-11-30"),
        ("21.06.71", "1971-06-21"),
        ("03.04.2022", "2022-04-03"),
        ("03/04/2022", None),
        ("99/99/2022", None),
        ("soon", None),
    ],
)
def test_a_date_is_read_unless_its_order_is_in_doubt(
    text: str, day: str | None
) -> None:
    assert read_date(text) == day


def test_another_date_of_the_report_settles_the_order(tmp_path: Path) -> None:
    found = header(tmp_path, "DOB: 11/30/1968", "Collected: 02/06/2023 08:10")

    assert (found.dob, found.date_collected) == ("1968-11-30", "2023-02-06")
