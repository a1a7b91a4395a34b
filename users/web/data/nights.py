"""A night as shown, from the aligned arrays of a sleep cycle."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from portal.ui.body_charts import (
    Lane,
    Stretch,
    draw_share_bar,
    draw_sleep_stage_chart,
    find_gaps_in_sleep_stages,
    format_duration,
)
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
    """A row of the night's table; `at` and `until` are times in its zone."""

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
        """Return the start in the night's time zone, like `end`."""
        return self._moment("session_start")

    @cached_property
    def end(self) -> datetime:
        return self._moment("session_end")

    @property
    def day(self) -> date:
        """Return the day of the night; a day lasts from noon to noon."""
        return (self.start - timedelta(hours=12)).date()

    @property
    def explorer_query(self) -> str:
        """Return the query string that overlays heart rate on this night."""
        start, end = (at.astimezone(UTC) for at in (self.start, self.end))
        return (
            f"?series=heartrate&series=hrv&series=sleep_cycle"
            f"&start={start:%Y-%m-%dT%H:%M:%SZ}&end={end:%Y-%m-%dT%H:%M:%SZ}"
        )

    @property
    def clock_times(self) -> str:
        """Return start and end in the night's time zone, in words."""
        return _("%(start)s to %(end)s") % {
            "start": f"{self.start:%H:%M}",
            "end": f"{self.end:%H:%M}",
        }

    @property
    def length(self) -> str:
        """Return the time in bed."""
        return format_duration((self.end - self.start).total_seconds())

    @cached_property
    def totals(self) -> list[tuple[Lane, float]]:
        """Return the seconds in each stage, in the order of the lanes."""
        seconds: dict[int, float] = {}
        for each in self._stretches:
            seconds[each.lane] = seconds.get(each.lane, 0) + each.end - each.start
        return [(self._lanes[lane], seconds[lane]) for lane in sorted(seconds)]

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Return hue and label of each stage, with its duration."""
        return [
            (lane.hue, f"{lane.name} {format_duration(seconds)}")
            for lane, seconds in self.totals
        ]

    @property
    def stages(self) -> list[tuple[Lane, int, int]]:
        """Return each stage with its lane, in seconds from the start, end exclusive."""
        return [(self._lanes[s.lane], s.start, s.end) for s in self._stretches]

    @property
    def deep(self) -> str:
        return self._total(SleepStage.DEEP)

    @property
    def rem(self) -> str:
        return self._total(SleepStage.REM)

    @property
    def says(self) -> str:
        """Return the finding in words."""
        parts = ", ".join(
            f"{lane.name} {format_duration(s)}" for lane, s in self.totals
        )
        return _("%(length)s in bed. %(stages)s.") % {
            "length": self.length,
            "stages": parts or _("No stages"),
        }

    @property
    def chart(self) -> SafeString:
        return draw_sleep_stage_chart(
            self._stretches,
            lanes=self._lanes,
            start=self.start,
            end=self.end,
            says=self.says,
        )

    @property
    def shares(self) -> SafeString:
        return draw_share_bar(self.totals, says=self.says)

    @property
    def table(self) -> list[StageRow]:
        """Return every stage and gap, by time."""
        length = int((self.end - self.start).total_seconds())
        items = [(s.start, s.end, self._lanes[s.lane].name) for s in self._stretches]
        holes = find_gaps_in_sleep_stages(self._stretches, length)
        items += [(start, end, _NO_DATA) for start, end in holes]
        return [
            StageRow(
                name, self._clock(start), self._clock(end), format_duration(end - start)
            )
            for start, end, name in sorted(items)
        ]

    @cached_property
    def _codes(self) -> list[int]:
        """Return codes by lane: the usual ones, then others of this night."""
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
        stage_lane = _lane(stage)
        return next(
            (format_duration(s) for lane, s in self.totals if lane == stage_lane), ""
        )

    def _moment(self, name: str) -> datetime:
        utc = datetime.fromisoformat(self.row.body[name]).replace(tzinfo=UTC)
        return utc.astimezone(find_time_zone_by_name(self.time_zone))

    def _clock(self, seconds: int) -> str:
        return f"{self.start + timedelta(seconds=seconds):%H:%M}"


def _lane(code: int) -> Lane:
    """Return the lane of a stage code; unknown codes show their number."""
    if code not in SleepStage:
        return Lane(_("Stage %(code)d") % {"code": code}, "unknown")
    stage = SleepStage(code)
    return Lane(str(stage.label), _LANES.get(stage, "unknown"))
