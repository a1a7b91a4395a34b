"""Charts of a night's sleep and of a menstrual cycle, as in portal.ui.charts.

Every text in them is escaped here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from portal.ui.dates import write_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date, datetime

_HOUR = 3600
_WIDTH = 740
_SHARE_WIDTH = 220
_SHARE_GAP = 3
_LANE = 30
_LANE_LABELS = 60
_TICKS_AT_MOST = 14


class Lane(NamedTuple):
    """A row of a hypnogram; `hue` ends the name of its CSS class."""

    name: str
    hue: str


class Stretch(NamedTuple):
    """Time spent in one lane: seconds from the session's start, end excluded."""

    lane: int
    start: int
    end: int


def format_duration(seconds: float) -> str:
    """Return a length of time: 45 min, or 1 h 05 min."""
    minutes = round(seconds / 60)
    if minutes < 60:
        return _("%(minutes)d min") % {"minutes": minutes}
    return _("%(hours)d h %(minutes)02d min") % {
        "hours": minutes // 60,
        "minutes": minutes % 60,
    }


def draw_sleep_stage_chart(
    stretches: Sequence[Stretch],
    *,
    lanes: Sequence[Lane],
    start: datetime,
    end: datetime,
    says: str,
) -> SafeString:
    """Draw a night: a lane for each stage, time from left to right.

    `start` and `end` of the session are shown in their own zone. Where no stage is
    known there is nothing but a band that says so. Source: Ours (design guide).
    """
    length = (end - start).total_seconds()
    bottom = 4 + _LANE * len(lanes)

    def x(seconds: float) -> float:
        return _LANE_LABELS + seconds / length * (_WIDTH - _LANE_LABELS - 4)

    def y(lane: int) -> int:
        return 4 + lane * _LANE

    def clock_time(seconds: float) -> str:
        return f"{start + timedelta(seconds=seconds):%H:%M}"

    rows = format_html_join(
        "",
        '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text x="0" y="{}">{}</text>',
        (
            (_LANE_LABELS, _WIDTH, y(i) + 15, y(i) + 15, y(i) + 19, lane.name)
            for i, lane in enumerate(lanes)
        ),
    )
    hours = format_html_join(
        "",
        '<line class="grid" x1="{0}" x2="{0}" y1="4" y2="{1}"/>'
        '<text x="{0}" y="{2}" text-anchor="middle">{3}</text>',
        (
            (_n(x(at)), bottom + 2, bottom + 18, clock_time(at))
            for at in _hours(start, end)
        ),
    )
    holes = format_html_join(
        "",
        '<rect class="hyp-gap" x="{}" y="4" width="{}" height="{}" rx="3">'
        "<title>{}</title></rect>",
        (
            (
                _n(x(a)),
                _n(x(b) - x(a)),
                bottom - 4,
                _("No data, %(start)s to %(end)s, %(length)s")
                % {
                    "start": clock_time(a),
                    "end": clock_time(b),
                    "length": format_duration(b - a),
                },
            )
            for a, b in find_gaps_in_sleep_stages(stretches, int(length))
        ),
    )
    joins = format_html_join(
        "",
        '<line class="hyp-join" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>',
        (
            (_n(x(after.start)), y(before.lane) + 15, y(after.lane) + 15)
            for before, after in pairwise(stretches)
            if before.end == after.start and before.lane != after.lane
        ),
    )
    bars = format_html_join(
        "",
        '<rect class="st-{}" x="{}" y="{}" width="{}" height="{}" rx="3">'
        "<title>{}, {} to {}, {}</title></rect>",
        (
            (
                lanes[each.lane].hue,
                _n(x(each.start)),
                y(each.lane) + 5,
                _n(max(1.5, x(each.end) - x(each.start))),
                _LANE - 10,
                lanes[each.lane].name,
                clock_time(each.start),
                clock_time(each.end),
                format_duration(each.end - each.start),
            )
            for each in stretches
        ),
    )
    return _svg(_WIDTH, bottom + 22, says, rows, hours, holes, joins, bars)


def find_gaps_in_sleep_stages(
    stretches: Sequence[Stretch], length: int
) -> Iterable[tuple[int, int]]:
    """Yield times without a sleep stage, in seconds from the session's start."""
    at = 0
    for each in stretches:
        if each.start > at:
            yield at, each.start
        at = each.end
    if at < length:
        yield at, length


def draw_share_bar(parts: Sequence[tuple[Lane, float]], *, says: str) -> SafeString:
    """Draw what parts a whole has, side by side: seconds, or any other amounts."""
    shown = [(lane, amount) for lane, amount in parts if amount > 0]
    whole = sum(amount for _lane, amount in shown) or 1
    room = _SHARE_WIDTH - _SHARE_GAP * max(0, len(shown) - 1)
    bars, at = [], 0.0
    for lane, amount in shown:
        width = amount / whole * room
        bars.append((lane.hue, _n(at), _n(width), lane.name, format_duration(amount)))
        at += width + _SHARE_GAP
    drawn = format_html_join(
        "",
        '<rect class="st-{}" x="{}" y="0" width="{}" height="10" rx="3">'
        "<title>{}: {}</title></rect>",
        bars,
    )
    return format_html(
        '<svg class="chart" viewBox="0 0 {} 10" role="img" aria-label="{}"'
        ' preserveAspectRatio="none">{}</svg>',
        _SHARE_WIDTH,
        says,
        drawn,
    )


@dataclass(frozen=True, slots=True)
class CycleDay:
    """One day of a cycle as it is drawn: what was logged, in words, and how high.

    `flow_level` is 1 to 3; a flow that is not of the usual words draws as 2 and keeps
    its own. `number` counts from 1 at the first day of the period.
    """

    date: date
    number: int
    flow: str = ""
    flow_level: int = 0
    temperature: float | None = None
    test: str = ""
    is_positive: bool = False
    is_spotting: bool = False
    is_fertile: bool = False
    is_predicted: bool = False
    is_today: bool = False
    other: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """All of the day in words."""
        parts = [
            _("%(flow)s flow") % {"flow": self.flow} if self.flow else "",
            _("predicted period") if self.is_predicted else "",
            _("bleeding between periods") if self.is_spotting else "",
            _("fertile window") if self.is_fertile else "",
            _("ovulation test %(result)s") % {"result": self.test} if self.test else "",
            f"{self.temperature:.2f} °C" if self.temperature is not None else "",
            *self.other,
            _("today") if self.is_today else "",
        ]
        return ", ".join(part for part in parts if part)


_TOP, _TEMPERATURES = 8, 96
_TESTS_Y = _TOP + _TEMPERATURES + 22
_FLOW_Y = _TOP + _TEMPERATURES + 46
_DAYS_Y = _TOP + _TEMPERATURES + 92
_STRIP_LABELS = 76
_COLUMN_AT_LEAST = 18


def draw_menstrual_cycle_chart(
    days: Sequence[CycleDay], *, says: str, cover_line: float | None = None
) -> SafeString:
    """Draw a cycle, a column for each day: temperature, tests, flow, the day's number.

    A day without temperature breaks the line. `cover_line` is the temperature, degrees
    Celsius, above which it has shifted. Source: Ours (design guide).
    """
    width = max(_WIDTH, _STRIP_LABELS + _COLUMN_AT_LEAST * len(days))
    column = (width - _STRIP_LABELS - 2) / len(days)

    def left(index: int) -> float:
        return _STRIP_LABELS + index * column

    numbered = list(enumerate(days))
    parts = [
        _HATCH,
        _fertile([i for i, day in numbered if day.is_fertile], left, column),
        _temperatures(days, left, column, width, cover_line),
        format_html_join(
            "",
            '<text x="0" y="{}">{}</text>',
            (
                (_TOP + 10, _("Temp °C")),
                (_TESTS_Y + 4, _("Ovulation")),
                (_FLOW_Y + 20, _("Flow")),
                (_DAYS_Y + 14, _("Cycle day")),
            ),
        ),
        *(_column(day, left(index), column) for index, day in numbered),
    ]
    return _svg(width, _DAYS_Y + 22, says, *parts)


_HATCH = mark_safe(
    '<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)">'
    '<line class="hatchline" x1="0" y1="0" x2="0" y2="5"/></pattern></defs>'
)
_FLOW_HEIGHTS = {1: 14, 2: 25, 3: 36}


def _fertile(
    indexes: Sequence[int], left: Callable[[int], float], column: float
) -> SafeString:
    if not indexes:
        return SafeString("")
    return format_html(
        '<rect class="cy-fertile" x="{}" y="{}" width="{}" height="{}" rx="6">'
        "<title>{}</title></rect>",
        _n(left(indexes[0])),
        _TOP,
        _n(left(indexes[-1]) - left(indexes[0]) + column),
        _TEMPERATURES + 34,
        _("Fertile window"),
    )


def _temperatures(
    days: Sequence[CycleDay],
    left: Callable[[int], float],
    column: float,
    width: float,
    cover_line: float | None,
) -> SafeString:
    known = [
        (index, day, day.temperature)
        for index, day in enumerate(days)
        if day.temperature is not None
    ]
    if not known:
        return SafeString("")
    values = [value for *_point, value in known]
    low, high = min(values) - 0.1, max(values) + 0.1

    def y(value: float) -> float:
        return _TOP + (high - value) / (high - low) * _TEMPERATURES

    scale = format_html_join(
        "",
        '<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>'
        '<text x="{3}" y="{4}" text-anchor="end">{5}</text>',
        (
            (
                _STRIP_LABELS,
                _n(width),
                _n(y(tick)),
                _STRIP_LABELS - 8,
                _n(y(tick) + 4),
                f"{tick:.1f}",
            )
            for tick in _ticks(low, high)
        ),
    )
    cover = SafeString("")
    if cover_line is not None:
        cover = format_html(
            '<line class="cy-cover" x1="{0}" x2="{1}" y1="{2}" y2="{2}">'
            "<title>{3}</title></line>",
            _STRIP_LABELS,
            _n(width),
            _n(y(cover_line)),
            _("Cover line %(temperature)s °C") % {"temperature": f"{cover_line:.2f}"},
        )
    path, before = "", None
    for index, _day_of, value in known:
        pen = "L" if before == index - 1 else "M"
        path += f"{pen}{_n(left(index) + column / 2)} {_n(y(value))}"
        before = index
    dots = format_html_join(
        "",
        '<circle class="cy-dot" cx="{}" cy="{}" r="2.75">'
        "<title>{}: {} °C</title></circle>",
        (
            (_n(left(index) + column / 2), _n(y(value)), _day(day.date), f"{value:.2f}")
            for index, day, value in known
        ),
    )
    return format_html('{}{}<path class="cy-temp" d="{}"/>{}', scale, cover, path, dots)


def _column(day: CycleDay, left: float, width: float) -> SafeString:
    middle = _n(left + width / 2)
    title = _day(day.date)
    parts: list[SafeString] = []
    if day.flow_level:
        height = _FLOW_HEIGHTS[day.flow_level]
        parts.append(
            format_html(
                '<rect class="flow-{}" x="{}" y="{}" width="{}" height="{}" rx="3">'
                "<title>{}: {}</title></rect>",
                *(day.flow_level, _n(left + 1.5), _FLOW_Y + 36 - height),
                *(_n(width - 3), height, title),
                _("%(flow)s flow") % {"flow": day.flow},
            )
        )
    elif day.is_predicted:
        parts.append(
            format_html(
                '<rect class="cy-pred" x="{}" y="{}" width="{}" height="22" rx="3">'
                "<title>{}: {}</title></rect>",
                *(_n(left + 2), _FLOW_Y + 14, _n(width - 4), title),
                _("predicted period"),
            )
        )
    else:
        parts.append(
            format_html(
                '<rect class="cy-cell" x="{}" y="{}" width="{}" height="3" rx="1.5"/>',
                *(_n(left + 1.5), _FLOW_Y + 33, _n(width - 3)),
            )
        )
    if day.is_spotting:
        parts.append(
            format_html(
                '<circle class="cy-spot" cx="{}" cy="{}" r="3">'
                "<title>{}: {}</title></circle>",
                *(middle, _FLOW_Y + 25, title),
                _("bleeding between periods"),
            )
        )
    if day.test:
        parts.append(
            format_html(
                '<circle class="cy-{}" cx="{}" cy="{}" r="4.5">'
                "<title>{}: {}</title></circle>",
                *("pos" if day.is_positive else "neg", middle, _TESTS_Y),
                title,
                _("ovulation test %(result)s") % {"result": day.test},
            )
        )
    if day.is_today:
        parts.append(
            format_html(
                '<rect class="cy-today" x="{}" y="{}" width="{}" height="20" rx="5"/>',
                *(_n(left), _DAYS_Y, _n(width)),
            )
        )
    parts.append(
        format_html(
            '<text x="{}" y="{}" text-anchor="middle"{}>{}</text>',
            *(middle, _DAYS_Y + 14),
            mark_safe(' class="strong"') if day.is_today else "",
            day.number,
        )
    )
    return SafeString("".join(parts))


def _svg(width: float, height: float, says: str, *parts: SafeString) -> SafeString:
    return format_html(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        _n(width),
        _n(height),
        says,
        SafeString("".join(parts)),
    )


def _hours(start: datetime, end: datetime) -> list[int]:
    """Full hours of the session to mark, in seconds from its start."""
    first = _HOUR - (start.minute * 60 + start.second)
    marks = range(first, int((end - start).total_seconds()), _HOUR)
    return list(marks[:: max(1, ceil(len(marks) / _TICKS_AT_MOST))])


def _ticks(low: float, high: float) -> list[float]:
    """About three round values between two bounds."""
    step = next(
        each for each in (0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10) if (high - low) / each <= 4
    )
    first = ceil(low / step)
    return [round(index * step, 2) for index in range(first, floor(high / step) + 1)]


def _day(value: date) -> str:
    return write_date(value, "D j M")


def _n(number: float) -> str:
    text = f"{number:.1f}"
    return text.removesuffix(".0")
