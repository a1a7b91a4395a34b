"""Dates as people write them in their language."""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import lru_cache

from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.translation import get_language

# What a pattern of English becomes. Source: Unicode CLDR 45, date patterns of the
# languages. Django's own formats are another matter: the operators' admin has them.
_PATTERNS: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "de": (
        (re.compile(r"\b([lD]) j\b"), r"\1, j"),
        (re.compile(r"\bj\b"), "j."),
        (re.compile(r"\bM\b"), "N"),
    ),
    "fr": ((re.compile(r"\bM\b"), "N"),),
    **dict.fromkeys(
        ("es", "pt-br"),
        (
            (re.compile(r"\bj F\b"), r"j \\d\\e F"),
            (re.compile(r"\bF Y\b"), r"F \\d\\e Y"),
        ),
    ),
}
# They write months and weekdays small; Django's catalogues do so in part.
_SMALL = frozenset({"es", "fr", "pt-br"})


def write_date(value: date | None, pattern: str) -> str:
    """Write a day or time by an English pattern, such as `j M Y`, in the language.

    A time is written in its own zone. The letters are Django's; nothing for None.
    """
    if value is None:
        return ""
    language = get_language() or "en"
    if isinstance(value, datetime):
        return _write(value, pattern, language)
    return _write_day(value, pattern, language)


def _write(value: date, pattern: str, language: str) -> str:
    for known, own in _PATTERNS.get(language, ()):
        pattern = known.sub(own, pattern)
    text = format_date(value, pattern)
    if language == "fr" and value.day == 1:
        text = re.sub(r"\b1 (?=\D)", "1er ", text, count=1)
    return _write_small(text) if language in _SMALL else text


# Days repeat on a page: a list shows when each row was made.
_write_day = lru_cache(maxsize=4096)(_write)


def format_day(value: date | None) -> str:
    """Write 12 Mar 2026, and 12 Mar in this year. A time has the reader's day."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        value = timezone.localtime(value).date()
    return write_date(value, "j M" if value.year == timezone.now().year else "j M Y")


def format_iso_day(text: str | None) -> str:
    """Write a date YYYY-MM-DD of a report as a day; other text stays as it is."""
    try:
        return format_day(date.fromisoformat(text or ""))
    except ValueError:
        return text or ""


def format_whole_day(value: date | None) -> str:
    """Write 12 Mar 2026, in any year; other languages spell the month out."""
    return write_date(value, "j M Y" if _is_english() else "j F Y")


def format_day_and_time(value: datetime | None) -> str:
    """Write 12 Mar 2026, 09:30, in the time's own zone; months as for a whole day."""
    return write_date(value, "j M Y, H:i" if _is_english() else "j F Y, H:i")


def _is_english() -> bool:
    return (get_language() or "en") == "en"


def _write_small(text: str) -> str:
    """Write words small, but not the names of time zones."""
    return re.sub(r"\b[^\W\d_][^\W\d_]*\b", _small_word, text)


def _small_word(found: re.Match[str]) -> str:
    word = found[0]
    return word if word.isupper() and len(word) > 1 else word.lower()
