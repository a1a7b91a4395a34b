"""What is usual for a user, and what changed: a number a day of each kind of data.

A metric is read from one source alone, so that a change is the person's and not that of
a device: the source with the most days in the span, or the one before it in the
alphabet. Days are calendar dates of the summaries.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from statistics import fmean
from typing import TYPE_CHECKING

from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from users.models import User

SPAN_DAYS = 31
# The time before the span that says what is usual, and the days it must have.
USUAL_DAYS = 90
FEWEST_USUAL_DAYS = 14


class Reduction(StrEnum):
    """How the days of a span become one number."""

    MEAN = "mean"
    LAST = "last"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of a kind of summary; `path` leads to it in the body, empty counts.

    Of several on one day the largest counts: the night, not the nap.
    """

    key: str
    kind: str
    path: tuple[str, ...]
    reduction: Reduction = Reduction.MEAN


# Units as in the contract: seconds, counts, kcal, beats a minute, ms, kg, percent.
METRICS = (
    Metric("asleep", "sleep", ("total",)),
    Metric("deep", "sleep", ("deep",)),
    Metric("steps", "activity", ("steps",)),
    Metric("active_energy", "activity", ("calories_active",)),
    Metric("resting", "sleep", ("hr_resting",)),
    Metric("hrv", "sleep", ("average_hrv",)),
    Metric("weight", "body", ("weight",), Reduction.LAST),
    Metric("fat", "body", ("fat",), Reduction.LAST),
    Metric("workouts", "workouts", (), Reduction.COUNT),
)
# Of samples: the mean of a day, mmol/L.
GLUCOSE = Metric("glucose", "", ())


@dataclass(frozen=True, slots=True)
class MetricSpan:
    """A metric over the days of a span that ends with `end`, beside USUAL_DAYS before.

    `days` has one value a day, None without one. `now` is the span in one number.
    `usual` is the same of the days before (a count of as many days as the span has, by
    the days since the source's first), `low` and `high` are their 10th and 90th
    percentile; all None where fewer than FEWEST_USUAL_DAYS of them have a value. A
    count is usual after so many days of the source, with or without a value, and has
    no percentiles.
    """

    metric: Metric
    provider: str
    end: date
    days: list[float | None]
    now: float
    usual: float | None
    low: float | None
    high: float | None

    @property
    def days_with_a_value(self) -> int:
        """Return how many days have a value."""
        return sum(each is not None for each in self.days)

    def day_of(self, index: int) -> date:
        """Return the day of a place in `days`."""
        return self.end - timedelta(days=len(self.days) - 1 - index)


def read_recent_metrics(
    *,
    user: User,
    end: date,
    days: int = SPAN_DAYS,
    glucose: Mapping[str, dict[date, float]] | None = None,
) -> dict[str, MetricSpan]:
    """Return the metrics that have a value in the last `days`, by key; one query.

    `glucose` is its mean by source and day. Source: Ours: a person's own weeks before
    say more than norms of a population.
    """
    kinds = sorted({each.kind for each in METRICS})
    paths = sorted({each.path for each in METRICS if each.path})
    first = end - timedelta(days=days + USUAL_DAYS - 1)
    picked = "".join(", (body #>> %s)::float8" for _ in paths)
    found = rows.fetch_rows(
        f"SELECT kind, provider, calendar_date{picked} FROM users_summary"  # noqa: S608 - text of ours
        " WHERE tenant_id = %s AND user_id = %s AND kind = ANY(%s)"
        " AND calendar_date BETWEEN %s AND %s",
        [*map(list, paths), user.tenant_id, user.pk, kinds, first, end],
    )
    column = {path: index for index, path in enumerate(paths, start=3)}
    began: dict[str, date] = {}
    for _kind, provider, day, *_values in found:
        began[provider] = min(day, began.get(provider, day))
    spans: dict[str, MetricSpan] = {}
    for metric in METRICS:
        by_source: dict[str, dict[date, float]] = defaultdict(dict)
        for row in found:
            value = row[column[metric.path]] if metric.path else 1.0
            if row[0] != metric.kind or value is None:
                continue
            values = by_source[row[1]]
            if metric.reduction is Reduction.COUNT:
                values[row[2]] = values.get(row[2], 0) + value
            else:
                values[row[2]] = max(value, values.get(row[2], value))
        if span := _build_span(metric, by_source, began, first, end):
            spans[metric.key] = span
    if span := _build_span(GLUCOSE, dict(glucose or {}), {}, first, end):
        spans[GLUCOSE.key] = span
    return spans


def _build_span(
    metric: Metric,
    by_source: dict[str, dict[date, float]],
    began: Mapping[str, date],
    first: date,
    end: date,
) -> MetricSpan | None:
    calendar = [
        first + timedelta(days=number) for number in range((end - first).days + 1)
    ]
    shown = calendar[USUAL_DAYS:]
    provider = min(
        by_source,
        key=lambda slug: (-sum(day in by_source[slug] for day in shown), slug),
        default=None,
    )
    if provider is None:
        return None
    values = by_source[provider]
    days = [values.get(day) for day in shown]
    present = [each for each in days if each is not None]
    if not present:
        return None
    before = [values[day] for day in calendar[:USUAL_DAYS] if day in values]
    observed = (shown[0] - max(first, began.get(provider, first))).days
    # Of what is counted, days have one or none: no range to speak of.
    is_counted = metric.reduction is Reduction.COUNT
    is_range_usual = len(before) >= FEWEST_USUAL_DAYS and not is_counted
    low, high = _percentiles(before) if is_range_usual else (None, None)
    return MetricSpan(
        metric=metric,
        provider=provider,
        end=end,
        days=days,
        now=_reduce(metric, present),
        usual=_find_usual(metric, before, observed, len(shown)),
        low=low,
        high=high,
    )


def _reduce(metric: Metric, values: Sequence[float]) -> float:
    match metric.reduction:
        case Reduction.LAST:
            return values[-1]
        case Reduction.COUNT:
            return sum(values)
        case _:
            return fmean(values)


def _find_usual(
    metric: Metric, values: Sequence[float], observed: int, days: int
) -> float | None:
    """Return what is usual by the values of `observed` days; None if too few."""
    if metric.reduction is Reduction.COUNT:
        if not values or observed < FEWEST_USUAL_DAYS:
            return None
        return sum(values) * days / observed
    return fmean(values) if len(values) >= FEWEST_USUAL_DAYS else None


def _percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the 10th and the 90th percentile by nearest rank."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return ordered[round(last * 0.1)], ordered[round(last * 0.9)]
