"""One number a day of a kind of summary over any days, from the source with most."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portal.lib.database import rows
from users.analysis.recent_metrics import METRICS, Reduction

if TYPE_CHECKING:
    from datetime import date

    from users.models import User

_BY_KEY = {metric.key: metric for metric in METRICS}


@dataclass(frozen=True, slots=True)
class MetricHistory:
    """The days of one source that have a value; units as in METRICS."""

    provider: str
    days: dict[date, float]


def read_metric_history(
    *, user: User, key: str, first: date, last: date
) -> MetricHistory | None:
    """Return a metric of METRICS by day, None without any value; one query.

    Of several values on one day the largest counts, of things counted their number.
    """
    metric = _BY_KEY[key]
    found = rows.fetch_rows(
        "SELECT provider, calendar_date, (body #>> %s)::float8 FROM users_summary"
        " WHERE tenant_id = %s AND user_id = %s AND kind = %s"
        " AND calendar_date BETWEEN %s AND %s",
        [list(metric.path), user.tenant_id, user.pk, metric.kind, first, last],
    )
    by_source: dict[str, dict[date, float]] = defaultdict(dict)
    for provider, day, value in found:
        days = by_source[provider]
        if metric.reduction is Reduction.COUNT:
            days[day] = days.get(day, 0.0) + 1.0
        elif value is not None:
            days[day] = max(value, days.get(day, value))
    provider = min(
        (slug for slug, days in by_source.items() if days),
        key=lambda slug: (-len(by_source[slug]), slug),
        default=None,
    )
    return MetricHistory(provider, by_source[provider]) if provider else None
