"""Reads tables by what stands in line: no title is needed, and no order of columns.

Lines with a known test and a number anchor a table. Numbers, units and ranges that
stand over one another are its columns, and every line between the anchors is read by
them. Decides nothing: what is proposed here is judged beside other readings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reports.parser.layout.lines import CELL_GAP, Line
from reports.parser.pages import Word
from reports.parser.readers.aligned_cells import Level, Part, clip_levels, cut_line
from reports.parser.readers.aligned_columns import Columns, find_columns, find_strips
from reports.parser.rows.completion import GROUP
from reports.parser.rows.grammar import drop_gloss_from_name
from reports.parser.rows.naming import split_flag_word_from_name
from reports.parser.rows.reading import read_row_fields_by_column
from reports.parser.rows.row import Parts, Row, Section
from reports.parser.rows.wording import (
    clean_printed_name,
    is_exact_value,
    is_incomplete_name,
    is_section_heading,
    may_name_a_test,
    split_name_and_flag,
    strip_superscript_from_name,
)
from reports.parser.text.fields import Fields, is_unit
from reports.parser.text.not_names import (
    is_prose,
    is_test_method,
    starts_explanation_section,
)
from reports.parser.text.ranges import is_plain_numeric_range, is_range_cut_off
from reports.parser.text.roles import Role
from reports.parser.text.values import is_numeric_value, is_worded_value

# Of the lines of a table with a known test, and of each of several side by side.
_FEWEST, _PAIR = 3, 2
# Lines between two anchors of one table: notes, methods and headings stand there.
_APART = 6
_TITLES_ABOVE = 3
_WRAP = 1.6
_LETTER = re.compile(r"[^\W\d_]")


_Draft = tuple[Level, Parts, Section]


def read_rows_in_aligned_columns(
    lines: Sequence[Line], section: Section
) -> list[list[Row]]:
    """Return the rows of each table whose numbers stand in line beside known tests."""
    tables: list[list[Row]] = []
    levels = [cut_line(line, section) for line in lines]
    for start, end in _find_blocks(levels):
        block = levels[start:end]
        above = levels[max(0, start - _TITLES_ABOVE) : start]
        for left, right in find_strips(block):
            titles = clip_levels(above, left, right, section)
            own = clip_levels(block, left, right, section)
            # What stands in no column of a table may stand in those of another.
            while rows := _read_strip(titles, own, section.copy()):
                tables.append(rows)
                used = {id(word) for row in rows for word in row.name}
                own = [lv for lv in own if used.isdisjoint(map(id, lv.line.words))]
    return tables


def _find_blocks(levels: Sequence[Level]) -> list[tuple[int, int]]:
    """Return where tables begin and end, the end with lines that may go on."""
    anchors = [n for n, level in enumerate(levels) if level.named]
    blocks: list[list[int]] = []
    for n in anchors:
        if blocks and n - blocks[-1][-1] <= _APART:
            blocks[-1].append(n)
        else:
            blocks.append([n])
    return [
        (block[0], min(len(levels), block[-1] + 4))
        for block in blocks
        if len(block) >= _FEWEST
    ]


def _read_strip(
    above: Sequence[Level], levels: Sequence[Level], section: Section
) -> list[Row]:
    anchors = [level for level in levels if level.named]
    if len(anchors) < _PAIR:
        return []
    table = find_columns(above, anchors)
    if table is None:
        return []
    drafts: list[_Draft] = []
    pending: list[Level] = []
    explaining = False
    for n, level in enumerate(levels):
        parts = _assign(level, table)
        if Role.VALUE in parts and Role.NAME in parts and not explaining:
            drafts.append((level, parts, section.copy()))
            pending.clear()
            continue
        following = levels[n + 1] if n + 1 < len(levels) else None
        if drafts and not pending and _goes_on(drafts[-1], level, parts, following):
            drafts[-1] = _add_line(drafts[-1], level, parts)
            continue
        pending.append(level)
        if starts_explanation_section(level.line.text) and not level.named:
            explaining = True
        elif is_section_heading(level.line):
            section.open(level.line.text)
            explaining = False
        elif level.named:
            explaining = False
    united = sum(Role.UNIT in parts for _, parts, _ in drafts)
    ranged = sum(Role.RANGE in parts for _, parts, _ in drafts)
    rows = []
    for level, parts, own in drafts:
        row = _build(level, parts, own)
        if row is None:
            continue
        held = (2 * united > len(drafts) and row.fields.units) or (
            2 * ranged > len(drafts) and row.fields.range
        )
        if own.knows(row.test_name):
            row.score += 2.5
        elif not held or not is_numeric_value(row.fields.value):
            continue
        rows.append(row)
    return rows


def _assign(level: Level, table: Columns) -> Parts:
    """Return the words of a line by the column they stand in."""
    parts: Parts = {}
    reach = 0.3 * level.line.size
    left = list(level.parts)
    for role, band, kinds in (
        (Role.VALUE, table.values, ("number", "limit", "finding")),
        (Role.RANGE, table.ranges, ("range", "limit", "finding")),
        (Role.UNIT, table.units, ("unit",)),
    ):
        for part in left:
            if band and part.kind in kinds and band.holds(part, by=reach):
                if role is Role.VALUE and _begins_name(part, table):
                    continue
                parts[role] = list(part.cell.words)
                left.remove(part)
                break
    for part in list(left):
        if part.kind == "flag" and part.cell.x0 > table.names.x0 + reach:
            parts.setdefault(Role.FLAG, list(part.cell.words))
            left.remove(part)
    named = [part for part in left if _begins_name(part, table)]
    if named:
        parts[Role.NAME] = _join_name(named[0], left)
    elif (
        Role.VALUE not in parts
        and len(left) == 1
        and table.ranges
        and table.ranges.holds(left[0])
        and left[0].cell.x0 > table.names.x1
    ):
        # More of a range may be words: 'Female: 12 - 15'.
        parts[Role.RANGE] = list(left[0].cell.words)
    return parts


def _join_name(first: Part, parts: Sequence[Part]) -> list[Word]:
    """Return the words of a name with those no farther than words of one cell are."""
    words = list(first.cell.words)
    for part in parts:
        begin, last = part.cell.words[0], words[-1]
        near = 0 <= begin.x0 - last.x1 < CELL_GAP * begin.size
        if near and part.kind == "text":
            words.extend(part.cell.words)
    return words


def _begins_name(part: Part, table: Columns) -> bool:
    """Whether a cell begins where names do, or stands in their column."""
    reach = part.cell.words[0].size
    if part.kind in ("range", "flag") or not _LETTER.search(part.cell.text):
        return False
    if table.names.x0 - reach < part.cell.x0 < table.names.x0 + reach:
        return True
    middle = (part.cell.x0 + part.cell.x1) / 2
    free = not any(
        band and band.holds(part) for band in (table.values, table.units, table.ranges)
    )
    return free and table.names.x0 - reach < middle < table.names.x1


def _add_line(last: _Draft, level: Level, parts: Parts) -> _Draft:
    """Return a draft with what the line below it has of its name and range."""
    own, held, section = last
    line = replace(own.line, bottom=level.line.bottom)
    whole = {
        role: [*held.get(role, []), *parts.get(role, [])] for role in (*held, *parts)
    }
    return replace(own, line=line), whole, section


def _goes_on(last: _Draft, level: Level, parts: Parts, following: Level | None) -> bool:
    """Whether a line is more of the row above: its name, or its range."""
    own, held, section = last
    apart = level.line.top - own.line.bottom
    if apart > _WRAP * level.line.size - level.line.size or not parts:
        return False
    if set(parts) == {Role.RANGE}:
        spread = " ".join(word.text for word in held.get(Role.RANGE, ()))
        more = " ".join(word.text for word in parts[Role.RANGE])
        begun = is_range_cut_off(spread) or more[:1] in "-–—"
        return begun or bool(GROUP.match(more))
    if not set(parts) <= {Role.NAME, Role.RANGE}:
        return False
    name, words = held[Role.NAME], parts.get(Role.NAME, [])
    if len(level.parts) > len(parts) or not words or len(words) > 6:
        return False
    text = level.line.text
    if is_prose(text) or text.endswith(".") or starts_explanation_section(text):
        return False
    first, second = name[0], words[0]
    if abs(first.size - second.size) > 0.1 * first.size or first.bold != second.bold:
        return False
    if abs(first.x0 - second.x0) > 0.5 * first.size or is_test_method(level.line.text):
        return False
    text = " ".join(word.text for word in name)
    joined = clean_printed_name(f"{text} {' '.join(word.text for word in words)}")
    known = section.knows(clean_printed_name(text))
    if is_incomplete_name(text) or (not known and section.knows(joined)):
        return True
    below = following.line.top - level.line.bottom if following else float("inf")
    return below > 1.3 * max(apart, 0.1 * level.line.size)


def _build(level: Level, parts: Parts, section: Section) -> Row | None:
    fields = read_row_fields_by_column(
        {role: words for role, words in parts.items() if role is not Role.NAME},
        has_limits=False,
    )
    name, flag = split_name_and_flag(
        strip_superscript_from_name(drop_gloss_from_name(parts[Role.NAME]))
    )
    if flag is None:
        name, flag = split_flag_word_from_name(name, section)
    row = Row(level.line.page, name, fields, level.line, titled=False, columns=parts)
    if flag and fields.flag is None:
        row.fields = replace(fields, flag=flag)
    text = row.test_name
    if not may_name_a_test(text) or not _is_sound(row.fields):
        return None
    row.score = 3.0 + 2 * is_unit(fields.units or "") + 2 * bool(fields.range)
    row.panel, row.specimen = section.panel, section.specimen
    return row


def _is_sound(fields: Fields) -> bool:
    value = fields.value
    if is_numeric_value(value):
        return (
            not is_plain_numeric_range(value)
            or is_exact_value(value)
            or bool(re.match(r"[<>≤≥]", value))
        )
    return is_worded_value(value)
