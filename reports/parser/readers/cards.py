"""Results on cards: a name, and below it its value, unit, range or scale.

Cards may stand side by side. A card is believed only with a known name and one value
that is told from the numbers of its scale.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from reports.parser.layout.lines import Cell, Line, build_cell
from reports.parser.pages import Word
from reports.parser.rows.naming import take_unit_from_name
from reports.parser.rows.row import (
    Row,
    Section,
    add_labeled_range_to_row,
    replace_row_range_text,
    replace_row_unit,
)
from reports.parser.rows.wording import (
    clean_printed_name,
    is_exact_value,
    is_section_heading,
    may_name_a_test,
)
from reports.parser.text.fields import (
    Fields,
    is_range_status_text,
    is_unit,
    split_value_cell,
)
from reports.parser.text.not_names import has_letters, is_explanation_table_title
from reports.parser.text.ranges import (
    is_range_in_words,
    is_range_label,
    looks_like_range,
    parse_labeled_range,
)
from reports.parser.text.roles import Role, find_column_role
from reports.parser.text.values import (
    is_not_reported,
    is_numeric_value,
    is_out_of_range_flag,
    is_worded_value,
)

_DEEPEST = 7.5
_LEAST_CARDS = 2
_ALIGNED = 2.0
_SLACK = 0.6


@dataclass(slots=True)
class _Card:
    """A name and the cells below it that are nearer to it than to another."""

    name: Cell
    line: Line
    right: float
    panel: Section
    beside: list[Cell] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)


def read_rows_in_cards(lines: Sequence[Line], section: Section) -> list[Row]:
    """Return the rows printed as cards; none if there are fewer than two."""
    known = _find_cards(lines, section.copy(), frozenset())
    styles = Counter(_style(card.name.words[0]) for card in known)
    usual = frozenset(style for style, times in styles.items() if times > 1)
    rows = [
        row
        for card in _find_cards(lines, section, usual)
        if (row := _read_card(card)) is not None
        and (section.knows(row.test_name) or _is_whole(row.fields))
    ]
    return rows if len(rows) >= _LEAST_CARDS else []


def _style(word: Word) -> tuple[int, float, bool]:
    return round(word.x0), round(word.size, 1), word.bold


def _is_whole(fields: Fields) -> bool:
    return bool(fields.units and fields.range) and is_numeric_value(fields.value)


def _find_cards(
    lines: Sequence[Line], section: Section, styles: frozenset[tuple[int, float, bool]]
) -> list[_Card]:
    """styles: how names are set that need not be known."""
    cards: list[_Card] = []
    near: list[_Card] = []
    for line in lines:
        named = [
            n for n, cell in enumerate(line.cells) if _is_name(cell, section, styles)
        ]
        labels = any(find_column_role(cell.text) is Role.VALUE for cell in line.cells)
        ranges = any(parse_labeled_range(cell.text) for cell in line.cells)
        telling = len(line.cells) > 1 and is_explanation_table_title(line.text)
        if telling and not (labels or ranges):
            named, near = [], []
        if named:
            found = _open_cards(line, named, section)
            near = [c for c in near if not any(_overlaps(c, other) for other in found)]
            if not _is_row(line, named):
                cards.extend(found)
                near.extend(found)
            continue
        if is_section_heading(line) and not near:
            section.open(line.text)
        near = [
            card
            for card in near
            if line.middle - card.line.middle < _DEEPEST * card.line.size
        ]
        for cell in line.cells:
            # In a picture a letter may begin well right of its place.
            slack = _SLACK * line.size if line.drawn else 3.0
            home = [c for c in near if c.name.x0 - slack <= cell.x0 < c.right - slack]
            if home:
                home[-1].cells.append(cell)
    return cards


def _open_cards(line: Line, named: Sequence[int], section: Section) -> list[_Card]:
    """A card for each name of a line, as wide as up to what stands beside it."""
    cells = line.cells
    cards = []
    for n, start in enumerate(named):
        end = named[n + 1] if n + 1 < len(named) else len(cells)
        right = cells[end].x0 if end < len(cells) else float("inf")
        beside = list(cells[start + 1 : end])
        cards.append(_Card(cells[start], line, right, section.copy(), beside))
    return cards


def _is_row(line: Line, named: Sequence[int]) -> bool:
    """Whether a line with names has a value too, so that it is no top of cards."""
    others = [cell.text for n, cell in enumerate(line.cells) if n not in named]
    return any(
        any(re.match(r"[(\[<>≤≥+-]*\d", word) for word in text.split())
        or (
            is_worded_value(text)
            and not is_out_of_range_flag(text)
            and not is_range_status_text(text)
        )
        for text in others
    )


def _is_name(
    cell: Cell, section: Section, styles: frozenset[tuple[int, float, bool]]
) -> bool:
    name = clean_printed_name(cell.text)
    if not has_letters(name) or not may_name_a_test(name) or len(cell.words) > 8:
        return False
    # Of flags are titled 'L/H' too, which is a hormone on a card.
    role = find_column_role(name)
    if role not in (None, Role.FLAG) or is_unit(name):
        return False
    if parse_labeled_range(cell.text) is not None:
        return False
    alike = role is None and name[:1].isalpha() and _style(cell.words[0]) in styles
    return alike or section.knows(name)


def _overlaps(a: _Card, b: _Card) -> bool:
    return a.name.x0 < b.right - 3 and b.name.x0 < a.right - 3


def _read_card(card: _Card) -> Row | None:
    fields = Fields()
    flag = next((c.text for c in card.beside if is_out_of_range_flag(c.text)), None)
    values: list[tuple[Cell, Fields]] = []
    lesser: list[tuple[Cell, Fields]] = []
    expected: tuple[str, Cell] | None = None
    for n, cell in enumerate(card.cells):
        spread = parse_labeled_range(cell.text)
        if spread is None and _is_labelled(cell, card.cells[:n]):
            spread = cell.text
        if spread is not None:
            readable = looks_like_range(spread) or is_range_in_words(spread)
            if expected is None and readable:
                expected = (spread, cell)
            continue
        found = _read_value(_strip_label(cell))
        if found is None:
            continue
        whole = found.units and (found.range or is_exact_value(found.value))
        if is_range_status_text(found.value) or not (
            whole or is_exact_value(found.value)
        ):
            lesser.append((cell, found))
        else:
            values.append((cell, found))
    if not values:
        values = _least_sure(lesser, is_ranged=expected is not None)
    limits = _numbers(expected[0]) if expected else set()
    chosen = _choose(values, limits)
    if chosen is None:
        return None
    cell, fields = chosen
    if fields.units is None:
        fields = _with_unit_beside(fields, cell, card.cells)
    if expected is not None and fields.range is None:
        text, announced = expected
        fields = add_labeled_range_to_row(fields, text, list(announced.words))
    elif fields.units and (stack := _ranges_beside(cell, card.cells)):
        words = [word for other in stack for word in other.words]
        fields = replace_row_range_text(fields, " ".join(c.text for c in stack), words)
    worded = not is_numeric_value(fields.value)
    if fields.range is None and (worded or not fields.units):
        return None
    row = Row(card.line.page, list(card.name.words), fields, card.line)
    if flag and fields.flag is None:
        row.fields = replace(fields, flag=flag)
    take_unit_from_name(row, card.panel)
    row.panel, row.specimen = card.panel.panel, card.panel.specimen
    row.score, row.titled = 7.0, False
    return row


def _strip_label(cell: Cell) -> Cell:
    """'61 µg/dL' of 'Value: 61 µg/dL'."""
    label, colon, rest = cell.text.partition(":")
    if not colon or not rest.strip() or find_column_role(label) is not Role.VALUE:
        return cell
    return build_cell(cell.words[len(label.split()) :])


def _is_labelled(cell: Cell, before: Sequence[Cell]) -> bool:
    """Whether a label of ranges stands right in front of a cell or right over it."""
    if not before:
        return False
    label, first = before[-1], cell.words[0]
    beside = abs(label.words[0].middle - first.middle) < 0.5 * first.size
    if beside and is_range_label(label.text):
        return True
    over = [other for other in before if abs(other.x0 - cell.x0) < _ALIGNED]
    return bool(over) and is_range_label(over[-1].text)


def _read_value(cell: Cell) -> Fields | None:
    value, unit, flag, spread = split_value_cell(cell.text)
    if is_not_reported(value) or not (
        is_numeric_value(value) or is_worded_value(value)
    ):
        return None
    if is_out_of_range_flag(cell.text):
        return None
    words = tuple(cell.words)
    return Fields(
        value=value,
        units=unit,
        flag=flag,
        range=spread,
        value_words=words[:1] if unit else words,
        units_words=words[1:] if unit else (),
        range_words=words if spread else (),
    )


def _ranges_beside(value: Cell, cells: Sequence[Cell]) -> list[Cell]:
    """Ranges in a column right of a value, the first of them on its line."""
    size = value.words[0].size
    right = [c for c in cells if c.x0 > value.x1 and looks_like_range(c.text)]
    stack: list[Cell] = []
    below = value.words[0].middle - size
    for cell in right:
        apart = cell.words[0].middle - below
        if abs(cell.x0 - right[0].x0) > _ALIGNED or not 0 < apart < 1.7 * size:
            break
        stack.append(cell)
        below = cell.words[0].middle
    return stack


def _least_sure(
    found: Sequence[tuple[Cell, Fields]], *, is_ranged: bool
) -> list[tuple[Cell, Fields]]:
    """'< 1 mg/L' beside a range of its own, else what may say how the value is."""
    compared = [pair for pair in found if pair[1].units and is_ranged]
    return compared or [pair for pair in found if is_exact_value(pair[1].value)]


def _choose(
    values: Sequence[tuple[Cell, Fields]], limits: set[str]
) -> tuple[Cell, Fields] | None:
    """The value among numbers of a scale: it has a unit, or is set larger."""
    with_unit = [pair for pair in values if pair[1].units]
    if with_unit:
        return with_unit[0]
    others = [pair for pair in values if pair[1].value not in limits] or list(values)
    if len(others) == 1:
        return others[0]
    sizes = sorted((pair[0].words[0].size for pair in others), reverse=True)
    largest = [pair for pair in others if pair[0].words[0].size > 0.95 * sizes[0]]
    if len(largest) == 1:
        return largest[0]
    bold = [pair for pair in largest if pair[0].words[0].bold]
    return bold[0] if len(bold) == 1 else None


def _with_unit_beside(fields: Fields, own: Cell, cells: Iterable[Cell]) -> Fields:
    for cell in cells:
        titled = find_column_role(cell.text) is not None
        if cell is own or titled or is_out_of_range_flag(cell.text):
            continue
        if is_unit(cell.text):
            return replace_row_unit(fields, cell.text, list(cell.words))
    return fields


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,]\d+)?", text))
