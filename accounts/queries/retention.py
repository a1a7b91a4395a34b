"""Read a team's retention settings, and preview what they would delete."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from accounts.declarations.data_classes import load_data_classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.declarations.data_classes import DataClass
    from accounts.models import Team, Tenant
    from portal.lib.database.retention import Aged

# Its days stand in the team's own row: an older setting, which the feed reads.
EVENTS = "events"


@dataclass(frozen=True, slots=True)
class RetentionSetting:
    """A data class and the days that a team keeps it, None: no limit.

    `least` is the class's own or the installation's, if that is more; `is_fixed`: there
    is nothing to choose.
    """

    name: str
    data_class: DataClass
    days: int | None
    least: int

    @property
    def is_fixed(self) -> bool:
        """Return whether the retention cannot be changed."""
        return self.least == self.data_class.most_days


@dataclass(frozen=True, slots=True)
class DueDeletion:
    """What a rule would delete in one environment: all data before a moment."""

    name: str
    before: datetime
    aged: Aged


def get_minimum_retention_days(data_class: DataClass) -> int:
    """Return the shortest retention of a class, by law or by server setting."""
    if not data_class.is_record:
        return data_class.least_days
    return max(data_class.least_days, settings.HEALTH_RECORD_LEAST_DAYS)


def list_retention_settings(team: Team) -> list[RetentionSetting]:
    """Return every data class with the team's choice or default, in order.

    A rule that an installation's later word would not allow any more counts as the
    nearest that it allows.
    """
    chosen = dict(team.retention_rules.values_list("data_class", "days"))
    chosen[EVENTS] = team.event_retention_days
    found = []
    for name, data_class in load_data_classes().items():
        least = get_minimum_retention_days(data_class)
        days = chosen.get(name, data_class.usual_days)
        if days is not None:
            days = max(least, min(days, data_class.most_days or days))
        found.append(RetentionSetting(name, data_class, days, least))
    return sorted(found, key=lambda each: each.data_class.rank)


def preview_retention(
    *, tenant: Tenant, days: Mapping[str, int | None], at: datetime
) -> dict[str, DueDeletion]:
    """Return what each rule would delete in one environment; one query each."""
    return {
        name: DueDeletion(name, before, data_class.count(tenant, before))
        for name, data_class in load_data_classes().items()
        if (days_kept := days.get(name)) is not None
        for before in [at - timedelta(days=days_kept)]
    }
