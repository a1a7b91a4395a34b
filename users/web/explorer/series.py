"""Series of the explorer: curves, descriptions and table rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from portal.lib.languages import write_within_sentence
from portal.ui.numbers import format_measured
from portal.ui.numbers import format_number as format_count
from portal.ui.pills import format_wire_value_as_words
from portal.ui.series_chart import Curve, Lane, Mark, Stay
from users.analysis.explorer import Form, Resolution, SampleRequest, read_chart_points
from users.queries import list_user_summaries
from users.wearables.providers import find_provider
from users.wearables.summaries import SLEEP_CYCLE, WORKOUTS
from users.wearables.timeseries import Aggregation, Group
from users.web.data.nights import Night

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from users.analysis.explorer import Line, Point, View
    from users.models import User
    from users.queries import SummaryRow
    from users.web.explorer.query import Question, SeriesKey

_HUES = {
    Group.HEART: "heart",
    Group.ACTIVITY: "steps",
    Group.WORKOUTS: "steps",
    Group.BREATHING: "sleep",
    Group.BODY: "temp",
    Group.METABOLISM: "glucose",
    Group.WELLBEING: "cycle",
}
_ALL_HUES = ("heart", "glucose", "steps", "sleep", "temp", "cycle")
# Ours: what comes usually once an hour is not joined over a missed one or two.
_PAUSE = 3
_DENSE = 3
# Ours: more lines are in the table alone.
_CURVES_MAX = 8
_DAY = timedelta(days=1)
_MINUTES = "min"
# Ours: what can be seen and pointed at, however long the range.
_WORKOUT_PX = 4.0


@dataclass(frozen=True, slots=True)
class Row:
    """A table row: a sample, an aggregate of several, or a summary."""

    start: datetime
    end: datetime | None
    type: str | None
    provider: str | None
    value: float | None
    low: float | None
    high: float | None
    count: int
    summary_id: UUID | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class ShownSeries:
    """A series as shown; `lane` is for summaries with a duration."""

    key: SeriesKey
    hue: str
    view: View | None
    curves: tuple[Curve, ...]
    lane: Lane | None
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return self.key.name

    @property
    def unit(self) -> str:
        resource = self.key.timeseries
        if self.key.slug == WORKOUTS.slug:
            return _MINUTES
        return resource.unit if resource else ""

    @property
    def is_empty(self) -> bool:
        return not self.rows

    @property
    def is_samples(self) -> bool:
        """Return whether its rows are single samples."""
        return self.view is not None and self.view.form == Form.SAMPLES

    @property
    def adds_up(self) -> bool:
        """Return whether its values are sums."""
        resource = self.key.timeseries
        return bool(resource and resource.aggregation == Aggregation.SUM)

    @property
    def samples(self) -> int:
        """Return the number of its records."""
        return self.view.samples if self.view else len(self.rows)

    @property
    def how(self) -> str:
        """Return how its samples are shown, in words."""
        if self.view is None:
            return _("As sent by the source")
        match self.view.form:
            case Form.SAMPLES:
                return _("All samples, as sent")
            case Form.STRETCHES if self.view.resolution == Resolution.FIVE_MINUTES:
                return _("Minimum, mean and maximum per 5 minutes")
            case Form.STRETCHES:
                length = self.view.lines[0].points if self.view.lines else ()
                if not length:
                    return _("Minimum, mean and maximum per interval")
                each = _words(length[0].end - length[0].start)
                return _("Minimum, mean and maximum per %(length)s") % {"length": each}
            case _:
                period = {"period": write_within_sentence(self.view.resolution.label)}
                if self.adds_up:
                    return _("Sum per %(period)s") % period
                return _("Minimum, mean and maximum per %(period)s") % period

    @property
    def is_coarser(self) -> bool:
        """Return whether the range was too long for the selected resolution."""
        return bool(
            self.view
            and self.view.is_thinned
            and self.view.request.resolution != Resolution.AUTO
        )

    @property
    def finding(self) -> str:
        """Return the finding in words."""
        values = [row for row in self.rows if row.value is not None]
        if not values:
            if not self.rows:
                return _("No data")
            return _("%(number)s in this range") % {
                "number": format_count(len(self.rows))
            }
        if self.adds_up and not self.is_samples:
            total = sum(row.value or 0 for row in values)
            return _("%(total)s in total") % {"total": format_number(total)}
        low = min(values, key=lambda row: row.low or 0)
        high = max(values, key=lambda row: row.high or 0)
        return _("Low %(low)s, high %(high)s") % {
            "low": format_number(low.low),
            "high": format_number(high.high),
        }

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Return the label of each curve by its class."""
        if self.lane is not None:
            return []
        return [
            (f"sr-{each.hue} sr--{each.dash}", each.name.partition(", ")[2])
            for each in self.curves
            if ", " in each.name
        ]


def build_explorer_series(user: User, question: Question) -> list[ShownSeries]:
    """Read the series of a question in order; at most six queries each."""
    shown: list[ShownSeries] = []
    taken: set[str] = set()
    for key in question.series:
        hue = _hue(key, taken)
        taken.add(hue)
        if key.timeseries is None:
            shown.append(_spans(user, question, key, hue))
        else:
            shown.append(_samples(user, question, key, hue))
    return shown


def build_timeseries_request(question: Question, key: SeriesKey) -> SampleRequest:
    """Build the store's request for a timeseries of a question."""
    resource = key.timeseries
    assert resource is not None  # noqa: S101 - the caller has asked
    return SampleRequest(
        resource=resource,
        start=question.start,
        end=question.end,
        zone=question.counting_zone,
        type=key.type,
        provider=question.provider or None,
        resolution=question.resolution,
    )


def find_overlapping_summaries(
    user: User, question: Question, key: SeriesKey
) -> list[SummaryRow]:
    """Return the summaries of a kind that overlap the range; one query."""
    # A night is dated by its end: a day more on both sides, then cut by the moment.
    first, last = question.start.date() - _DAY, question.end.date() + _DAY
    found = list_user_summaries(
        user=user,
        kind=key.slug,
        start=first,
        end=last,
        provider=question.provider or None,
    )
    return [
        row
        for row in found
        if get_summary_time_range(row, key)[1] > question.start
        and get_summary_time_range(row, key)[0] < question.end
    ]


def get_summary_time_range(
    row: SummaryRow, key: SeriesKey
) -> tuple[datetime, datetime]:
    """Return start and end of a summary, UTC."""
    names = {
        "sleep_cycle": ("session_start", "session_end"),
        "sleep": ("bedtime_start", "bedtime_stop"),
        "workouts": ("time_start", "time_end"),
    }[key.slug]
    start, end = (datetime.fromisoformat(row.body[name]) for name in names)
    if start.tzinfo is None:  # contract D16: UTC without an offset
        start, end = start.replace(tzinfo=UTC), end.replace(tzinfo=UTC)
    return start.astimezone(UTC), end.astimezone(UTC)


def format_number(value: float | None) -> str:
    """Format a value for people."""
    if value is None:
        return ""
    return format_measured(value)


def _samples(user: User, question: Question, key: SeriesKey, hue: str) -> ShownSeries:
    view = read_chart_points(user=user, request=build_timeseries_request(question, key))
    rows = [
        Row(
            point.start,
            point.end if point.end > point.start else None,
            line.type,
            line.provider,
            point.value,
            point.low,
            point.high,
            point.count,
        )
        for line in view.lines
        for point in line.points
    ]
    rows.sort(key=lambda row: row.start)
    # What has no value, a note say, has nothing to draw.
    has_value = view.request.resource.value_key is not None
    curves = _curves(key, view, hue) if has_value else ()
    return ShownSeries(key, hue, view, tuple(curves), None, tuple(rows))


def _curves(key: SeriesKey, view: View, hue: str) -> Iterator[Curve]:
    resource = view.request.resource
    adds_up = resource.aggregation == Aggregation.SUM
    for dash, line in enumerate(view.lines[:_CURVES_MAX]):
        name = [str(resource.name)]
        name += [line.type] if line.type and key.type is None else []
        name += [find_provider(line.provider).name] if line.provider else []
        is_bar = adds_up and (resource.is_interval or view.form == Form.BUCKETS)
        yield Curve(
            name=", ".join(name),
            unit=resource.unit,
            hue=hue,
            marks=[
                Mark(each.start, each.end, each.value, each.low, each.high)
                for each in line.points
            ],
            joins=_joins(line, view),
            shape="bars" if is_bar else "line",
            dash=min(dash, 3),
        )


def _joins(line: Line, view: View) -> timedelta:
    """Return the longest pause that is not a gap, by the line's usual interval."""
    points = line.points
    if len(points) < 2:
        return timedelta()
    if view.form != Form.SAMPLES and _is_dense(points):
        # Every stretch would have samples: one without is a gap.
        return timedelta()
    steps = [
        (later.start - each.start).total_seconds() for each, later in pairwise(points)
    ]
    return timedelta(seconds=_PAUSE * median(steps))


def _is_dense(points: Sequence[Point]) -> bool:
    return sum(point.count for point in points) >= _DENSE * len(points)


def _spans(user: User, question: Question, key: SeriesKey, hue: str) -> ShownSeries:
    rows, stays = [], []
    for row in find_overlapping_summaries(user, question, key):
        start, end = get_summary_time_range(row, key)
        said = _span_words(key, row)
        rows.append(
            Row(start, end, None, row.provider, None, None, None, 1, row.id, said)
        )
        stays += list(_stays(key, row, start, end, said))
    rows.sort(key=lambda row: row.start)
    if key.slug == WORKOUTS.slug:
        return ShownSeries(
            key, hue, None, tuple(_workout_bars(key, hue, rows)), None, tuple(rows)
        )
    return ShownSeries(key, hue, None, (), Lane(key.name, stays), tuple(rows))


def _workout_bars(key: SeriesKey, hue: str, rows: Sequence[Row]) -> Iterator[Curve]:
    """Yield the workouts of each source, as high as they are long."""
    for dash, provider in enumerate(sorted({row.provider or "" for row in rows})):
        yield Curve(
            name=f"{key.name}, {find_provider(provider).name}",
            unit=_MINUTES,
            hue=hue,
            marks=[
                Mark(row.start, row.end, minutes, minutes, minutes, row.words)
                for row in rows
                if (row.provider or "") == provider and row.end is not None
                for minutes in [round((row.end - row.start).total_seconds() / 60, 1)]
            ],
            joins=timedelta(),
            shape="bars",
            dash=min(dash, 3),
            least_width=_WORKOUT_PX,
        )


def _stays(
    key: SeriesKey, row: SummaryRow, start: datetime, end: datetime, text: str
) -> Iterator[Stay]:
    if key.slug != SLEEP_CYCLE.slug:
        yield Stay(start, end, "light", text)
        return
    for stage, first, last in Night(row).stages:
        yield Stay(
            start + timedelta(seconds=first),
            start + timedelta(seconds=last),
            stage.hue,
            stage.name,
        )


def _span_words(key: SeriesKey, row: SummaryRow) -> str:
    start, end = get_summary_time_range(row, key)
    length = _words(end - start)
    if key.slug != WORKOUTS.slug:
        return f"{key.name}, {length}"
    sport: dict[str, Any] = row.body.get("sport") or {}
    name = (
        row.body.get("title")
        or sport.get("name")
        or format_wire_value_as_words("workout")
    )
    return f"{name}, {length}"


def _hue(key: SeriesKey, taken: set[str]) -> str:
    if key.timeseries is None:
        return "sleep" if key.slug != WORKOUTS.slug else "steps"
    usual = _HUES.get(key.timeseries.group, "heart")
    if usual not in taken:
        return usual
    return next(hue for hue in _ALL_HUES if hue not in taken)


def _words(length: timedelta) -> str:
    minutes = round(length.total_seconds() / 60)
    if minutes < 60:
        return f"{minutes} min"
    return (
        f"{minutes // 60} h {minutes % 60:02} min"
        if minutes % 60
        else (f"{minutes // 60} h")
    )
