"""The roles of columns, and the titles that name them.

Vocabulary only; where titles stand is read in titles.py.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.word_lists import read_word_lists


class Role(StrEnum):
    """What a column holds."""

    NAME = "name"
    VALUE = "value"
    UNIT = "unit"
    RANGE = "range"
    LOW = "low"
    HIGH = "high"
    FLAG = "flag"
    METHOD = "method"
    PREVIOUS = "previous"
    SPECIMEN = "specimen"
    OTHER = "other"


# Where a table has a column for each, the result stands in one of them.
ZONES = frozenset(
    [
        *("low", "normal", "high", "optimal", "moderate", "borderline", "elevated"),
        *("desirable", "abnormal", "critical", "increased", "at risk", "low risk"),
        *("moderate risk", "high risk", "average", "intermediate", "deficient"),
        *("niedrig", "erhoht", "hoch", "bajo", "alto", "bas", "eleve", "basso"),
    ]
)
# Words of a range that someone aims at, or decides by, beside that of the laboratory.
_GOALS = frozenset(
    ["optimal", "target", "goal", "ideal", "desired", "functional", "cutoff", "cut"]
)
_PHRASES: dict[tuple[str, ...], Role] = {
    tuple(phrase.split()): Role(heading)
    for heading, phrases in read_word_lists("column_titles.txt").items()
    for phrase in phrases
}
LONGEST_TITLE = max(len(phrase) for phrase in _PHRASES) + 1
# Without blanks, for a picture is read with blanks lost or put in.
TITLES = {"".join(phrase): role for phrase, role in _PHRASES.items()}


def is_goal_range_title(text: str) -> bool:
    """Return whether the title of a range column means a goal, not the lab's range."""
    return not _GOALS.isdisjoint(text.split())


def is_name_column_title(text: str) -> bool:
    """Return whether a text is a usual title of the column of names."""
    return find_column_role(text) is Role.NAME


def is_column_title(text: str) -> bool:
    """Return whether a text is a usual title of a column, whatever it holds."""
    return find_column_role(text) is not None


@lru_cache(maxsize=8192)
def find_column_role(text: str) -> Role | None:
    """Return what a column of this title holds; None if the title is unknown."""
    return TITLES.get(normalize_letters_and_digits(text).replace(" ", ""))


@lru_cache(maxsize=8192)
def may_start_column_title(text: str) -> bool:
    """Return whether a title of a column may begin with a word."""
    folded = normalize_letters_and_digits(text)
    return folded.partition(" ")[0] in _TITLE_WORDS or folded in TITLES


def names_result_column(text: str) -> bool:
    """Return whether folded text without blanks holds a title that a table must have.

    Without one of results, units or ranges no titles are of a table of results.
    """
    return _NEEDED.search(text) is not None


_NEEDED = re.compile(
    "|".join(
        sorted(
            title
            for title, role in TITLES.items()
            if role in (Role.VALUE, Role.UNIT, Role.RANGE)
        )
    )
)
_TITLE_WORDS = {word for phrase in _PHRASES for word in phrase}
