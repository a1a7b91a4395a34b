"""How much speaks for a row, by its own form and by the rows taken before it."""

from __future__ import annotations

from reports.parser.columns.columns import Strip
from reports.parser.layout.lines import Line, are_lines_of_same_font_size
from reports.parser.text.fields import is_unit
from reports.parser.text.ranges import is_plain_numeric_range, looks_like_range
from reports.parser.text.roles import Role
from reports.parser.text.values import is_numeric_value, is_worded_value

from .row import Row, Section
from .wording import is_exact_value, is_sentence_part, starts_with_lower_case_word

_REMEMBERED = 12


class Evidence:
    """Where names and values of a table stand, learnt from its titles and rows."""

    def __init__(self, section: Section, strip: Strip) -> None:
        self._section = section
        self._value_edges = [
            (column.title_x0, column.title_x1)
            for column in strip.columns
            if column.role is Role.VALUE
        ]
        self._name_edges = [
            column.title_x0 for column in strip.columns if column.role is Role.NAME
        ]
        self._first: Line | None = None

    @property
    def names_begin(self) -> float:
        """The leftmost place where a name began."""
        return min(self._name_edges)

    def note(self, row: Row) -> None:
        """Learn from a row that was taken."""
        words = row.fields.value_words
        self._value_edges.append((words[0].x0, words[-1].x1))
        self._name_edges.append(row.name[0].x0)
        self._first = self._first or row.line

    def weigh(self, row: Row, *, explaining: bool) -> float:
        """From below 0 to about 11; a row is believed from 3.5 on.

        explaining: whether the report explains at this place, where a number is
        rather a limit than a result.
        """
        fields = row.fields
        score = 0.0
        if is_numeric_value(fields.value):
            score += 2
        elif is_worded_value(fields.value):
            score += 1.5
        elif len(fields.value.split()) > 8 or is_plain_numeric_range(
            fields.value.rpartition(" ")[0]
        ):
            # Prose, or a range with what stands beside it.
            return 0
        elif fields.range and fields.value.casefold() == fields.range.casefold():
            score += 1.5
        if fields.units_words and is_unit(fields.units or ""):
            score += 2
        if fields.range and looks_like_range(fields.range):
            score += 2
        elif fields.range:
            score += 1
        aligned = self._is_aligned(row)
        score += aligned
        if self._section.is_morphology and not self._is_finding(row):
            return 0
        reach = 0.25 * row.line.size
        if any(
            abs(row.name[0].x0 - x) < reach for x in self._name_edges[-_REMEMBERED:]
        ):
            score += 1
        if ":" in row.test_name or "=" in row.test_name:
            score -= 2
        if not is_exact_value(fields.value):
            score -= 2 if explaining else 0
            score -= 0 if aligned else 1
        if fields.units and not is_unit(fields.units):
            score -= 1
        if score >= 1 and self._section.knows(row.test_name):
            score += 2.5
        else:
            score -= 2 if starts_with_lower_case_word(row.test_name) else 0
            score -= 3 if self._is_of_inner_table(row) else 0
        if is_sentence_part(row.test_name):
            measured = is_exact_value(fields.value) and looks_like_range(
                fields.range or ""
            )
            score -= 2 if measured and aligned else 3
        if self._first and not are_lines_of_same_font_size(
            row.line, self._first, by=1.2
        ):
            score -= 1
        return score

    def _is_finding(self, row: Row) -> bool:
        """Whether a row below 'Smear' has a number, or a finding of a known test."""
        value = row.fields.value
        found = is_worded_value(value) and self._section.knows(row.test_name)
        return found or is_numeric_value(value)

    def _is_of_inner_table(self, row: Row) -> bool:
        """Whether a limit stands right of where names begin, with words for a range."""
        if is_exact_value(row.fields.value) or looks_like_range(row.fields.range or ""):
            return False
        return row.name[0].x0 > self.names_begin + row.line.size

    def _is_aligned(self, row: Row) -> bool:
        words = row.fields.value_words
        if not words:
            return False
        x0, x1 = words[0].x0, words[-1].x1
        reach = 0.25 * row.line.size
        return any(
            abs(x0 - a) < reach
            or abs(x1 - b) < reach
            or abs((x0 + x1) - (a + b)) < 2 * reach
            for a, b in self._value_edges[-_REMEMBERED:]
        )
