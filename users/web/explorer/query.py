"""The explorer's query string: series, range and view.

All of it stands in the query string, so that every view of it has an address.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from django.utils.timezone import now as present
from django.utils.translation import gettext as _

from portal.lib.choices import OpenChoices
from portal.lib.periods import find_day_start, find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from portal.ui.dates import write_date
from users.analysis.explorer import Resolution
from users.wearables.summaries import SLEEP, SLEEP_CYCLE, SUMMARIES, WORKOUTS
from users.wearables.timeseries import TIMESERIES
from users.wearables.values import AHEAD, EARLIEST

if TYPE_CHECKING:
    from django.http import QueryDict

    from users.models import User
    from users.wearables.resources import SummaryResource
    from users.wearables.timeseries import TimeseriesResource

SERIES_MAX = 3
RANGES = {
    1: gettext_lazy("1 day"),
    7: gettext_lazy("7 days"),
    30: gettext_lazy("30 days"),
    90: gettext_lazy("90 days"),
}
DEFAULT_DAYS = 7
# Summaries that last, which a chart shows as a strip.
SPANS = {each.slug: each for each in (SLEEP_CYCLE, SLEEP, WORKOUTS)}
_TIMES = {"days", "start", "end", "cursor"}
_SHORTEST = timedelta(minutes=10)
_LONGEST = timedelta(days=731)
_DAY = timedelta(days=1)
_TICK = timedelta(microseconds=1)
# Ours: whole weeks, so that weekdays lie over weekdays.
_YEAR_DAYS = 364


class ZoneChoice(OpenChoices):
    """The time zone that is shown."""

    RECORD = "record", gettext_lazy("Where it was recorded")
    USER = "user", gettext_lazy("User's time zone")
    UTC = "utc", "UTC"


class Compare(OpenChoices):
    """The span that is compared with the shown one; a date names any other."""

    NONE = "", gettext_lazy("Nothing")
    BEFORE = "before", gettext_lazy("The days before")
    YEAR = "year", gettext_lazy("The year before, same weekdays")


class ViewAs(OpenChoices):
    """The view of the data."""

    CHART = "chart", gettext_lazy("Chart")
    TABLE = "table", gettext_lazy("Table")
    JSON = "json", "JSON"
    EVENTS = "events", gettext_lazy("Events")
    CURL = "curl", "curl"


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """A timeseries of one or all types, or a kind of summary with a duration."""

    slug: str
    type: str | None = None

    @property
    def text(self) -> str:
        """Return its text in the query string."""
        return self.slug if self.type is None else f"{self.slug}:{self.type}"

    @property
    def timeseries(self) -> TimeseriesResource | None:
        """Return the timeseries, or None for summaries."""
        return TIMESERIES.get(self.slug)

    @property
    def summary(self) -> SummaryResource:
        """Return the kind of summary."""
        return SUMMARIES[self.slug]

    @property
    def name(self) -> str:
        """Return the display name."""
        resource = TIMESERIES.get(self.slug) or SUMMARIES[self.slug]
        name = str(resource.name)
        return name if self.type is None else f"{name}, {self.type}"

    @classmethod
    def read(cls, text: str) -> SeriesKey | None:
        """Parse the series of a text; None if unknown."""
        slug, _, type_ = text.partition(":")
        if slug in TIMESERIES:
            return cls(slug, type_ or None)
        return cls(slug) if slug in SPANS else None


@dataclass(frozen=True, slots=True)
class Question:
    """A validated query of the explorer.

    The time is [start, end), UTC. `days` is the preset it came from, None where it was
    chosen. `user_zone` is the user's fallback, `offset` what the last record says of
    its clock (seconds east of UTC), None while that is not known.
    """

    series: tuple[SeriesKey, ...]
    start: datetime
    end: datetime
    days: int | None
    zone: ZoneChoice
    user_zone: str
    provider: str
    resolution: Resolution
    view: ViewAs
    cursor: str
    offset: int | None = None
    compare: str = ""

    @classmethod
    def read(cls, query: QueryDict, user: User) -> Question:
        """Parse a query string; invalid values are ignored."""
        zone = ZoneChoice.known(query.get("zone", "")) or ZoneChoice.USER
        keys = [SeriesKey.read(text) for text in query.getlist("series")]
        chosen = tuple(dict.fromkeys(key for key in keys if key is not None))
        clock = (
            UTC
            if zone == ZoneChoice.UTC
            else find_time_zone_by_name(user.fallback_time_zone)
        )
        days = _number(query.get("days", ""))
        start = _parse_moment(query.get("start", ""), clock, date_is_at=timedelta())
        end = _parse_moment(query.get("end", ""), clock, date_is_at=_DAY)
        if start is None or end is None or end - start < _SHORTEST:
            days = days if days in RANGES else DEFAULT_DAYS
            today = present().astimezone(clock).date()
            end = find_day_start(today + _DAY, clock)
            start = find_day_start(today - (days - 1) * _DAY, clock)
        else:
            days = None
        return cls(
            series=chosen[:SERIES_MAX],
            start=max(start, end - _LONGEST),
            end=end,
            days=days,
            zone=zone,
            user_zone=user.fallback_time_zone or "UTC",
            provider=query.get("provider", "")[:50].lower(),
            resolution=Resolution.known(query.get("resolution", "")) or Resolution.AUTO,
            view=ViewAs.known(query.get("view", "")) or ViewAs.CHART,
            cursor=query.get("cursor", ""),
            compare=_parse_compare(query.get("compare", "")),
        )

    @property
    def compared(self) -> Question | None:
        """Return the question of the span compared with; None without one.

        It is as many whole days of the clock away, so that hours lie over hours.
        """
        zone = self.counting_zone
        match self.compare:
            case Compare.NONE:
                return None
            case Compare.BEFORE:
                days = -(-(self.end - self.start) // _DAY)
            case Compare.YEAR:
                days = _YEAR_DAYS
            case _:
                days = (self.first_day - date.fromisoformat(self.compare)).days
        try:
            start, end = (
                (at.astimezone(zone) - days * _DAY).astimezone(UTC)
                for at in (self.start, self.end)
            )
        except OverflowError:
            return None
        if not days or start < find_day_start(EARLIEST, UTC):
            return None
        return replace(self, start=start, end=end, days=None, compare="", cursor="")

    def open_on(self, key: SeriesKey, last: datetime) -> Question:
        """Return the question with one series, and days that reach its last record."""
        if self.days is None or last >= self.start:
            return replace(self, series=(key,))
        zone = self.counting_zone
        day = last.astimezone(zone).date()
        return replace(
            self,
            series=(key,),
            start=find_day_start(day - (self.days - 1) * _DAY, zone),
            end=find_day_start(day + _DAY, zone),
            days=None,
        )

    @property
    def clock(self) -> tzinfo:
        """Return the time zone of chart and table."""
        if self.zone == ZoneChoice.RECORD and self.offset is not None:
            return timezone(timedelta(seconds=self.offset))
        return self.counting_zone

    @property
    def counting_zone(self) -> tzinfo:
        """Return the time zone of totals; the API has no zone of the record."""
        return find_time_zone_by_name(self.counting_zone_name)

    @property
    def counting_zone_name(self) -> str:
        """Return the name of the time zone of totals."""
        return "UTC" if self.zone == ZoneChoice.UTC else self.user_zone

    @property
    def clock_name(self) -> str:
        """Return the shown time zone in words."""
        if self.zone != ZoneChoice.RECORD:
            return self.counting_zone_name
        if self.offset is None:
            return _("%(zone)s (no record states another)") % {"zone": self.user_zone}
        sign = "-" if self.offset < 0 else "+"
        hours, minutes = divmod(abs(self.offset) // 60, 60)
        offset = f"{sign}{hours:02}:{minutes:02}"
        return _("time zone of the last record, %(offset)s") % {"offset": offset}

    @property
    def bounds(self) -> tuple[str, str]:
        """Return the range for the API, both ends inclusive."""
        zone = find_time_zone_by_name(self.user_zone)
        first, last = self.start.astimezone(zone), self.end.astimezone(zone)
        if first.time() == last.time() == datetime.min.time():
            return first.date().isoformat(), (last.date() - _DAY).isoformat()
        return _wire(self.start), _wire(self.end - _TICK)

    @property
    def day_bounds(self) -> tuple[date, date]:
        """Return the first and last day of the range, in the zone of totals."""
        zone = self.counting_zone
        first = self.start.astimezone(zone).date()
        return first, (self.end - _TICK).astimezone(zone).date()

    @property
    def span(self) -> str:
        """Return the range in words, in the shown time zone."""
        first, last = self.start.astimezone(self.clock), self.end.astimezone(self.clock)
        if first.time() == last.time() == datetime.min.time():
            last -= _DAY
            if first == last:
                return write_date(first, "j M Y")
            start = "j M Y" if first.year != last.year else "j M"
            ends = {
                "first": write_date(first, start),
                "last": write_date(last, "j M Y"),
            }
        else:
            ends = {
                "first": write_date(first, "j M, H:i"),
                "last": write_date(last, "j M Y, H:i"),
            }
        return _("%(first)s to %(last)s") % ends

    def query(self, **changes: object) -> str:
        """Return the query string with `changes`, without a cursor."""
        fields: dict[str, object] = {
            "series": [key.text for key in self.series],
            "zone": "" if self.zone == ZoneChoice.USER else str(self.zone),
            "provider": self.provider,
            "resolution": ""
            if self.resolution == Resolution.AUTO
            else str(self.resolution),
            "view": "" if self.view == ViewAs.CHART else str(self.view),
            "compare": self.compare,
        }
        if self.days is None:
            fields |= {"start": _wire(self.start), "end": _wire(self.end)}
        elif self.days != DEFAULT_DAYS:
            fields["days"] = self.days
        if "days" in changes:
            fields |= {"start": "", "end": ""}
        elif "start" in changes:
            fields["days"] = ""
        parameters = {
            name: value for name, value in (fields | changes).items() if value
        }
        return "?" + urlencode(parameters, doseq=True)

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Return the query parameters that the form of other days keeps."""
        query = parse_qsl(self.query(days="").removeprefix("?"))
        return [(name, value) for name, value in query if name not in _TIMES]

    @property
    def kept_in_comparison(self) -> list[tuple[str, str]]:
        """Return the query parameters that the form of a compared day keeps."""
        return parse_qsl(self.query(compare="").removeprefix("?"))

    @property
    def first_day(self) -> date:
        """Return the first shown day."""
        return self.day_bounds[0]

    @property
    def last_day(self) -> date:
        """Return the last shown day."""
        return self.day_bounds[1]

    @property
    def widest_query(self) -> str:
        """Return the query string of the longest preset with all sources."""
        return self.query(days=max(RANGES), provider="")

    def toggle_series(self, key: SeriesKey) -> str:
        """Return the query string with a series toggled; drop the last of too many."""
        if key in self.series:
            items = [each for each in self.series if each != key]
        else:
            items = [*self.series[: SERIES_MAX - 1], key]
        if not items:  # without a series the freshest one would open again
            return self.query(series=[], show="freshness")
        return self.query(series=[each.text for each in items])

    def shift_range(self, *, by: float = 0, times: float = 1) -> str:
        """Return the query string of a range `times` as long, moved `by` its length."""
        length = self.end - self.start
        width = min(max(length * times, _SHORTEST), _LONGEST)
        middle = self.start + length / 2 + width * by
        latest = present() + AHEAD
        end = min(middle + width / 2, max(latest, self.end))
        start = max(end - width, find_day_start(EARLIEST, UTC))
        return self.query(start=_wire(start), end=_wire(end))

    def with_offset(self, offset: int | None) -> Question:
        """Return the query with a record's UTC offset, if that zone is selected."""
        return replace(self, offset=offset)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else None


def _parse_compare(text: str) -> str:
    """Return a known span, or a date, as it stands in the query string."""
    if text in Compare.values:
        return text
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _parse_moment(text: str, zone: tzinfo, *, date_is_at: timedelta) -> datetime | None:
    """Parse a date-time, or a date in the zone: the start of the day this far on."""
    try:
        if len(text) == len("2026-01-01"):
            day = date.fromisoformat(text)
            found = find_day_start(day + date_is_at, zone)
        else:
            # A plus in a query string that was not written by us is a space.
            found = datetime.fromisoformat(text.replace(" ", "+"))
            if found.tzinfo is None:
                return None
            found = found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    first = find_day_start(EARLIEST, UTC)
    return found if first <= found <= present() + timedelta(days=366) else None


def _wire(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
