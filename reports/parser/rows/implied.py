"""The columns that rows read without titles imply, and their reading with these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reports.parser.columns.table_titles import Title
from reports.parser.pages import Word
from reports.parser.text.roles import Role

from .row import Row, list_words_of_fields, replace_row_range_text

# So many rows make a table, in whose columns less must speak for one more.
_MANY = 8
_LEAST = 4


def infer_columns_without_titles(
    rows: Sequence[Row], *, least: int = _LEAST
) -> tuple[Title, ...]:
    """Return the columns that rows without titles share; empty if there are none.

    least: of rows that make columns.
    """
    if len(rows) < least:
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
            if words and (role is Role.VALUE or _stands_apart(words, row))
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


def _stands_apart(words: Sequence[Word], row: Row) -> bool:
    """Whether words right of a value are a cell of their own."""
    before = row.fields.value_words[-1]
    if words[0].top > row.line.bottom:
        return True
    cells = row.line.tight_cells
    return not any(before in cell.words and words[0] in cell.words for cell in cells)


def merge_rows_with_column_readings(
    loose: Sequence[Row], table: Sequence[Row]
) -> list[Row]:
    """Return rows by their form, completed by their columns.

    The columns may add a row in words, more of a name, or more lines of a range.
    """
    needed = 4 if len(loose) >= _MANY else 5
    by_word = {word: row for row in loose for word in row.line.words}
    left = {id(row): row for row in loose}
    taken = {word for row in loose for word in list_words_of_fields(row.fields)}
    merged: list[Row] = []
    for row in table:
        words = (*row.fields.value_words, *row.name)
        own = next((by_word[word] for word in words if word in by_word), None)
        if own is None:
            if row.score >= needed:
                row.titled = False
                merged.append(row)
            continue
        if left.pop(id(own), None) is None:
            continue
        if row.test_name.startswith(own.test_name) and not taken.intersection(row.name):
            own.name_text, own.name = row.test_name, row.name
        longer = row.fields.range or ""
        below = any(w.top > own.line.bottom - 2 for w in row.fields.range_words)
        if below and longer.startswith(own.fields.range or longer):
            own.fields = replace_row_range_text(
                replace(own.fields, range_words=()),
                longer,
                list(row.fields.range_words),
            )
        own.panel, own.specimen = row.panel or own.panel, row.specimen or own.specimen
        merged.append(own)
    merged.extend(left.values())
    return sorted(
        merged,
        key=lambda row: (
            row.page,
            row.line.top,
            row.name[0].x0,
            row.fields.value_words[0].x0,
        ),
    )
