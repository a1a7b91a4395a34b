"""Columns of a list: which there are, which a member sees, and what sorts by them.

Each list declares its columns as data; the page's head, its menu of columns and the
sort of its rows follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

from portal.lib.database.sorting import SORTED_UP_TO

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a list; `key` names it in the query string and in what is kept.

    `order_by` is the path of what it sorts by, as an ORM spells it ("lab__name");
    empty: the list does not sort by it. `is_fixed`: what names a row can't be hidden.
    `is_extra`: hidden until a member chooses it.
    `is_down_first`: the first click brings the largest or newest to the top.
    """

    key: str
    words: str
    order_by: str = ""
    is_number: bool = False
    is_fixed: bool = False
    is_extra: bool = False
    is_down_first: bool = False
    css: str = ""


@dataclass(frozen=True, slots=True)
class ListColumns:
    """The columns of one list, from left to right; `sort` is how it comes unasked.

    An empty `sort` is an order that no column has. `indexed` are the columns that sort
    a list of any length; by others the newest SORTED_UP_TO are sorted
    (portal.lib.database.sorting). A `short` list is sorted whole by each.
    """

    key: str
    columns: tuple[Column, ...]
    sort: str = ""
    indexed: frozenset[str] = frozenset()
    is_short: bool = False

    def read(self, sort: str, changed: Collection[str] = ()) -> ShownColumns:
        """Return the columns shown, sorted as the query string asks.

        `changed` are those that the member sees or hides otherwise than usual. A sort
        that the list does not offer counts as not given.
        """
        hidden = {c.key for c in self.columns if c.is_extra != (c.key in changed)}
        offered = {column.key for column in self.columns if column.order_by}
        asked = sort if sort.removeprefix("-") in offered else self.sort
        return ShownColumns(self, frozenset(hidden), asked, bool(changed))


@dataclass(frozen=True, slots=True)
class HeadCell:
    """A column's head: its present order, and the one that a click asks for."""

    column: Column
    aria_sort: str
    next_sort: str


@dataclass(frozen=True, slots=True)
class ShownColumns:
    """The columns of a list as one member sees them, and its present sort.

    Templates ask `{% if "status" in columns %}`; on phones the lines of a card follow
    the same choice.
    """

    declared: ListColumns
    hidden: frozenset[str]
    sort: str
    is_changed: bool = False

    def __contains__(self, key: str) -> bool:
        """Return whether a column is shown."""
        return key not in self.hidden

    @property
    def head(self) -> Iterator[HeadCell]:
        """Iterate over the heads of the columns shown."""
        shown = (each for each in self.declared.columns if each.key in self)
        return map(self._build_head, shown)

    @property
    def sorts(self) -> list[HeadCell]:
        """Return what the list can be sorted by, hidden columns too."""
        columns = self.declared.columns
        return [self._build_head(each) for each in columns if each.order_by]

    @property
    def choices(self) -> list[tuple[Column, bool]]:
        """Return each column that may be hidden, with whether it is shown."""
        columns = self.declared.columns
        return [(each, each.key in self) for each in columns if not each.is_fixed]

    @property
    def order_by(self) -> str:
        """Return the path to sort by, after a minus if downwards; "" for none."""
        name = self.sort.removeprefix("-")
        path = next((c.order_by for c in self.declared.columns if c.key == name), "")
        return f"-{path}" if path and self.sort.startswith("-") else path

    @property
    def order_asked(self) -> str:
        """Return the path to sort by if another sort than the list's own is asked."""
        return self.order_by if self.is_sorted_here else ""

    @property
    def is_sorted_here(self) -> bool:
        """Return whether the sort is another than the list's own."""
        return self.sort != self.declared.sort

    @property
    def sorted_up_to(self) -> int:
        """Return how many rows of a long list are sorted."""
        return SORTED_UP_TO

    @property
    def is_partial(self) -> bool:
        """Return whether only the newest of a long list are sorted."""
        name = self.sort.removeprefix("-")
        return (
            not self.declared.is_short
            and self.is_sorted_here
            and name not in self.declared.indexed
        )

    def sort_rows(self, rows: Iterable[T], *, inside: str = "") -> list[T]:
        """Sort rows that are all here; `inside` is the path to what has the columns.

        Rows without a value come last, equal ones stay as they come.
        """
        listed = list(rows)
        path = self.order_by
        if not path:
            return listed
        names = [*inside.split("."), *path.removeprefix("-").split("__")]
        keys = [(_find_value(row, names), row) for row in listed]
        known = [(value, row) for value, row in keys if value not in (None, "")]
        known.sort(key=lambda pair: pair[0], reverse=path.startswith("-"))
        absent = [row for value, row in keys if value in (None, "")]
        return [*(row for _, row in known), *absent]

    def _build_head(self, column: Column) -> HeadCell:
        down = f"-{column.key}"
        if self.sort == down:
            return HeadCell(column, "descending", column.key)
        if self.sort == column.key:
            return HeadCell(column, "ascending", down)
        return HeadCell(column, "", down if column.is_down_first else column.key)


def _find_value(row: object, names: Iterable[str]) -> Any:
    """Return what stands at a path of attributes, keys or places, to sort by."""
    value = reduce(_step, (name for name in names if name), row)
    value = value() if callable(value) else value
    return value.casefold() if isinstance(value, str) else value


def _step(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name)
    if name.isdecimal():
        return value[int(name)]
    return getattr(value, name, None)
