"""Results written as records: 'Test: ...' and 'Result: ...' on lines of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from reports.parser.layout.lines import Line, split_words_into_cells
from reports.parser.pages import Word
from reports.parser.rows.naming import split_flag_word_from_name
from reports.parser.rows.reading import read_row_fields_by_column
from reports.parser.rows.row import Parts, Row, Section, add_labeled_range_to_row
from reports.parser.rows.wording import (
    clean_printed_name,
    has_panel_heading_word,
    may_name_a_test,
)
from reports.parser.text.dates import parse_dates_in_same_order
from reports.parser.text.fields import is_range_status_text, join_word_texts
from reports.parser.text.not_names import has_letters
from reports.parser.text.ranges import looks_like_range, strip_range_label
from reports.parser.text.roles import (
    Role,
    find_column_role,
    is_column_title,
    is_name_column_title,
)
from reports.parser.text.values import (
    is_not_reported,
    is_out_of_range_flag,
    is_result_value,
)

_LABEL = re.compile(r"(?P<label>[^:]{2,40}?)\s*:(?=\s|$)")
_FARTHEST = 9
_LABEL_AND_TEXT = 2
# What a word in a cell of its own may announce without a colon.
_LABELLING = frozenset({Role.NAME, Role.VALUE, Role.UNIT, Role.RANGE, Role.FLAG})


class _Entry(NamedTuple):
    line: Line
    label: str
    role: Role | None
    words: list[Word]


def read_rows_in_labelled_records(lines: Sequence[Line], section: Section) -> list[Row]:
    """Return the rows of labeled records; none if no record has a test and a value."""
    rows: list[Row] = []
    name: _Entry | None = None
    parts: Parts = {}
    heading: Line | None = None
    distance = 0

    def close() -> None:
        row = _row(name, heading, parts, section)
        if row is not None:
            rows.append(row)

    for line in lines:
        entries = list(_entries(line))
        distance += 1
        if distance > _FARTHEST:
            close()
            name, parts, heading = None, {}, None
        if not entries and not has_letters(line.text):
            # The numbers beside a drawn scale end no record.
            continue
        if not entries:
            if parts.get(Role.VALUE):
                close()
                name, parts = None, {}
            heading, distance = line, 0
            continue
        for entry in entries:
            opens = entry.role is Role.NAME or (
                entry.role is Role.VALUE and Role.VALUE in parts
            )
            if opens:
                close()
                name, parts, distance = None, {}, 0
            if entry.role is Role.NAME:
                name, heading = entry, None
            elif entry.role is not None and entry.words:
                parts.setdefault(entry.role, entry.words)
    close()
    return rows


def _entries(line: Line) -> Iterator[_Entry]:
    """Labels of a line with the words behind each, up to the next label."""
    entry: _Entry | None = None
    cells = line.tight_cells
    if len(cells) == _LABEL_AND_TEXT and not is_column_title(cells[1].text):
        role = find_column_role(cells[0].text)
        if role in _LABELLING:
            label = cells[0].text.lower().strip()
            yield _Entry(line, label, role, list(cells[1].words))
            return
    for cell in cells:
        match = _LABEL.match(cell.text)
        if match is None:
            if entry is not None:
                entry.words.extend(cell.words)
            continue
        if entry is not None:
            yield entry
        taken = len(match.group().split())
        label = match["label"].lower().strip()
        role = find_column_role(label)
        entry = _Entry(line, label, role, list(cell.words[taken:]))
    if entry is not None:
        yield entry


def _bare(heading: Line) -> list[Word]:
    """The words of a heading without a date or 'Normal' that stands apart behind."""
    first, *others = heading.tight_cells
    dated = (
        others
        and parse_dates_in_same_order([cell.text for cell in others])[0] is not None
    )
    told = (
        len(others) == 1
        and is_range_status_text(others[0].text)
        and not is_out_of_range_flag(others[0].text)
    )
    return list(first.words if dated or told else heading.words)


def _row(
    name: _Entry | None, heading: Line | None, parts: Parts, section: Section
) -> Row | None:
    words = name.words if name else _bare(heading) if heading else []
    if not words or not parts.get(Role.VALUE):
        return None
    if name is not None and not is_name_column_title(name.label):
        return None
    spread = parts.pop(Role.RANGE, [])
    fields = read_row_fields_by_column(parts, has_limits=False)
    if spread and not fields.range:
        fields = add_labeled_range_to_row(
            fields, strip_range_label(join_word_texts(spread)), spread
        )
    words, flag = split_flag_word_from_name(words, section)
    if flag and fields.flag is None:
        fields = replace(fields, flag=flag)
    text = clean_printed_name(join_word_texts(words))
    if (
        not may_name_a_test(text)
        or is_not_reported(fields.value)
        or not is_result_value(fields.value)
    ):
        return None
    known = section.knows(text)
    if not known and name is None:
        whole = fields.units and looks_like_range(fields.range or "")
        alone = (
            heading is not None
            and len(split_words_into_cells(words, gap=heading.tight)) == 1
        )
        if not (whole and alone) or has_panel_heading_word(text):
            return None
    if not known and not (fields.units or fields.range):
        return None
    line = name.line if name else heading
    if line is None:
        return None
    row = Row(line.page, words, fields, line, section.panel, section.specimen)
    row.name_text, row.score = text, 8.0 if known else 6.0
    row.titled = name is not None
    return row
