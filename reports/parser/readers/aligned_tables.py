"""Reads tables by what stands in line: no title is needed, and no order of columns.

Lines with a known test and a number anchor a table. Numbers, units and ranges that
stand over one another are its columns, and every line between the anchors is read by
them. Decides nothing: what is proposed here is judged beside other readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from reports.parser.layout.lines import (
    CELL_GAP,
    Cell,
    Line,
    clip_lines_to_columns,
    split_words_into_cells,
)
from reports.parser.pages import Word
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
from reports.parser.text.dates import is_date_title
from reports.parser.text.fields import (
    Fields,
    find_unit_in_range,
    is_laboratory_mark,
    is_range_status_text,
    is_unit,
    split_value_cell,
)
from reports.parser.text.not_names import (
    is_prose,
    is_test_method,
    starts_explanation_section,
)
from reports.parser.text.ranges import (
    Bounds,
    is_plain_numeric_range,
    looks_like_range,
    parse_range_bounds,
    strip_range_label,
)
from reports.parser.text.roles import Role, find_column_role
from reports.parser.text.values import (
    is_numeric_value,
    is_worded_value,
    parse_printed_number,
)

# Of the lines of a table with a known test, and of each of several side by side.
_FEWEST, _PAIR = 3, 2
# Lines between two anchors of one table: notes, methods and headings stand there.
_APART = 6
# Of the anchors, with a cell in a column.
_SHARE = 0.4
# How far a result is from its range, in times of its ends, before it is another number.
_FAR = 4.0
_TITLES_ABOVE = 3
_WRAP = 1.6
_MOST_WORDS = 12
_LETTER = re.compile(r"[^\W\d_]")
# A range that is cut off, and one more of a list by sex or age.
_OPEN = re.compile(r"(?:[-–—:(<>≤≥]|\bto)$")
_GROUP = re.compile(r"(?i)\W*(?:fe)?males?\b|\W*(?:wo)?m[ae]n\b|\W*[mfwh]\s*[:=]")
_NOT_RESULTS = frozenset({Role.PREVIOUS, Role.OTHER, Role.METHOD, Role.SPECIMEN})


@dataclass(frozen=True, slots=True)
class _Part:
    """A cell with what it may be: range, flag, unit, number, finding or text."""

    kind: str
    cell: Cell
    value: str = ""

    @property
    def span(self) -> tuple[float, float]:
        return self.cell.x0, self.cell.x1


@dataclass(frozen=True, slots=True)
class _Level:
    """One line of a table and its cells."""

    line: Line
    parts: tuple[_Part, ...]
    named: tuple[_Part, ...] = ()

    def find(self, *kinds: str) -> list[_Part]:
        return [part for part in self.parts if part.kind in kinds]


@dataclass(slots=True)
class _Band:
    """Cells of one kind that stand over one another."""

    x0: float
    x1: float
    parts: list[_Part] = field(default_factory=list)

    def holds(self, part: _Part, *, by: float = 0.0) -> bool:
        x0, x1 = part.span
        return x0 < self.x1 + by and x1 > self.x0 - by


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of a table, found by their content."""

    names: _Band
    values: _Band
    units: _Band | None
    ranges: _Band | None


_Draft = tuple[_Level, Parts, Section]


def read_rows_in_aligned_columns(
    lines: Sequence[Line], section: Section
) -> list[list[Row]]:
    """Return the rows of each table whose numbers stand in line beside known tests."""
    tables: list[list[Row]] = []
    levels = [_cut(line, section) for line in lines]
    for start, end in _find_blocks(levels):
        block = levels[start:end]
        above = levels[max(0, start - _TITLES_ABOVE) : start]
        for left, right in _find_strips(block):
            titles = _clip(above, left, right, section)
            own = _clip(block, left, right, section)
            # What stands in no column of a table may stand in those of another.
            while rows := _read_strip(titles, own, section.copy()):
                tables.append(rows)
                used = {id(word) for row in rows for word in row.name}
                own = [lv for lv in own if used.isdisjoint(map(id, lv.line.words))]
    return tables


@lru_cache(maxsize=8192)
def classify_cell(text: str) -> tuple[str, str]:
    """Return what a cell may be, and its value where it holds one."""
    if is_laboratory_mark(text) or is_range_status_text(text):
        return "flag", ""
    if is_plain_numeric_range(text) or find_unit_in_range(text):
        # A comparator heads a result as well as a limit.
        value = split_value_cell(text)[0]
        limit = text.strip()[:1] in "<>≤≥" and is_numeric_value(value)
        return ("limit", value) if limit else ("range", "")
    if is_unit(text):
        return "unit", ""
    value = split_value_cell(text)[0]
    if is_numeric_value(value):
        return "number", value
    if is_worded_value(value):
        return "finding", value
    bare = strip_range_label(text)
    labelled = bare != text and looks_like_range(bare)
    if labelled or (looks_like_range(text) and _is_list_of_ranges(text)):
        return "range", ""
    return "text", ""


def _is_list_of_ranges(text: str) -> bool:
    """Whether a text is mostly limits, each with few words: 'Male: 13 - 17'."""
    digits = sum(sign.isdigit() for sign in text)
    return digits >= 2 and len(text) <= 12 * digits and len(text.split()) <= _MOST_WORDS


def _cut(line: Line, section: Section) -> _Level:
    parts = tuple(map(_classify, _split(line)))
    numbers = [part for part in parts if part.kind == "number"]
    named = (part for part in parts if _is_known_name(part, section))
    return _Level(line, parts, tuple(named) if numbers and len(parts) > 1 else ())


def _classify(cell: Cell) -> _Part:
    kind, value = classify_cell(cell.text)
    return _Part(kind, cell, value)


def _split(line: Line) -> list[Cell]:
    cells = split_words_into_cells(line.words, gap=line.tight)
    return [piece for cell in cells for piece in _split_words(cell)]


def _split_words(cell: Cell) -> list[Cell]:
    """Split a unit and the range or value behind it: 'mg/dL [70 - 99]'."""
    words = cell.words
    if len(words) > 1 and is_unit(words[0].text) and not words[0].text.isdigit():
        rest = Cell(words[1:])
        if looks_like_range(rest.text) or is_numeric_value(rest.text):
            return [Cell(words[:1]), rest]
    return [cell]


def _is_known_name(part: _Part, section: Section) -> bool:
    if part.kind in ("range", "number", "flag") or not _LETTER.search(part.cell.text):
        return False
    name = clean_printed_name(part.cell.text)
    return may_name_a_test(name) and section.knows(name)


def _find_blocks(levels: Sequence[_Level]) -> list[tuple[int, int]]:
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


def _find_strips(block: Sequence[_Level]) -> list[tuple[float, float]]:
    """Return the left and right ends of tables side by side, mostly of one."""
    bands = [
        band
        for band in _find_bands(
            [part for level in block for part in level.named], by_start=True
        )
        if len(band.parts) >= _PAIR
    ]
    starts: list[float] = []
    for band in bands:
        if not starts:
            starts.append(band.x0)
            continue
        between = sum(
            1
            for level in block
            for part in level.find("number")
            if starts[-1] < part.cell.x0 and part.cell.x1 < band.x0
        )
        behind = sum(
            1
            for level in block
            if any(part in band.parts for part in level.named)
            and any(p.cell.x0 > band.x0 for p in level.find("number"))
        )
        if between >= _PAIR and behind >= max(_PAIR, _SHARE * len(band.parts)):
            starts.append(band.x0)
    cuts = [0.0, *(x - 3 for x in starts[1:]), float("inf")]
    return list(pairwise(cuts))


def _clip(
    levels: Sequence[_Level], left: float, right: float, section: Section
) -> list[_Level]:
    if left == 0.0 and right == float("inf"):
        return list(levels)
    lines = clip_lines_to_columns([lv.line for lv in levels], left=left, right=right)
    return [_cut(line, section) for line in lines]


def _find_bands(parts: Iterable[_Part], *, by_start: bool = False) -> list[_Band]:
    """Return cells in columns: those that overlap, or those that begin in line."""
    bands: list[_Band] = []
    for part in sorted(parts, key=lambda p: p.cell.x0):
        size = part.cell.words[0].size
        last = bands[-1] if bands else None
        if last and (
            part.cell.x0 - last.parts[-1].cell.x0 < size
            if by_start
            else part.cell.x0 < last.x1
        ):
            last.parts.append(part)
            last.x1 = max(last.x1, part.cell.x1)
        else:
            bands.append(_Band(*part.span, [part]))
    return bands


def _read_strip(
    above: Sequence[_Level], levels: Sequence[_Level], section: Section
) -> list[Row]:
    anchors = [level for level in levels if level.named]
    if len(anchors) < _PAIR:
        return []
    table = _find_columns(above, anchors)
    if table is None:
        return []
    drafts: list[_Draft] = []
    pending: list[_Level] = []
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


def _find_columns(above: Sequence[_Level], anchors: Sequence[_Level]) -> _Table | None:
    names = max(
        _find_bands([p for level in anchors for p in level.named], by_start=True),
        key=lambda band: len(band.parts),
    )
    names = _Band(names.x0, max(p.cell.x1 for p in names.parts), names.parts)
    values = _choose_values(above, anchors, names)
    if values is None:
        return None
    size = anchors[0].line.size

    def nearest(*kinds: str) -> _Band | None:
        bands = [
            band
            for band in _find_bands(
                [
                    p
                    for lv in anchors
                    for p in lv.find(*kinds)
                    if p not in names.parts and not values.holds(p)
                ]
            )
            if len(band.parts) >= max(2, 0.2 * len(anchors))
        ]
        most = max((len(band.parts) for band in bands), default=0)
        bands = [band for band in bands if 2 * len(band.parts) >= most]
        return min(
            bands,
            key=lambda b: (
                b.x0 - values.x1 if b.x0 > values.x0 else values.x0 - b.x1 + size
            ),
            default=None,
        )

    return _Table(names, values, nearest("unit"), nearest("range", "limit"))


def _choose_values(
    above: Sequence[_Level], anchors: Sequence[_Level], names: _Band
) -> _Band | None:
    """Return the column of results among all that hold numbers."""
    bands = _find_bands([p for level in anchors for p in level.find("number")])
    bands = [b for b in bands if len(b.parts) >= _SHARE * len(anchors)]
    weighed = [
        (_weigh_values(band, above, anchors, names), -n, band)
        for n, band in enumerate(bands)
        if not _counts_rows(band)
    ]
    return max(weighed, key=lambda item: item[:2])[2] if weighed else None


def _weigh_values(
    band: _Band, above: Sequence[_Level], anchors: Sequence[_Level], names: _Band
) -> float:
    score = 2.0 * len(band.parts) / len(anchors)
    for level in above:
        for part in level.parts:
            if not band.holds(part):
                continue
            role = find_column_role(part.cell.text)
            if role is Role.VALUE:
                score += 3
            elif role in _NOT_RESULTS or is_date_title(part.cell.text):
                score -= 3
    near = asked = 0
    for level in anchors:
        number = next((p for p in level.find("number") if p in band.parts), None)
        spread = next(iter(level.find("range", "limit")), None)
        if number is None or spread is None:
            continue
        bounds = parse_range_bounds(spread.cell.text)
        size = parse_printed_number(number.value.lstrip("<>=≤≥ "))
        if size is None or (bounds.low is None and bounds.high is None):
            continue
        asked += 1
        near += is_near_range(size, bounds)
    score += 2.0 * near / asked if asked else 0.0
    united = sum(split_value_cell(p.cell.text)[1] is not None for p in band.parts)
    return score + united / len(band.parts) - (0.5 if band.x1 < names.x0 else 0.0)


def is_near_range(size: float, bounds: Bounds) -> bool:
    """Return whether a number may be of a range, within a few times of its ends."""
    over = bounds.low is None or size >= bounds.low / _FAR
    return over and (bounds.high is None or size <= bounds.high * _FAR)


def _counts_rows(band: _Band) -> bool:
    """Whether a column but numbers the rows: 1, 2, 3."""
    texts = [
        part.cell.text.rstrip(".)")
        for part in sorted(band.parts, key=lambda p: p.cell.words[0].top)
    ]
    if not all(text.isdigit() for text in texts):
        return False
    steps = [int(b) - int(a) for a, b in pairwise(texts)]
    return bool(steps) and sum(1 <= step <= 2 for step in steps) > 0.7 * len(steps)


def _assign(level: _Level, table: _Table) -> Parts:
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


def _join_name(first: _Part, parts: Sequence[_Part]) -> list[Word]:
    """Return the words of a name with those no farther than words of one cell are."""
    words = list(first.cell.words)
    for part in parts:
        begin, last = part.cell.words[0], words[-1]
        near = 0 <= begin.x0 - last.x1 < CELL_GAP * begin.size
        if near and part.kind == "text":
            words.extend(part.cell.words)
    return words


def _begins_name(part: _Part, table: _Table) -> bool:
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


def _add_line(last: _Draft, level: _Level, parts: Parts) -> _Draft:
    """Return a draft with what the line below it has of its name and range."""
    own, held, section = last
    line = replace(own.line, bottom=level.line.bottom)
    whole = {
        role: [*held.get(role, []), *parts.get(role, [])] for role in (*held, *parts)
    }
    return replace(own, line=line), whole, section


def _goes_on(
    last: _Draft, level: _Level, parts: Parts, following: _Level | None
) -> bool:
    """Whether a line is more of the row above: its name, or its range."""
    own, held, section = last
    apart = level.line.top - own.line.bottom
    if apart > _WRAP * level.line.size - level.line.size or not parts:
        return False
    if set(parts) == {Role.RANGE}:
        spread = " ".join(word.text for word in held.get(Role.RANGE, ()))
        more = " ".join(word.text for word in parts[Role.RANGE])
        return bool(_OPEN.search(spread) or _GROUP.match(more))
    if not set(parts) <= {Role.NAME, Role.RANGE}:
        return False
    name, words = held[Role.NAME], parts.get(Role.NAME, [])
    if len(level.parts) > len(parts) or not words or len(words) > 6:
        return False
    if is_prose(level.line.text) or level.line.text.endswith("."):
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


def _build(level: _Level, parts: Parts, section: Section) -> Row | None:
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
