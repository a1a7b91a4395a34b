"""A row while it is built, and its section of the report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from portal.lib.units import normalize_unit
from reports.parser.layout.lines import Line
from reports.parser.pages import Word
from reports.parser.report import SampleType
from reports.parser.text.fields import (
    Fields,
    find_unit_in_range,
    join_word_texts,
)
from reports.parser.text.not_names import (
    find_specimen_in_text,
    names_both_blood_and_urine,
)
from reports.parser.text.roles import Role
from reports.parser.text.values import is_numeric_value

from .pairs import read_percentage_and_count_pair
from .wording import clean_printed_name

Parts = dict[Role, list[Word]]

# How the parser asks whether a name is that of a known test.
KnownName = Callable[[str], bool]

# Of a result in another unit from the row it repeats: in sizes of type, in points.
_FARTHEST = 3.4
_ALIGNED = 2.0
_LOAD = re.compile(r"(?i)toleran|\bO?GTT\b|glucose|challenge|post[\s-]?prandial")
_TIMED = re.compile(
    r"(?i)fasting|(?:(?:after|at)\s)?(?:\d+(?:[.,]5)?|½|half|one|two|three)\s*(?:an?\s)?"
    r"(?:h(?:ou)?rs?|h|min(?:ute)?s?)\.?(?:\s(?:post|after|pp)\b.*)?"
)
_SPECIMEN_LINE = re.compile(
    r"(?i)\W*(?:primary\s+)?(?:sample|specimen)(?:\s+type)?\s*:"
)


@dataclass(slots=True)
class Row:
    """One result while it is being put together; texts as printed.

    doubtful: whether another number on its line might be the value.
    """

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
    doubtful: bool = False

    @property
    def test_name(self) -> str:
        if not self.name_text:
            self.name_text = clean_printed_name(join_word_texts(self.name))
        return self.name_text


@dataclass(slots=True)
class Section:
    """Where in the report the reader stands: its heading, and how to ask for a name."""

    is_known: KnownName
    panel: str | None = None
    specimen: SampleType | None = None

    def open(self, text: str) -> None:
        """Enter the section of a heading; a line on the specimen keeps the panel."""
        if names_both_blood_and_urine(text):
            self.panel = self.specimen = None
            return
        self.specimen = find_specimen_in_text(text)
        if not _SPECIMEN_LINE.match(text):
            self.panel = clean_printed_name(text)

    @property
    def is_morphology(self) -> bool:
        """Whether the section describes a smear: there sentences are no results."""
        return bool(re.search(r"(?i)smear|morpholog", self.panel or ""))

    def times(self, name: str) -> bool:
        """Return whether a name says when glucose was tested: '1 hour'."""
        return bool(_TIMED.fullmatch(name) and _LOAD.search(self.panel or ""))

    def copy(self) -> Section:
        """The section as it is now, for a row that is put together later."""
        return replace(self)

    def knows(self, name: str) -> bool:
        """Whether a name is that of a known test."""
        return self.is_known(name)


def list_words_of_fields(fields: Fields) -> tuple[Word, ...]:
    """Return the words that the fields were read from."""
    return (*fields.value_words, *fields.units_words, *fields.range_words)


def list_used_words(rows: Iterable[Row]) -> set[int]:
    """Return the words of rows, each by its identity."""
    return {
        id(word)
        for row in rows
        for word in (*row.name, *list_words_of_fields(row.fields))
    }


def split_row_with_share_and_count(row: Row) -> list[Row]:
    """Return the row, or two where its line has a share and a count."""
    line = row.line.words
    at = row.fields.value_words[0]
    start = next((n for n, w in enumerate(line) if w.x0 == at.x0), 0)
    pair = read_percentage_and_count_pair(line[start:])
    if pair is None:
        return [row]
    share, count = pair
    counted = replace(row, name_text=row.test_name, fields=count)
    row.fields = replace(share, flag=row.fields.flag, method=row.fields.method)
    return [row, counted]


def repeat_row_in_other_unit(
    last: Row, line: Line, fields: Fields, *, first: bool = True
) -> Row | None:
    """Return a row's result in another unit, from a line without a name below it.

    first: whether the value must be the first of the line. Where a method stands
    before it, it may come without its range.
    """
    own, under = last.fields, fields.value_words
    apart = line.middle - last.line.middle
    if not own.value_words or not under:
        return None
    if first and under[0] is not line.words[0]:
        return None
    if last.page != line.page or apart > _FARTHEST * line.size:
        return None
    if not (own.units and fields.units) or own.units == fields.units:
        return None
    if bool(own.range) != bool(fields.range) and (first or fields.range):
        return None
    if not is_numeric_value(fields.value):
        return None
    left = abs(under[0].x0 - own.value_words[0].x0) < _ALIGNED
    right = abs(under[-1].x1 - own.value_words[-1].x1) < _ALIGNED
    if not (left or right):
        return None
    return replace(last, fields=fields, line=line, name_text=last.test_name)


def replace_row_range_text(fields: Fields, text: str, words: list[Word]) -> Fields:
    """Return the fields with another range text, and the words added for it."""
    return replace(fields, range=text, range_words=(*fields.range_words, *words))


def replace_row_unit(fields: Fields, text: str, words: list[Word]) -> Fields:
    """Return the fields with another unit text, and the words added for it."""
    return replace(fields, units=text, units_words=(*fields.units_words, *words))


def add_labeled_range_to_row(fields: Fields, text: str, words: list[Word]) -> Fields:
    """Return the fields with the range, and its unit, from a line of their own.

    Where the unit only repeats that of the value it is left out of the range.
    """
    unit = find_unit_in_range(text)
    if unit is None:
        return replace_row_range_text(fields, text, words)
    if fields.units is None:
        fields = replace_row_unit(fields, unit, words)
    own = fields.units or ""
    same = own == unit or normalize_unit(own) == normalize_unit(unit) is not None
    if same and text.endswith(unit):
        text = text[: -len(unit)].rstrip()
    return replace_row_range_text(fields, text, words)
