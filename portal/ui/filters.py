"""Filters of a list: what can be searched and chosen, and what is set.

Each list that has no page of its own for it declares its filters as data; the chips,
their menus and links follow from it (`{% filter_bar %}`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portal.ui.dates import format_whole_day

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date


@dataclass(frozen=True, slots=True)
class ListFilter:
    """A filter of a list, as a chip; `parameter` names it in the query string.

    `choices` are values with their words, in the order of its menu. A switch has one,
    which its chip sets without a menu. `value` is set, "" for none.
    """

    parameter: str
    words: str
    value: str
    choices: tuple[tuple[str, str], ...]
    is_switch: bool = False

    @property
    def value_words(self) -> str:
        """Return the words of what is set."""
        return str(dict(self.choices).get(self.value, self.value))


@dataclass(frozen=True, slots=True)
class DayFilter:
    """A filter of a list by one day, entered in its menu."""

    parameter: str
    words: str
    day: date | None

    @property
    def value(self) -> str:
        """Return the day that is set as a date field has it, "" for none."""
        return self.day.isoformat() if self.day else ""

    @property
    def value_words(self) -> str:
        """Return the day that is set, in words."""
        return format_whole_day(self.day) if self.day else ""


@dataclass(frozen=True, slots=True)
class FilterBar:
    """The search field and filters of a list.

    `text` is what is searched now, as `parameter` of the query string; `label` names
    the field and `placeholder` says what it takes. A list without one has no `label`.
    """

    filters: tuple[ListFilter | DayFilter, ...] = ()
    text: str = ""
    label: str = ""
    placeholder: str = ""
    parameter: str = "q"

    @property
    def is_set(self) -> bool:
        """Return whether anything narrows the list."""
        return bool(self.text or any(each.value for each in self.filters))


def build_choices(
    pairs: Iterable[tuple[object, object]],
) -> tuple[tuple[str, str], ...]:
    """Return the choices of a filter from those of a form or an enumeration."""
    return tuple((str(value), str(words)) for value, words in pairs)
