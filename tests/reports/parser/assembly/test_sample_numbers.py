"""Numbers of samples, printed anywhere on a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.parser.assembly.sample_numbers import (
    NUMBERS_AT_MOST,
    find_possible_sample_numbers,
)
from reports.parser.layout.lines import group_words_into_lines
from reports.parser.layout.text_layer import read_pdf_pages
from tests.reports.parser.drawing import draw

if TYPE_CHECKING:
    from pathlib import Path


def find(path: Path, *pages: list[str]) -> tuple[str, ...]:
    drawn = read_pdf_pages(draw(path / "a.pdf", *pages))
    lines = [group_words_into_lines(p.words, page=p.number) for p in drawn]
    return find_possible_sample_numbers(lines)


def test_a_number_is_found_wherever_it_is_printed(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        ["LAKESIDE LABORATORY", "Patient: ADA EXAMPLE", "Lab No: L-471142"],
        ["HEMOGLOBIN 13.5 g/dL 12.0-16.0", "TRMWKYOWKQUD", "*SBD2C69365A*"],
        ["SBD2C69365A  ABCD-EF12-3456", "Collected 2026-11-20 09:30"],
    )

    assert found == ("TRMWKYOWKQUD", "SBD2C69365A", "ABCD-EF12-3456")


def test_what_is_found_is_bounded(tmp_path: Path) -> None:
    pages = [[f"NR{n:04}{page:02}" for n in range(40)] for page in range(4)]

    assert len(find(tmp_path, *pages)) == NUMBERS_AT_MOST
