"""Finds what may be the number of a sample anywhere on a report.

A laboratory prints a requisition's barcode with its number below, in a corner or on a
copy of the label, without a label of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reports.parser.layout.lines import Line

NUMBERS_AT_MOST = 100
# Capitals and digits, in groups or not; the asterisks are those of a printed Code 39.
_NUMBER = re.compile(
    r"(?<![\w.,/-])\*?(?P<number>[A-Z0-9]{2,}(?:-[A-Z0-9]{2,}){0,5})\*?"
    r"(?![\w/-]|[.,]\d)"
)
_LENGTHS = range(6, 31)
# Of letters alone only what is longer than words in capitals mostly are.
_LETTERS_FROM = 12


def find_possible_sample_numbers(pages: Iterable[Sequence[Line]]) -> tuple[str, ...]:
    """Return what may be a sample's number, in reading order, each once.

    At most NUMBERS_AT_MOST of them.
    """
    found: dict[str, None] = {}
    for lines in pages:
        for line in lines:
            for match in _NUMBER.finditer(line.text):
                number = match["number"]
                if not number.isalnum() and not any(map(str.isalpha, number)):
                    continue  # a range, a date, a telephone
                has_digit = any(map(str.isdigit, number))
                least = _LENGTHS.start if has_digit else _LETTERS_FROM
                if least <= len(number) < _LENGTHS.stop:
                    found[number] = None
                if len(found) == NUMBERS_AT_MOST:
                    return tuple(found)
    return tuple(found)
