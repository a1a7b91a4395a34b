"""The freshness grid: age and completeness of each source's resources."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.periods import find_day_start, find_time_zone_by_name
from portal.ui.charts import draw_days_with_data_strip
from portal.ui.dates import write_date
from users.queries.data.freshness import find_summary_extents
from users.queries.sources.silence import list_usual_data_intervals
from users.store.extents import find_days_with_samples
from users.wearables.providers import find_provider
from users.wearables.summaries import ACTIVITY, BODY, PROFILE, SUMMARIES
from users.web.explorer.query import SPANS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.utils.safestring import SafeString

    from users.models import User
    from users.queries.sources.silence import SeriesCadence
    from users.store.held_series import StoredSeries
    from users.wearables.providers import Provider

DAYS = 30
_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_DAILY = {ACTIVITY.slug, BODY.slug, PROFILE.slug}
# More gaps than this are counted, not named.
_NAMED_GAPS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A resource of one source; `days` are the days with data of the last DAYS.

    Days count from 0, the oldest; `first_day` is the date of 0.
    """

    name: str
    slug: str
    provider: Provider
    first: datetime
    last: datetime
    days: frozenset[int]
    first_day: date
    cadence: SeriesCadence | None
    is_summary: bool = False

    @property
    def last_day(self) -> date | None:
        """Return the date of a last record that covers a day; None for a time.

        A day's record stands at midnight, in no zone.
        """
        is_day = self.slug in _DAILY and self.last == find_day_start(
            self.last.date(), UTC
        )
        return self.last.date() if is_day else None

    @property
    def url(self) -> str:
        """Return the query string that shows it; empty without a chart."""
        if self.is_summary and self.slug not in SPANS:
            return ""
        return f"?series={self.slug}&provider={self.provider.slug}&days={DAYS}"

    @property
    def lag(self) -> timedelta:
        """Return the time since the last record; zero if it lies ahead."""
        return max(timezone.now() - self.last, timedelta())

    @property
    def lag_words(self) -> str:
        return _length(self.lag)

    @property
    def usual(self) -> str:
        """Return how often new data arrives, in words."""
        gap = self.cadence and self.cadence.usual_gap
        return _("every %(length)s") % {"length": _length(gap)} if gap else ""

    @property
    def is_silent(self) -> bool:
        """Return whether data is overdue."""
        return bool(self.cadence and self.cadence.is_silent)

    @property
    def dot(self) -> str:
        """Return the color of its status dot; by age while nothing is expected."""
        if self.is_silent:
            return "bad"
        if self.cadence and self.cadence.due_at:
            return "ok"
        return "ok" if self.lag < _DAY else "warn" if self.lag < 3 * _DAY else "mute"

    @property
    def coverage(self) -> str:
        return _("%(number)d of %(days)d days") % {
            "number": len(self.days),
            "days": DAYS,
        }

    @property
    def strip(self) -> SafeString:
        return draw_days_with_data_strip(
            [day in self.days for day in range(DAYS)],
            says=_("%(resource)s from %(source)s: %(coverage)s. Gaps: %(gaps)s")
            % {
                "resource": self.name,
                "source": self.provider.name,
                "coverage": self.coverage,
                "gaps": self.gaps or _("none"),
            },
        )

    @property
    def gaps(self) -> str:
        """Describe the days without data between days with data, and since the last."""
        if not self.days:
            return _("No data in 30 days")
        known = range(min(self.days), DAYS - 1)  # today may yet bring some
        missing = [day for day in known if day not in self.days]
        runs = [
            [day for _place, day in run]
            for _gap, run in groupby(
                enumerate(missing), key=lambda each: each[1] - each[0]
            )
        ]
        named = [self._span(run) for run in runs[-_NAMED_GAPS:]]
        more = len(runs) - len(named)
        if not more:
            return ", ".join(named)
        return _("%(spans)s and %(more)d more") % {
            "spans": ", ".join(named),
            "more": more,
        }

    def _span(self, run: Sequence[int]) -> str:
        first, last = (self.first_day + day * _DAY for day in (run[0], run[-1]))
        one = write_date(first, "j M")
        if first == last:
            return one
        return _("%(first)s to %(last)s") % {
            "first": one,
            "last": write_date(last, "j M"),
        }


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows by source, the most recent first."""

    rows: tuple[Row, ...]

    @property
    def sources(self) -> list[tuple[Provider, list[Row]]]:
        by_slug: dict[str, list[Row]] = {}
        for row in sorted(self.rows, key=lambda row: row.last, reverse=True):
            by_slug.setdefault(row.provider.slug, []).append(row)
        return [(rows[0].provider, rows) for rows in by_slug.values()]

    @property
    def silent(self) -> int:
        """Return how many rows are overdue."""
        return sum(row.is_silent for row in self.rows)


def build_data_freshness_grid(
    user: User, stored_series: Sequence[StoredSeries]
) -> Grid:
    """Build the grid of a user's data by days of their time zone; three queries.

    Summaries are read besides.
    """
    zone = find_time_zone_by_name(user.fallback_time_zone)
    today = timezone.now().astimezone(zone).date()
    first_day = today - (DAYS - 1) * _DAY
    edges = [
        find_day_start(first_day + number * _DAY, zone) for number in range(DAYS + 1)
    ]
    days = find_days_with_samples(
        user_id=user.pk, extents=[each.extent for each in stored_series], edges=edges
    )
    cadences = {
        (each.provider, each.resource): each
        for each in list_usual_data_intervals(user=user)
    }
    rows = [
        _sample_row(group, days, first_day, cadences)
        for group in _grouped(stored_series)
    ]
    for found in find_summary_extents(user=user, start=first_day, end=today):
        resource = SUMMARIES.get(found.kind)
        if resource is None:
            continue
        rows.append(
            Row(
                name=resource.name,
                slug=found.kind,
                provider=find_provider(found.provider),
                first=found.first.astimezone(UTC),
                last=found.last.astimezone(UTC),
                days=frozenset((day - first_day).days for day in found.days),
                first_day=first_day,
                cadence=cadences.get((found.provider, found.kind)),
                is_summary=True,
            )
        )
    return Grid(tuple(rows))


def _grouped(stored_series: Iterable[StoredSeries]) -> Iterable[list[StoredSeries]]:
    """Group series by resource and provider, across types and source types."""
    groups: dict[tuple[str, str], list[StoredSeries]] = {}
    for each in stored_series:
        groups.setdefault((each.resource.slug, each.source.provider), []).append(each)
    return groups.values()


def _sample_row(
    group: Sequence[StoredSeries],
    days: dict[tuple[int, int], list[int]],
    first_day: date,
    cadences: dict[tuple[str, str], SeriesCadence],
) -> Row:
    resource, provider = group[0].resource, group[0].source.provider
    extents = [each.extent for each in group]
    return Row(
        name=resource.name,
        slug=resource.slug,
        provider=find_provider(provider),
        first=min(each.first for each in extents),
        last=max(each.last for each in extents),
        days=frozenset(
            day for each in extents for day in days.get((each.series, each.feed), ())
        ),
        first_day=first_day,
        cadence=cadences.get((provider, resource.event_resource)),
    )


def _length(length: timedelta) -> str:
    """Format a duration in its largest whole unit."""
    if length < _HOUR:
        return _("%(number)d min") % {"number": length // timedelta(minutes=1)}
    if length < 2 * _DAY:
        return _("%(number)d h") % {"number": length // _HOUR}
    return _("%(number)d days") % {"number": length // _DAY}
