"""Rows of a table whose columns are known.

A line counts as a row by evidence from several sides; explanation tables between the
rows, prose and headings are told from them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reports.parser.columns.columns import Strip, split_line_by_column
from reports.parser.layout.lines import Line, split_words_into_cells
from reports.parser.pages import Word
from reports.parser.readers.centred_tables import (
    are_row_cells_vertically_centred,
    join_vertically_centred_row_lines,
)
from reports.parser.rows.continuation import Continuation
from reports.parser.rows.cutting import (
    infer_roles_of_unknown_columns,
    read_separate_signs_as_flags,
    split_line_by_column_role,
)
from reports.parser.rows.evidence import Evidence
from reports.parser.rows.naming import (
    is_printed_smaller_than_name,
    split_flag_word_from_name,
    split_percentage_from_name,
    take_unit_from_name,
)
from reports.parser.rows.reading import read_row_fields_by_column
from reports.parser.rows.row import (
    Parts,
    Row,
    Section,
    add_labeled_range_to_row,
    repeat_row_in_other_unit,
    replace_row_range_text,
    split_row_with_share_and_count,
)
from reports.parser.rows.wording import (
    clean_printed_name,
    is_explained_limit,
    is_section_heading,
    may_name_a_test,
    split_name_and_flag,
    strip_superscript_from_name,
)
from reports.parser.rows.wrapped_names import join_wrapped_names
from reports.parser.text.fields import Fields, is_unit, join_word_texts
from reports.parser.text.not_names import (
    find_specimen_in_text,
    is_administrative_line,
    is_explanation_table_title,
    is_prose,
    is_test_method,
    starts_explanation_section,
)
from reports.parser.text.ranges import looks_like_range, parse_labeled_range
from reports.parser.text.roles import Role, is_column_title
from reports.parser.text.values import (
    is_not_reported,
    is_numeric_value,
    is_result_value,
    is_several_numbers,
    is_worded_value,
)


class TableReader:
    """Reads the lines under one table's titles."""

    def __init__(self, section: Section, strip: Strip, *, carried: bool) -> None:
        self._section = section
        self._strip = strip
        self._carried = carried
        self.rows: list[Row] = []
        self.passed: list[Line] = []
        self._pending: list[tuple[Line, list[Word]]] = []
        self._explaining = False
        self._evidence = Evidence(section, strip)
        self._continuation = Continuation(section, methods=strip.has(Role.METHOD))
        self._announced: Line | None = None

    def read(self, lines: Sequence[Line]) -> None:
        self._strip = infer_roles_of_unknown_columns(lines, self._strip)
        cut = [(line, split_line_by_column_role(line, self._strip)) for line in lines]
        if are_row_cells_vertically_centred(cut):
            cut = join_vertically_centred_row_lines(cut)
        cut = read_separate_signs_as_flags(cut)
        for line, parts in join_wrapped_names(cut, self._section):
            self._read_line(line, parts)
        if not self._strip.has(Role.METHOD):
            self._continuation.drop_bracketed_methods(len(self.rows))

    def _read_line(self, line: Line, parts: Parts) -> None:
        if self._read_announced(line):
            return
        banded = set(parts) == {Role.RANGE} and self._is_near(line, parts)
        if starts_explanation_section(line.text) and not banded and not _is_sure(parts):
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
            if is_explanation_table_title(line.text) and len(line.cells) > 1:
                self._explaining = True
            self._pending.clear()
            return
        self._read_rest(line, parts)

    def _read_announced(self, line: Line) -> bool:
        """'Reference range: 70 - 99' below a row that has no range yet."""
        last = self.rows[-1] if self.rows else None
        text = parse_labeled_range(line.text)
        if text is None and self._announced is not None:
            near = line.middle - self._announced.middle < 1.9 * line.size
            if near and last is not None and looks_like_range(line.text):
                both = " ".join(filter(None, (last.fields.range, line.text)))
                last.fields = replace_row_range_text(
                    last.fields, both, list(line.words)
                )
                self._announced = line
                return True
            self._announced = None
        if text is None or last is None or last.fields.range or self._explaining:
            return False
        if not text and line.middle - last.line.middle < 3 * line.size:
            self._announced = line
            return True
        above = self._announced or last.line
        if last.page != line.page or line.middle - above.middle > 3 * line.size:
            return False
        if not looks_like_range(text) or len(text) > 60:
            return False
        last.fields = add_labeled_range_to_row(last.fields, text, list(line.words))
        return True

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
        fields = read_row_fields_by_column(
            parts,
            has_limits=self._strip.has(Role.LOW),
            titled_unit=self._titled_unit(line),
        )
        name_words = parts.get(Role.NAME, [])
        if not name_words:
            return self._read_nameless(line, fields)
        if self._repeats_beside_method(line, name_words, fields):
            return True
        name_words, fields = split_percentage_from_name(name_words, fields, line)
        name_words, flag = split_name_and_flag(strip_superscript_from_name(name_words))
        if flag is None:
            name_words, flag = split_flag_word_from_name(name_words, self._section)
        row = Row(line.page, name_words, fields, line, columns=parts)
        if flag and fields.flag is None:
            row.fields = replace(fields, flag=flag)
        take_unit_from_name(row, self._section)
        if not self._judge(row):
            return False
        if self.rows and self.rows[-1].line is line:
            row = self.rows.pop()
            again = self._read_second(row)
            self.rows.extend(
                [row, again] if again else split_row_with_share_and_count(row)
            )
        return True

    def _repeats_beside_method(
        self, line: Line, words: list[Word], fields: Fields
    ) -> bool:
        """Take the last row in another unit, with its method in front of the value."""
        last = self.rows[-1] if self.rows and not self._explaining else None
        if (
            last is None
            or self._pending
            or not (
                is_printed_smaller_than_name(words, last.name)
                or is_test_method(join_word_texts(words))
            )
        ):
            return False
        again = repeat_row_in_other_unit(last, line, fields, first=False)
        if again is None or self._section.knows(
            clean_printed_name(join_word_texts(words))
        ):
            return False
        self.rows.append(again)
        return True

    def _read_second(self, row: Row) -> Row | None:
        """Read the result in the unit of a second column, with its range."""
        at = self._strip.second
        if at is None:
            return None
        columns = self._strip.columns
        cells = split_line_by_column(row.line, self._strip)
        if not cells[at] or not cells[self._strip.first]:
            return None
        beside: Parts = {}
        other = self._strip.second_range
        places = range(at + 1, at + 3)
        if other is not None and columns[at + 1].role is not Role.UNIT:
            places = range(other, other + 1)
        for n in places:
            role = columns[n].role if n < len(columns) else Role.OTHER
            if role in (Role.UNIT, Role.RANGE) and cells[n]:
                beside.setdefault(role, cells[n])
        first, *_ = split_words_into_cells(cells[at], gap=row.line.tight)
        # A drawing beside the table may have words too.
        for words in (cells[at], list(first.words)):
            parts = {Role.VALUE: words, **beside}
            fields = read_row_fields_by_column(
                parts, has_limits=False, titled_unit=columns[at].unit
            )
            if is_numeric_value(fields.value) and fields.units:
                break
        else:
            return None
        if fields.units == row.fields.units:
            return None
        again = replace(row, fields=fields, name_text=row.test_name)
        if fields.range and fields.range == row.fields.range:
            row.fields = replace(row.fields, range=None, range_words=())
        return again

    def _titled_unit(self, line: Line) -> str | None:
        """The unit that is printed over the result of a line."""
        at = self._strip.second
        if at is None or split_line_by_column(line, self._strip)[self._strip.first]:
            return self._strip.unit
        return self._strip.columns[at].unit

    def _read_nameless(self, line: Line, fields: Fields) -> bool:
        """A value beside a name printed over two lines, or more of the last value."""
        if self.rows and not self._pending:
            again = repeat_row_in_other_unit(self.rows[-1], line, fields)
            if again is not None and not self._explaining:
                self.rows.append(again)
                return True
        if self._pending:
            above, words = self._pending[-1]
            if line.middle - above.middle < 1.6 * line.size and len(words) < 9:
                row = Row(line.page, list(words), fields, line)
                self._pending.pop()
                return self._judge(row)
        last = self.rows[-1] if self.rows and is_worded_value(fields.value) else None
        if last is None or is_numeric_value(last.fields.value):
            return False
        joined = f"{last.fields.value} {fields.value}"
        near = line.middle - last.line.middle < 1.5 * line.size
        if near and is_result_value(joined):
            both = (*last.fields.value_words, *fields.value_words)
            last.fields = replace(last.fields, value=joined, value_words=both)
            return True
        return False

    def _judge(self, row: Row) -> bool:
        """Take the row if enough speaks for it."""
        name = row.test_name
        if not may_name_a_test(name) and not self._section.times(name):
            return False
        fields = row.fields
        if all(map(is_unit, fields.value.split())) and not is_result_value(
            fields.value
        ):
            return False
        if is_several_numbers(fields.value):
            # Of columns that could not be told apart: no one printed the two as one.
            return False
        if is_not_reported(fields.value):
            self._pending.clear()
            return True
        if _is_of_header(fields) or is_explained_limit(
            join_word_texts(row.name), fields
        ):
            return False
        needed = 6.0 if self._explaining or (self._carried and not self.rows) else 3.5
        row.score = self._weigh(row)
        if row.score < needed:
            return False
        row.panel = self._section.panel
        row.specimen = self._section.specimen
        if row.columns.get(Role.SPECIMEN):
            row.specimen = find_specimen_in_text(
                join_word_texts(row.columns[Role.SPECIMEN])
            )
        self._explaining = False
        self._pending.clear()
        self.rows.append(row)
        self._evidence.note(row)
        return True

    def _weigh(self, row: Row) -> float:
        return self._evidence.weigh(row, explaining=self._explaining)

    def _is_near(self, line: Line, parts: Parts) -> bool:
        """Whether a line may go on with the last row.

        Nothing but a range is of that row, be it as far off as the next one.
        """
        last = self.rows[-1] if self.rows else None
        if last is None or self._explaining or last.page != line.page:
            return False
        reach = 2.4 if set(parts) == {Role.RANGE} else 1.9
        return line.middle - last.line.middle < reach * line.size

    def _read_rest(self, line: Line, parts: Parts) -> None:
        """A line without a value: more of a name, a range or a unit, or a heading."""
        name_words = parts.get(Role.NAME, [])
        others: set[Role] = set(parts) - {Role.NAME}
        if name_words and Role.PREVIOUS in others:
            self.passed.append(line)
        last = self.rows[-1] if self.rows else None
        near = self._is_near(line, parts)
        if near and last and self._continuation.add_line(last, line, parts):
            return
        if name_words and not others:
            text = join_word_texts(name_words)
            known = self._section.knows(clean_printed_name(text))
            if is_test_method(text) and last is not None and not known:
                return
            if is_section_heading(line):
                self._note_heading(line)
            self._pending.append((line, name_words))
            return
        if is_explanation_table_title(line.text) and len(line.cells) > 1:
            self._explaining = True
        self._pending.clear()

    def _note_heading(self, line: Line) -> None:
        text = line.text
        upper = text.upper() == text
        bold = all(word.bold for word in line.words)
        if (
            upper
            or bold
            or find_specimen_in_text(text) is not None
            or len(line.words) <= 4
        ):
            self._section.open(text)
            if (
                (upper or bold) and line.x0 <= self._evidence.names_begin + 2
            ) or find_specimen_in_text(text) is not None:
                self._explaining = False


def _is_of_header(fields: Fields) -> bool:
    """Whether what stands for a value or a range is of a header: 'Status: Final'."""
    spread = fields.range or ""
    label, colon, text = fields.value.partition(": ")
    return (
        is_administrative_line(fields.value)
        or bool(colon and text and is_column_title(label))
        or (not looks_like_range(spread) and is_administrative_line(spread))
    )


def _is_sure(parts: Parts) -> bool:
    """A line with a value and a range is a row, whatever its first words."""
    value = join_word_texts(parts.get(Role.VALUE, []))
    return bool(value) and is_result_value(value) and Role.RANGE in parts
