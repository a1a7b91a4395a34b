"""Aggregates of a user's samples by hour, day or week, with source priority.

The one query function behind the API and the charts, so that they can't disagree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import Invalid
from users.analysis.buckets import DAYS_MAX, Period, list_bucket_edges, list_full_hours
from users.analysis.source_priority import (
    Cells,
    Rule,
    Span,
    Stretch,
    Tally,
    merge_close_intervals,
)
from users.queries.sources.priorities import find_user_source_ranking
from users.states import SourceType
from users.store.dictionaries import find_feed_numbers_of_provider, find_feeds_by_number
from users.store.pages import list_series_types
from users.store.sums import (
    CellSum,
    find_measurement_times,
    sum_instant_samples,
    sum_interval_samples,
)
from users.wearables.providers import find_provider
from users.wearables.timeseries import Aggregation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import date, tzinfo

    from users.models import User
    from users.store.dictionaries import FeedKey
    from users.wearables.timeseries import TimeseriesResource

# Ours: merging looks at every sample, a ledger tells of every hour.
MERGED_DAYS_MAX = 92
INTERVALS_DAYS_MAX = 31
# Ours: what is worn knows more than what lies on a table, a sensor more than a person.
_TYPE_RANK: dict[str, int] = {
    SourceType.CHEST_STRAP: 0,
    SourceType.WATCH: 1,
    SourceType.RING: 2,
    SourceType.EARPHONE: 3,
    SourceType.PHONE: 5,
    SourceType.APP: 6,
}
_OTHER_TYPE_RANK = 4
_DIGITS = 6  # shares of whole numbers add up to whole ones again


@dataclass(frozen=True, slots=True)
class AggregateRequest:
    """Samples to aggregate: days `start` to `end`, inclusive, in `zone`.

    `provider` None: all. `ranking` are slugs, those to believe first, by default those
    of the user or the team; sources it does not name come after, worn ones before
    phones before what was typed in. `type` None: each type by itself. `with_intervals`
    asks for the stretches of each bucket.
    """

    resource: TimeseriesResource
    start: date
    end: date
    period: Period
    zone: tzinfo
    rule: Rule = Rule.PRIORITY
    provider: str | None = None
    ranking: tuple[str, ...] = ()
    type: str | None = None
    with_intervals: bool = False


@dataclass(frozen=True, slots=True)
class SourceShare:
    """A source in a bucket: what it reported, and how much of it counted.

    `reported` and `counted` are sums, None where samples don't add up; `samples` is how
    many of its samples counted.
    """

    source: FeedKey
    samples: int
    reported: float | None
    counted: float | None


@dataclass(frozen=True, slots=True)
class SourceInterval:
    """An interval for which one source counted, and what others reported."""

    start: datetime
    end: datetime
    source: FeedKey
    value: float
    others: tuple[tuple[FeedKey, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Bucket:
    """Samples from `start` to `end` (exclusive), UTC.

    `count` is of samples that counted, by their start; `low`, `high` and `mean` are of
    their values. `total` is their sum, None where samples don't add up; one that
    reaches into another bucket shares it out by time. `sources` come by rank.
    """

    start: datetime
    end: datetime
    type: str | None
    count: int
    low: float | None
    high: float | None
    mean: float | None
    total: float | None
    sources: tuple[SourceShare, ...]
    intervals: tuple[SourceInterval, ...]

    @property
    def provider(self) -> str | None:
        """Return the source that counted; None for none or several."""
        slugs = {
            share.source.provider
            for share in self.sources
            if share.samples or share.counted
        }
        return slugs.pop() if len(slugs) == 1 else None


def aggregate_samples(*, user: User, request: AggregateRequest) -> list[Bucket]:
    """Aggregate a user's samples; at most five queries.

    Buckets come by start, those without a sample too; of a resource with types, each
    type that has any has its own. Of resources that add up, an overlap of sources
    counts once, by the rule; of others every sample counts. Raises: range_too_long
    (422). Source: Contract 10; Ours: bounds, ranking, ledger.
    """
    _check(request)
    names = _series(user, request)
    scope = _Scope(
        user=user,
        series=tuple(names),
        feeds=None
        if request.provider is None
        else tuple(
            find_feed_numbers_of_provider(tenant=user.tenant, provider=request.provider)
        ),
        edges=list_bucket_edges(
            request.start, request.end, request.period, request.zone
        ),
        ranking=request.ranking or find_user_source_ranking(user),
    )
    adds_up = request.resource.aggregation == Aggregation.SUM
    if not adds_up:
        found = _count_all_sources(scope)
    elif request.rule == Rule.MERGE and request.resource.is_interval:
        found = _count_merged_sources(scope)
    else:
        found = _count_one_source_per_hour(scope, request)
    shown = {
        series
        for series, name in names.items()
        if name is None or request.type is not None
    } | {series for series, _ in found.parts}
    return [
        _bucket(scope, found, request, (series, number), names[series])
        for number in range(len(scope.edges) - 1)
        for series in sorted(shown)
    ]


def _check(request: AggregateRequest) -> None:
    days = (request.end - request.start).days + 1
    most = DAYS_MAX[request.period]
    if request.rule == Rule.MERGE:
        most = min(most, MERGED_DAYS_MAX)
    if request.with_intervals:
        most = min(most, INTERVALS_DAYS_MAX)
    if days > most:
        raise Invalid(
            "range_too_long",
            _("The range is longer than %(limit)d days.") % {"limit": most},
            "end_date",
            place="query",
        )


def _series(user: User, request: AggregateRequest) -> dict[int, str | None]:
    """Return the requested types by the number of their series."""
    return {
        number: name
        for number, name in list_series_types(
            user=user, resource=request.resource
        ).items()
        if request.type in (None, name)
    }


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which samples: the user's, of these series and feeds, between the edges."""

    user: User
    series: tuple[int, ...]
    feeds: tuple[int, ...] | None
    edges: list[datetime]
    ranking: tuple[str, ...]

    def rank(self, feeds: Iterable[int]) -> dict[int, FeedKey]:
        """Return the feeds with their keys, highest rank first."""
        words = find_feeds_by_number(
            tenant=self.user.tenant, numbers=sorted(set(feeds))
        )

        def place(feed: int) -> tuple[int, int, int, int]:
            slug, source_type = words[feed]
            listed = (
                self.ranking.index(slug) if slug in self.ranking else len(self.ranking)
            )
            worn = _TYPE_RANK.get(source_type, _OTHER_TYPE_RANK)
            return listed, worn, find_provider(slug).id, feed

        return {feed: words[feed] for feed in sorted(words, key=place)}


@dataclass(frozen=True, slots=True)
class _Found:
    """What counted, by series and bucket number; `reported` also by feed.

    `words` holds the feeds by rank.
    """

    words: dict[int, FeedKey]
    parts: dict[tuple[int, int], list[Stretch]]
    reported: dict[tuple[int, int, int], float]


def _count_all_sources(scope: _Scope) -> _Found:
    """Count all samples of all sources."""
    found = sum_instant_samples(
        user_id=scope.user.pk,
        series=scope.series,
        edges=scope.edges,
        feeds=scope.feeds,
    )
    edges = [edge.timestamp() for edge in scope.edges]
    parts: dict[tuple[int, int], list[Stretch]] = defaultdict(list)
    for each in found:
        start, end = edges[each.cell : each.cell + 2]
        tally = Tally(each.samples, each.total, each.low, each.high, each.total)
        parts[each.series, each.cell].append(Stretch(start, end, each.feed, tally))
    return _Found(scope.rank(each.feed for each in found), parts, {})


def _count_one_source_per_hour(scope: _Scope, request: AggregateRequest) -> _Found:
    """Count one source per hour, by `max` or `priority`."""
    hours: list[datetime] = []
    firsts = []  # of each bucket, the number of its first hour
    for start, end in pairwise(scope.edges):
        firsts.append(len(hours))
        hours += list_full_hours(start, end, request.zone)[:-1]
    hours.append(scope.edges[-1])
    read = sum_interval_samples if request.resource.is_interval else sum_instant_samples
    sums = read(
        user_id=scope.user.pk, series=scope.series, edges=hours, feeds=scope.feeds
    )
    return _decide_sources(
        scope, sums, hours, cuts=frozenset(firsts), by_most=request.rule == Rule.MAX
    )


def _count_merged_sources(scope: _Scope) -> _Found:
    """Count each source where no higher-ranked one was measuring.

    Time is cut wherever any source begins or ends to measure: in between, the first
    that does counts.
    """
    measured = find_measurement_times(
        user_id=scope.user.pk,
        series=scope.series,
        start=scope.edges[0],
        end=scope.edges[-1],
        feeds=scope.feeds,
    )
    first, last = scope.edges[0], scope.edges[-1]
    edges = {edge for each in measured for edge in (each.start, each.end)}
    edges = {edge for edge in edges if first < edge < last} | set(scope.edges)
    ordered = sorted(edges)
    sums = sum_interval_samples(
        user_id=scope.user.pk, series=scope.series, edges=ordered, feeds=scope.feeds
    )
    return _decide_sources(
        scope, sums, ordered, cuts=range(len(ordered)), by_most=False
    )


def _decide_sources(
    scope: _Scope,
    sums: Sequence[CellSum],
    cell_edges: Sequence[datetime],
    *,
    cuts: Collection[int],
    by_most: bool,
) -> _Found:
    """Decide which source counts in each cell; `cuts` are cells never joined."""
    words = scope.rank({each.feed for each in sums})
    rank = {feed: place for place, feed in enumerate(words)}
    moments = [edge.timestamp() for edge in cell_edges]
    cells: dict[int, Cells] = {}
    for each in sums:
        _add(cells.setdefault(each.series, Cells(moments, cuts)), each)
    parts: dict[tuple[int, int], list[Stretch]] = defaultdict(list)
    reported: dict[tuple[int, int, int], float] = defaultdict(float)
    edges = [edge.timestamp() for edge in scope.edges]
    for series, mine in cells.items():
        for stretch in mine.choose_sources(rank=rank, by_most=by_most):
            number = bisect_right(edges, stretch.start) - 1
            parts[series, number].append(stretch)
            reported[series, number, stretch.feed] += stretch.won.total
            for feed, total in stretch.others.items():
                reported[series, number, feed] += total
    return _Found(words, parts, reported)


def _add(cells: Cells, found: CellSum) -> None:
    if found.reaching is None:
        total = found.total
        cells.add(
            found.cell,
            found.feed,
            Tally(found.samples, total, found.low, found.high, total),
        )
    else:
        at = found.reaching.timestamp()
        cells.add_span(found.feed, Span(at, at + found.seconds, found.total))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _bucket(
    scope: _Scope,
    found: _Found,
    request: AggregateRequest,
    place: tuple[int, int],
    type_: str | None,
) -> Bucket:
    series, number = place
    stretches = found.parts.get(place, [])
    whole = Tally()
    by_feed: dict[int, Tally] = {}
    for stretch in stretches:
        whole.add(stretch.won)
        by_feed.setdefault(stretch.feed, Tally()).add(stretch.won)
    has_numbers = request.resource.aggregation != Aggregation.NONE
    adds_up = request.resource.aggregation == Aggregation.SUM
    sources = tuple(
        SourceShare(
            source=source,
            samples=by_feed[feed].count if feed in by_feed else 0,
            reported=_round(found.reported.get((series, number, feed), 0))
            if adds_up
            else None,
            counted=_round(by_feed[feed].total if feed in by_feed else 0)
            if adds_up
            else None,
        )
        for feed, source in found.words.items()
        if feed in by_feed or (series, number, feed) in found.reported
    )
    return Bucket(
        start=scope.edges[number],
        end=scope.edges[number + 1],
        type=type_,
        count=whole.count,
        low=whole.low if has_numbers else None,
        high=whole.high if has_numbers else None,
        mean=_round(whole.values / whole.count)
        if has_numbers and whole.count
        else None,
        total=_round(whole.total) if adds_up and stretches else None,
        sources=sources,
        intervals=tuple(_source_intervals(found.words, stretches))
        if adds_up and request.with_intervals
        else (),
    )


def _source_intervals(
    words: dict[int, FeedKey], stretches: Sequence[Stretch]
) -> Iterator[SourceInterval]:
    for each in merge_close_intervals(stretches):
        yield SourceInterval(
            start=_moment(each.start),
            end=_moment(each.end),
            source=words[each.feed],
            value=_round(each.won.total),
            others=tuple(
                (words[feed], _round(total)) for feed, total in each.others.items()
            ),
        )


def _round(value: float) -> float:
    return round(value, _DIGITS)
