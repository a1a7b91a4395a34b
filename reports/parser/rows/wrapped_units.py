"""Puts units together that are printed over two lines: 'mL/min/' and '1.73m2'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reports.parser.layout.lines import Line
from reports.parser.pages import Word
from reports.parser.text.fields import is_unit
from reports.parser.text.values import is_numeric_value

from .row import Row, list_used_words, replace_row_unit

# How far from the middle of its row a line of a unit may stand, in sizes of type.
_REACH = 1.45


def complete_wrapped_units(rows: Sequence[Row], lines: Iterable[Line]) -> None:
    """Give rows the units, or rests of units, that stand over one another beside them.

    Only words that no row has: above and below the middle of the row, or below the
    unit that it has, and only where they are one unit together.
    """
    used = list_used_words(rows)
    free = [w for line in lines for w in line.words if id(w) not in used]
    free = [word for word in free if any(map(str.isalnum, word.text))]
    for row in rows if free else ():
        value = row.fields.value_words
        if not value or not is_numeric_value(row.fields.value):
            continue
        middle, right = value[0].middle, max(word.x1 for word in row.name)
        reach = _REACH * value[0].size
        near = [w for w in free if abs(w.middle - middle) < reach and w.x0 > right]
        own = list(row.fields.units_words)
        for seed in own[:1] or near:
            group = _stand_together([*own, *near], seed)
            text = _join(group)
            wraps = group[-1].top > group[0].middle
            if wraps and len(group) > len(own) and is_unit(text):
                added = [word for word in group if word not in own]
                row.fields = replace_row_unit(row.fields, text, added)
                break


def _stand_together(words: Sequence[Word], seed: Word) -> list[Word]:
    """Return words of a column with a word of it, line by line."""
    column = [w for w in words if w.x0 < seed.x1 and w.x1 > seed.x0]
    left, right = min(w.x0 for w in column), max(w.x1 for w in column)
    beside = [w for w in words if w.x0 < right + seed.size and w.x1 > left - seed.size]
    return sorted(beside, key=lambda w: (round(w.middle / seed.size), w.x0))


def _join(words: Sequence[Word]) -> str:
    text = ""
    for word in words:
        part = word.text
        apart = text and text[-1] != "/" and part[0] != "/" and len(part) > 1
        text += f" {part}" if apart else part
    return text
