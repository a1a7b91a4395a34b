"""Lines that look like results and gave no row, for a person to look at."""

from __future__ import annotations

from collections.abc import Sequence

from reports.parser.layout.lines import Line
from reports.parser.pages import Word
from reports.parser.readers.lines import LooseReader
from reports.parser.rows.row import KnownName, Row, Section, list_used_words
from reports.parser.text.not_names import (
    is_explanation_table_title,
    starts_explanation_section,
)

_NEAR = 2.2


def find_unread_result_lines(
    lines: Sequence[Line], rows: Sequence[Row], *, is_known: KnownName
) -> list[list[Word]]:
    """Return the words of lines that may have results but became no row.

    rows: all that were read, also those that are left out as repeats. A line counts
    that has a known name and a bare number or finding with a unit or a range.
    """
    used = list_used_words(rows)
    reader = LooseReader(Section(is_known))
    stretches: list[list[Word]] = []
    last: Line | None = None
    explaining = False
    for line in lines:
        taken = any(id(word) in used for word in line.words)
        explaining = not taken and (
            explaining
            or starts_explanation_section(line.text)
            or is_explanation_table_title(line.text)
        )
        if taken or explaining or not reader.may_be_row(line):
            continue
        if last is not None and line.middle - last.middle < _NEAR * line.size:
            stretches[-1].extend(line.words)
        else:
            stretches.append(list(line.words))
        last = line
    return stretches
