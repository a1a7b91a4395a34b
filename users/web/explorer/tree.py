"""The tree of a user's resources, by group, with their counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.ui.numbers import format_number
from users.queries.data.freshness import find_latest_summaries, find_summary_extents
from users.store.extents import count_samples_by_series
from users.wearables.timeseries import TIMESERIES, Group
from users.web.explorer.query import SPANS, SeriesKey

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from users.models import User
    from users.store.held_series import StoredSeries
    from users.web.explorer.query import Question

# Ours: counting on would cost more than the page.
COUNTED_UP_TO = 5_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A resource: its records in the range, and the URL that toggles it."""

    key: SeriesKey
    number: int
    is_on: bool
    query: str

    @property
    def count(self) -> str:
        """Return the number, exact up to COUNTED_UP_TO."""
        if self.number >= COUNTED_UP_TO:
            return f"{format_number(COUNTED_UP_TO)}+"
        return format_number(self.number)


@dataclass(frozen=True, slots=True)
class Branch:
    """A group of resources."""

    name: str
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """All resources; `providers` are their sources.

    `offsets` is the clock (seconds east of UTC) of the last record of each timeseries.
    """

    branches: tuple[Branch, ...]
    providers: tuple[str, ...]
    offsets: dict[str, int]


def find_freshest_series(
    user: User, question: Question, held: Sequence[StoredSeries]
) -> tuple[SeriesKey, datetime] | None:
    """Return what has the latest record of all that has a chart; one query.

    Of two as fresh the first of the tree counts.
    """
    latest = {
        SeriesKey(each.resource.slug): each.extent.last
        for each in sorted(held, key=lambda each: each.extent.last)
        if question.provider in ("", each.source.provider)
        and each.resource.value_key is not None
    }
    latest |= {
        SeriesKey(kind): last
        for kind, last in find_latest_summaries(
            user=user, kinds=list(SPANS), provider=question.provider or None
        ).items()
    }
    order = {slug: place for place, slug in enumerate([*TIMESERIES, *SPANS])}
    return min(
        latest.items(),
        key=lambda each: (-each[1].timestamp(), order[each[0].slug]),
        default=None,
    )


def build_resource_tree(
    user: User, question: Question, held: Sequence[StoredSeries]
) -> Tree:
    """Build the tree of a user's resources for the range and source of a question.

    Two queries.
    """
    stored_series = [
        each for each in held if question.provider in ("", each.source.provider)
    ]
    counts = count_samples_by_series(
        user_id=user.pk,
        extents=[each.extent for each in stored_series],
        start=question.start,
        end=question.end,
        most=COUNTED_UP_TO,
    )
    first, last = question.day_bounds
    summaries = [
        each
        for each in find_summary_extents(user=user, start=first, end=last)
        if each.kind in SPANS and question.provider in ("", each.provider)
    ]
    numbers: dict[SeriesKey, int] = {}
    groups: dict[SeriesKey, str] = {}
    for each in stored_series:
        key = SeriesKey(each.resource.slug)
        groups[key] = str(Group(each.resource.group).label)
        numbers[key] = numbers.get(key, 0) + counts.get(
            (each.extent.series, each.extent.feed), 0
        )
    for found in summaries:
        key = SeriesKey(found.kind)
        groups[key] = _("Sleep and workouts")
        numbers[key] = numbers.get(key, 0) + found.number
    shown = {key.slug for key in question.series}
    branches: dict[str, list[Leaf]] = {}
    for key, group in groups.items():
        own = next((one for one in question.series if one.slug == key.slug), key)
        leaf = Leaf(key, numbers[key], key.slug in shown, question.toggle_series(own))
        branches.setdefault(group, []).append(leaf)
    latest = sorted(stored_series, key=lambda each: each.extent.last)
    return Tree(
        tuple(Branch(name, tuple(leaves)) for name, leaves in branches.items()),
        tuple(
            sorted(
                {each.source.provider for each in stored_series}
                | {each.provider for each in summaries}
            )
        ),
        {each.resource.slug: each.extent.tz_offset for each in latest},
    )
