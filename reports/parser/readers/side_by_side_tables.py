"""Splits untitled tables that are printed side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reports.parser.layout.lines import (
    Cell,
    Line,
    clip_lines_to_columns,
    split_words_into_cells,
)
from reports.parser.rows.row import Section
from reports.parser.rows.wording import (
    clean_printed_name,
    is_section_heading,
    may_name_a_test,
)
from reports.parser.text.fields import join_word_texts, split_value_cell
from reports.parser.text.values import (
    is_numeric_value,
    is_out_of_range_flag,
    is_result_value,
)

_LEAST_LINES = 3


def split_side_by_side_tables(
    lines: Sequence[Line], section: Section
) -> list[list[Line]]:
    """Return the lines of each table from left to right.

    A second table begins where names of known tests stand in line, each behind the
    values of another name and before a value of its own. What is printed across the
    cut stays with the first.
    """
    starts = [start for line in lines for start in _second_names(line, section)]
    edges: list[float] = []
    for start in sorted(starts):
        if edges and start - edges[-1] < 6:
            continue
        if sum(1 for other in starts if abs(other - start) < 6) >= _LEAST_LINES:
            edges.append(start)
    if not edges:
        return [list(lines)]
    cuts = [0.0, *(edge - 3 for edge in edges), float("inf")]
    across = [line for line in lines if _crosses(line, cuts[1:-1])]
    inner = [line for line in lines if line not in across]
    strips = [
        clip_lines_to_columns(inner, left=left, right=right)
        for left, right in pairwise(cuts)
    ]
    strips[0] = sorted([*strips[0], *across], key=lambda line: line.middle)
    return strips


def find_side_by_side_tables_start(lines: Sequence[Line], section: Section) -> int:
    """Return the line at which untitled tables side by side start.

    So they may follow a titled table, whose columns say nothing of them.
    """
    for n, line in enumerate(lines):
        if not is_section_heading(line):
            continue
        starts = [
            s for own in lines[n + 1 : n + 6] for s in _second_names(own, section)
        ]
        if any(sum(abs(s - x) < 1 for s in starts) >= _LEAST_LINES for x in starts):
            return n
    return len(lines)


def _second_names(line: Line, section: Section) -> list[float]:
    """Where names begin that stand behind the value of another name."""
    parted = line.tight_cells
    cells = [cell for cell in parted if cell.text.strip(":=")]
    starts = []
    valued = False
    for n, cell in enumerate(cells[:-1]):
        if not valued:
            valued = n > 0 and _has_value(cell)
            continue
        after = cells[n + 1 : n + 3]
        if is_out_of_range_flag(after[0].text):
            after = after[1:]
        if not after or not _has_value(after[0]):
            continue
        name = clean_printed_name(join_word_texts(cell.words))
        if may_name_a_test(name) and section.knows(name):
            starts.append(cell.x0)
    return starts


def _has_value(cell: Cell) -> bool:
    value, _, _, _ = split_value_cell(cell.text.lstrip(": "))
    return is_numeric_value(value) or (is_result_value(value) and len(cell.words) < 4)


def _crosses(line: Line, cuts: Sequence[float]) -> bool:
    return any(
        cell.x0 < cut - 6 and cell.x1 > cut + 6
        for cell in split_words_into_cells(line.words)
        for cut in cuts
    )
