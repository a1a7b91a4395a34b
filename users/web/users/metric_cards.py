"""Cards of a user's page: sleep, activity, heart, body, workouts and glucose.

Must not be here: queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.lib.translation import gettext_lazy
from portal.ui.body_charts import format_duration
from portal.ui.mini_chart import draw_mini_chart
from portal.ui.numbers import part_thousands
from users.analysis.recent_metrics import GLUCOSE, USUAL_DAYS, Reduction
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.utils.safestring import SafeString

    from users.analysis.recent_metrics import MetricSpan
    from users.wearables.providers import Provider


@dataclass(frozen=True, slots=True)
class Measure:
    """How a number is written: `write` without its unit, `step` the least change."""

    write: Callable[[float], str]
    unit: str
    step: float


@dataclass(frozen=True, slots=True)
class CardPlan:
    """What a card shows: its metric, and others below it with their labels."""

    title: str
    metric: str
    hue: str
    is_bars: bool
    unit: str
    below: tuple[tuple[str, str], ...]


def _whole(value: float) -> str:
    return part_thousands(f"{round(value):,}")


def _tenth(value: float) -> str:
    return part_thousands(f"{value:,.1f}")


MEASURES = {
    "asleep": Measure(format_duration, "", 60),
    "deep": Measure(format_duration, "", 60),
    "steps": Measure(_whole, gettext_lazy("steps"), 1),
    "active_energy": Measure(_whole, "kcal", 1),
    "resting": Measure(_whole, "bpm", 1),
    "hrv": Measure(_whole, "ms", 1),
    "weight": Measure(_tenth, "kg", 0.1),
    "fat": Measure(_tenth, "%", 0.1),
    "workouts": Measure(_whole, "", 1),
    GLUCOSE.key: Measure(_tenth, "mmol/L", 0.1),
}
CARDS = (
    CardPlan(
        title=gettext_lazy("Sleep"),
        metric="asleep",
        hue="sleep",
        is_bars=True,
        unit=gettext_lazy("a night"),
        below=((gettext_lazy("Deep sleep"), "deep"),),
    ),
    CardPlan(
        title=gettext_lazy("Activity"),
        metric="steps",
        hue="steps",
        is_bars=True,
        unit=gettext_lazy("steps a day"),
        below=((gettext_lazy("Active energy"), "active_energy"),),
    ),
    CardPlan(
        title=gettext_lazy("Heart"),
        metric="resting",
        hue="heart",
        is_bars=False,
        unit=gettext_lazy("bpm resting"),
        below=((gettext_lazy("HRV at night"), "hrv"),),
    ),
    CardPlan(
        title=gettext_lazy("Body"),
        metric="weight",
        hue="body",
        is_bars=False,
        unit=gettext_lazy("kg"),
        below=((gettext_lazy("Body fat"), "fat"),),
    ),
    CardPlan(
        title=gettext_lazy("Workouts"),
        metric="workouts",
        hue="steps",
        is_bars=True,
        unit="",
        below=(),
    ),
    CardPlan(
        title=gettext_lazy("Glucose"),
        metric=GLUCOSE.key,
        hue="glucose",
        is_bars=False,
        unit=gettext_lazy("mmol/L, mean"),
        below=(),
    ),
)


@dataclass(frozen=True, slots=True)
class MetricCard:
    """A card: a number, how it differs from the usual one, a chart, numbers below."""

    title: str
    source: Provider
    number: str
    unit: str
    arrow: str
    change: str
    usual: str
    chart: SafeString
    below: list[tuple[str, str]]


def build_metric_cards(
    spans: Mapping[str, MetricSpan],
    *,
    facts: Mapping[str, list[tuple[str, str]]] | None = None,
) -> list[MetricCard]:
    """Return a card for each metric that has a value in the span.

    `facts` are further lines by metric.
    """
    more = facts or {}
    return [
        _build_card(plan, spans, more.get(plan.metric, []))
        for plan in CARDS
        if plan.metric in spans
    ]


def _build_card(
    plan: CardPlan, spans: Mapping[str, MetricSpan], facts: list[tuple[str, str]]
) -> MetricCard:
    span = spans[plan.metric]
    is_count = span.metric.reduction is Reduction.COUNT
    unit = (
        _("in %(days)d days") % {"days": len(span.days)} if is_count else str(plan.unit)
    )
    measure = MEASURES[plan.metric]
    arrow, change, usual = _compare(span, measure)
    number = measure.write(span.now)
    days = (
        _("Days with a value"),
        _("%(number)d of %(all)d")
        % {"number": span.days_with_a_value, "all": len(span.days)},
    )
    return MetricCard(
        title=str(plan.title),
        source=find_provider(span.provider),
        number=number,
        unit=unit,
        arrow=arrow,
        change=change,
        usual=usual,
        chart=draw_mini_chart(
            span.days,
            low=span.low,
            high=span.high,
            hue=plan.hue,
            is_bars=plan.is_bars,
            says=_("%(title)s: %(number)s %(unit)s, %(days)s days with a value")
            % {
                "title": plan.title,
                "number": number,
                "unit": unit,
                "days": span.days_with_a_value,
            },
        ),
        below=[
            *(
                (str(label), _write_beside_usual(spans[key], MEASURES[key]))
                for label, key in plan.below
                if key in spans and spans[key].provider == span.provider
            ),
            *facts,
            days,
        ],
    )


def _compare(span: MetricSpan, measure: Measure) -> tuple[str, str, str]:
    """Return an arrow, the change, and what is usual; all empty where unknown."""
    if span.usual is None:
        return "", "", ""
    usual = measure.write(span.usual)
    change = span.now - span.usual
    if abs(change) < measure.step or measure.write(span.now) == usual:
        return "=", _("As usual"), usual
    amount = measure.write(abs(change))
    if measure.unit:
        amount = f"{amount} {measure.unit}"
    if change > 0:
        return "↑", _("%(amount)s more") % {"amount": amount}, usual
    # Things that are counted are fewer, others less.
    counted = span.metric.reduction is Reduction.COUNT
    less = pgettext("counted", "%(amount)s fewer") if counted else _("%(amount)s less")
    return "↓", less % {"amount": amount}, usual


def _write_beside_usual(span: MetricSpan, measure: Measure) -> str:
    text = measure.write(span.now)
    if measure.unit:
        text = f"{text} {measure.unit}"
    _arrow, change, _usual = _compare(span, measure)
    return f"{text}, {change[0].lower()}{change[1:]}" if change else text


def describe_usual_range(spans: Mapping[str, MetricSpan]) -> str:
    """Return what numbers and bands are compared with; empty where nothing is."""
    if all(each.usual is None for each in spans.values()):
        return ""
    return _("Usual range: 10th to 90th percentile of the %(days)d days before") % {
        "days": USUAL_DAYS
    }
