"""Silent resources of a user's sources, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.ui.pills import format_wire_value_as_words
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from users.queries import SeriesCadence
    from users.wearables.providers import Provider

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
# As long as hours tell more than days do.
_IN_HOURS = timedelta(hours=36)


@dataclass(frozen=True, slots=True)
class SilentRow:
    """An overdue resource of a source; `pace` is its usual interval."""

    provider: Provider
    resource: str
    pace: str
    last_at: datetime


def list_overdue_data_rows(cadences: Iterable[SeriesCadence]) -> list[SilentRow]:
    """Return the overdue cadences of a user, longest silent first."""
    found = [
        SilentRow(
            provider=find_provider(each.provider),
            resource=format_wire_value_as_words(each.resource),
            pace=describe_interval(each.usual_gap),
            last_at=each.last_at,
        )
        for each in cadences
        if each.is_silent and each.usual_gap
    ]
    return sorted(found, key=lambda row: row.last_at)


def describe_interval(gap: timedelta) -> str:
    """Describe a usual interval: every hour, every 6 hours, every 3 days."""
    unit = _HOUR if gap < _IN_HOURS else _DAY
    number = max(1, round(gap / unit))
    if number * unit == _DAY:
        return _("every day")
    if unit == _DAY:
        return _("every %(number)d days") % {"number": number}
    return ngettext("every hour", "every %(number)d hours", number) % {"number": number}
