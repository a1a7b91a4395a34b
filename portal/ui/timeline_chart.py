"""A timeline of rows over days: bars, dots and stretches, drawn on the server.

Numbers in, SVG out, coloured by CSS classes alone, as in portal.ui.charts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from portal.ui.dates import write_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

TIMELINE_WIDTH = 682
_HEAD = 30
_BAR_SHARE, _BAR_MAX = 0.64, 10.0
_BAND = 15  # the height of one of several stretches at a time
_BANDS_AT_MOST = 3
_LABEL = 11.5
# Ours: what a letter of the axis' size takes.
_LETTER = 6.6
# A day's name, and "Today" at the end of the ruler.
_TICK_ROOM = 92
_TICKS_AT_MOST = 6


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """A mark: `start` and `end` in days from the first one, equal for a moment.

    `size` is the share of the row's height that a bar takes. `text` stands beside a
    mark that has room, `title` is shown on pointing at it.
    """

    start: float
    end: float
    style: str
    title: str
    size: float = 1.0
    text: str = ""


@dataclass(frozen=True, slots=True)
class TimelineLane:
    """A row of the timeline; `shape` is bars, dots or stretches."""

    shape: str
    marks: Sequence[TimelineMark]

    @property
    def bands(self) -> int:
        """Return how many stretches are drawn above one another."""
        if self.shape != "stretches":
            return 1
        return max((band for _mark, band in _stack(self.marks)), default=0) + 1

    @property
    def height(self) -> int:
        """Return the height in px."""
        if self.shape == "bars":
            return 52
        return 22 + _BAND * self.bands


def draw_timeline(
    lanes: Sequence[TimelineLane],
    *,
    first: date,
    days: int,
    today: int | None,
    says: str,
) -> SafeString:
    """Draw the lanes below a ruler of days; `today` is its place among the days.

    `says` is the finding. Source: Ours (design guide, the record).
    """
    height = _HEAD + sum(lane.height for lane in lanes)
    step = TIMELINE_WIDTH / days
    parts = [_draw_ruler(first, days, today, step, height)]
    top = float(_HEAD)
    for lane in lanes:
        parts.append(
            format_html(
                '<line class="tl-tick" x1="0" x2="{}" y1="{}" y2="{}"/>',
                TIMELINE_WIDTH,
                _n(top),
                _n(top),
            )
        )
        parts.append(_draw_lane(lane, top, step))
        top += lane.height
    return format_html(
        '<svg class="chart timeline" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "{}</svg>",
        TIMELINE_WIDTH,
        height,
        says,
        _join(parts),
    )


def list_timeline_offsets(lanes: Sequence[TimelineLane]) -> list[int]:
    """Return the height of the ruler, then of each lane."""
    return [_HEAD, *(lane.height for lane in lanes)]


def _draw_ruler(
    first: date, days: int, today: int | None, step: float, height: int
) -> SafeString:
    every = max(1, -(-days // _TICKS_AT_MOST))
    if every > 1:
        every = -(-every // 7) * 7
    last = today if today is not None else days
    shade = SafeString("")
    if today is not None:
        x = today * step
        shade = format_html(
            '<rect class="tl-today" x="{}" y="{}" width="{}" height="{}"/>'
            '<text class="tl-now" x="{}" y="16" text-anchor="end">{}</text>',
            _n(x),
            _HEAD,
            _n(max(step, 1.5)),
            height - _HEAD,
            TIMELINE_WIDTH,
            _("Today"),
        )
    room = _TICK_ROOM / step
    ticks = format_html_join(
        "",
        '<line class="tl-tick" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
        '<text x="{0}" y="16">{3}</text>',
        (
            (
                _n(place * step),
                _HEAD,
                height,
                _name_day(first + timedelta(days=place), is_year=days > 200),
            )
            for place in range(0, days, every)
            if last - place > room
        ),
    )
    return shade + ticks


def _draw_lane(lane: TimelineLane, top: float, step: float) -> SafeString:
    if lane.shape == "bars":
        return _draw_bars(lane, top, step)
    if lane.shape == "dots":
        return _draw_dots(lane, top, step)
    return _draw_stretches(lane, top, step)


def _draw_bars(lane: TimelineLane, top: float, step: float) -> SafeString:
    width = min(_BAR_MAX, step * _BAR_SHARE)
    room = lane.height - 12
    return format_html_join(
        "",
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="{}">'
        "<title>{}</title></rect>",
        (
            (
                mark.style,
                _n((mark.start + 0.5) * step - width / 2),
                _n(top + 6 + room - _bar(mark, room)),
                _n(width),
                _n(_bar(mark, room)),
                _n(min(1.5, width / 3)),
                mark.title,
            )
            for mark in lane.marks
        ),
    )


def _bar(mark: TimelineMark, room: float) -> float:
    return max(2.0, min(1.0, mark.size) * room)


def _draw_dots(lane: TimelineLane, top: float, step: float) -> SafeString:
    middle = top + lane.height / 2
    marks = sorted(lane.marks, key=lambda mark: mark.start)
    places = [(mark.start + 0.5) * step for mark in marks]
    parts = []
    for index, (mark, x) in enumerate(zip(marks, places, strict=True)):
        before = places[index - 1] + 8 if index else 0.0
        after = places[index + 1] - 8 if index + 1 < len(places) else TIMELINE_WIDTH
        parts.append(
            format_html(
                '<circle class="{}" cx="{}" cy="{}" r="4.5"><title>{}</title></circle>',
                mark.style,
                _n(min(x, TIMELINE_WIDTH - 5)),
                _n(middle),
                mark.title,
            )
        )
        parts.append(_draw_text(mark.text, x, before, after, middle))
    return _join(parts)


def _draw_stretches(lane: TimelineLane, top: float, step: float) -> SafeString:
    parts = []
    bounds: dict[int, float] = {}
    for mark, band in _stack(lane.marks):
        start = max(0.0, mark.start * step)
        width = max(5.0, min(TIMELINE_WIDTH, mark.end * step) - start)
        start = min(start, TIMELINE_WIDTH - width)
        y = top + 10 + band * _BAND
        parts.append(
            format_html(
                '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="2">'
                "<title>{}</title></rect>",
                mark.style,
                _n(start + 0.5),
                _n(y + 1),
                _n(max(width - 1, 4)),
                _BAND - 3,
                mark.title,
            )
        )
        needed = len(mark.text) * _LETTER
        if needed < width - 6:
            parts.append(_label(mark.text, start + 5, y + _LABEL, "start"))
        elif start - bounds.get(band, 0.0) > needed + 10:
            parts.append(_label(mark.text, start - 5, y + _LABEL, "end"))
        bounds[band] = start + width
    return _join(parts)


def _stack(marks: Sequence[TimelineMark]) -> list[tuple[TimelineMark, int]]:
    """Return each stretch with its band; those at one time lie in several."""
    ends: list[float] = []
    placed = []
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        free = [index for index, end in enumerate(ends) if end <= mark.start]
        if free:
            band = free[0]
        elif len(ends) < _BANDS_AT_MOST:
            band = len(ends)
            ends.append(mark.end)
        else:
            band = min(range(len(ends)), key=ends.__getitem__)
        ends[band] = max(ends[band], mark.end)
        placed.append((mark, band))
    return placed


def _draw_text(
    text: str, x: float, before: float, after: float, middle: float
) -> SafeString:
    needed = len(text) * _LETTER
    if not text:
        return SafeString("")
    if after - x > needed + 8:
        return _label(text, x + 9, middle + 4, "start")
    if x - before > needed + 8:
        return _label(text, x - 9, middle + 4, "end")
    return SafeString("")


def _label(text: str, x: float, y: float, anchor: str) -> SafeString:
    if not text:
        return SafeString("")
    return format_html(
        '<text class="tl-text" x="{}" y="{}" text-anchor="{}">{}</text>',
        _n(x),
        _n(y),
        anchor,
        text,
    )


def _join(parts: Iterable[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((part,) for part in parts))


def _name_day(day: date, *, is_year: bool) -> str:
    return write_date(day, "M Y" if is_year else "j M")


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
