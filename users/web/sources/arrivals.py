"""The last 24 hours of a source: arrivals by hour, and whether it is overdue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.languages import write_within_sentence
from portal.ui.charts import draw_hourly_arrivals_strip

if TYPE_CHECKING:
    from datetime import datetime

    from django.utils.safestring import SafeString

    from users.wearables.providers import Provider

HOUR = timedelta(hours=1)
# Cells of an arrival strip.
STRIP_HOURS = 24
# A source is overdue after twice its longest pause, which takes this many hours of data
# to know, and never within the first hours of silence. Ours: a scale is quiet all
# day, a glucose sensor is not.
_KNOWN_AFTER = 3
_PATIENCE_HOURS = 2


@dataclass(frozen=True, slots=True)
class SourceDay:
    """Arrivals of a source in the last STRIP_HOURS hours; `this_hour` is the last."""

    provider: Provider
    url: str
    this_hour: datetime
    counts: tuple[int, ...]

    @property
    def silent_hours(self) -> int | None:
        """Return the whole hours since the last arrival, or None."""
        hours = self._hours_with_data()
        return len(self.counts) - 1 - hours[-1] if hours else None

    @property
    def longest_pause(self) -> int | None:
        """Return the most hours between arrivals; None with too few arrivals."""
        hours = self._hours_with_data()
        if len(hours) < _KNOWN_AFTER:
            return None
        return max(later - hour for hour, later in pairwise(hours))

    @property
    def is_overdue(self) -> bool:
        """Return whether it is silent for longer than its usual pauses."""
        silent, pause = self.silent_hours, self.longest_pause
        if silent is None or pause is None:
            return False
        return silent > max(_PATIENCE_HOURS, 2 * pause)

    @property
    def dot(self) -> str:
        """Return the color of its status dot."""
        if self.silent_hours is None:
            return "mute"
        return "bad" if self.is_overdue else "ok"

    @property
    def last_seen(self) -> str:
        """Return how long ago data last arrived, in words."""
        if self.silent_hours is None:
            return _("No data yet")
        if not self.silent_hours:
            return _("This hour")
        return _("%(hours)d h ago") % {"hours": self.silent_hours}

    @property
    def strip(self) -> SafeString:
        """Draw the hours."""
        finding = _(
            "%(source)s, data in each of the last %(hours)d hours. Last: %(last)s"
        ) % {
            "source": self.provider.name,
            "hours": STRIP_HOURS,
            "last": write_within_sentence(self.last_seen),
        }
        return draw_hourly_arrivals_strip(self.counts, says=finding)

    def _hours_with_data(self) -> list[int]:
        return [hour for hour, count in enumerate(self.counts) if count]
