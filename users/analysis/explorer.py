"""Reads of the explorer: samples as stored, thinned or aggregated.

One answer serves chart, table and file, so that they can't disagree. Long ranges keep
the least and the most of each stretch, so that no peak is lost. Every reader of what
these give audits the read (accounts.operations.audit.entries.record_read).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy
from users.analysis.aggregates import AggregateRequest, aggregate_samples
from users.analysis.buckets import DAYS_MAX, Period
from users.store.dictionaries import (
    find_feed_numbers_of_provider,
    find_feeds_by_number,
    find_origins_by_number,
)
from users.store.pages import list_series_types
from users.store.samples import get_sample_store
from users.store.sums import sum_instant_samples
from users.wearables.timeseries import Aggregation
from users.wearables.timeseries.shapes import build_sample_payloads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from users.models import User
    from users.store.columns import SampleRow
    from users.store.dictionaries import FeedKey
    from users.store.pages import Key
    from users.store.sums import CellSum
    from users.wearables.timeseries import TimeseriesResource

# Ours: what a chart can show as it is; more is thinned to this many stretches.
RAW_POINTS_MAX = 1_500
STRETCHES = 400
# Ours: a week of five minutes.
STEPS_MAX = 2_100
_FIVE_MINUTES = timedelta(minutes=5)
_DAY = timedelta(days=1)
_TICK = timedelta(microseconds=1)
# Of what adds up: how many days are shown by hour, and by day.
_DAYS_BY_HOUR, _DAYS_BY_DAY = 4, 120
_PAGE = 10_000


class Resolution(OpenChoices):
    """The resolution of shown samples."""

    AUTO = "auto", gettext_lazy("Automatic")
    RAW = "raw", gettext_lazy("All samples")
    FIVE_MINUTES = "5m", gettext_lazy("5 minutes")
    HOUR = "hour", gettext_lazy("Hour")
    DAY = "day", gettext_lazy("Day")
    WEEK = "week", gettext_lazy("Week")


class Form(OpenChoices):
    """The kind of an answer's points."""

    SAMPLES = "samples", gettext_lazy("All samples")
    STRETCHES = "stretches", gettext_lazy("Minimum and maximum per interval")
    BUCKETS = "buckets", gettext_lazy("Totals")


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """The samples to read: those in [start, end).

    `type` None: every type; `provider` is a slug, None for all. `zone` is whose hours
    and days count.
    """

    resource: TimeseriesResource
    start: datetime
    end: datetime
    zone: tzinfo
    type: str | None = None
    provider: str | None = None
    resolution: Resolution = Resolution.AUTO


@dataclass(frozen=True, slots=True)
class Point:
    """A sample, or an aggregate of samples from `start` to `end` (exclusive).

    Of a sample the three values are one, and of one with a moment `end` is its start.
    Of samples that add up, `value` is their sum, else their mean.
    """

    start: datetime
    end: datetime
    value: float
    low: float
    high: float
    count: int
    tz_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one type and source, ascending; `provider` None: all sources."""

    type: str | None
    provider: str | None
    points: list[Point]


@dataclass(frozen=True, slots=True)
class View:
    """The answer to a read: lines of points.

    `samples` is how many samples the points stand for. `resolution` is the one shown,
    coarser than asked for where that would be too much; `is_thinned` says so.
    """

    request: SampleRequest
    form: Form
    resolution: Resolution
    lines: list[Line]
    samples: int
    is_thinned: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether the range has no samples."""
        return not self.samples


@dataclass(frozen=True, slots=True)
class Sample:
    """A stored sample: as the API answers it, its source object, and its key."""

    body: dict[str, Any]
    source: dict[str, Any]
    key: Key

    @property
    def next_moment(self) -> datetime:
        """Return the first time after its own."""
        return self.key[0] + _TICK


def read_chart_points(*, user: User, request: SampleRequest) -> View:
    """Read the points of a chart; at most five queries.

    Samples as stored up to RAW_POINTS_MAX, else the lowest, highest and mean of
    STRETCHES equal stretches, by source. What adds up comes by hour, day or week, each
    overlap of sources once, by the ranking of `aggregate_samples`; so does everything
    that is asked for by hour, day or week. Source: workflows D4; Ours: bounds.
    """
    span = request.end - request.start
    adds_up = request.resource.aggregation == Aggregation.SUM
    match request.resolution:
        case Resolution.HOUR | Resolution.DAY | Resolution.WEEK:
            return _aggregate_points(user, request, _period(span, request.resolution))
        case Resolution.FIVE_MINUTES if not adds_up:
            if span <= STEPS_MAX * _FIVE_MINUTES:
                edges = _step_edges(request, _FIVE_MINUTES)
                return _thin_samples(user, request, edges, Resolution.FIVE_MINUTES)
            view = _thin_samples(user, request, _equal_edges(request), Resolution.AUTO)
            return replace(view, is_thinned=True)
        case Resolution.RAW | Resolution.FIVE_MINUTES:
            return _read_stored_samples(user, request) or _too_many(
                user, request, adds_up
            )
        case _ if adds_up:
            days = span / _DAY
            by = Period.WEEK
            if days <= _DAYS_BY_DAY:
                by = Period.HOUR if days <= _DAYS_BY_HOUR else Period.DAY
            return _aggregate_points(user, request, by)
        case _:
            view = _thin_samples(user, request, _equal_edges(request), Resolution.AUTO)
            if view.samples <= RAW_POINTS_MAX:
                return _read_stored_samples(user, request) or view
            return view


def list_stored_samples_after(
    *, user: User, request: SampleRequest, after: Key | None = None
) -> list[Sample]:
    """Return stored samples by time, at most _PAGE after `after`; four queries."""
    types = _types(user, request)
    rows = _rows(user, request, types, after=after, limit=_PAGE)
    return _shape_rows(user, request, rows, types)


def get_sample_table_page(
    *, user: User, request: SampleRequest, after: Key | None, limit: int
) -> tuple[list[Sample], Key | None]:
    """Return a page of samples and the key of its last, None on the last page."""
    types = _types(user, request)
    rows = _rows(user, request, types, after=after, limit=limit + 1)
    shown = _shape_rows(user, request, rows[:limit], types)
    return shown, shown[-1].key if len(rows) > limit else None


def iterate_samples_by_time(*, user: User, request: SampleRequest) -> Iterator[Sample]:
    """Yield all samples of the range by time, in bounded memory."""
    after: Key | None = None
    while page := list_stored_samples_after(user=user, request=request, after=after):
        yield from page
        if len(page) < _PAGE:
            return
        after = page[-1].key


def find_samples_at_time(
    *, user: User, resource: TimeseriesResource, at: datetime
) -> list[Sample]:
    """Return the samples of one time, of every type and source; five queries."""
    request = SampleRequest(resource=resource, start=at, end=at + _TICK, zone=UTC)
    return list_stored_samples_after(user=user, request=request)


def _types(user: User, request: SampleRequest) -> dict[int, str | None]:
    """Return the requested types by the number of their series."""
    found = list_series_types(user=user, resource=request.resource)
    return {
        number: name for number, name in found.items() if request.type in (None, name)
    }


def _feeds(user: User, request: SampleRequest) -> list[int] | None:
    if request.provider is None:
        return None
    return find_feed_numbers_of_provider(tenant=user.tenant, provider=request.provider)


def _rows(
    user: User,
    request: SampleRequest,
    types: dict[int, str | None],
    *,
    after: Key | None = None,
    limit: int,
) -> list[SampleRow]:
    return get_sample_store().read_range(
        user_id=user.pk,
        series=list(types),
        start=request.start,
        end=request.end,
        feeds=_feeds(user, request),
        after=after,
        limit=limit,
    )


def _shape_rows(
    user: User,
    request: SampleRequest,
    rows: Sequence[SampleRow],
    types: dict[int, str | None],
) -> list[Sample]:
    feeds = find_feeds_by_number(tenant=user.tenant, numbers={row[2] for row in rows})
    origins = find_origins_by_number(user_id=user.pk, numbers={row[6] for row in rows})
    bodies = build_sample_payloads(request.resource, rows, types)
    return [
        Sample(
            body=body,
            source={
                "provider": feeds[row[2]].provider,
                "type": feeds[row[2]].source_type,
                **origins[row[6]]._asdict(),
            },
            key=row[:3],
        )
        for row, body in zip(rows, bodies, strict=True)
    ]


def _read_stored_samples(user: User, request: SampleRequest) -> View | None:
    """Return the samples themselves; None for too many."""
    types = _types(user, request)
    rows = _rows(user, request, types, limit=RAW_POINTS_MAX + 1)
    if len(rows) > RAW_POINTS_MAX:
        return None
    words = find_feeds_by_number(tenant=user.tenant, numbers={row[2] for row in rows})
    lines: dict[tuple[str | None, str], list[Point]] = {}
    for ts, series, feed, value, tz_offset, duration, _, _ in rows:
        end = ts + timedelta(seconds=duration)
        point = Point(ts, end, value, value, value, 1, tz_offset)
        lines.setdefault((types[series], words[feed].provider), []).append(point)
    return View(request, Form.SAMPLES, Resolution.RAW, _lines(lines), len(rows))


def _too_many(user: User, request: SampleRequest, adds_up: bool) -> View:
    view = (
        read_chart_points(
            user=user, request=replace(request, resolution=Resolution.AUTO)
        )
        if adds_up
        else _thin_samples(user, request, _equal_edges(request), Resolution.AUTO)
    )
    return replace(view, request=request, is_thinned=True)


def _equal_edges(request: SampleRequest) -> list[datetime]:
    """Return the edges of STRETCHES equal intervals."""
    length = (request.end - request.start) / STRETCHES
    inner = [request.start + number * length for number in range(STRETCHES)]
    return sorted({*inner, request.end})


def _step_edges(request: SampleRequest, length: timedelta) -> list[datetime]:
    """Return edges at whole steps of UTC, cut to the range."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    first = epoch + (request.start - epoch) // length * length
    number = -((first - request.end) // length)
    inner = [first + step * length for step in range(1, number)]
    return [request.start, *inner, request.end]


def _thin_samples(
    user: User,
    request: SampleRequest,
    edges: Sequence[datetime],
    resolution: Resolution,
) -> View:
    types = _types(user, request)
    feeds = _feeds(user, request)
    sums: list[CellSum] = []
    if types and feeds != []:
        sums = sum_instant_samples(
            user_id=user.pk, series=list(types), edges=edges, feeds=feeds
        )
    words = find_feeds_by_number(
        tenant=user.tenant, numbers={each.feed for each in sums}
    )
    return View(
        request,
        Form.STRETCHES,
        resolution,
        _lines(_by_source(sums, edges, types, words)),
        sum(each.samples for each in sums),
        is_thinned=resolution == Resolution.AUTO,
    )


def _by_source(
    sums: Sequence[CellSum],
    edges: Sequence[datetime],
    types: dict[int, str | None],
    words: dict[int, FeedKey],
) -> dict[tuple[str | None, str], list[Point]]:
    cells: dict[tuple[str | None, str], dict[int, list[CellSum]]] = {}
    for each in sums:
        place = types[each.series], words[each.feed].provider
        cells.setdefault(place, {}).setdefault(each.cell, []).append(each)
    return {
        place: [
            _point(parts, edges[cell], edges[cell + 1])
            for cell, parts in sorted(found.items())
        ]
        for place, found in cells.items()
    }


def _point(parts: Sequence[CellSum], start: datetime, end: datetime) -> Point:
    count = sum(part.samples for part in parts)
    return Point(
        start,
        end,
        sum(part.total for part in parts) / count,
        min(part.low for part in parts),
        max(part.high for part in parts),
        count,
    )


def _period(span: timedelta, resolution: Resolution) -> Period:
    """Return the requested period, or the next longer one that fits the range."""
    order = [Period.HOUR, Period.DAY, Period.WEEK]
    # A day more: the range is looked at in whole days.
    days = span / _DAY + 1
    fitting = [
        each
        for each in order[order.index(Period(str(resolution))) :]
        if days <= DAYS_MAX[each]
    ]
    return fitting[0] if fitting else Period.WEEK


def _aggregate_points(user: User, request: SampleRequest, period: Period) -> View:
    """Return the buckets that overlap the range, by hours, days or weeks."""
    first = request.start.astimezone(request.zone).date()
    last = max(first, (request.end - _TICK).astimezone(request.zone).date())
    buckets = aggregate_samples(
        user=user,
        request=AggregateRequest(
            resource=request.resource,
            start=max(first, last - timedelta(days=DAYS_MAX[period] - 1)),
            end=last,
            period=period,
            zone=request.zone,
            provider=request.provider,
            type=request.type,
        ),
    )
    lines: dict[tuple[str | None, str], list[Point]] = {}
    for each in buckets:
        if each.end <= request.start or each.start >= request.end:
            continue
        value = each.mean if each.total is None else each.total
        # A sum may reach in from a sample that is counted in the bucket before.
        if value is None or not (each.count or each.total):
            continue
        low = value if each.low is None else each.low
        high = value if each.high is None else each.high
        point = Point(each.start, each.end, value, low, high, each.count)
        lines.setdefault((each.type, ""), []).append(point)
    shown = Resolution(str(period))
    return View(
        request,
        Form.BUCKETS,
        shown,
        [replace(line, provider=request.provider) for line in _lines(lines)],
        sum(point.count for points in lines.values() for point in points),
        is_thinned=request.resolution not in (shown, Resolution.AUTO),
    )


def _lines(found: dict[tuple[str | None, str], list[Point]]) -> list[Line]:
    """Return the lines, the one with most points first."""
    lines = [
        Line(type_, provider, points) for (type_, provider), points in found.items()
    ]
    return sorted(lines, key=lambda line: (line.type or "", -len(line.points)))
