"""Rows on lines without column titles, by the form of what stands on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from reports.parser.layout.lines import Cell, Line, split_words_into_cells
from reports.parser.pages import Word
from reports.parser.rows.announced import (
    find_range_among_cells,
    is_range_label_line,
)
from reports.parser.rows.grammar import settle_fields_by_grammar
from reports.parser.rows.row import (
    Row,
    Section,
    add_labeled_range_to_row,
    repeat_row_in_other_unit,
    split_row_with_share_and_count,
)
from reports.parser.rows.wording import (
    clean_printed_name,
    find_labeled_range,
    is_dot_leader,
    is_exact_value,
    is_explained_limit,
    is_section_heading,
    is_sentence_part,
    may_name_a_test,
    may_start_value,
    starts_with_lower_case_word,
)
from reports.parser.text.cells import classify_value_cells
from reports.parser.text.fields import (
    is_laboratory_mark,
    is_unit,
    join_word_texts,
)
from reports.parser.text.not_names import (
    is_explanation_table_title,
    is_prose,
    starts_explanation_section,
)
from reports.parser.text.ranges import looks_like_range
from reports.parser.text.roles import Role, find_column_role
from reports.parser.text.values import is_numeric_value, is_worded_value

_DATED = 3
_IN_COLUMN = 2.5
_LEAST_FINDINGS = 3
_DATE_OR_TIME = re.compile(
    r"\d{4}-\d\d-\d\d|\d{1,2}[./-]\d{1,2}[./-](?:\d\d){1,2}|\d{1,2}:\d\d(?::\d\d)?"
)
_OPEN_SPAN = re.compile(r"(?<![^\W_])[\d.,]*\d\s*[-–—]$")
_FINDING = re.compile(r"(?i)(?:not )?detected|(?:non[- ]?)?reactive|positive|negative")
_ENDS, _OPEN_ENDS = frozenset("–-)]"), frozenset("<>≤≥=([–-")
_GOES_ON = re.compile(r"[-–]\s*\d")
_SMALLER = 0.9
_CURRENCY = re.compile(r"(?:^|\s)(?:R|Rs\.?|INR|USD|EUR|GBP|AED|SAR|[$€£₹])$")


class LooseReader:
    """Reads lines of a page without column titles, by the form of their cells."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self.rows: list[Row] = []

    def read(self, lines: Sequence[Line]) -> None:
        candidates: list[tuple[Line, Row | None]] = []
        for line in lines:
            words = _list_words_of_row(line)
            row = _read_best_split(line, words, _list_splits(words, line.tight))
            if row is None:
                row = self._again(line, candidates[-2:])
            candidates.append((line, row))
        edges = [
            (row.fields.value_words[0].x0, row.fields.value_words[-1].x1)
            for _, row in candidates
            if row is not None
        ]
        usual = _usual_size(row for _, row in candidates if row is not None)
        explaining = False
        for n, (line, row) in enumerate(candidates):
            if row is None:
                if self._take_range_below(line):
                    continue
                if starts_explanation_section(line.text) or is_explanation_table_title(
                    line.text
                ):
                    explaining = True
                elif is_section_heading(line):
                    self._section.open(line.text)
                    explaining = False
                continue
            known = self._section.knows(row.test_name)
            if not known and _is_small_print(row, usual):
                continue
            score = self._score(row, edges, known=known)
            score += _IN_COLUMN if _is_of_column(row, edges, known=known) else 0
            if not row.fields.range and is_range_label_line(lines[n + 1 : n + 2]):
                score += 2
            titles = len(line.cells) > 1 and is_explanation_table_title(line.text)
            digits = any(sign.isdigit() for sign in line.text)
            if not known and (
                starts_explanation_section(line.text) or (titles and not digits)
            ):
                explaining = True
                continue
            below = candidates[n + 1][1] if n + 1 < len(candidates) else None
            begins = below is not None and known and _continues_row(row, below)
            if begins or (self.rows and _continues_row(self.rows[-1], row)):
                score += 1
            if not known and below is not None and self._is_between(row, below):
                score += 2
            if explaining and not is_exact_value(row.fields.value):
                score -= 2
            if score >= (7.0 if explaining else 5.0):
                row.score = score
                row.panel = self._section.panel
                row.specimen = self._section.specimen
                self.rows.extend(split_row_with_share_and_count(row))

    def _is_between(self, row: Row, below: Row) -> bool:
        """Whether a row stands in a list, between tests that are known."""
        above = self.rows[-1] if self.rows else None
        return (
            above is not None
            and _continues_row(above, row)
            and _continues_row(row, below)
            and self._section.knows(above.test_name)
            and self._section.knows(below.test_name)
        )

    def may_be_row(self, line: Line) -> bool:
        """Whether a line has a known name and a value with a unit or a range."""
        words = _list_words_of_row(line)
        splits = list(_list_splits(words, line.tight))
        if not any(self._section.knows(name) for _, name in splits):
            return False
        row = _read_best_split(line, words, splits)
        if row is None or not is_exact_value(row.fields.value):
            return False
        if not (row.fields.units or row.fields.range):
            return False
        return self._section.knows(row.test_name)

    def _take_range_below(self, line: Line) -> bool:
        """'Reference range: 70 - 99' on its own line, for the row above it."""
        last = self.rows[-1] if self.rows else None
        if last is None or last.page != line.page:
            return False
        text, words = find_labeled_range(line), list(line.words)
        if text is None:
            text, words = find_range_among_cells(line.cells, last)
        if text is None:
            return False
        near = line.middle - last.line.middle < 3 * last.line.size
        if last.fields.range or not near or not looks_like_range(text):
            return False
        last.fields = add_labeled_range_to_row(last.fields, text, words)
        return True

    def _again(
        self, line: Line, above: Sequence[tuple[Line, Row | None]]
    ) -> Row | None:
        """A value in another unit than that of the row above, which names it."""
        last = next((row for _, row in reversed(above) if row is not None), None)
        if last is None:
            return None
        fields = classify_value_cells(join_unfinished_cells(line.tight_cells))
        return repeat_row_in_other_unit(last, line, fields) if fields else None

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
        else:
            score -= 3 if is_sentence_part(row.test_name) else 0
            score -= 0 if is_exact_value(fields.value) else 1
            if starts_with_lower_case_word(row.test_name) or _CURRENCY.search(
                row.test_name
            ):
                score -= 2
        x0, x1 = fields.value_words[0].x0, fields.value_words[-1].x1
        aligned = sum(1 for a, b in edges if abs(x0 - a) < 2 or abs(x1 - b) < 2)
        return score + (1 if aligned > 1 else 0)


def _list_words_of_row(line: Line) -> list[Word]:
    """The words of a line that may be a row, without marks in front; else none."""
    if len(line.words) < 2 or len(line.words) > 26:
        return []
    if find_labeled_range(line) is not None:
        return []
    words = list(line.words)
    if is_prose(join_word_texts(words)) and (
        len(line.cells) == 1 or len(line.words) > 16
    ):
        return []
    while len(words) > _DATED and _DATE_OR_TIME.fullmatch(words[0].text):
        words = words[1:]
    while len(words) > 2 and _is_mark_before(words[0].text):
        words = words[1:]
    return words


def _list_splits(words: list[Word], tight: float) -> Iterator[tuple[int, str]]:
    """Where a name may end and a value begin, and the name in front of it."""
    leaders = (is_dot_leader(word.text.removesuffix(":")) for word in words)
    led = next((n + 1 for n, leads in enumerate(leaders) if leads), 0)
    for n in range(1, len(words)):
        apart = words[n].x0 - words[n - 1].x1 > tight * words[n].size
        if not apart and n != led and not may_start_value(words[n].text):
            continue
        if _is_group(words[n - 1], words[n]) or (led and n != led):
            continue
        name = clean_printed_name(join_word_texts(words[:n]))
        if name[-1:] in "<>≤≥=" or _OPEN_SPAN.search(name):
            continue
        if may_name_a_test(name) and find_column_role(name) is not Role.VALUE:
            yield n, name


def _read_best_split(
    line: Line, words: list[Word], splits: Iterable[tuple[int, str]]
) -> Row | None:
    """The row of a line, its name and fields parted where that explains the most."""
    best: tuple[float, Row] | None = None
    for n, _ in splits:
        cells = join_unfinished_cells(split_words_into_cells(words[n:], gap=line.tight))
        fields = classify_value_cells(cells)
        if fields is None or is_explained_limit(join_word_texts(words[:n]), fields):
            continue
        fields = settle_fields_by_grammar(fields)
        gap = (words[n].x0 - words[n - 1].x1) / max(words[n].size, 1)
        worth = (
            min(max(gap, 0.0), 4.0) + 3 * bool(fields.units) + 3 * bool(fields.range)
        )
        if best is None or worth > best[0]:
            row = Row(line.page, words[:n], fields, line, titled=False)
            best = (worth, row)
    return best[1] if best else None


def _is_mark_before(text: str) -> bool:
    """Whether a sign in front of a name says that its value is high or low."""
    return is_laboratory_mark(text) or text in ("^", "v")


def _is_of_column(
    row: Row, edges: Sequence[tuple[float, float]], *, known: bool
) -> bool:
    """Whether a row without unit and range finds something, under other values."""
    fields = row.fields
    finds = is_worded_value if known else _FINDING.fullmatch
    if fields.units or fields.range or not finds(fields.value):
        return False
    x0 = fields.value_words[0].x0
    return sum(1 for x, _ in edges if abs(x - x0) < 2) >= _LEAST_FINDINGS


def _usual_size(rows: Iterable[Row]) -> float:
    """The size of type that names of whole rows are set in; 0 where none is whole."""
    sizes = [row.name[0].size for row in rows if row.fields.units and row.fields.range]
    return median(sizes) if sizes else 0.0


def _is_small_print(row: Row, usual: float) -> bool:
    """Whether a line without a range is set smaller than whole rows: 'IFCC 37 °C'."""
    return not row.fields.range and row.name[0].size < _SMALLER * usual


def _continues_row(last: Row, row: Row) -> bool:
    """Whether a row stands right below another, name under name, value under value."""
    pairs = (
        (last.name[0], row.name[0]),
        (last.fields.value_words[0], row.fields.value_words[0]),
    )
    near = 0 < row.line.middle - last.line.middle < 1.9 * row.line.size
    return near and all(abs(a.x0 - b.x0) < 1 for a, b in pairs)


def _is_group(last: Word, word: Word) -> bool:
    """Whether a word is the next three digits of a number: '251' and '000'."""
    near = word.x0 - last.x1 < 0.4 * word.size
    digits = last.text.isdigit() and len(last.text) < 4
    return near and digits and word.text.isdigit() and len(word.text) == 3


def join_unfinished_cells(cells: Sequence[Cell]) -> list[list[Word]]:
    """Join cells that end in a comparator, dash or open bracket to the next one."""
    held: list[list[Word]] = []
    for cell in cells:
        last, first = held[-1][-1].text if held else "", cell.words[0].text
        ends = first in _ENDS or (
            last[-1:].isdigit() and _GOES_ON.match(first) is not None
        )
        if held and (ends or last[-1:] in _OPEN_ENDS):
            held[-1].extend(cell.words)
        else:
            held.append(list(cell.words))
    return held
