"""Card of the current menstrual cycle; read only when a member opens it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.ui.mini_chart import draw_mini_chart
from users.queries import get_summary_with_neighbors
from users.web.data.cycles import Cycle

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from users.models import User
    from users.queries import SummaryRow
    from users.wearables.providers import Provider

KIND = "menstrual_cycle"
# Ours: how many ended cycles say what is usual.
_COMPARED = 6


@dataclass(frozen=True, slots=True)
class CycleCard:
    """The latest cycle: its day or length, what is usual, its temperatures, facts."""

    source: Provider
    number: str
    unit: str
    usual: str
    chart: SafeString
    facts: list[tuple[str, str]]


def build_cycle_card(*, user: User, today: date) -> CycleCard | None:
    """Return the card of the latest cycle, None without any; four queries."""
    found = get_summary_with_neighbors(
        user=user, kind=KIND, wanted=None, until=today, earlier=_COMPARED
    )
    if found is None:
        return None
    cycle = Cycle(found.shown, found.later, today)
    usual = [
        length
        for row in found.earlier
        if row.provider == found.shown.provider
        and not row.body["is_predicted"]
        and (length := _length(row))
    ]
    running = cycle.is_running
    shown = {_("Ovulation test"), _("Temperature"), _("Next period")}
    return CycleCard(
        source=cycle.provider,
        number=_("Day %(day)d") % {"day": cycle.day_number}
        if running
        else _("%(days)d days") % {"days": cycle.length},
        unit=_("of about %(days)d") % {"days": cycle.length} if running else "",
        usual=_describe_usual(usual),
        chart=draw_mini_chart(
            _list_temperatures(cycle, min(today, cycle.end)),
            low=None,
            high=None,
            hue="cycle",
            is_bars=False,
            says=_("Basal body temperature of this cycle"),
        ),
        facts=[fact for fact in cycle.facts if fact[0] in shown],
    )


def _describe_usual(lengths: list[int]) -> str:
    if not lengths:
        return ""
    if min(lengths) == max(lengths):
        return _("Last cycles %(days)d days") % {"days": lengths[0]}
    return _("Last cycles %(low)d to %(high)d days") % {
        "low": min(lengths),
        "high": max(lengths),
    }


def _list_temperatures(cycle: Cycle, last: date) -> list[float | None]:
    number = (last - cycle.start).days + 1
    by_day = {day.date: day.temperature for day in cycle.days}
    return [by_day.get(cycle.start + timedelta(days=place)) for place in range(number)]


def _length(row: SummaryRow) -> int:
    start = date.fromisoformat(row.body["period_start"])
    return (date.fromisoformat(row.body["cycle_end"]) - start).days + 1
