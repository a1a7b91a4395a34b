"""Two spans of the explorer on one chart, and the numbers of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.ui.body_charts import format_duration
from users.wearables.providers import find_provider
from users.web.explorer.series import build_explorer_series, format_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from portal.ui.series_chart import Curve, Lane
    from users.models import User
    from users.web.explorer.query import Question
    from users.web.explorer.series import ShownSeries


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a series in both spans; `change` is empty where one has none."""

    series: str
    name: str
    unit: str
    now: str
    then: str
    change: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The span compared with, as drawn, and the numbers of both.

    `is_open` says that the shown span is not over yet, so that its sums will grow.
    """

    span: str
    curves: tuple[Curve, ...]
    lanes: tuple[Lane, ...]
    figures: tuple[Figure, ...]
    is_open: bool


def build_comparison(
    user: User, question: Question, shown: Sequence[ShownSeries]
) -> Comparison | None:
    """Build the comparison that a question asks for; None without one.

    It reads each series once more, as the shown span was read.
    """
    compared = question.compared
    if compared is None:
        return None
    other = build_explorer_series(user, compared)
    gap = question.start - compared.start
    return Comparison(
        span=compared.span,
        curves=tuple(
            _move_curve(curve, gap, compared.span)
            for each in other
            for curve in each.curves
        ),
        lanes=tuple(
            _move_lane(each.lane, gap, compared.span)
            for each in other
            if each.lane is not None
        ),
        figures=tuple(
            figure
            for now, then in zip(shown, other, strict=True)
            for figure in _list_figures(now, then)
        ),
        is_open=question.end > timezone.now(),
    )


def _move_curve(curve: Curve, gap: timedelta, span: str) -> Curve:
    return replace(
        curve,
        name=_("%(name)s, %(span)s") % {"name": curve.name, "span": span},
        marks=[
            mark._replace(start=mark.start + gap, end=mark.end + gap)
            for mark in curve.marks
        ],
        is_other=True,
    )


def _move_lane(lane: Lane, gap: timedelta, span: str) -> Lane:
    return replace(
        lane,
        name=_("%(name)s, %(span)s") % {"name": lane.name, "span": span},
        stays=[
            replace(stay, start=stay.start + gap, end=stay.end + gap)
            for stay in lane.stays
        ],
    )


def _list_figures(now: ShownSeries, then: ShownSeries) -> list[Figure]:
    """Return the numbers of a series: sums, or mean, lowest and highest, or lengths."""
    if now.view is None:
        return [
            figure
            for provider in sorted(
                {row.provider or "" for each in (now, then) for row in each.rows}
            )
            for figure in _list_span_figures(now, then, provider)
        ]
    names = (
        ((_("Total"), _sum),)
        if now.adds_up
        else ((_("Mean"), _mean), (_("Lowest"), _low), (_("Highest"), _high))
    )
    return [
        Figure(
            now.name,
            name,
            now.unit,
            format_number(measure(now)) or "–",
            format_number(measure(then)) or "–",
            _change(measure(now), measure(then)),
        )
        for name, measure in names
    ]


def _list_span_figures(
    now: ShownSeries, then: ShownSeries, provider: str
) -> list[Figure]:
    """Return number and length of one source's spans: two sources record one night."""
    both = [
        [row for row in each.rows if (row.provider or "") == provider]
        for each in (now, then)
    ]
    name = f"{now.name}, {find_provider(provider).name}"
    lengths = [
        sum((row.end - row.start).total_seconds() for row in rows if row.end)
        for rows in both
    ]
    counts = [len(rows) for rows in both]
    return [
        Figure(name, _("Number"), "", str(counts[0]), str(counts[1]), _change(*counts)),
        Figure(
            name,
            _("Total length"),
            "",
            format_duration(lengths[0]),
            format_duration(lengths[1]),
            _change(*lengths),
        ),
    ]


def _sum(shown: ShownSeries) -> float | None:
    values = [row.value for row in shown.rows if row.value is not None]
    return sum(values) if values else None


def _mean(shown: ShownSeries) -> float | None:
    """Return the mean of all samples, of which a row stands for several."""
    rows = [row for row in shown.rows if row.value is not None]
    count = sum(row.count for row in rows)
    return sum((row.value or 0) * row.count for row in rows) / count if count else None


def _low(shown: ShownSeries) -> float | None:
    return min((row.low for row in shown.rows if row.low is not None), default=None)


def _high(shown: ShownSeries) -> float | None:
    return max((row.high for row in shown.rows if row.high is not None), default=None)


def _change(now: float | None, then: float | None) -> str:
    """Return the change in percent with its sign; empty where there is none to say."""
    if now is None or not then:
        return ""
    percent = round((now - then) / abs(then) * 100)
    return f"{percent:+d} %".replace("-", "\N{MINUS SIGN}") if percent else "0 %"
