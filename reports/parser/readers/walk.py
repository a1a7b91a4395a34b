"""The walk over the pages: where tables begin, and what one page hands to the next."""

from __future__ import annotations

from collections.abc import Sequence

from reports.parser.columns.columns import (
    Strip,
    find_titles_of_adjacent_table,
    split_page_into_tables,
    split_titles_by_table,
)
from reports.parser.columns.table_titles import Title
from reports.parser.layout.lines import (
    Line,
    build_line_from_words,
    clip_lines_to_columns,
    drop_words_from_lines,
    join_lines_at_same_height,
)
from reports.parser.pages import Page
from reports.parser.readers.cards import read_rows_in_cards
from reports.parser.readers.judging import is_range, is_whole_row, judge_rows_of_page
from reports.parser.readers.lines import LooseReader
from reports.parser.readers.prose import read_rows_in_paragraphs
from reports.parser.readers.records import read_rows_in_labelled_records
from reports.parser.readers.side_by_side_tables import (
    find_side_by_side_tables_start,
    split_side_by_side_tables,
)
from reports.parser.readers.tables import find_table_title_lines
from reports.parser.readers.titled_tables import TableReader
from reports.parser.readers.transposed_tables import read_rows_in_transposed_tables
from reports.parser.rows.announced import merge_range_bands_from_below
from reports.parser.rows.blocks import (
    assign_range_blocks_to_rows,
    separate_range_blocks_from_lines,
)
from reports.parser.rows.drawings import drop_chart_axis_lines, drop_status_badge_lines
from reports.parser.rows.medication import drop_medication_lines
from reports.parser.rows.row import KnownName, Row, Section, list_used_words
from reports.parser.rows.second_readings import (
    add_second_readings,
    separate_second_readings,
)
from reports.parser.rows.wording import is_section_heading
from reports.parser.text.fields import split_value_cell
from reports.parser.text.not_names import (
    is_explanation_table_title,
    starts_explanation_section,
)
from reports.parser.text.ranges import is_plain_numeric_range
from reports.parser.text.roles import Role, is_name_column_title
from reports.parser.text.values import is_numeric_value

# Of rows below a titled table that stand in no column of it.
_LEAST_LEFT, _LEAST_WORDS, _SURE_LEFT = 2, 4, 8
_LEAST_TITLES = 4
_OR = frozenset({"soit", "ou", "or", "=", "entspricht", "entspr."})
# Forms of a page without titles, the one that asks most of its rows first.
_READERS = (
    read_rows_in_paragraphs,
    read_rows_in_labelled_records,
    read_rows_in_transposed_tables,
    read_rows_in_cards,
)


def find_result_rows(
    pages: Sequence[Page], lines: Sequence[Sequence[Line]], *, is_known: KnownName
) -> list[Row]:
    """Return all result rows in reading order; `lines` are those of each page."""
    walker = _Walker(is_known)
    for page, page_lines in zip(pages, lines, strict=True):
        walker.walk_page(page, page_lines)
    return walker.rows


class _Walker:
    """Carries what one page hands to the next: columns and section."""

    def __init__(self, is_known: KnownName) -> None:
        self._section = Section(is_known)
        self.rows: list[Row] = []
        self._titles: tuple[Title, ...] = ()
        # Words of lines whose tests have but earlier results.
        self._passed: set[int] = set()

    def walk_page(self, page: Page, lines: Sequence[Line]) -> None:
        before = len(self.rows)
        lines = [_strip_alternative_word(line) for line in drop_medication_lines(lines)]
        lines, seconds = separate_second_readings(lines)
        tables = find_table_title_lines(lines)
        start = tables[0].start if tables else len(lines)
        if self._titles:
            known = len(self.rows)
            self._walk_titled(self._titles, lines[:start], page, carried=True)
            if len(self.rows) == known and not tables:
                self._walk_untitled(lines)
        elif not tables:
            self._walk_untitled(lines)
        elif start > 0:
            self._note_panel_above(lines[:start])
        for n, table in enumerate(tables):
            end = tables[n + 1].start if n + 1 < len(tables) else len(lines)
            beside = find_titles_of_adjacent_table(
                self._titles if n else (), table.titles
            )
            self._titles = tuple(sorted((*beside, *table.titles), key=_left))
            body = lines[table.end : end]
            self._note_panel_above(lines[max(0, table.start - 6) : table.start])
            own = len(body)
            if len(split_titles_by_table(self._titles)) == 1:
                own = find_side_by_side_tables_start(body, self._section)
            self._walk_titled(self._titles, body[:own], page, carried=False)
            if own < len(body):
                self._walk_untitled(body[own:])
        if self._titles:
            self._read_left(lines, before)
        merge_range_bands_from_below(self.rows[before:], lines)
        judged = judge_rows_of_page(
            self.rows[before:], _lines_left(lines, self._passed), self._section
        )
        self.rows[before:] = add_second_readings(judged, seconds)

    def _read_left(self, lines: Sequence[Line], before: int) -> None:
        """Records, lines and cards below a titled table, perhaps below its notes.

        before: how many rows were there before this page.
        """
        own = self.rows[before:]
        used = list_used_words(own)
        left, blocks = separate_range_blocks_from_lines(
            _lines_left(lines, used | self._passed)
        )
        records = read_rows_in_labelled_records(left, self._section.copy())
        records = [row for row in records if row.score >= _SURE_LEFT]
        assign_range_blocks_to_rows(blocks, records)
        left = drop_words_from_lines(left, list_used_words(records))
        labelled = any(_is_labelled(line) for line in left)
        tabular = sum(1 for line in left if _is_tabular(line))
        read: list[Row] = []
        if tabular >= _LEAST_LEFT or labelled:
            reader = LooseReader(self._section.copy())
            reader.read(left)
            read = [row for row in reader.rows if row.score >= _SURE_LEFT]
        if sum(1 for line in left if is_range(line.cells[-1].text)) >= _LEAST_LEFT:
            read += read_rows_in_cards(
                drop_words_from_lines(left, list_used_words(read)), self._section.copy()
            )
        whole = [row for row in read if is_whole_row(row, self._section)]
        names = {(row.test_name, row.fields.value) for row in own}
        found = [
            row
            for row in whole
            if (row.test_name, row.fields.value) not in names
            and (len(whole) >= _LEAST_LEFT or _is_labelled(row.line))
        ]
        found += [
            row for row in records if (row.test_name, row.fields.value) not in names
        ]
        if not found:
            return
        tops = [row.line.top for row in own]
        # Tables side by side are answered one after the other.
        abreast = tops != sorted(tops)
        both = [*own, *found]
        self.rows[before:] = (
            both if abreast else sorted(both, key=lambda row: row.line.top)
        )

    def _note_panel_above(self, lines: Sequence[Line]) -> None:
        """The heading nearest above a table names its panel."""
        for line in reversed(lines[-5:]):
            if is_section_heading(line):
                self._section.open(line.text)
                return

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
        strips = split_page_into_tables(
            titles, _lines_before_explanation(lines, titles), width=page.width
        )
        for strip in strips:
            own = lines
            if len(strips) > 1:
                own = clip_lines_to_columns(lines, left=strip.left, right=strip.right)
            self._walk_strip(strip, own, carried=carried)

    def _walk_strip(
        self, strip: Strip, lines: Sequence[Line], *, carried: bool
    ) -> None:
        heading = next(c.title for c in strip.columns if c.role is Role.NAME)
        if heading and not carried and not is_name_column_title(heading):
            self._section.open(heading)
        table = TableReader(self._section, strip, carried=carried)
        table.read(lines)
        self.rows.extend(table.rows)
        self._passed.update(id(word) for line in table.passed for word in line.words)

    def _walk_untitled(self, lines: Sequence[Line]) -> None:
        """Records and cards first, then what stands in lines, table by table."""
        before = len(self.rows)
        lines = drop_status_badge_lines(
            drop_chart_axis_lines(join_lines_at_same_height(lines), self._section)
        )
        lines, blocks = separate_range_blocks_from_lines(lines)
        for read in _READERS:
            rows = read(lines, self._section)
            self.rows.extend(rows)
            lines = drop_words_from_lines(lines, list_used_words(rows))
        for strip in split_side_by_side_tables(lines, self._section):
            reader = LooseReader(self._section)
            reader.read(strip)
            self.rows.extend(reader.rows)
        assign_range_blocks_to_rows(blocks, self.rows[before:])


def _lines_left(lines: Sequence[Line], used: set[int]) -> list[Line]:
    """Return the lines without a word that is used."""
    return [line for line in lines if used.isdisjoint(map(id, line.words))]


def _strip_alternative_word(line: Line) -> Line:
    """A line that gives a result again, without the word that says so: 'soit 5,66'."""
    first, *words = line.words
    if words and first.text in _OR and is_numeric_value(words[0].text):
        return build_line_from_words(words, page=line.page, drawn=line.drawn)
    return line


def _is_tabular(line: Line) -> bool:
    """Whether a line may be a row with a unit and a range, by its cells alone."""
    if len(line.words) < _LEAST_WORDS:
        return False
    return any(is_plain_numeric_range(cell.text) for cell in line.tight_cells[2:])


def _is_labelled(line: Line) -> bool:
    """Whether a line is 'Name : 71 g/L (66 - 83)', a row by itself."""
    name, colon, rest = line.text.partition(" : ")
    _, unit, _, spread = split_value_cell(rest) if colon else ("", None, None, None)
    return bool(name and unit and spread)


def _lines_before_explanation(
    lines: Sequence[Line], titles: Sequence[Title]
) -> list[Line]:
    """The lines up to the first explanation, whose columns say nothing of others."""
    for n, line in enumerate(lines):
        if n > 0 and _heads_other(line, titles):
            return list(lines[:n])
        if starts_explanation_section(line.text) and n > 2:
            return list(lines[:n])
        if is_explanation_table_title(line.text) and len(line.cells) > 1 and n > 0:
            digits = any(sign.isdigit() for sign in line.text)
            if not digits:
                return list(lines[:n])
    return list(lines)


def _heads_other(line: Line, titles: Sequence[Title]) -> bool:
    """Whether words alone stand in other columns, as titles of another table do."""
    if len(line.cells) < _LEAST_TITLES or any(sign.isdigit() for sign in line.text):
        return False
    own = 0
    for cell in line.cells:
        own += any(
            abs(cell.x0 - title.x0) < line.size
            or title.x0 - line.size < cell.x0 < cell.x1 < title.x1 + line.size
            for title in titles
        )
    return 2 * own <= len(line.cells)


def _left(title: Title) -> float:
    return title.x0
