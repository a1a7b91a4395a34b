"""The timeline of a user's page: rows of all apps as a chart, a feed and a table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.declarations.pages import list_page_contributions
from portal.lib.languages import write_within_sentence
from portal.lib.periods import find_day_start
from portal.ui.dates import write_date
from portal.ui.timeline_chart import (
    TimelineLane,
    TimelineMark,
    draw_timeline,
    list_timeline_offsets,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.utils.safestring import SafeString

    from accounts.declarations.user_record import (
        RecordAttention,
        RecordEntry,
        RecordPart,
        RecordRow,
        RecordSpan,
    )
    from accounts.web.requests import TenantRequest
    from users.web.record.spans import ChosenSpan

TILES_AT_MOST = 4
FEED_AT_MOST = 9
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class NamedLane:
    """The name beside a row of the chart, with the height at which it stands."""

    title: str
    number: int
    y: float


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry of the feed; `says_time` is HH:MM in the zone of the span, or empty."""

    entry: RecordEntry
    day: date
    says_time: str


@dataclass(frozen=True, slots=True)
class FeedDay:
    """A day of the feed, its latest entry first."""

    day: date
    entries: list[FeedEntry]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of the timeline as a row of its table."""

    title: str
    number: int
    newest: date | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the page shows; `more` is how many entries the feed leaves out."""

    chart: SafeString
    names: list[NamedLane]
    names_height: float
    feed: list[FeedDay]
    more: int
    table: list[TableRow]

    @property
    def is_empty(self) -> bool:
        """Return whether nothing happened."""
        return not any(row.number for row in self.table)


def collect_parts(request: TenantRequest, span: RecordSpan) -> list[RecordPart]:
    """Return what other apps show of the user."""
    return [
        build(request, span)
        for app in list_page_contributions()
        for build in app.user_record
    ]


def pick_attention(parts: Iterable[RecordPart]) -> list[RecordAttention]:
    """Return the most urgent tiles; of one rank the latest come first."""
    found = [each for part in parts for each in part.attention]
    by_age = sorted(found, key=lambda each: each.since, reverse=True)
    return sorted(by_age, key=lambda each: each.rank)[:TILES_AT_MOST]


def build_timeline(
    parts: Iterable[RecordPart],
    span: RecordSpan,
    chosen: ChosenSpan,
    *,
    is_all: bool = False,
) -> Timeline:
    """Build chart, feed and table of one span; `is_all` lists every entry."""
    rows = sorted(
        (row for part in parts for row in part.rows if row.number),
        key=lambda row: row.rank,
    )
    lanes = [_build_lane(row, span) for row in rows]
    entries = sorted(
        (_build_feed_entry(entry, span) for row in rows for entry in row.entries),
        key=lambda each: (each.day, each.entry.at),
        reverse=True,
    )
    shown = entries if is_all else entries[:FEED_AT_MOST]
    offsets = list_timeline_offsets(lanes)
    return Timeline(
        chart=draw_timeline(
            lanes,
            first=span.first,
            days=span.days,
            today=span.days - 1 if chosen.is_latest else None,
            says=_say(rows, chosen),
        ),
        names=[
            NamedLane(row.title, row.number, sum(offsets[: place + 1]) + height / 2)
            for place, (row, height) in enumerate(zip(rows, offsets[1:], strict=True))
        ],
        names_height=sum(offsets),
        feed=[
            FeedDay(day, list(found))
            for day, found in groupby(shown, key=lambda each: each.day)
        ],
        more=len(entries) - len(shown),
        table=[TableRow(row.title, row.number, _newest(row, span)) for row in rows],
    )


def _build_lane(row: RecordRow, span: RecordSpan) -> TimelineLane:
    most = max(row.per_day.values(), default=0)
    counted = [
        TimelineMark(
            start=(day - span.first).days,
            end=(day - span.first).days,
            style=f"tl-{row.hue or 'mute'}",
            title=f"{_name(day)}: {number:,}",
            size=number / most,
        )
        for day, number in row.per_day.items()
    ]
    if row.shape == "stretches":
        return TimelineLane(
            row.shape, [_build_stretch(entry, row, span) for entry in row.entries]
        )
    by_day: dict[date, list[RecordEntry]] = {}
    for entry in row.entries:
        by_day.setdefault(_day_of(entry, span), []).append(entry)
    return TimelineLane(
        row.shape,
        [*counted, *(_build_mark(*each, row, span) for each in by_day.items())],
    )


def _build_mark(
    day: date, entries: Sequence[RecordEntry], row: RecordRow, span: RecordSpan
) -> TimelineMark:
    """Build the mark of one day: of bars the longest, of dots the worst."""
    place = (day - span.first).days
    titles = "; ".join(
        f"{entry.title}{f', {entry.detail}' if entry.detail else ''}"
        for entry in entries[:5]
    )
    worst = min((entry.family for entry in entries), key=_URGENCY.index)
    return TimelineMark(
        start=place,
        end=place,
        style=f"tl-{row.hue or worst}",
        title=f"{_name(day)}: {titles}",
        size=max((entry.size or 0.0 for entry in entries), default=0.0),
        text=str(len(entries)) if row.shape == "dots" and len(entries) > 1 else "",
    )


# From the worst to the least of marks of one day.
_URGENCY = ["bad", "warn", "rev", "info", "ok", "mute"]


def _build_stretch(
    entry: RecordEntry, row: RecordRow, span: RecordSpan
) -> TimelineMark:
    style = f"tl-{row.hue or 'break'}" + ("-open" if entry.is_open else "")
    until = _place(entry.until or entry.at, span)
    return TimelineMark(
        start=_place(entry.at, span),
        end=until,
        style=style,
        title=", ".join(filter(None, (_name_span(entry, span), entry.title))),
        text=entry.title,
    )


def _place(moment: datetime, span: RecordSpan) -> float:
    """Return a moment in days from the beginning of the span."""
    day = span.day_of(moment)
    seconds = (moment - find_day_start(day, span.zone)).total_seconds()
    return (day - span.first).days + min(seconds / _DAY_SECONDS, 1.0)


def _build_feed_entry(entry: RecordEntry, span: RecordSpan) -> FeedEntry:
    day = _day_of(entry, span)
    # What began before the span stands on its first day, without a time of it.
    if day < span.first:
        return FeedEntry(entry, span.first, "")
    return FeedEntry(entry, day, f"{entry.at.astimezone(span.zone):%H:%M}")


def _day_of(entry: RecordEntry, span: RecordSpan) -> date:
    return entry.day or span.day_of(entry.at)


def _newest(row: RecordRow, span: RecordSpan) -> date | None:
    days = [_day_of(entry, span) for entry in row.entries]
    return max([*days, *row.per_day], default=None)


def _name_span(entry: RecordEntry, span: RecordSpan) -> str:
    first = _name(span.day_of(entry.at))
    if entry.is_open:
        return _("Since %(day)s") % {"day": first}
    last = _name(span.day_of(entry.until or entry.at))
    if first == last:
        return first
    return _("%(first)s to %(last)s") % {"first": first, "last": last}


def _say(rows: Sequence[RecordRow], chosen: ChosenSpan) -> str:
    """Return the finding: the days, and how many of each row."""
    parts = [f"{write_within_sentence(row.title)} {row.number:,}" for row in rows]
    return f"{chosen.words}: {', '.join(parts)}" if parts else chosen.words


def _name(day: date) -> str:
    return write_date(day, "j M")
