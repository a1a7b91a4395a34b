"""Groups words into lines and cells by position.

Pure geometry: no word is read here, only measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from reports.parser.pages import Word

# Blanks inside a cell are about a quarter to a third of the font size; a gap from
# this share on parts two cells, unless columns are known.
CELL_GAP = 0.75
TIGHT_GAP = 0.5
_PITCH = 0.6
_PARTING = frozenset("|·•¦│")
_DOTS = frozenset(".…_")
_FEWEST_DOTS = 4
# In a picture a word ends with its ink, which leaves more between words.
_WIDER = 0.1
# A number set so much larger than its unit shifts the middle of their line.
_LARGER = 1.4
# Of two lines of a picture, in sizes of type: less than half the pitch of print.
_ONE_LEVEL, _ONE_LEVEL_IN_GAP = 0.5, 0.65
_CLOSE = 1.5
_RAISED = 1.75


class Cell(NamedTuple):
    """Neighbouring words of one line."""

    words: tuple[Word, ...]
    text: str

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)


def build_cell(words: Iterable[Word]) -> Cell:
    """Return a cell of words, from left to right."""
    held = tuple(words)
    return Cell(held, " ".join([word[0] for word in held]))


@dataclass(frozen=True, slots=True)
class Line:
    """Words on one baseline, from left to right, and the cells they form.

    `tight` is the gap, in font sizes, that parts cells where columns stand close, and
    `tight_cells` are those that it parts.
    `drawn` says that they were read from a picture, so that no measure is exact.
    """

    page: int
    words: tuple[Word, ...]
    cells: tuple[Cell, ...]
    top: float
    bottom: float
    size: float
    text: str
    tight: float
    tight_cells: tuple[Cell, ...]
    drawn: bool = False

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)


def group_words_into_lines(
    words: Sequence[Word], *, page: int, drawn: bool = False
) -> list[Line]:
    """Return lines from top to bottom; drawn: the words were read from an image."""
    if not words:
        return []
    groups = _follow_lines(words) if drawn else _join_large(_stack_lines(words))
    return [
        build_line_from_words(_join_leaders(g), page=page, drawn=drawn) for g in groups
    ]


def _join_leaders(words: Sequence[Word]) -> Sequence[Word]:
    """Dots set apart, that lead from a name to its value, as one word."""
    if sum(1 for word in words if word[0] in _DOTS) < _FEWEST_DOTS:
        return words
    joined: list[Word] = []
    for word in sorted(words, key=lambda w: (w[1], w[3])):
        last = joined[-1] if joined else None
        if last and word.text in _DOTS and not last.text.strip("".join(_DOTS)):
            joined[-1] = last._replace(text=last.text + word.text, x1=word.x1)
        else:
            joined.append(word)
    return joined


def is_monospaced(words: Sequence[Word], *, drawn: bool) -> bool:
    """Return whether all letters, and the blanks, have one width."""
    fixed = 0
    for text, x0, _, x1, _, size, *_ in words:
        pitch = _PITCH * size
        wide = pitch * len(text)
        if drawn:
            fixed += len(text) > 2 and abs(x1 - x0 + 0.2 * pitch - wide) < 0.06 * wide
        else:
            fixed += abs(x1 - x0 - wide) < 0.2
    asked = sum(1 for word in words if len(word[0]) > 2) if drawn else len(words)
    return fixed > 0.7 * asked


def _stack_lines(words: Iterable[Word]) -> list[list[Word]]:
    """Words of one height, where each stands exactly on its baseline."""
    groups: list[list[Word]] = []
    middle = size = 0.0
    for word in sorted(words, key=lambda w: (w[2] + w[4], w[1])):
        centre = (word[2] + word[4]) / 2
        if groups and centre - middle < 0.42 * min(size, word.size):
            groups[-1].append(word)
            if size < word.size < _RAISED * size:
                # The group began with a mark raised over the line.
                middle, size = centre, word.size
            continue
        groups.append([word])
        middle, size = centre, word.size
    return groups


def _join_large(groups: Sequence[list[Word]]) -> list[list[Word]]:
    """Large words joined by the small print right beside them, as a value by its unit.

    On one baseline the middle of small print is below that of large words.
    """
    joined: list[list[Word]] = []
    for group in groups:
        if joined and _is_beside(joined[-1], group):
            joined[-1] = [*joined[-1], *group]
        else:
            joined.append(group)
    return joined


def _is_beside(upper: Sequence[Word], lower: Sequence[Word]) -> bool:
    tallest = max(upper, key=lambda word: word.size)
    if max(word.size for word in lower) * _LARGER > tallest.size:
        return False
    if not any(sign.isdigit() for sign in tallest.text):
        return False
    if not all(tallest.top < word.middle < tallest.bottom for word in lower):
        return False
    return not any(a.x0 < b.x1 and b.x0 < a.x1 for a in upper for b in lower)


def _follow_lines(words: Sequence[Word]) -> list[list[Word]]:
    """Lines of a picture, from left to right: each word joins the line that ends
    nearest to its height, so that a line may rise, fall or bend.
    """
    usual = median(word.size for word in words)
    groups: list[list[Word]] = []
    ends: list[tuple[float, float]] = []
    for word in sorted(words, key=lambda w: (w[1], w[2])):
        centre = word.middle
        best, off = None, 0.46 * min(word.size, usual)
        for n, (x1, middle) in enumerate(ends):
            away = abs(centre - middle)
            if away < off and word.x0 > x1 - 0.6 * usual:
                best, off = n, away
        if best is None:
            groups.append([word])
            ends.append((word.x1, centre))
            continue
        groups[best].append(word)
        last = groups[best][-3:]
        ends[best] = (word.x1, sum(w.middle for w in last) / len(last))
    return sorted(groups, key=lambda group: median(w.middle for w in group))


def join_lines_at_same_height(lines: Sequence[Line]) -> list[Line]:
    """Join lines of an image that are at one height, split by larger print.

    Not for tables: there a cell may be centred between two lines of its neighbour.
    """
    joined = list(lines[:1])
    for line in lines[1:]:
        last = joined[-1]
        if line.drawn and _shares_level(last.words, line.words, line.size):
            words = (*last.words, *line.words)
            joined[-1] = build_line_from_words(words, page=line.page, drawn=True)
        else:
            joined.append(line)
    return joined


def _level(group: Sequence[Word]) -> float:
    return median(word.middle for word in group)


def _shares_level(upper: Sequence[Word], lower: Sequence[Word], size: float) -> bool:
    """Whether what two lines of a picture hold is one line, parted by larger print.

    So near no two lines are printed over one another. One may stand in a gap of the
    other, or close beside what it belongs to; far beside it is of another column.
    """
    apart = (_level(lower) - _level(upper)) / size
    if apart >= _ONE_LEVEL_IN_GAP:
        return False
    if _is_in_gap(upper, lower) or _is_in_gap(lower, upper):
        return True
    gaps = [max(b.x0 - a.x1, a.x0 - b.x1) for a in upper for b in lower]
    return apart < _ONE_LEVEL and 0 <= min(gaps) < _CLOSE * size


def _is_in_gap(inner: Sequence[Word], outer: Sequence[Word]) -> bool:
    x0, x1 = min(word.x0 for word in inner), max(word.x1 for word in inner)
    sides = [word.x1 < x0 for word in outer]
    clear = all(word.x1 < x0 or word.x0 > x1 for word in outer)
    return clear and any(sides) and not all(sides)


def build_line_from_words(
    words: Iterable[Word], *, page: int, drawn: bool = False
) -> Line:
    """Build a line of these words, in any order."""
    ordered = tuple(sorted(words, key=lambda w: (w[1], w[3])))
    fixed = is_monospaced(ordered, drawn=drawn)
    gap, tight = CELL_GAP, CELL_GAP if fixed else TIGHT_GAP
    if drawn:
        gap += _WIDER * (1 + 2 * fixed)
        tight += _WIDER * (1 + fixed)
    return Line(
        page=page,
        words=ordered,
        cells=split_words_into_cells(ordered, gap=gap),
        top=min([word[2] for word in ordered]),
        bottom=max([word[4] for word in ordered]),
        size=ordered[0].size if len(ordered) == 1 else median([w[5] for w in ordered]),
        text=" ".join([word[0] for word in ordered]),
        tight=tight,
        tight_cells=split_words_into_cells(ordered, gap=tight),
        drawn=drawn,
    )


def split_words_into_cells(
    words: Sequence[Word], *, gap: float = CELL_GAP
) -> tuple[Cell, ...]:
    """Split words, sorted by x, where the gap exceeds `gap` font sizes.

    A sign that only parts what stands beside it, as a bar or a dot, is in no cell.
    """
    cells: list[list[Word]] = []
    end = 0.0
    parted = False
    for word in words:
        if word[0] in _PARTING and cells:
            parted = True
            continue
        if cells and not parted and word[1] - end < gap * word[5]:
            cells[-1].append(word)
            end = max(end, word[3])
        else:
            cells.append([word])
            end = word[3]
            parted = False
    return tuple([build_cell(cell) for cell in cells])


def are_lines_of_same_font_size(a: Line, b: Line, *, by: float = 0.6) -> bool:
    """Return whether two lines have one font size, to `by` points."""
    share = 0.2 if a.drawn or b.drawn else 0.05
    return abs(a.size - b.size) <= max(by, share * max(a.size, b.size))


def clip_lines_to_columns(
    lines: Iterable[Line], *, left: float, right: float
) -> list[Line]:
    """Return the parts of lines with words centered between left and right."""
    clipped = []
    for line in lines:
        inside = [w for w in line.words if left <= (w.x0 + w.x1) / 2 < right]
        if len(inside) == len(line.words):
            clipped.append(line)
        elif inside:
            clipped.append(
                build_line_from_words(inside, page=line.page, drawn=line.drawn)
            )
    return clipped


def drop_words_from_lines(lines: Iterable[Line], taken: Set[int]) -> list[Line]:
    """Return what is left of lines without some words, each by its identity."""
    left = []
    for line in lines:
        words = [word for word in line.words if id(word) not in taken]
        if len(words) == len(line.words):
            left.append(line)
        elif words:
            left.append(build_line_from_words(words, page=line.page, drawn=line.drawn))
    return left
