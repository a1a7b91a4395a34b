"""Ranges printed as a block: their label, and right under it a line for each group.

A block stands beside the result it is for, which may be on another line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.parser.layout.lines import Cell, Line, drop_words_from_lines
from reports.parser.pages import Word
from reports.parser.text.fields import (
    find_unit_in_range,
    join_word_texts,
    split_value_cell,
)
from reports.parser.text.ranges import (
    is_plain_numeric_range,
    is_range_label,
    looks_like_range,
)
from reports.parser.text.roles import Role, find_column_role
from reports.parser.text.values import is_numeric_value

from .row import Row, add_labeled_range_to_row, replace_row_range_text

_LEAST_BANDS = 2
_ALIGNED = 2.0
_NEXT_LINE = 1.9
_BESIDE = 1.5
_BELOW = 3.0


@dataclass(slots=True)
class Block:
    """The words of a block's ranges, and from where to where it stands."""

    page: int
    label: Cell
    words: list[Word]
    top: float
    bottom: float
    size: float


def separate_range_blocks_from_lines(
    lines: Sequence[Line],
) -> tuple[list[Line], list[Block]]:
    """Return the lines without the blocks of ranges, and the blocks."""
    blocks = [
        block
        for n, line in enumerate(lines)
        for cell in line.cells
        if _is_label(cell.text)
        if (block := _gather(cell, line, lines[n + 1 :])) is not None
    ]
    if not blocks:
        return list(lines), []
    taken = {
        id(word) for block in blocks for word in (*block.label.words, *block.words)
    }
    return drop_words_from_lines(lines, taken), blocks


def assign_range_blocks_to_rows(blocks: Iterable[Block], rows: Sequence[Row]) -> None:
    """Give each block to the row without a range beside it, else to that above it."""
    for block in blocks:
        reach = _BESIDE * block.size
        bare = [
            (value, n)
            for n, row in enumerate(rows)
            if row.page == block.page and not row.fields.range
            for value in row.fields.value_words[:1]
        ]
        beside = [
            (abs(value.middle - (block.top + block.bottom) / 2), n)
            for value, n in bare
            if block.top - reach < value.middle < block.bottom + reach
            and value.x1 < block.label.x0
        ] or [
            (block.top - value.middle, n)
            for value, n in bare
            if 0 < block.top - value.middle < _BELOW * block.size
        ]
        if beside:
            row = rows[min(beside)[1]]
            text = join_word_texts(block.words)
            row.fields = (
                add_labeled_range_to_row(row.fields, text, block.words)
                if is_plain_numeric_range(
                    text.removesuffix(find_unit_in_range(text) or "")
                )
                else replace_row_range_text(row.fields, text, block.words)
            )


def _is_label(text: str) -> bool:
    if text[-1:] != ":" and not is_range_label(text):
        return False
    return is_range_label(text) or find_column_role(text.rstrip(": ")) is Role.RANGE


def _gather(label: Cell, line: Line, below: Sequence[Line]) -> Block | None:
    words: list[Word] = []
    bands = results = 0
    last = line
    for under in below:
        if under.middle - last.middle > _NEXT_LINE * max(under.size, line.size):
            break
        cell = next((c for c in under.cells if abs(c.x0 - label.x0) < _ALIGNED), None)
        if cell is None:
            continue
        if not looks_like_range(cell.text):
            break
        words += cell.words
        bands += 1
        results += any(_has_value(c) for c in under.cells if c.x1 < label.x0)
        last = under
    beside = any(_has_value(c) for c in line.cells if c.x1 < label.x0)
    least = 1 if beside and not results else _LEAST_BANDS
    if bands < least or results > 1:
        return None
    return Block(line.page, label, words, line.top, last.bottom, line.size)


def _has_value(cell: Cell) -> bool:
    return is_numeric_value(split_value_cell(cell.text.rpartition(":")[2].strip())[0])
