"""The chart of a value over time, each point against the range of its own source.

Numbers in, SVG out, coloured by CSS classes alone, as in portal.ui.charts. Must not be
here: a query, a colour, or a conversion of units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from portal.lib.translation import gettext_lazy
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

_WIDTH, _HEIGHT = 520, 170
_LEFT, _RIGHT, _TOP, _FLOOR = 46, 46, 8, 34
_STATES = {
    "critical": ("crit", gettext_lazy("critical")),
    "abnormal": ("off", gettext_lazy("out of range")),
    "normal": ("ok", gettext_lazy("in range")),
}
_NOT_INTERPRETED = ("none", gettext_lazy("not interpreted"))
# A value is written at each point up to so many, a day under as many as have room.
_VALUES_AT_MOST = 8
_DAY_ROOM = 72
_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_ROOM = 104, 30, 5


@dataclass(frozen=True, slots=True)
class TrendMark:
    """A point: its day, value and range, and how it was interpreted (empty: not)."""

    day: date
    value: float
    low: float | None
    high: float | None
    interpretation: str = ""


class _Band(NamedTuple):
    """A stretch of the axis with one range, in px."""

    start: float
    end: float
    low: float | None
    high: float | None


class _Scale(NamedTuple):
    """From values to px."""

    bottom: float
    top: float

    def y(self, value: float) -> float:
        share = (self.top - value) / (self.top - self.bottom)
        return _TOP + share * (_HEIGHT - _FLOOR)


def draw_result_trend_chart(
    marks: Sequence[TrendMark], *, unit: str, says: str
) -> SafeString:
    """Draw values on a true time axis, oldest first, in front of their ranges.

    Where the range changes, as labs differ, so does the band. Fewer than two points
    draw nothing. `says` is the finding. Source: Ours (design guide).
    """
    if len(marks) < 2:
        return SafeString("")
    places = _places(marks)
    scale = _scale(marks)
    bands = _bands(marks, places)
    ys = [scale.y(mark.value) for mark in marks]
    line = " L".join(f"{x:.1f} {y:.1f}" for x, y in zip(places, ys, strict=True))
    return format_html(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<desc>{}</desc>{}{}<path class="tr-line" d="M{}"/>{}{}{}</svg>',
        _WIDTH,
        _HEIGHT,
        says,
        "; ".join(f"{_day(mark)} {mark.value:.4g} {unit}".strip() for mark in marks),
        _band_shapes(bands, scale),
        _bounds(bands, scale),
        line,
        _dots(marks, places, ys, unit),
        _days(marks, places),
        _values(marks, places, ys),
    )


def draw_result_sparkline(marks: Sequence[TrendMark], *, says: str) -> SafeString:
    """Draw values on a true time axis in front of the newest range, without texts.

    Fewer than two points draw nothing. `says` is the finding. Source: Ours (design
    guide).
    """
    if len(marks) < 2:
        return SafeString("")
    first, last = marks[0].day, marks[-1]
    days = (last.day - first).days or 1
    shown = [mark.value for mark in marks]
    bounds = [each for each in (last.low, last.high) if each is not None]
    low, high = min(*shown, *bounds), max(*shown, *bounds)
    span = (high - low) or 1.0
    room = _SPARK_HEIGHT - 2 * _SPARK_ROOM

    def y(value: float) -> float:
        return _SPARK_ROOM + (high - value) / span * room

    def x(mark: TrendMark) -> float:
        share = (mark.day - first).days / days
        return _SPARK_ROOM + share * (_SPARK_WIDTH - 2 * _SPARK_ROOM)

    band = SafeString("")
    if bounds:
        top = y(last.high) if last.high is not None else 0.0
        floor = y(last.low) if last.low is not None else float(_SPARK_HEIGHT)
        band = format_html(
            '<rect class="tr-band" x="0" y="{}" width="{}" height="{}" rx="2"/>',
            f"{top:.1f}",
            _SPARK_WIDTH,
            f"{max(floor - top, 1):.1f}",
        )
    state, _words = _STATES.get(last.interpretation, _NOT_INTERPRETED)
    return format_html(
        '<svg class="chart tr-spark" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '{}<path class="tr-line" d="M{}"/>'
        '<circle class="tr-dot tr-{}" cx="{}" cy="{}" r="4"/></svg>',
        _SPARK_WIDTH,
        _SPARK_HEIGHT,
        says,
        band,
        " L".join(f"{x(mark):.1f} {y(mark.value):.1f}" for mark in marks),
        state,
        f"{x(last):.1f}",
        f"{y(last.value):.1f}",
    )


def _places(marks: Sequence[TrendMark]) -> list[float]:
    first, last = marks[0].day, marks[-1].day
    span = (last - first).days or 1
    width = _WIDTH - _LEFT - _RIGHT - 8
    return [_LEFT + 8 + (mark.day - first).days / span * width for mark in marks]


def _scale(marks: Sequence[TrendMark]) -> _Scale:
    shown = [mark.value for mark in marks]
    shown += [b for mark in marks for b in (mark.low, mark.high) if b is not None]
    low, high = min(shown), max(shown)
    room = (high - low) * 0.16 or 1
    return _Scale(low - room, high + room * 1.4)


def _bands(marks: Sequence[TrendMark], places: Sequence[float]) -> list[_Band]:
    """The ranges, each from halfway to the point before until halfway to the next."""
    bands: list[_Band] = []
    for index, mark in enumerate(marks):
        start = (places[index - 1] + places[index]) / 2 if index else float(_LEFT)
        is_last = index + 1 == len(marks)
        end = _WIDTH if is_last else (places[index] + places[index + 1]) / 2
        if bands and (bands[-1].low, bands[-1].high) == (mark.low, mark.high):
            bands[-1] = bands[-1]._replace(end=end)
        else:
            bands.append(_Band(start, end, mark.low, mark.high))
    return bands


def _band_shapes(bands: Sequence[_Band], scale: _Scale) -> SafeString:
    shapes = []
    for band in bands:
        if band.low is None and band.high is None:
            continue
        top = scale.y(scale.top if band.high is None else band.high)
        floor = scale.y(scale.bottom if band.low is None else band.low)
        width = f"{band.end - band.start:.1f}"
        shapes.append((f"{band.start:.1f}", f"{top:.1f}", width, f"{floor - top:.1f}"))
    return format_html_join(
        "",
        '<rect class="tr-band" x="{}" y="{}" width="{}" height="{}" rx="3"/>',
        shapes,
    )


def _bounds(bands: Sequence[_Band], scale: _Scale) -> SafeString:
    """A line for each bound; its number left of the axis, or where it begins."""
    lines = []
    for index, band in enumerate(bands):
        before = bands[index - 1] if index else None
        for bound, earlier in (
            (band.low, before.low if before else None),
            (band.high, before.high if before else None),
        ):
            if bound is None:
                continue
            y = scale.y(bound)
            text = f"{bound:.4g}" if before is None or bound != earlier else ""
            x = _LEFT - 6 if before is None else band.start + 3
            lines.append(
                (
                    f"{band.start:.1f}",
                    f"{band.end:.1f}",
                    f"{y:.1f}",
                    f"{x:.1f}",
                    f"{y + 4 if before is None else y - 3:.1f}",
                    "end" if before is None else "start",
                    text,
                )
            )
    return format_html_join(
        "",
        '<line class="tr-bandline" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>'
        '<text x="{3}" y="{4}" text-anchor="{5}">{6}</text>',
        lines,
    )


def _dots(
    marks: Sequence[TrendMark],
    places: Sequence[float],
    ys: Sequence[float],
    unit: str,
) -> SafeString:
    dots = []
    for mark, x, y in zip(marks, places, ys, strict=True):
        state, words = _STATES.get(mark.interpretation, _NOT_INTERPRETED)
        text = f"{mark.value:.4g} {unit}".strip()
        dots.append((state, f"{x:.1f}", f"{y:.1f}", _day(mark), text, words))
    return format_html_join(
        "",
        '<circle class="tr-dot tr-{}" cx="{}" cy="{}" r="5">'
        "<title>{}: {}, {}</title></circle>",
        dots,
    )


def _days(marks: Sequence[TrendMark], places: Sequence[float]) -> SafeString:
    """Days under the axis, the last one always, others where they have room."""
    texts: list[tuple[str, int, str]] = []
    free_until = _WIDTH + _DAY_ROOM * 1.0
    for mark, x in zip(reversed(marks), reversed(places), strict=True):
        if free_until - x >= _DAY_ROOM:
            texts.append((f"{x:.1f}", _HEIGHT - 6, _day(mark)))
            free_until = x
    return format_html_join(
        "", '<text x="{}" y="{}" text-anchor="middle">{}</text>', texts
    )


def _values(
    marks: Sequence[TrendMark], places: Sequence[float], ys: Sequence[float]
) -> SafeString:
    *earlier, last = [
        (f"{x:.1f}", f"{y - 10:.1f}", f"{mark.value:.4g}")
        for mark, x, y in zip(marks, places, ys, strict=True)
    ]
    shown = earlier if len(marks) <= _VALUES_AT_MOST else []
    return format_html(
        '{}<text class="strong" x="{}" y="{}">{}</text>',
        format_html_join(
            "", '<text x="{}" y="{}" text-anchor="middle">{}</text>', shown
        ),
        f"{places[-1] + 10:.1f}",
        f"{ys[-1] + 4:.1f}",
        last[2],
    )


def _day(mark: TrendMark) -> str:
    return write_date(mark.day, "j M Y")
