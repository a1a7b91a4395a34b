"""The chart of up to three series over one time axis, each unit with its own scale.

Numbers in, SVG out, coloured by CSS classes alone, as in portal.ui.charts. Must not be
here: a query, a colour, or a conversion of units.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Literal, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from portal.ui.chart_notes import ChartNote, draw_chart_notes, measure_chart_notes
from portal.ui.dates import write_date
from portal.ui.numbers import part_thousands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

WIDTH, _HEIGHT = 820, 236
_LEFT, _AXIS, _EDGE, _TOP = 44, 44, 10, 22
_LANE, _LANE_GAP, _FOOT = 14, 6, 22
# Above each of several strips stands its name.
_LANE_NAME = 16
_TICKS = 4
# What a tick of time is worth, so that there are at most as many as have room.
_TIMES_AT_MOST = 9
_MINUTES = (5, 15, 30, 60, 120, 180, 360, 720)
_DAYS = (1, 2, 3, 7, 14, 30, 61, 92, 183, 366)
_DAY = timedelta(days=1)


class Mark(NamedTuple):
    """A value of the time from `start` to `end`; `low` and `high` where it varied.

    `name` says what it is where each is a thing of its own, a workout say.
    """

    start: datetime
    end: datetime
    value: float
    low: float
    high: float
    name: str = ""

    @property
    def middle(self) -> datetime:
        """Where its value stands."""
        return self.start + (self.end - self.start) / 2


@dataclass(frozen=True, slots=True)
class Curve:
    """Marks by time; `joins` is the longest pause that a line is drawn across.

    `hue` ends the name of its CSS class, `dash` (0 for none) tells curves of one hue
    apart. `is_other` is of another time, laid over the shown one. Bars are at least
    `least_width` wide.
    """

    name: str
    unit: str
    hue: str
    marks: Sequence[Mark]
    joins: timedelta
    shape: Literal["line", "bars"] = "line"
    dash: int = 0
    is_other: bool = False
    least_width: float = 0.75


@dataclass(frozen=True, slots=True)
class Stay:
    """A time spent in something: a stage of sleep, a workout."""

    start: datetime
    end: datetime
    hue: str
    name: str


@dataclass(frozen=True, slots=True)
class Lane:
    """Stays of one kind, drawn as a strip below the curves."""

    name: str
    stays: Sequence[Stay]


class TimeNote(NamedTuple):
    """A time with a number and what to say of it."""

    start: datetime
    end: datetime
    number: int
    title: str


@dataclass(frozen=True, slots=True)
class Frame:
    """From time to px; `left` and `right` bound the plot."""

    start: datetime
    end: datetime
    left: float
    right: float

    def x(self, at: datetime) -> float:
        """Return the place of a moment, cut to the plot."""
        share = (at - self.start) / (self.end - self.start)
        return self.left + min(1.0, max(0.0, share)) * (self.right - self.left)


class _Scale(NamedTuple):
    """From values of a unit to px; `axis` is the place of its numbers."""

    unit: str
    low: float
    high: float
    step: float
    axis: int

    def y(self, value: float) -> float:
        share = (self.high - value) / (self.high - self.low)
        return _TOP + share * (_HEIGHT - _TOP)

    @property
    def ticks(self) -> list[float]:
        number = round((self.high - self.low) / self.step)
        return [self.low + place * self.step for place in range(number + 1)]


def compute_plot_frame(
    curves: Sequence[Curve], *, start: datetime, end: datetime
) -> Frame:
    """Compute where the plot of these curves lies: one more axis a unit."""
    units = len({curve.unit for curve in curves})
    right = WIDTH - (_AXIS * (units - 1) if units > 1 else _EDGE)
    return Frame(start, end, _LEFT, right)


def draw_time_series_chart(
    curves: Sequence[Curve],
    lanes: Sequence[Lane],
    *,
    start: datetime,
    end: datetime,
    zone: tzinfo,
    says: str,
    notes: Sequence[TimeNote] = (),
) -> SafeString:
    """Draw curves and lanes of the time from `start` to `end` by the clocks of `zone`.

    Curves of one unit share a scale; that of the first unit stands left, others right.
    A mark that varied has a band from its lowest to its highest. What is farther apart
    than `joins` is not joined: a gap stays a gap. Behind all are the times of `notes`.
    `says` is the finding. Source: Ours (design guide; workflows D4).
    """
    frame = compute_plot_frame(curves, start=start, end=end)
    scales = _scales(curves)
    drawn = [
        ChartNote(frame.x(note.start), frame.x(note.end), note.number, note.title)
        for note in notes
    ]
    # Lanes are opaque: without curves above them the numbers of notes need a place.
    room = measure_chart_notes(drawn, left=frame.left, right=frame.right)
    top = _HEIGHT if curves else room
    bottom = top + len(lanes) * _lane_height(lanes)
    return format_html(
        '<svg class="chart series" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "{}{}{}{}{}{}</svg>",
        WIDTH,
        _n(bottom + _FOOT),
        says,
        draw_chart_notes(
            drawn,
            top=_TOP if curves else 0,
            bottom=bottom,
            left=frame.left,
            right=frame.right,
        ),
        _grid(scales, frame),
        _times(frame, zone, bottom),
        _joined(_bars(c, frame, scales) for c in curves if c.shape == "bars"),
        _joined(_line(c, frame, scales) for c in curves if c.shape == "line"),
        _lanes(lanes, frame, top),
    )


def _scales(curves: Sequence[Curve]) -> dict[str, _Scale]:
    scales: dict[str, _Scale] = {}
    for axis, unit in enumerate(dict.fromkeys(curve.unit for curve in curves)):
        mine = [curve for curve in curves if curve.unit == unit]
        lows = [mark.low for curve in mine for mark in curve.marks]
        highs = [mark.high for curve in mine for mark in curve.marks]
        for curve in mine:
            if curve.shape == "bars":
                # A bar stands for its whole value, which may exceed its samples.
                lows.append(0.0)
                highs += [mark.value for mark in curve.marks]
        scales[unit] = _scale(unit, min(lows, default=0), max(highs, default=1), axis)
    return scales


def _scale(unit: str, low: float, high: float, axis: int) -> _Scale:
    """Round bounds around the values, some _TICKS steps apart."""
    if high <= low:
        room = abs(high) * 0.1 or 1
        low, high = low - (room if low else 0), high + room
    raw = (high - low) / _TICKS
    magnitude = 10 ** floor(log10(raw))
    step = next(n * magnitude for n in (1, 2, 2.5, 3, 4, 5, 10) if n * magnitude >= raw)
    return _Scale(unit, floor(low / step) * step, ceil(high / step) * step, step, axis)


def _grid(scales: dict[str, _Scale], frame: Frame) -> SafeString:
    """A line for each step of the first scale; numbers and unit of each beside it."""
    lines, texts = [], []
    for scale in scales.values():
        anchor = "start" if scale.axis else "end"
        x = frame.left - 6
        if scale.axis:
            x = frame.right + 6 + _AXIS * (scale.axis - 1)
        else:
            lines = [_n(scale.y(tick)) for tick in scale.ticks]
        texts += [
            (_n(x), _n(scale.y(tick) + 3.5), anchor, _number(tick))
            for tick in scale.ticks
        ]
        texts.append((_n(x), "10", anchor, scale.unit))
    return format_html(
        "{}{}",
        format_html_join(
            "",
            '<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>',
            ((_n(frame.left), _n(frame.right), y) for y in lines),
        ),
        format_html_join("", '<text x="{}" y="{}" text-anchor="{}">{}</text>', texts),
    )


def _times(frame: Frame, zone: tzinfo, bottom: float) -> SafeString:
    return format_html_join(
        "",
        '<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
        '<text x="{0}" y="{3}" text-anchor="middle"{4}>{5}</text>',
        (
            (
                _n(frame.x(at)),
                _TOP,
                _n(bottom),
                _n(bottom + 15),
                SafeString(' class="strong"') if is_day else "",
                words,
            )
            for at, words, is_day in _moments(frame, zone)
        ),
    )


def _moments(frame: Frame, zone: tzinfo) -> Iterator[tuple[datetime, str, bool]]:
    """Round times of the zone's clocks, and whether a time is the first of its day."""
    span = frame.end - frame.start
    first = frame.start.astimezone(zone).date()
    minutes = next(
        (n for n in _MINUTES if span / timedelta(minutes=n) <= _TIMES_AT_MOST), None
    )
    days = next((n for n in _DAYS if span / (n * _DAY) <= _TIMES_AT_MOST), _DAYS[-1])
    day = first
    while (at := datetime.combine(day, time.min, zone)) < frame.end:
        if minutes is None:
            if at >= frame.start:
                yield at, write_date(day, "j M"), False
            day += days * _DAY
            continue
        for past in range(0, 24 * 60, minutes):
            at = datetime.combine(day, time(past // 60, past % 60), zone)
            if frame.start <= at < frame.end:
                words = f"{at:%H:%M}" if past else write_date(day, "j M")
                yield at, words, not past
        day += _DAY


def _line(curve: Curve, frame: Frame, scales: dict[str, _Scale]) -> SafeString:
    scale = scales[curve.unit]
    path, band, dots = [], [], []
    for run in _runs(curve):
        places = [(frame.x(mark.middle), scale.y(mark.value)) for mark in run]
        if len(run) == 1:
            dots.append((_n(places[0][0]), _n(places[0][1])))
        else:
            path.append("M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in places))
        if any(mark.high > mark.low for mark in run):
            band.append(_band(run, frame, scale))
    return format_html(
        '<g class="{}"><path class="sr-band" d="{}"/>'
        '<path class="sr-line" d="{}"/>{}</g>',
        _class(curve),
        "".join(band),
        "".join(path),
        format_html_join("", '<circle class="sr-dot" cx="{}" cy="{}" r="2.5"/>', dots),
    )


def _band(run: Sequence[Mark], frame: Frame, scale: _Scale) -> str:
    """From the lowest to the highest, along and back; one mark alone has its width."""
    if len(run) == 1:
        (mark,) = run
        left = frame.x(mark.middle) - 0.75
        return f"M{_n(left)} {_n(scale.y(mark.high))}h1.5V{_n(scale.y(mark.low))}h-1.5Z"
    above = [f"{_n(frame.x(m.middle))} {_n(scale.y(m.high))}" for m in run]
    below = [f"{_n(frame.x(m.middle))} {_n(scale.y(m.low))}" for m in reversed(run)]
    return f"M{'L'.join(above)}L{'L'.join(below)}Z"


def _runs(curve: Curve) -> Iterator[list[Mark]]:
    """Marks that a line joins."""
    run: list[Mark] = list(curve.marks[:1])
    for before, mark in pairwise(curve.marks):
        if mark.start - before.end > curve.joins:
            yield run
            run = []
        run.append(mark)
    if run:
        yield run


def _bars(curve: Curve, frame: Frame, scales: dict[str, _Scale]) -> SafeString:
    scale = scales[curve.unit]
    floor_y = scale.y(max(0.0, scale.low))
    drawn = []
    for mark in curve.marks:
        left, right = frame.x(mark.start), frame.x(mark.end)
        room = min(2.0, (right - left) * 0.2)
        width = max(curve.least_width, right - left - room)
        y = scale.y(mark.value)
        drawn.append(
            (
                _n(min(left + room / 2, frame.right - width)),
                _n(width),
                _n(min(y, floor_y)),
                _n(abs(floor_y - y)),
                format_html("<title>{}</title>", mark.name) if mark.name else "",
            )
        )
    return format_html(
        '<g class="{}">{}</g>',
        _class(curve),
        format_html_join(
            "",
            '<rect class="sr-bar" x="{}" width="{}" y="{}" height="{}">{}</rect>',
            drawn,
        ),
    )


def _class(curve: Curve) -> str:
    other = " sr-other" if curve.is_other else ""
    return f"sr sr-{curve.hue} sr--{curve.dash}{other}"


def _lane_height(lanes: Sequence[Lane]) -> int:
    return _LANE + (_LANE_NAME if len(lanes) > 1 else _LANE_GAP)


def _lanes(lanes: Sequence[Lane], frame: Frame, top: float) -> SafeString:
    drawn = []
    for number, lane in enumerate(lanes):
        height = _lane_height(lanes)
        y = top + (number + 1) * height - _LANE
        if len(lanes) > 1:
            drawn.append(
                format_html(
                    '<text x="{}" y="{}">{}</text>',
                    _n(frame.left),
                    _n(y - 4),
                    lane.name,
                )
            )
        drawn.append(
            format_html(
                '<rect class="cy-cell" x="{}" y="{}" width="{}" height="{}" rx="3"/>{}',
                _n(frame.left),
                _n(y),
                _n(frame.right - frame.left),
                _LANE,
                format_html_join(
                    "",
                    '<rect class="st-{}" x="{}" y="{}" width="{}" height="{}">'
                    "<title>{}</title></rect>",
                    (
                        (
                            stay.hue,
                            _n(frame.x(stay.start)),
                            _n(y),
                            _n(max(0.5, frame.x(stay.end) - frame.x(stay.start))),
                            _LANE,
                            stay.name,
                        )
                        for stay in lane.stays
                    ),
                ),
            )
        )
    return _joined(drawn)


def _joined(parts: Iterable[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((part,) for part in parts))


def _number(value: float) -> str:
    rounded = round(value, 6)
    if abs(rounded) >= 1_000_000:
        return f"{rounded / 1_000_000:g}m"
    return part_thousands(
        f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:g}"
    )


def _n(number: float) -> str:
    text = f"{number:.1f}"
    return text.removesuffix(".0")
