"""Names that go on below their first line, as the lines of a whole table show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from reports.parser.layout.lines import Line
from reports.parser.pages import Word
from reports.parser.text.fields import join_word_texts
from reports.parser.text.not_names import (
    is_administrative_line,
    is_category_label,
    is_test_method,
    starts_explanation_section,
)
from reports.parser.text.roles import Role

from .row import Parts, Section
from .wording import clean_printed_name, has_panel_heading_word, is_incomplete_name

# Of lines of words alone, each right below a row: less are headings as likely.
_FEWEST, _SHARE = 3, 0.6
_PITCH = 1.9
_NEAR = 0.25
_SAME_SIZE = 0.1
_MOST_WORDS = 6
# Words that name no test and head no panel: with the name above them they do.
_QUALIFIER = re.compile(
    r"(?i)(?:counts?|time|acid|ratio|level|index|total|direct|indirect|free|random"
    r"|fasting|absolute|intact|saturation|phosphatase|distribution|volume|clearance)"
    r"(?:\s.*)?"
)
_ABBREVIATION = 4
# What else stands alone below a row.
_OTHERS = (
    has_panel_heading_word,
    is_administrative_line,
    is_category_label,
    is_test_method,
    starts_explanation_section,
)

Cut = Sequence[tuple[Line, Parts]]


def join_wrapped_names(cut: Cut, section: Section) -> list[tuple[Line, Parts]]:
    """Return lines by column, each with what its name has on the lines below it.

    Of one line alone it is not known whether it heads the rows below: most such lines
    of a table must make a known name with the name above, or begin with a qualifier.
    """
    signs = [
        section.knows(_joined(own, below))
        for own, below in pairwise(cut)
        if _may_go_on(own, below)
    ]
    wraps = sum(signs) >= max(_FEWEST, _SHARE * len(signs))
    joined: list[tuple[Line, Parts]] = []
    for line, parts in cut:
        own = joined[-1] if joined else None
        if own and _may_go_on(own, (line, parts)):
            words = parts[Role.NAME]
            known = section.knows(_joined(own, (line, parts)))
            if wraps or (known and _QUALIFIER.fullmatch(join_word_texts(words))):
                above, upper = own
                whole = {**upper, Role.NAME: [*upper[Role.NAME], *words]}
                joined[-1] = replace(above, bottom=line.bottom), whole
                continue
        joined.append((line, parts))
    return joined


def _joined(own: tuple[Line, Parts], below: tuple[Line, Parts]) -> str:
    words: list[Word] = [*own[1][Role.NAME], *below[1][Role.NAME]]
    return clean_printed_name(join_word_texts(words))


def _may_go_on(own: tuple[Line, Parts], below: tuple[Line, Parts]) -> bool:
    """Whether words are printed as the name of the row above, and head no panel."""
    (line, parts), (next_line, next_parts) = own, below
    if not {Role.VALUE, Role.NAME} <= set(parts) or set(next_parts) != {Role.NAME}:
        return False
    name, words = parts[Role.NAME], next_parts[Role.NAME]
    if next_line.bottom - line.bottom > _PITCH * line.size or len(words) > _MOST_WORDS:
        return False
    first, second, text = name[0], words[0], join_word_texts(words)
    alike = (
        abs(first.x0 - second.x0) < _NEAR * first.size
        and abs(first.size - second.size) < _SAME_SIZE
        and first.bold == second.bold
    )
    if _QUALIFIER.fullmatch(text) or is_incomplete_name(join_word_texts(name)):
        return alike
    shouts = len(text) > _ABBREVIATION and text.upper() == text
    return (
        alike
        and (not shouts or join_word_texts(name).upper() == join_word_texts(name))
        and not any(is_other(text) for is_other in _OTHERS)
    )
