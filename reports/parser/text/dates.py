"""Parses printed dates to YYYY-MM-DD. Pure functions on text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from functools import lru_cache

_MONTHS = {
    "jan": 1, "ene": 1, "janv": 1, "feb": 2, "fev": 2, "mar": 3, "mrz": 3, "apr": 4,
    "abr": 4, "avr": 4, "may": 5, "mai": 5, "jun": 6, "juin": 6, "jul": 7, "juil": 7,
    "aug": 8, "ago": 8, "aou": 8, "sep": 9, "set": 9, "oct": 10, "okt": 10, "out": 10,
    "nov": 11, "dec": 12, "dez": 12, "dic": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7,
    "ott": 10,
}  # fmt: skip
_ISO = re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_SPELT = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th|er|º|°)?[\s./-]*(?:de\s+)?([A-Za-zÀ-ÿ]{3,10})\.?"
    r"[\s,./-]*(?:de\s+)?(\d{4}|\d{2})\b"
)
_SPELT_US = re.compile(
    r"\b([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b"
)
_MONTH_YEAR = re.compile(
    r"(?P<month>[A-Za-zÀ-ÿ]{3,9})\.?[\s/-]+(?P<year>(?:19|20)\d\d)"
)
# One kind of sign, and nothing after it: "35.0-45.0" is a range.
NUMBER_DATE = re.compile(
    r"(?<![\d.,/-])(?P<a>\d{1,2})(?P<sign>[/.-])(?P<b>\d{1,2})(?P=sign)"
    r"(?P<year>\d{4}|\d{2})(?![\d/-]|[.,]\d)"
)


def parse_first_date(text: str, *, month_first: bool | None = None) -> str | None:
    """Return the first date as YYYY-MM-DD; None if the order is ambiguous."""
    if not any(sign.isdigit() for sign in text):
        return None
    if match := _ISO.search(text):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := _SPELT.search(text):
        month = _month(match[2])
        if month:
            return _date(_year(match[3]), month, int(match[1]))
    if match := _SPELT_US.search(text):
        month = _month(match[1])
        if month:
            return _date(int(match[3]), month, int(match[2]))
    if match := NUMBER_DATE.search(text):
        a, b, year = int(match["a"]), int(match["b"]), _year(match["year"])
        if "." in match.group() or a == b:
            month_first = False
        if a > 12:
            month_first = False
        elif b > 12:
            month_first = True
        if month_first is None:
            return None
        return _date(year, a, b) if month_first else _date(year, b, a)
    return None


def parse_dates_in_same_order(texts: Sequence[str]) -> list[str | None]:
    """Parse dates of one row or column, all by one order of day, month and year.

    Of two orders the one counts that all can be read in, then the one in which they
    run one way, then the day first.
    """
    readings = [
        [
            parse_first_date(text, month_first=month_first) or _month_of(text)
            for text in texts
        ]
        for month_first in (False, True)
    ]
    return max(readings, key=lambda days: (sum(map(bool, days)), _is_monotonic(days)))


def is_date_title(text: str) -> bool:
    """Return whether a title is a date, over the results of that day."""
    return parse_sortable_date(text) is not None


@lru_cache(maxsize=8192)
def parse_sortable_date(text: str) -> str | None:
    """Return a date to compare by; the day comes first where the order is ambiguous."""
    return (
        parse_first_date(text)
        or parse_first_date(text, month_first=False)
        or _month_of(text)
    )


def _month_of(text: str) -> str | None:
    """A month and its year alone as YYYY-MM: 'Mar 2025'."""
    match = _MONTH_YEAR.fullmatch(text.strip())
    month = _month(match["month"]) if match else None
    return f"{match['year']}-{month:02}" if match and month else None


def _is_monotonic(days: Sequence[str | None]) -> bool:
    known = [day for day in days if day is not None]
    return known in (sorted(known), sorted(known, reverse=True))


def _month(text: str) -> int | None:
    folded = unicodedata.normalize("NFKD", text.lower())
    folded = folded.encode("ascii", "ignore").decode()
    return _MONTHS.get(folded[:4]) or _MONTHS.get(folded[:3])


def _year(text: str) -> int:
    year = int(text)
    if year >= 100:
        return year
    return 1900 + year if year > 35 else 2000 + year


def _date(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
