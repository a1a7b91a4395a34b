"""Charts drawn on the server: numbers in, SVG out, coloured by CSS classes alone.

Every text in them is escaped here.
"""

from __future__ import annotations

from math import cos, radians
from typing import TYPE_CHECKING, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Sequence

# Shares of a range bar's width: a side zone beside two bounds, and beside one.
_SIDE_OF_TWO = 0.3
_SIDE_OF_ONE = 0.42
RANGE_BAR_WIDTH = 180
_MARK_ROOM = 6.5


# A sparkline beside a number, and the strip of a source's hours.
_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_ROOM = 104, 40, 4
_CELL, _CELL_HEIGHT = 10, 12
_DAY_CELL = 5
_TRACK, _TRACK_ROOM, _TRACK_POINTS = 420, 10, 1_000
# One bar of several parts; a part that counts is seen, however small its share.
_BAR_WIDTH, _BAR_HEIGHT, _BAR_GAP, _LEAST_PART = 760, 14, 3, 2
# Bars of outcomes; what counts is seen, and an hour without anything is a low tick.
_OUTCOME_WIDTH, _OUTCOME_HEIGHT, _LEAST_OUTCOME, _TICK = 760, 44, 2.5, 3
# Shares of the busiest hour at which a cell gets darker.
_SHADES = (0.0, 0.25, 0.5, 0.75)


class Zone(NamedTuple):
    """A stretch of a range bar: its class, the values at its ends, its place in px."""

    name: str
    start: float
    end: float
    x: float
    width: float


class RangeBar(NamedTuple):
    """Where a value lies: the zones that there are, and the middle of its mark."""

    zones: tuple[Zone, Zone, Zone]
    mark: float


def compute_reference_range_bar(
    value: float, *, low: float | None, high: float | None
) -> RangeBar | None:
    """Compute where a value lies in its reference range, for a RANGE_BAR_WIDTH.

    Zones have fixed widths and each is its own linear scale, so the normal zone lines
    up down a whole table whatever the units. A missing bound drops its side; without
    both there is no bar. A value on a bound is within. Source: Ours (design guide).
    """
    if low is None and high is None:
        return None
    below, within, above = _zones(value, low, high)
    if low is not None and value < low:
        home = below
    elif high is not None and value > high:
        home = above
    else:
        home = within
    share = (value - home.start) / ((home.end - home.start) or 1)
    # Wholly inside its own zone: a value just past a bound never looks normal.
    mark = min(
        home.x + home.width - _MARK_ROOM,
        max(home.x + _MARK_ROOM, home.x + share * home.width),
    )
    return RangeBar((below, within, above), mark)


def draw_reference_range_bar(
    value: float, *, low: float | None, high: float | None, unit: str = ""
) -> SafeString:
    """Draw where a value lies: below, within or above its reference range."""
    bar = compute_reference_range_bar(value, low=low, high=high)
    if bar is None:
        return SafeString("")
    _below, within, above = bar.zones
    rectangles = format_html_join(
        "",
        '<rect class="rb-{}" x="{}" y="5" width="{}" height="6" rx="2"/>',
        (
            (zone.name, f"{zone.x + 0.75:.1f}", f"{zone.width - 1.5:.1f}")
            for zone in bar.zones
            if zone.width
        ),
    )
    bounds = format_html_join(
        "",
        '<text x="{}" y="24" text-anchor="middle">{}</text>',
        (
            (f"{x:.1f}", f"{bound:g}")
            for x, bound in ((within.x, low), (above.x, high))
            if bound is not None
        ),
    )
    return format_html(
        '<svg class="rb" viewBox="0 0 {} 28" role="img" aria-label="{}"'
        ' preserveAspectRatio="xMinYMid">{}{}'
        '<circle class="rb-mark" cx="{}" cy="8" r="5"/></svg>',
        RANGE_BAR_WIDTH,
        _describe_range(f"{value:g} {unit}".strip(), low, high),
        rectangles,
        bounds,
        f"{bar.mark:.1f}",
    )


def draw_sparkline(values: Sequence[int], *, says: str) -> SafeString:
    """Draw how a number moved, oldest first, evenly spaced; `says` is the finding.

    The lowest and the highest value span the height. Fewer than two values draw
    nothing. Source: Ours (design guide).
    """
    if len(values) < 2:
        return SafeString("")
    low, span = min(values), max(values) - min(values)
    step = _SPARK_WIDTH / (len(values) - 1)
    height = _SPARK_HEIGHT - 2 * _SPARK_ROOM
    points = [
        # A number that never moved lies at the bottom.
        (
            index * step,
            _SPARK_HEIGHT - _SPARK_ROOM - (value - low) / (span or 1) * height,
        )
        for index, value in enumerate(values)
    ]
    line = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}"'
        ' preserveAspectRatio="none"><path class="a" d="{}"/><path class="l" d="{}"/>'
        "</svg>",
        _SPARK_WIDTH,
        _SPARK_HEIGHT,
        says,
        f"{line} L{_SPARK_WIDTH} {_SPARK_HEIGHT} L0 {_SPARK_HEIGHT} Z",
        line,
    )


def draw_hourly_arrivals_strip(counts: Sequence[int], *, says: str) -> SafeString:
    """Draw one cell for each hour, oldest first; darker where more arrived.

    Shades are quarters of the busiest hour; an hour without data stays empty. `says` is
    the finding. Source: Ours (design guide).
    """
    busiest = max(counts, default=0)
    cells = format_html_join(
        "",
        '<rect class="h{}" x="{}" y="0" width="{}" height="{}" rx="2.5"/>',
        (
            (_shade(count, busiest), index * _CELL, _CELL - 2, _CELL_HEIGHT)
            for index, count in enumerate(counts)
        ),
    )
    return format_html(
        '<svg class="chart heat" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "{}</svg>",
        len(counts) * _CELL,
        _CELL_HEIGHT,
        says,
        cells,
    )


def draw_days_with_data_strip(days: Sequence[bool], *, says: str) -> SafeString:
    """Draw one cell for each day, oldest first, full where there is something.

    `says` is the finding. Source: Ours (workflows D4, freshness).
    """
    cells = format_html_join(
        "",
        '<rect class="h{}" x="{}" y="0" width="{}" height="{}" rx="1.5"/>',
        (
            (3 if has_any else 0, index * _DAY_CELL, _DAY_CELL - 1, _CELL_HEIGHT)
            for index, has_any in enumerate(days)
        ),
    )
    return format_html(
        '<svg class="chart heat" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "{}</svg>",
        len(days) * _DAY_CELL,
        _CELL_HEIGHT,
        says,
        cells,
    )


def draw_source_priority_chart(
    won: Sequence[tuple[float, float, int, str]],
    lost: Sequence[tuple[float, float, int, str]],
    *,
    start: float,
    end: float,
    ticks: Sequence[tuple[float, str]],
    says: str,
) -> SafeString:
    """Draw which source counted when, and below it which others had data.

    A part is its start and end, the number of its source from 1, and its words; times
    are seconds, `ticks` say some of them. `says` is the finding. Source: Ours
    (workflows D4, ledger).
    """

    def x(at: float) -> float:
        return (at - start) / (end - start) * _BAR_WIDTH

    drawn = [
        (place, f"{x(a):.1f}", f"{max(1.0, x(b) - x(a)):.1f}", y, height, words)
        for parts, top, height, step in ((won, 0, 26, 0), (lost, 31, 5, 6))
        for a, b, place, words in parts
        for y in (top + step * (place - 1),)
    ]
    bottom = max((y + height for *_place, y, height, _words in drawn), default=26)
    return format_html(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<rect class="cy-cell" x="0" y="0" width="{}" height="26" rx="3"/>{}{}</svg>',
        _BAR_WIDTH,
        bottom + 20,
        says,
        _BAR_WIDTH,
        format_html_join(
            "",
            '<rect class="seg-{}" x="{}" width="{}" y="{}" height="{}">'
            "<title>{}</title></rect>",
            drawn,
        ),
        format_html_join(
            "",
            '<text x="{}" y="{}">{}</text>',
            ((f"{x(at):.1f}", bottom + 16, words) for at, words in ticks),
        ),
    )


def draw_route(places: Sequence[tuple[float, float]], *, says: str) -> SafeString:
    """Draw a route of (latitude, longitude), north up, without a map beneath.

    Degrees of longitude are as wide as they are in the middle of the route.
    """
    lats = [lat for lat, _lng in places]
    lngs = [lng for _lat, lng in places]
    narrow = cos(radians((min(lats) + max(lats)) / 2))
    wide = max((max(lngs) - min(lngs)) * narrow, max(lats) - min(lats)) or 1
    scale = (_TRACK - 2 * _TRACK_ROOM) / wide

    def point(lat: float, lng: float) -> str:
        x = _TRACK_ROOM + (lng - min(lngs)) * narrow * scale
        return f"{x:.1f} {_TRACK_ROOM + (max(lats) - lat) * scale:.1f}"

    step = max(1, len(places) // _TRACK_POINTS)
    line = "L".join(point(lat, lng) for lat, lng in [*places[::step], places[-1]])
    height = 2 * _TRACK_ROOM + (max(lats) - min(lats)) * scale
    return format_html(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<path class="ln-heart" d="M{}"/></svg>',
        _TRACK,
        f"{height:.0f}",
        says,
        line,
    )


def draw_hourly_delivery_outcomes(
    cells: Sequence[tuple[int, int, int]], *, says: str
) -> SafeString:
    """Draw outcomes of webhook deliveries, a bar an hour, failures on top.

    A cell is how many were delivered at once, were retried, and failed. `says` is the
    finding. Source: Ours (design guide).
    """
    busiest = max((sum(cell) for cell in cells), default=0) or 1
    step = _OUTCOME_WIDTH / max(len(cells), 1)
    drawn: list[tuple[str, str, str, str, str]] = []
    for place, cell in enumerate(cells):
        x, y, width = place * step, float(_OUTCOME_HEIGHT), step - 2
        if not sum(cell):
            drawn.append(
                ("none", f"{x:.1f}", f"{y - _TICK:.1f}", f"{width:.1f}", f"{_TICK}")
            )
        for kind, number in zip(("ok", "warn", "bad"), cell, strict=True):
            if number:
                share = number / busiest * (_OUTCOME_HEIGHT - 2)
                height = max(_LEAST_OUTCOME, share)
                y -= height
                drawn.append(
                    (
                        kind,
                        f"{x:.1f}",
                        f"{max(y, 0):.1f}",
                        f"{width:.1f}",
                        f"{max(1.5, height - 1):.1f}",
                    )
                )
    return format_html(
        '<svg class="chart up" viewBox="0 0 {} {}" role="img" aria-label="{}"'
        ' preserveAspectRatio="none">{}</svg>',
        _OUTCOME_WIDTH,
        _OUTCOME_HEIGHT,
        says,
        format_html_join(
            "",
            '<rect class="u-{}" x="{}" y="{}" width="{}" height="{}" rx="1.5"/>',
            drawn,
        ),
    )


def draw_segmented_bar(parts: Sequence[tuple[str, int]], *, says: str) -> SafeString:
    """Draw numbers as the parts of one bar, in order; nothing where all are 0.

    A part of 0 leaves its colour out. `says` is what is counted; the label and number
    of each part follow it. Source: Ours (design guide).
    """
    total = sum(number for _label, number in parts)
    if not total:
        return SafeString("")
    drawn, x = [], 0.0
    for place, (_label, number) in enumerate(parts, start=1):
        share = number / total * _BAR_WIDTH
        if number:
            width = max(_LEAST_PART, share - _BAR_GAP)
            drawn.append((place, f"{x:.1f}", f"{width:.1f}", _BAR_HEIGHT))
        x += share
    return format_html(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}: {}"'
        ' preserveAspectRatio="none">{}</svg>',
        _BAR_WIDTH,
        _BAR_HEIGHT,
        says,
        "; ".join(f"{label} {number}" for label, number in parts),
        format_html_join(
            "",
            '<rect class="seg-{}" x="{}" y="0" width="{}" height="{}" rx="3"/>',
            drawn,
        ),
    )


def _shade(count: int, busiest: int) -> int:
    """0 for none, else 1 to 4."""
    return sum(count > share * busiest for share in _SHADES) if count else 0


def _zones(
    value: float, low: float | None, high: float | None
) -> tuple[Zone, Zone, Zone]:
    side = _SIDE_OF_ONE if low is None or high is None else _SIDE_OF_TWO
    left = 0 if low is None else side * RANGE_BAR_WIDTH
    right = 0 if high is None else side * RANGE_BAR_WIDTH
    bottom = min(0.0, value) if low is None else low
    if low is not None and high is not None:
        span = high - low
    else:
        span = abs(high if low is None and high is not None else bottom) or 1
    top = max(value, bottom + span) if high is None else high
    floor = min(value, bottom - span / 2)
    if value >= 0 and bottom > 0:
        floor = max(0.0, floor)
    return (
        Zone("off", floor, bottom, 0, left),
        Zone("ok", bottom, top, left, RANGE_BAR_WIDTH - left - right),
        Zone("off", top, max(value, top + span / 2), RANGE_BAR_WIDTH - right, right),
    )


def _describe_range(value: str, low: float | None, high: float | None) -> str:
    numbers = {"value": value, "low": f"{low or 0:g}", "high": f"{high or 0:g}"}
    if low is None:
        return _("%(value)s, reference up to %(high)s") % numbers
    if high is None:
        return _("%(value)s, reference %(low)s and above") % numbers
    return _("%(value)s, reference %(low)s to %(high)s") % numbers
