"""A night as the page shows it: read off the three aligned arrays of a sleep cycle.

Must not be here: a query, or SVG (portal.body_charts).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.body_charts import (
    Lane,
    Stretch,
    duration,
    holes_between,
    hypnogram,
    share_bar,
)
from portal.lib.periods import find_zone
from portal.lib.translation import gettext_lazy
from users.states import SleepStage
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from datetime import date

    from django.utils.safestring import SafeString

    from users.queries import SummaryRow
    from users.wearables.providers import Provider

# Lanes that every night has, from above; others come below when a night needs them.
_LANES = {
    SleepStage.AWAKE: "awake",
    SleepStage.REM: "rem",
    SleepStage.LIGHT: "light",
    SleepStage.DEEP: "deep",
}
_NO_DATA = gettext_lazy("No data")


@dataclass(frozen=True, slots=True)
class StageRow:
    """A line of the night's table; `at` and `until` are clock times of its zone."""

    stage: str
    at: str
    until: str
    length: str


@dataclass(frozen=True)
class Night:
    """One stored sleep cycle."""

    row: SummaryRow

    @property
    def provider(self) -> Provider:
        return find_provider(self.row.provider)

    @property
    def time_zone(self) -> str:
        return str(self.row.body["time_zone"])

    @cached_property
    def start(self) -> datetime:
        """Where the person slept, as is `end`."""
        return self._moment("session_start")

    @cached_property
    def end(self) -> datetime:
        return self._moment("session_end")

    @property
    def day(self) -> date:
        """The day whose night it is; a day is from noon to noon here."""
        return (self.start - timedelta(hours=12)).date()

    @property
    def explorer_query(self) -> str:
        """The query string that lays heart rate over this night."""
        start, end = (at.astimezone(UTC) for at in (self.start, self.end))
        return (
            f"?series=heartrate&series=hrv&series=sleep_cycle"
            f"&start={start:%Y-%m-%dT%H:%M:%SZ}&end={end:%Y-%m-%dT%H:%M:%SZ}"
        )

    @property
    def clock_times(self) -> str:
        """From when to when, by the clock where the person slept."""
        return _("%(start)s to %(end)s") % {
            "start": f"{self.start:%H:%M}",
            "end": f"{self.end:%H:%M}",
        }

    @property
    def length(self) -> str:
        """Time from going to bed to getting up."""
        return duration((self.end - self.start).total_seconds())

    @cached_property
    def totals(self) -> list[tuple[Lane, float]]:
        """Seconds in each stage that occurs, in the order of the lanes."""
        seconds: dict[int, float] = {}
        for each in self._stretches:
            seconds[each.lane] = seconds.get(each.lane, 0) + each.end - each.start
        return [(self._lanes[lane], seconds[lane]) for lane in sorted(seconds)]

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Each stage that occurs as its hue, and its name with the time spent."""
        return [
            (lane.hue, f"{lane.name} {duration(seconds)}")
            for lane, seconds in self.totals
        ]

    @property
    def stages(self) -> list[tuple[Lane, int, int]]:
        """Each stage with its lane, in seconds from the start, end excluded."""
        return [(self._lanes[s.lane], s.start, s.end) for s in self._stretches]

    @property
    def deep(self) -> str:
        return self._total(SleepStage.DEEP)

    @property
    def rem(self) -> str:
        return self._total(SleepStage.REM)

    @property
    def says(self) -> str:
        """The finding in words."""
        parts = ", ".join(f"{lane.name} {duration(s)}" for lane, s in self.totals)
        return _("%(length)s in bed. %(stages)s.") % {
            "length": self.length,
            "stages": parts or _("No stages"),
        }

    @property
    def chart(self) -> SafeString:
        return hypnogram(
            self._stretches,
            lanes=self._lanes,
            start=self.start,
            end=self.end,
            says=self.says,
        )

    @property
    def shares(self) -> SafeString:
        return share_bar(self.totals, says=self.says)

    @property
    def table(self) -> list[StageRow]:
        """Every stage and every hole, by time."""
        length = int((self.end - self.start).total_seconds())
        told = [(s.start, s.end, self._lanes[s.lane].name) for s in self._stretches]
        holes = holes_between(self._stretches, length)
        told += [(start, end, _NO_DATA) for start, end in holes]
        return [
            StageRow(name, self._clock(start), self._clock(end), duration(end - start))
            for start, end, name in sorted(told)
        ]

    @cached_property
    def _codes(self) -> list[int]:
        """Codes by lane: those every night has, then what else is in this one."""
        usual = [int(code) for code in _LANES]
        return usual + sorted(set(self.row.body["stage_type"]) - set(usual))

    @cached_property
    def _lanes(self) -> list[Lane]:
        return [_lane(code) for code in self._codes]

    @cached_property
    def _stretches(self) -> list[Stretch]:
        body = self.row.body
        lanes = {code: lane for lane, code in enumerate(self._codes)}
        return [
            Stretch(lanes[code], start, end)
            for code, start, end in zip(
                body["stage_type"],
                body["stage_start_offset_second"],
                body["stage_end_offset_second"],
                strict=True,
            )
        ]

    def _total(self, stage: SleepStage) -> str:
        wanted = _lane(stage)
        return next((duration(s) for lane, s in self.totals if lane == wanted), "")

    def _moment(self, name: str) -> datetime:
        utc = datetime.fromisoformat(self.row.body[name]).replace(tzinfo=UTC)
        return utc.astimezone(find_zone(self.time_zone))

    def _clock(self, seconds: int) -> str:
        return f"{self.start + timedelta(seconds=seconds):%H:%M}"


def _lane(code: int) -> Lane:
    """The lane of a stage code; one that we do not know is named by its number."""
    if code not in SleepStage:
        return Lane(_("Stage %(code)d") % {"code": code}, "unknown")
    stage = SleepStage(code)
    return Lane(str(stage.label), _LANES.get(stage, "unknown"))
