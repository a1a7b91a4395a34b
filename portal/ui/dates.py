"""Dates as people write them in their language."""

from __future__ import annotations

from datetime import date, datetime

from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.translation import get_language

# By language: a day of this year, a day, and a time besides. Django's formats are
# another matter: forms and the operators' admin go by them.
_ENGLISH = ("j M", "j M Y", "j M Y, H:i")
_FORMATS = {
    "de": ("j. F", "j. F Y", "j. F Y, H:i"),
    "fr": ("j F", "j F Y", "j F Y, H:i"),
    "es": (r"j \d\e F", r"j \d\e F \d\e Y", r"j \d\e F \d\e Y, H:i"),
    "pt-br": (r"j \d\e F", r"j \d\e F \d\e Y", r"j \d\e F \d\e Y, H:i"),
}


def format_day(value: date | None) -> str:
    """Write 12 Mar 2026, and 12 Mar in this year. A time has the reader's day."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        value = timezone.localtime(value).date()
    return _write(value, 0 if value.year == timezone.now().year else 1)


def format_iso_day(text: str | None) -> str:
    """Write a date YYYY-MM-DD of a report as a day; other text stays as it is."""
    try:
        return format_day(date.fromisoformat(text or ""))
    except ValueError:
        return text or ""


def format_whole_day(value: date | None) -> str:
    """Write 12 Mar 2026, in any year. A time has the day of its own zone."""
    return "" if value is None else _write(value, 1)


def format_day_and_time(value: datetime | None) -> str:
    """Write 12 Mar 2026, 09:30, in the time's own zone."""
    return "" if value is None else _write(value, 2)


def _write(value: date, which: int) -> str:
    language = get_language() or "en"
    text = format_date(value, _FORMATS.get(language, _ENGLISH)[which])
    if language == "fr" and value.day == 1:
        return text.replace("1", "1er", 1)
    # Portuguese writes months small; Django's catalogue does not.
    return text.lower() if language == "pt-br" else text
