"""What an app shows of one user on the user's page: rows of the timeline, attention.

Each app declares its part in `PAGES` (accounts.declarations.pages).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from portal.lib.periods import find_day_start

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime, tzinfo
    from uuid import UUID

    from accounts.declarations.families import Family

Shape = Literal["bars", "dots", "stretches"]
# Ours: what one row of the timeline holds at most, the newest of it.
ENTRIES_AT_MOST = 400


@dataclass(frozen=True, slots=True)
class RecordSpan:
    """The user and the days of `zone` to show, `first` to `last` inclusive."""

    user_key: int
    user_uuid: UUID
    first: date
    last: date
    zone: tzinfo

    @property
    def start(self) -> datetime:
        """Return the first moment of the span, UTC."""
        return find_day_start(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """Return the first moment after the span, UTC."""
        return find_day_start(self.last + timedelta(days=1), self.zone)

    @property
    def days(self) -> int:
        """Return the number of days."""
        return (self.last - self.first).days + 1

    def day_of(self, moment: datetime) -> date:
        """Return the day on which a moment falls."""
        return moment.astimezone(self.zone).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEntry:
    """One thing that happened, or lasted from `at` to `until` (None: a moment).

    `day` is where it stands if that is not the day of `at`: a night belongs to the day
    of waking. `size` is the height of its bar, in the unit of its row. One that
    `is_open` still goes on.
    """

    at: datetime
    title: str
    icon: str
    family: Family = "mute"
    detail: str = ""
    url: str = ""
    until: datetime | None = None
    day: date | None = None
    size: float | None = None
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """A row of the timeline; rows are in the order of `rank`.

    `hue` is a class of its marks that have no family of their own. `per_day` are bars
    of things that are counted and not listed.
    """

    rank: int
    title: str
    shape: Shape
    hue: str = ""
    entries: tuple[RecordEntry, ...] = ()
    per_day: Mapping[date, int] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Return how many things the row shows."""
        return len(self.entries) + sum(self.per_day.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAttention:
    """A tile of what of this user needs a person; the lowest ranks are shown.

    `status` is a key of PILLS, `pill` its words where the status's own say too little.
    """

    rank: int
    since: datetime
    label: str
    status: str
    number: str
    unit: str
    url: str
    pill: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RecordPart:
    """One app's part of a user's page, as far as the member's rights go."""

    rows: tuple[RecordRow, ...] = ()
    attention: tuple[RecordAttention, ...] = ()
