"""Result rows found on the pages: which lines are results, and their parts.

Walks the lines of each page, table by table. A line counts as a result by evidence
from several sides (its name, the form of its value, a unit, a range, its place in the
column); explanation tables, header lines and prose are left out. What the texts mean
is read elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .columns import Strip, cut_line, lay_strips
from .fields import (
    Fields,
    is_unit,
    second_value,
    split_range_flag,
    split_value,
    text_of,
    type_cells,
    unit_in_range,
)
from .lines import Cell, Line, clip_lines, part_cells
from .names import (
    has_letters,
    heads_explanation,
    is_administrative,
    is_category,
    is_method,
    is_prose,
    opens_explanation,
    specimen_in,
)
from .pages import Page, Word
from .ranges import (
    announced_range,
    is_expected_finding,
    is_plain_range,
    looks_like_range,
    without_label,
)
from .report import SampleType
from .titles import Role, Title, is_name_title, read_titles
from .values import is_blank, is_flag, is_numeric_value, is_value, is_worded_value

Parts = dict[Role, list[Word]]

# How the parser asks whether a name is that of a known test.
KnownName = Callable[[str, "str | None", str, "str | None", "SampleType | None"], bool]

_LEADING_MARK = re.compile(r"^(?:[*#†‡•▪●◦»>]+|\{\s*#\s*\}|\[[HL*]\])\s*")
_TRAILING_MARK = re.compile(r"[\s:…_*#]+$|\s*\.{2,}$")
_NAME_UNIT = re.compile(r"(?P<name>.*\w.*?)\s*[(\[](?P<unit>[^()\[\]]+)[)\]]")
_JOINING = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "is",
        "are",
        "was",
        "be",
        "to",
        "in",
        "and",
        "or",
        "with",
        "for",
        "by",
        "from",
        "at",
        "than",
        "as",
        "on",
        "that",
        "which",
        "has",
        "have",
        "may",
        "should",
        "must",
        "can",
        "about",
        "between",
        "above",
        "below",
        "under",
        "over",
        "carry",
        "carries",
        "within",
    ]
)
_SPECIMEN_LINE = re.compile(
    r"(?i)\W*(?:primary\s+)?(?:sample|specimen)(?:\s+type)?\s*:"
)
_HEADING_WORD = re.compile(
    r"(?i)\b(?:counts?|differential|profile|panel|tests?|examination|function"
    r"|indices|absolute"
    r"|studies|study|ratios?|markers?|vitamins?|hormones?|minerals?|lipids?"
    r"|electrolytes?"
    r"|physical|chemical|microscop\w+|h(?:a)?ematology|biochemistry|serology"
    r"|immunology|cytology"
    r"|coagulation|group|screen(?:ing)?|others?|diabetes|thyroid|liver|kidney"
    r"|renal|iron|cardiac"
    r"|leu[ck]ocytes?|comments?|notes?|calculated|remarks?|microbiology|urinalysis"
    r"|allergy|proteins)\b"
)
_WRAP_END = re.compile(r"[-–(/,&+]$|\b(?:and|of|with|to|for|by|in)$", re.IGNORECASE)


@dataclass(slots=True)
class Row:
    """One result while it is being put together; texts as printed."""

    page: int
    name: list[Word]
    fields: Fields
    line: Line
    panel: str | None = None
    specimen: SampleType | None = None
    titled: bool = True
    score: float = 0.0
    name_text: str = ""
    columns: Parts = field(default_factory=dict)

    @property
    def test_name(self) -> str:
        return self.name_text or clean_name(text_of(self.name))


def split_name_unit(name: str) -> tuple[str, str | None]:
    """Part a unit in brackets from the end of a name: 'Glucose (mmol/L)'."""
    match = _NAME_UNIT.fullmatch(name)
    if match is None or not is_unit(match["unit"]) or match["unit"].isalpha():
        return name, None
    return match["name"].strip(" ,"), match["unit"].strip()


def clean_name(text: str) -> str:
    """A printed name without marks before it and leaders after it."""
    plain = text.strip()
    previous = None
    while plain != previous:
        previous = plain
        plain = _LEADING_MARK.sub("", plain)
        plain = _TRAILING_MARK.sub("", plain).strip()
    return plain


def find_rows(
    pages: Sequence[Page], lines: Sequence[Sequence[Line]], *, is_known: KnownName
) -> list[Row]:
    """All result rows in reading order; `lines` are those of each page."""
    walker = _Walker(is_known)
    for page, page_lines in zip(pages, lines, strict=True):
        walker.walk_page(page, page_lines)
    return walker.rows


class _Walker:
    """Carries what one page hands to the next: columns, panel, specimen."""

    def __init__(self, is_known: KnownName) -> None:
        self._is_known = is_known
        self.rows: list[Row] = []
        self._titles: tuple[Title, ...] = ()
        self._panel: str | None = None
        self._specimen: SampleType | None = None
        self._seen_titles = False

    def walk_page(self, page: Page, lines: Sequence[Line]) -> None:
        tables = _find_tables(lines)
        start = tables[0].start if tables else len(lines)
        if self._titles:
            known = len(self.rows)
            self._walk_titled(self._titles, lines[:start], page, carried=True)
            if len(self.rows) == known and not tables:
                self._walk_untitled(lines, page)
        elif not tables:
            self._walk_untitled(lines, page)
        elif start > 0:
            self._note_panel_above(lines[:start])
        for n, table in enumerate(tables):
            end = tables[n + 1].start if n + 1 < len(tables) else len(lines)
            self._titles = table.titles
            body = lines[table.end : end]
            self._note_panel_above(lines[max(0, table.start - 6) : table.start])
            self._walk_titled(table.titles, body, page, carried=False)

    def _note_panel_above(self, lines: Sequence[Line]) -> None:
        """The heading nearest above a table names its panel."""
        for line in reversed(lines[-5:]):
            if _is_heading(line):
                self._open_panel(line.text)
                return

    def _open_panel(self, text: str) -> None:
        self._specimen = specimen_in(text)
        if not _SPECIMEN_LINE.match(text):
            self._panel = clean_name(text)

    def _walk_titled(
        self,
        titles: tuple[Title, ...],
        lines: Sequence[Line],
        page: Page,
        *,
        carried: bool,
    ) -> None:
        if not lines:
            return
        strips = lay_strips(titles, lines, width=page.width)
        for strip in strips:
            own = lines
            if len(strips) > 1:
                own = clip_lines(lines, left=strip.left, right=strip.right)
            self._walk_strip(strip, own, carried=carried)

    def _walk_strip(
        self, strip: Strip, lines: Sequence[Line], *, carried: bool
    ) -> None:
        heading = next(c.title for c in strip.columns if c.role is Role.NAME)
        if heading and not carried and not is_name_title(heading):
            self._open_panel(heading)
        table = _TableReader(self, strip, carried=carried)
        table.read(lines)
        self.rows.extend(table.rows)

    def _walk_untitled(self, lines: Sequence[Line], page: Page) -> None:
        """Rows by their own form, then once more by the columns those rows imply."""
        panel, specimen = self._panel, self._specimen
        reader = _LooseReader(self)
        reader.read(lines)
        titles = _implied_titles(reader.rows)
        if not titles:
            self.rows.extend(reader.rows)
            return
        after = self._panel, self._specimen
        self._panel, self._specimen = panel, specimen
        top = min(row.line.top for row in reader.rows)
        body = [line for line in lines if line.top > top - 3 * line.size]
        (strip,) = lay_strips(titles, body, width=page.width)
        table = _TableReader(self, strip, carried=False)
        table.read(body)
        self._panel, self._specimen = after
        self.rows.extend(_merge_readings(reader.rows, table.rows))

    def in_morphology(self) -> bool:
        """Whether the section describes a smear: there words are no results."""
        return bool(re.search(r"(?i)smear|morpholog", self._panel or ""))

    def known(self, name: str, fields: Fields) -> bool:
        return self._is_known(
            name, fields.units, fields.value, self._panel, self._specimen
        )


@dataclass(frozen=True, slots=True)
class _Table:
    """Column titles and the lines they take; the end is excluded."""

    titles: tuple[Title, ...]
    start: int
    end: int


def _find_tables(lines: Sequence[Line]) -> list[_Table]:
    tables: list[_Table] = []
    n = 0
    while n < len(lines):
        best: tuple[int, tuple[Title, ...], int] | None = None
        for depth in (1, 2, 3):
            group = lines[n : n + depth]
            if len(group) < depth or not _are_close(group):
                break
            if depth > 1 and any(c.isdigit() for c in group[-1].text):
                break
            if depth > 1 and best is None and read_titles(group[-1:]):
                break
            titles = read_titles(group)
            if titles:
                worth = len({t.role for t in titles} - {Role.OTHER})
                if best is None or worth > best[0]:
                    best = (worth, titles, depth)
        if best is None:
            n += 1
            continue
        tables.append(_Table(best[1], n, n + best[2]))
        n += best[2]
    return tables


def _are_close(lines: Sequence[Line]) -> bool:
    return all(
        b.middle - a.middle < 2.0 * max(a.size, b.size) for a, b in pairwise(lines)
    )


def _is_heading(line: Line) -> bool:
    """A short line of words alone: a section or a panel, not a sentence."""
    text = line.text
    if len(line.cells) > 2 or len(line.words) > 9 or not has_letters(text):
        return False
    if ":" in text.rstrip(": ") and specimen_in(text) is None:
        return False
    plain = clean_name(text)
    if is_administrative(plain) or opens_explanation(text) or is_prose(text):
        return False
    if is_category(plain) or announced_range(text) is not None:
        return False
    digits = sum(1 for sign in text if sign.isdigit())
    return digits <= 3


def _implied_titles(rows: Sequence[Row]) -> tuple[Title, ...]:
    """Columns that rows without titles stand in; empty where they share none."""
    if len(rows) < 4:
        return ()
    named = Title(Role.NAME, "", min(r.name[0].x0 for r in rows), 0.0)
    titles = [Title(Role.NAME, "", named.x0, named.x0 + 10)]
    end = named.x0 + 10
    for role, several in (
        (Role.VALUE, [r.fields.value_words for r in rows]),
        (Role.UNIT, [r.fields.units_words for r in rows]),
        (Role.RANGE, [r.fields.range_words for r in rows]),
    ):
        apart = [
            words
            for words, row in zip(several, rows, strict=True)
            if words and (role is Role.VALUE or words != row.fields.value_words)
        ]
        if len(apart) < 0.4 * len(rows):
            if role is Role.VALUE:
                return ()
            continue
        x0 = min(words[0].x0 for words in apart)
        x1 = max(words[0].x1 for words in apart)
        if x0 < end - 1 or x1 - x0 > 110:
            return ()
        titles.append(Title(role, "", x0, x1))
        end = x1
    return tuple(titles)


def _merge_readings(loose: Sequence[Row], table: Sequence[Row]) -> list[Row]:
    """Rows by their form, completed by what only their columns tell.

    The columns may add a row in words, more of a name, or more lines of a range.
    """
    by_word = {word: row for row in loose for word in row.line.words}
    left = {id(row): row for row in loose}
    merged: list[Row] = []
    for row in table:
        words = (*row.fields.value_words, *row.name)
        own = next((by_word[word] for word in words if word in by_word), None)
        if own is None:
            if row.score >= 5:
                row.titled = False
                merged.append(row)
            continue
        if left.pop(id(own), None) is None:
            continue
        if row.test_name.startswith(own.test_name):
            own.name_text, own.name = row.test_name, row.name
        longer = row.fields.range or ""
        below = any(w.top > own.line.bottom - 2 for w in row.fields.range_words)
        if below and longer.startswith(own.fields.range or longer):
            own.fields = _with_range(
                _replace(own.fields, range_words=()),
                longer,
                list(row.fields.range_words),
            )
        own.panel, own.specimen = row.panel or own.panel, row.specimen or own.specimen
        merged.append(own)
    merged.extend(left.values())
    return sorted(merged, key=lambda row: (row.page, row.line.top, row.name[0].x0))


class _TableReader:
    """Reads the lines under one table's titles."""

    def __init__(self, walker: _Walker, strip: Strip, *, carried: bool) -> None:
        self._walker = walker
        self._strip = strip
        self._carried = carried
        self.rows: list[Row] = []
        self._pending: list[tuple[Line, list[Word]]] = []
        self._explaining = False
        self._value_edges = [
            (column.title_x0, column.title_x1)
            for column in strip.columns
            if column.role is Role.VALUE
        ]
        self._name_edges = [
            column.title_x0 for column in strip.columns if column.role is Role.NAME
        ]
        self._sizes: list[float] = []
        self._bracketed: list[tuple[Row, str, list[Word]]] = []
        self._announced: Line | None = None

    def read(self, lines: Sequence[Line]) -> None:
        cut = [(line, self._cut(line)) for line in lines]
        if _is_centred(cut):
            cut = _gather_centred(cut)
        cut = self._name_unknown_columns(cut)
        for line, parts in cut:
            self._read_line(line, parts)
        self._drop_bracketed_methods()

    def _drop_bracketed_methods(self) -> None:
        """Brackets under one name are part of it; under many names they are methods."""
        if len(self._bracketed) < max(2, 0.25 * len(self.rows)):
            return
        for row, name, words in self._bracketed:
            row.name_text, row.name = name, words

    def _name_unknown_columns(
        self, cut: list[tuple[Line, Parts]]
    ) -> list[tuple[Line, Parts]]:
        """Tell by its texts that a column with an unknown title holds ranges or units."""
        for role, judge in (
            (Role.RANGE, _is_written_range),
            (Role.UNIT, _is_written_unit),
        ):
            if self._strip.has(role):
                continue
            for other in (Role.OTHER, Role.FLAG, Role.SPECIMEN):
                texts = [text_of(parts[other]) for _, parts in cut if other in parts]
                alike = sum(1 for text in texts if judge(text))
                if alike >= 2 and alike >= 0.4 * len(texts):
                    cut = [
                        (line, {role if r is other else r: w for r, w in parts.items()})
                        for line, parts in cut
                    ]
                    break
        return cut

    def _read_line(self, line: Line, parts: Parts) -> None:
        if self._read_announced(line):
            return
        if opens_explanation(line.text) and not _is_sure(parts):
            self._explaining = True
            self._pending.clear()
            return
        if self._is_spread_text(line):
            self._pending.clear()
            if is_prose(line.text):
                self._explaining = True
            return
        if parts.get(Role.VALUE):
            if self._read_row(line, parts):
                return
            self._pending.clear()
            return
        self._read_rest(line, parts)

    def _read_announced(self, line: Line) -> bool:
        """'Reference range: 70 - 99' below a row that has no range yet."""
        last = self.rows[-1] if self.rows else None
        text = announced_range(line.text)
        if text is None and self._announced is not None:
            near = line.middle - self._announced.middle < 1.9 * line.size
            if near and last is not None and looks_like_range(line.text):
                both = " ".join(filter(None, (last.fields.range, line.text)))
                last.fields = _with_range(last.fields, both, list(line.words))
                self._announced = line
                return True
            self._announced = None
        if text is None or last is None or last.fields.range or self._explaining:
            return False
        if not text and line.middle - last.line.middle < 3 * line.size:
            self._announced = line
            return True
        if last.page != line.page or line.middle - last.line.middle > 3 * line.size:
            return False
        if not looks_like_range(text) or len(text) > 60:
            return False
        last.fields = _with_range(last.fields, text, list(line.words))
        return True

    def _cut(self, line: Line) -> Parts:
        parts: Parts = {}
        for column, words in zip(
            self._strip.columns, cut_line(line, self._strip), strict=True
        ):
            if not words:
                continue
            if column.role is Role.VALUE and Role.VALUE in parts:
                if is_blank(text_of(parts[Role.VALUE])):
                    parts[Role.VALUE] = words
                continue
            if column.role in parts and column.role is not Role.RANGE:
                continue
            if column.role in parts and self._strip.repeats(column):
                continue
            parts.setdefault(column.role, []).extend(words)
        return parts

    def _is_spread_text(self, line: Line) -> bool:
        """A sentence written across the columns."""
        for cell in line.cells:
            if len(cell.words) < 6:
                continue
            crossed = sum(
                1
                for column in self._strip.columns[1:]
                if cell.x0 < column.left - 1 and cell.x1 > column.left + 1
            )
            if crossed >= 2 or (crossed and is_prose(cell.text)):
                return True
        return False

    def _read_row(self, line: Line, parts: Parts) -> bool:
        fields = self._read_fields(parts)
        name_words = parts.get(Role.NAME, [])
        if not name_words:
            return self._read_nameless(line, fields, text_of(parts[Role.VALUE]))
        name_words, flag = _split_name_flag(_without_raised(name_words))
        row = Row(line.page, name_words, fields, line, columns=parts)
        if flag and fields.flag is None:
            row.fields = _with_flag(fields, flag)
        self._part_name_unit(row)
        if not self._judge(row):
            return False
        if self.rows and self.rows[-1].line is line:
            self._add_second(self.rows[-1], parts[Role.VALUE])
        return True

    def _part_name_unit(self, row: Row) -> None:
        """Take the unit from behind the name where no other is printed."""
        if row.fields.units:
            return
        name, unit = split_name_unit(row.test_name)
        if unit:
            row.name_text = name
            row.fields = _with_units(row.fields, unit, row.name[-1:])

    def _add_second(self, row: Row, words: list[Word]) -> None:
        """The same result again in another unit, printed behind the first."""
        twice = second_value(text_of(words))
        if twice is None:
            return
        _, value, unit = twice
        fields = Fields(
            value=value,
            units=unit,
            value_words=tuple(words[-2:]),
            units_words=tuple(words[-1:]),
        )
        again = Row(row.page, row.name, fields, row.line, row.panel, row.specimen)
        again.name_text, again.score = row.test_name, row.score
        self.rows.append(again)

    def _read_nameless(self, line: Line, fields: Fields, text: str) -> bool:
        """A value beside a name printed over two lines, or more of the last value."""
        if self._pending:
            above, words = self._pending[-1]
            if line.middle - above.middle < 1.6 * line.size and len(words) < 9:
                row = Row(line.page, list(words), fields, line)
                self._pending.pop()
                return self._judge(row)
        if self.rows and not self.rows[-1].fields.range and looks_like_range(text):
            last = self.rows[-1]
            if line.middle - last.line.middle < 2.4 * line.size:
                words = fields.value_words
                last.fields = _with_range(last.fields, text, list(words))
                return True
        if self.rows and is_worded_value(fields.value):
            last = self.rows[-1]
            joined = f"{last.fields.value} {fields.value}"
            near = line.middle - last.line.middle < 1.5 * line.size
            if near and not is_numeric_value(last.fields.value) and is_value(joined):
                last.fields = _with_value(last.fields, joined, fields.value_words)
                return True
        return False

    def _judge(self, row: Row) -> bool:
        """Take the row if enough speaks for it."""
        name = row.test_name
        if not _may_name_a_test(name):
            return False
        fields = row.fields
        if is_blank(fields.value):
            self._pending.clear()
            return True
        score = self._score(row)
        needed = 6.0 if self._explaining or (self._carried and not self.rows) else 3.5
        if score < needed:
            wrapped = self._with_pending(row)
            if wrapped is None or self._score(wrapped) < needed:
                return False
            row = wrapped
        else:
            row = self._with_pending(row) or row
        row.score = self._score(row)
        row.panel = self._walker._panel
        row.specimen = self._walker._specimen
        if row.columns.get(Role.SPECIMEN):
            row.specimen = specimen_in(text_of(row.columns[Role.SPECIMEN]))
        self._explaining = False
        self._pending.clear()
        self.rows.append(row)
        words = fields.value_words
        self._value_edges.append((words[0].x0, words[-1].x1))
        self._name_edges.append(row.name[0].x0)
        self._sizes.append(row.line.size)
        return True

    def _score(self, row: Row) -> float:
        fields = row.fields
        score = 0.0
        if is_numeric_value(fields.value):
            score += 2
        elif is_worded_value(fields.value):
            score += 1.5
        elif len(fields.value.split()) > 8:
            return 0
        if fields.units and is_unit(fields.units):
            score += 2
        if fields.range and looks_like_range(fields.range):
            score += 2
        elif fields.range:
            score += 1
        if self._is_aligned(row):
            score += 1
        if not is_numeric_value(fields.value) and self._walker.in_morphology():
            return 0
        if any(abs(row.name[0].x0 - x) < 2 for x in self._name_edges[-12:]):
            score += 1
        if ":" in row.test_name or "=" in row.test_name:
            score -= 2
        if not _is_exact(fields.value):
            score -= 2 if self._explaining else 0
            score -= 1 if not self._is_aligned(row) else 0
        if fields.units and not is_unit(fields.units):
            score -= 1
        if score >= 1 and self._walker.known(row.test_name, fields):
            score += 2.5
        if _reads_on(row.test_name):
            score -= 3
        if self._sizes and abs(row.line.size - self._sizes[0]) > 1.2:
            score -= 1
        return score

    def _is_aligned(self, row: Row) -> bool:
        if not self._value_edges or not row.fields.value_words:
            return False
        words = row.fields.value_words
        x0, x1 = words[0].x0, words[-1].x1
        return any(
            abs(x0 - a) < 2 or abs(x1 - b) < 2 or abs((x0 + x1) - (a + b)) < 4
            for a, b in self._value_edges[-12:]
        )

    def _with_pending(self, row: Row) -> Row | None:
        """The row with the start of its name taken from the line above, if it wraps."""
        if not self._pending:
            return None
        above, words = self._pending[-1]
        if row.line.middle - above.middle > 1.75 * row.line.size:
            return None
        first, second = text_of(words), text_of(row.name)
        if abs(above.size - row.line.size) > 0.6:
            return None
        flows = _is_cut_off(first)
        if not flows and not self._walker.known(row.test_name, row.fields):
            whole = clean_name(f"{first} {second}")
            flows = second[:1].islower() or self._walker.known(whole, row.fields)
        if not flows:
            return None
        joined = Row(
            row.page, [*words, *row.name], row.fields, row.line, columns=row.columns
        )
        joined.name_text = _join_wrapped(clean_name(first), clean_name(second))
        return joined

    def _read_fields(self, parts: Parts) -> Fields:
        words = parts[Role.VALUE]
        if len(words) > 1 and not words[0].text.strip(":=-."):
            words = words[1:]
        printed_value = text_of(words).lstrip(":= ")
        if twice := second_value(printed_value):
            printed_value = twice[0]
        value, units, flag, spread = split_value(printed_value)
        value_words = tuple(words)
        if not is_value(value) and not is_blank(value) and len(words) > 1:
            # A flag or another column's text may stand beside the value.
            for n in range(len(words) - 1, 0, -1):
                head, rest = text_of(words[:n]), text_of(words[n:])
                if is_value(head) and (is_flag(rest) or is_unit(rest)):
                    value, value_words = head, tuple(words[:n])
                    if is_flag(rest):
                        flag = rest
                    else:
                        units = rest
                    break
        if units or spread:
            value_words = tuple(words[:1])
        unit_words = tuple(parts.get(Role.UNIT, ()))
        printed_unit = text_of(unit_words)
        range_words = tuple(parts.get(Role.RANGE, ()))
        printed_range = text_of(range_words)
        if self._strip.has(Role.LOW) and not printed_range:
            ends = [text_of(parts.get(role, [])) for role in (Role.LOW, Role.HIGH)]
            range_words = (*parts.get(Role.LOW, ()), *parts.get(Role.HIGH, ()))
            printed_range = " - ".join(filter(None, ends))
        printed_unit = re.sub(r"^[-–—]\s+", "", printed_unit)
        if printed_unit and is_blank(printed_unit):
            printed_unit, unit_words = "", ()
        if not printed_range and printed_unit and is_plain_range(printed_unit):
            printed_range, range_words = printed_unit, unit_words
            printed_unit, unit_words = "", ()
        printed_range = without_label(printed_range)
        if printed_unit and units and re.match(r"[(\[]\s*\d", printed_unit):
            printed_unit = ""
        if printed_unit:
            units = printed_unit
        elif units:
            unit_words = tuple(words[1:])
        if printed_range:
            printed_range, after = split_range_flag(printed_range)
            flag = flag or after
        if not printed_range and spread:
            printed_range, range_words = spread, tuple(words[1:])
        flag_text = text_of(parts.get(Role.FLAG, []))
        if flag is None and flag_text and is_flag(flag_text):
            flag = flag_text.strip("()[] ")
        if printed_range and not units and not looks_like_range(printed_range):
            if is_unit(printed_range):
                units, unit_words = printed_range, range_words
                printed_range, range_words = "", ()
        if not units and printed_range and is_value(value):
            head, _, rest = printed_range.partition(" ")
            inside = unit_in_range(printed_range)
            if inside:
                units, unit_words = inside, range_words
            elif is_unit(head) and looks_like_range(rest):
                units, unit_words = head, range_words[:1]
                printed_range, range_words = rest, range_words[1:]
        return Fields(
            value=value,
            units=units or None,
            range=printed_range if printed_range.strip("-–—._ ") else None,
            flag=flag,
            method=text_of(parts.get(Role.METHOD, [])) or None,
            value_words=value_words,
            units_words=unit_words if units else (),
            range_words=range_words,
        )

    def _read_rest(self, line: Line, parts: Parts) -> None:
        """A line without a value: more of a name, a range or a unit, or a heading."""
        name_words = parts.get(Role.NAME, [])
        others = {role for role in parts if role is not Role.NAME}
        last = self.rows[-1] if self.rows else None
        near = (
            last is not None
            and not self._explaining
            and last.page == line.page
            and line.middle - _bottom_of(last).middle < 1.9 * line.size
        )
        if near and last is not None:
            continued = self._continue_row(last, line, parts, name_words, others)
            if continued:
                return
        if name_words and not others:
            text = text_of(name_words)
            if is_method(text) and last is not None:
                return
            if _is_heading(line):
                self._note_heading(line)
            self._pending.append((line, name_words))
            return
        if not name_words or heads_explanation(line.text):
            if heads_explanation(line.text) and len(line.cells) > 1:
                self._explaining = True
        self._pending.clear()

    def _note_heading(self, line: Line) -> None:
        text = line.text
        upper = text.upper() == text
        bold = all(word.bold for word in line.words)
        if upper or bold or specimen_in(text) is not None or len(line.words) <= 4:
            self._walker._open_panel(text)
            if (
                (upper or bold) and line.x0 <= min(self._name_edges) + 2
            ) or specimen_in(text) is not None:
                self._explaining = False

    def _continue_row(
        self,
        last: Row,
        line: Line,
        parts: Parts,
        name_words: list[Word],
        others: set[Role],
    ) -> bool:
        took = False
        if Role.RANGE in parts and not (others - {Role.RANGE, Role.UNIT, Role.METHOD}):
            if name_words and not _is_cut_off(last.test_name):
                return False
            words = parts[Role.RANGE]
            if last.fields.range or not last.fields.range_words:
                text = " ".join(filter(None, (last.fields.range, text_of(words))))
                last.fields = _with_range(last.fields, text, words)
                took = True
        if Role.UNIT in parts and not (others - {Role.RANGE, Role.UNIT, Role.METHOD}):
            words = parts[Role.UNIT]
            unit = last.fields.units or ""
            glued, spaced = f"{unit}{text_of(words)}", f"{unit} {text_of(words)}"
            text = glued if is_unit(glued) else spaced
            if unit and len(words) == 1 and is_unit(text.strip()):
                last.fields = _with_units(last.fields, text.strip(), words)
                took = True
        if name_words and (took or not others or others == {Role.METHOD}):
            text = text_of(name_words)
            wrapped = self._is_wrapped_name(last, line, name_words)
            if text.startswith("(") and text.count("(") == text.count(")"):
                if wrapped or is_method(text):
                    self._bracketed.append((last, last.test_name, last.name))
            if wrapped:
                last.name_text = _join_wrapped(
                    last.test_name, clean_name(text_of(name_words))
                )
                last.name = [*last.name, *name_words]
                took = True
        if took:
            last.line = _stretch(last.line, line)
        return took

    def _is_wrapped_name(self, last: Row, line: Line, words: list[Word]) -> bool:
        text = text_of(words)
        if abs(last.line.size - line.size) > 0.6 or is_method(text):
            return False
        if opens_explanation(text) or is_prose(text) or len(words) > 6:
            return False
        if words[0].bold != last.name[0].bold:
            return False
        if words[0].x0 < last.name[0].x0 - 2:
            return False
        before = last.test_name
        if _is_cut_off(before):
            return True
        if text[:1].islower() or text.startswith(("(", "-", "/", "&")):
            return True
        if _is_part_of_name(text) and line.middle - last.line.middle < 1.5 * line.size:
            return True
        known_before = self._walker.known(before, last.fields)
        whole = f"{before} {clean_name(text)}"
        return not known_before and self._walker.known(whole, last.fields)


class _LooseReader:
    """Reads lines of a page without column titles, by the form of their cells."""

    def __init__(self, walker: _Walker) -> None:
        self._walker = walker
        self.rows: list[Row] = []

    def read(self, lines: Sequence[Line]) -> None:
        candidates: list[tuple[Line, Row | None]] = []
        above: Line | None = None
        for line in lines:
            row = self._candidate(line)
            if row is None:
                row = self._card(line, above)
            candidates.append((line, row))
            above = line
        edges = [
            (row.fields.value_words[0].x0, row.fields.value_words[-1].x1)
            for _, row in candidates
            if row is not None
        ]
        explaining = False
        for line, row in candidates:
            if row is None:
                if self._take_range_below(line):
                    continue
                if opens_explanation(line.text) or heads_explanation(line.text):
                    explaining = True
                elif _is_heading(line):
                    self._walker._open_panel(line.text)
                    explaining = False
                continue
            known = self._walker.known(row.test_name, row.fields)
            score = self._score(row, edges, known=known)
            if opens_explanation(line.text) and not known:
                explaining = True
                continue
            if score >= (7.0 if explaining else 5.0):
                row.score = score
                row.panel = self._walker._panel
                row.specimen = self._walker._specimen
                self.rows.append(row)

    def _take_range_below(self, line: Line) -> bool:
        """'Reference range: 70 - 99' on its own line, for the row above it."""
        last = self.rows[-1] if self.rows else None
        text = announced_range(line.text)
        if text is None or last is None or last.page != line.page:
            return False
        near = line.middle - last.line.middle < 3 * last.line.size
        if last.fields.range or not near or not looks_like_range(text):
            return False
        last.fields = _with_range(last.fields, text, list(line.words))
        return True

    def _card(self, line: Line, above: Line | None) -> Row | None:
        """A value with its unit under a name that has a line of its own."""
        if above is None or line.middle - above.middle > 2.6 * above.size:
            return None
        name = clean_name(above.cells[0].text)
        if not _may_name_a_test(name) or len(above.cells[0].words) > 8:
            return None
        cells = _hold_together(part_cells(line.words, gap=line.tight))
        fields = type_cells(cells)
        if fields is None or not (fields.units or fields.range):
            return None
        if not is_numeric_value(fields.value):
            return None
        row = Row(line.page, list(above.cells[0].words), fields, line, titled=False)
        return row if self._walker.known(name, fields) else None

    def _candidate(self, line: Line) -> Row | None:
        if len(line.words) < 2 or len(line.words) > 26:
            return None
        if is_prose(line.text) and (len(line.cells) == 1 or len(line.words) > 16):
            return None
        words = list(line.words)
        while words and is_flag(words[0].text):
            words = words[1:]
        best: tuple[float, Row] | None = None
        tight = line.tight
        for n in range(1, len(words)):
            if not _may_start_value(words[n].text):
                continue
            name = clean_name(text_of(words[:n]))
            if name[-1:] in "<>≤≥=":
                continue
            if not _may_name_a_test(name):
                continue
            cells = _hold_together(part_cells(words[n:], gap=tight))
            fields = type_cells(cells)
            if fields is None:
                continue
            gap = (words[n].x0 - words[n - 1].x1) / max(words[n].size, 1)
            worth = min(gap, 4.0) + 3 * bool(fields.units) + 3 * bool(fields.range)
            if best is None or worth > best[0]:
                row = Row(line.page, words[:n], fields, line, titled=False)
                best = (worth, row)
        return best[1] if best else None

    def _score(
        self, row: Row, edges: Iterable[tuple[float, float]], *, known: bool
    ) -> float:
        fields = row.fields
        score = 2.0 if is_numeric_value(fields.value) else 1.5
        if fields.units and is_unit(fields.units):
            score += 2
        if fields.range:
            score += 2
        if known:
            score += 2
        elif _reads_on(row.test_name):
            score -= 3
        x0, x1 = fields.value_words[0].x0, fields.value_words[-1].x1
        aligned = sum(1 for a, b in edges if abs(x0 - a) < 2 or abs(x1 - b) < 2)
        return score + (1 if aligned > 1 else 0)


def _hold_together(cells: Sequence[Cell]) -> list[list[Word]]:
    """Cells with a comparator, a dash or an open bracket joined to what follows."""
    held: list[list[Word]] = []
    for cell in cells:
        if (held and re.search(r"[<>≤≥=(\[–-]$", held[-1][-1].text)) or (
            held and re.match(r"[–-]$|[-–]\s*\d|[)\]]$", cell.words[0].text)
        ):
            held[-1].extend(cell.words)
        else:
            held.append(list(cell.words))
    return held


def _may_start_value(text: str) -> bool:
    return bool(re.match(r"[<>≤≥(\[+-]*\s*\d|[<>≤≥]$", text)) or is_worded_value(text)


def _may_name_a_test(name: str) -> bool:
    if not has_letters(name) or len(name) > 90:
        return False
    if is_administrative(name) or is_category(name):
        return False
    return not (is_expected_finding(name) or is_flag(name)) or len(name) <= 2


def _is_sure(parts: Parts) -> bool:
    """A line with a value and a range is a row, whatever its first words."""
    value = text_of(parts.get(Role.VALUE, []))
    return bool(value) and is_value(value) and Role.RANGE in parts


def _is_centred(cut: Sequence[tuple[Line, Parts]]) -> bool:
    """Whether cells are set to the middle of rows that take several lines.

    Then lines of one row interleave, nearer than lines of one column can stand, or
    a range begins above the first value.
    """
    for n, ((above, upper), (below, lower)) in enumerate(pairwise(cut)):
        apart = below.middle - above.middle
        if (
            apart < 0.85 * min(above.size, below.size)
            and not upper.keys() & lower.keys()
        ):
            return True
        only_range = set(upper) <= {Role.RANGE, Role.UNIT} and Role.RANGE in upper
        first = n == 0 or set(cut[n - 1][1]) == {Role.NAME}
        if only_range and first and Role.VALUE in lower and apart < 1.6 * above.size:
            return looks_like_range(text_of(upper[Role.RANGE]))
    return False


def _gather_centred(cut: Sequence[tuple[Line, Parts]]) -> list[tuple[Line, Parts]]:
    """Gather around each line with a value the lines that mirror one another."""
    anchors = [n for n, (_, parts) in enumerate(cut) if Role.VALUE in parts]
    gathered: list[tuple[Line, Parts]] = []
    start = 0
    for n in anchors:
        line, _ = cut[n]
        first = n
        while first > start and _continues(cut[first - 1], cut[first][0], line):
            first -= 1
        reach = line.middle - cut[first][0].middle
        last = n
        while (
            last + 1 < len(cut)
            and Role.VALUE not in cut[last + 1][1]
            and cut[last + 1][0].middle - line.middle <= reach + 1
        ):
            last += 1
        gathered.extend(cut[start:first])
        gathered.append(
            (line, _join_parts([cut[m][1] for m in range(first, last + 1)]))
        )
        start = last + 1
    gathered.extend(cut[start:])
    return gathered


def _continues(upper: tuple[Line, Parts], below: Line, anchor: Line) -> bool:
    """Whether a line above belongs to the row of the anchor and is no heading."""
    line, parts = upper
    if below.middle - line.middle > 1.45 * line.size or Role.VALUE in parts:
        return False
    if set(parts) == {Role.NAME}:
        return (
            line.words[0].bold == anchor.words[0].bold
            and abs(line.size - anchor.size) < 0.6
        )
    return True


def _join_parts(several: Sequence[Parts]) -> Parts:
    joined: Parts = {}
    for parts in several:
        for role, words in parts.items():
            joined.setdefault(role, []).extend(words)
    return joined


def _reads_on(name: str) -> bool:
    """Words of a sentence rather than a name."""
    words = name.split()
    if is_prose(name) or (len(words) > 1 and words[-1].lower() in _JOINING):
        return True
    lower = sum(1 for word in words[1:] if word.isalpha() and word.islower())
    return len(words) >= 5 and lower >= 0.7 * (len(words) - 1)


def _is_written_range(text: str) -> bool:
    return any(sign.isdigit() for sign in text) and looks_like_range(text)


def _is_written_unit(text: str) -> bool:
    return ("/" in text or "%" in text) and is_unit(text)


def _is_cut_off(name: str) -> bool:
    """Whether a name plainly goes on: an open bracket, a hyphen, a joining word."""
    return name.count("(") > name.count(")") or bool(_WRAP_END.search(name))


def _is_part_of_name(text: str) -> bool:
    """One or two capitalised words that are no heading, specimen or category."""
    words = text.split()
    plain = len(words) <= 2 and text.upper() != text and ":" not in text
    if not plain or specimen_in(text) is not None or is_category(text):
        return False
    return not _HEADING_WORD.search(text) and not is_administrative(text)


def _is_exact(value: str) -> bool:
    """A value that no explanation table would hold: no span and no comparator."""
    return bool(re.fullmatch(r"[-+]?[\d.,]+|[^\d<>]+", value.strip()))


def _without_raised(words: list[Word]) -> list[Word]:
    """A name without a small raised mark after it, such as a laboratory's number."""
    while len(words) > 1 and words[-1].size < 0.76 * words[0].size:
        words = words[:-1]
    return words


def _split_name_flag(words: list[Word]) -> tuple[list[Word], str | None]:
    """Part a mark printed before or after the name."""
    if len(words) > 1 and re.fullmatch(r"[*#↑↓▲▼]+|\[[HLA]\]|[HL]", words[0].text):
        return words[1:], words[0].text.strip("[]")
    if len(words) > 1 and re.fullmatch(r"[*#↑↓▲▼]+|\([HL]\)|\[[HL]\]", words[-1].text):
        return words[:-1], words[-1].text.strip("()[]")
    if (
        len(words) > 1
        and is_flag(words[-1].text)
        and words[-1].x0 - words[-2].x1 > 1.5 * words[-1].size
    ):
        return words[:-1], words[-1].text
    match = re.match(r"([*#]+)\w", words[0].text)
    return words, match[1] if match else None


def _join_wrapped(first: str, second: str) -> str:
    return f"{first} {second}"


def _bottom_of(row: Row) -> Line:
    return row.line


def _stretch(line: Line, below: Line) -> Line:
    """The line moved down to where its row ends, so that the next one is near."""
    return Line(line.page, line.words, line.cells, below.top, below.bottom, line.size)


def _with_flag(fields: Fields, flag: str) -> Fields:
    return _replace(fields, flag=flag)


def _with_value(fields: Fields, value: str, words: tuple[Word, ...]) -> Fields:
    return _replace(fields, value=value, value_words=(*fields.value_words, *words))


def _with_range(fields: Fields, text: str, words: list[Word]) -> Fields:
    return _replace(fields, range=text, range_words=(*fields.range_words, *words))


def _with_units(fields: Fields, text: str, words: list[Word]) -> Fields:
    return _replace(fields, units=text, units_words=(*fields.units_words, *words))


def _replace(fields: Fields, **changes: object) -> Fields:
    from dataclasses import replace

    return replace(fields, **changes)  # type: ignore[arg-type]
