"""A marker's results and a number of daily life on one axis of days.

Numbers in, SVG out, coloured by CSS classes alone, as in portal.ui.charts.
"""

from __future__ import annotations

from datetime import timedelta
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from portal.ui.chart_notes import ChartNote, draw_chart_notes
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from portal.ui.trend_chart import TrendMark

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _FLOOR = 46, 46, 14, 28
_DAYS_AT_MOST = 7
_STATES = {"critical": "crit", "abnormal": "off", "normal": "ok"}


class LifePoint(NamedTuple):
    """A value of a day, or of the days that begin with it."""

    day: date
    value: float


class DayNote(NamedTuple):
    """Days with a number and what to say of them, both days included."""

    first: date
    last: date
    number: int
    title: str


class _Scale(NamedTuple):
    low: float
    high: float
    step: float

    def y(self, value: float) -> float:
        share = (self.high - value) / (self.high - self.low)
        return _TOP + share * (_HEIGHT - _TOP - _FLOOR)

    @property
    def ticks(self) -> list[float]:
        number = round((self.high - self.low) / self.step)
        return [self.low + place * self.step for place in range(number + 1)]


def draw_beside_chart(
    marks: Sequence[TrendMark],
    life: Sequence[LifePoint],
    *,
    first: date,
    last: date,
    every: int,
    hue: str,
    says: str,
    notes: Sequence[DayNote] = (),
) -> SafeString:
    """Draw results on the left scale and a number of life on the right one.

    `life` has a point for `every` days; where one is missing the line breaks. The range
    of each result lies behind it, from halfway to the one before until halfway to the
    next; behind all are the days of `notes`. A side without values has no numbers.
    `says` is the finding. Source: Ours (design guide, labs beside life).
    """
    days = max((last - first).days, 1)
    width = _WIDTH - _LEFT - _RIGHT

    def x(day: date) -> float:
        return _LEFT + (day - first).days / days * width

    left = _scale(
        [mark.value for mark in marks]
        + [each for mark in marks for each in (mark.low, mark.high) if each is not None]
    )
    right = _scale([point.value for point in life])
    places = [x(mark.day) for mark in marks]
    return format_html(
        '<svg class="chart beside" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "{}{}{}{}{}{}{}</svg>",
        _WIDTH,
        _HEIGHT,
        says,
        draw_chart_notes(
            (
                ChartNote(
                    x(note.first),
                    x(note.last + timedelta(days=1)),
                    note.number,
                    note.title,
                )
                for note in notes
            ),
            top=_TOP,
            bottom=_HEIGHT - _FLOOR,
            left=_LEFT,
            right=_WIDTH - _RIGHT,
        ),
        _draw_bands(marks, places, left),
        _draw_axis(left, is_left=True, has_lines=True) if marks else "",
        _draw_axis(right, is_left=False, has_lines=not marks, hue=hue) if life else "",
        _draw_days(first, days, width),
        _draw_life(life, right, x, every, hue),
        _draw_marks(marks, places, left),
    )


def _scale(values: Sequence[float]) -> _Scale:
    """Return a scale of whole steps around the values; 0 to 1 without any."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    span = (high - low) or abs(high) or 1.0
    rough = span / 4
    power = 10.0 ** floor(log10(rough))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if each * power >= rough)
    bottom = floor((low - span * 0.05) / step) * step
    if low >= 0:
        bottom = max(bottom, 0.0)
    top = bottom
    while top < high + span * 0.05:
        top += step
    return _Scale(bottom, top, step)


def _draw_bands(
    marks: Sequence[TrendMark], places: Sequence[float], scale: _Scale
) -> SafeString:
    shapes = []
    for index, mark in enumerate(marks):
        if mark.low is None and mark.high is None:
            continue
        is_last = index + 1 == len(marks)
        start = (places[index - 1] + places[index]) / 2 if index else float(_LEFT)
        end = (
            float(_WIDTH - _RIGHT)
            if is_last
            else (places[index] + places[index + 1]) / 2
        )
        top = scale.y(scale.high if mark.high is None else mark.high)
        bottom = scale.y(scale.low if mark.low is None else mark.low)
        shapes.append((_n(start), _n(top), _n(end - start), _n(bottom - top)))
    return format_html_join(
        "",
        '<rect class="tr-band" x="{}" y="{}" width="{}" height="{}"/>',
        shapes,
    )


def _draw_axis(
    scale: _Scale, *, is_left: bool, has_lines: bool, hue: str = "ink"
) -> SafeString:
    x = _LEFT - 8 if is_left else _WIDTH - _RIGHT + 8
    lines = format_html_join(
        "",
        '<line class="tl-tick" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>',
        (
            (_LEFT, _WIDTH - _RIGHT, _n(scale.y(tick)))
            for tick in (scale.ticks if has_lines else ())
        ),
    )
    texts = format_html_join(
        "",
        '<text class="bs-{}" x="{}" y="{}" text-anchor="{}">{}</text>',
        (
            (
                hue,
                x,
                _n(scale.y(tick) + 4),
                "end" if is_left else "start",
                f"{tick:.6g}",
            )
            for tick in scale.ticks
        ),
    )
    return lines + texts


def _draw_days(first: date, days: int, width: int) -> SafeString:
    every = max(1, -(-days // _DAYS_AT_MOST))
    is_long = days > 400
    return format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="middle">{}</text>',
        (
            (
                _n(_LEFT + place / days * width),
                _HEIGHT - 8,
                _name(first + timedelta(days=place), is_long=is_long),
            )
            for place in range(0, days + 1, every)
        ),
    )


def _draw_life(
    life: Sequence[LifePoint],
    scale: _Scale,
    x: Callable[[date], float],
    every: int,
    hue: str,
) -> SafeString:
    runs = list(_split(life, every))
    line = "".join(
        "M"
        + "L".join(f"{_n(x(point.day))} {_n(scale.y(point.value))}" for point in run)
        for run in runs
        if len(run) > 1
    )
    lone = format_html_join(
        "",
        '<circle class="mi-lone" cx="{}" cy="{}" r="1.75"/>',
        (
            (_n(x(run[0].day)), _n(scale.y(run[0].value)))
            for run in runs
            if len(run) == 1
        ),
    )
    path = format_html('<path class="mi-line" d="{}"/>', line) if line else ""
    return format_html('<g class="c-{}">{}{}</g>', hue, path, lone)


def _split(life: Sequence[LifePoint], every: int) -> Iterator[list[LifePoint]]:
    run: list[LifePoint] = []
    for point in life:
        if run and (point.day - run[-1].day).days > every:
            yield run
            run = []
        run.append(point)
    if run:
        yield run


def _draw_marks(
    marks: Sequence[TrendMark], places: Sequence[float], scale: _Scale
) -> SafeString:
    ys = [scale.y(mark.value) for mark in marks]
    line = " L".join(f"{_n(x)} {_n(y)}" for x, y in zip(places, ys, strict=True))
    path = format_html('<path class="bs-marks" d="M{}"/>', line) if line else ""
    stems = format_html_join(
        "",
        '<line class="bs-stem" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>',
        ((_n(x), _n(y), _HEIGHT - _FLOOR) for x, y in zip(places, ys, strict=True)),
    )
    dots = format_html_join(
        "",
        '<circle class="tr-dot tr-{}" cx="{}" cy="{}" r="5"><title>{}</title></circle>'
        '<text class="strong" x="{}" y="{}" text-anchor="middle">{}</text>',
        (
            (
                _STATES.get(mark.interpretation, "none"),
                _n(x),
                _n(y),
                f"{write_date(mark.day, 'j M Y')}: {mark.value:.4g}",
                _n(x),
                _n(y - 10),
                f"{mark.value:.4g}",
            )
            for mark, x, y in zip(marks, places, ys, strict=True)
        ),
    )
    return format_html("{}{}{}", stems, path, dots)


def _name(day: date, *, is_long: bool) -> str:
    return write_date(day, "M Y" if is_long else "j M")


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
