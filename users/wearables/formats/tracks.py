"""Points of recordings (FIT, GPX, TCX) as streams, and workouts of their points.

A point or value that no person and no place on earth can have costs itself, never the
stream that it is in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from users.wearables.streams import CHANNELS, POINTS_MAX, TIME
from users.wearables.values import AHEAD

if TYPE_CHECKING:
    from collections.abc import Mapping

# Ours: no session lasts three days (summaries.places).
_FARTHEST_SECONDS = 36 * 3600
_WHOLE = {channel.name for channel in CHANNELS if channel.is_whole}
_BOUNDS = {channel.name: (channel.low, channel.high) for channel in CHANNELS}


@dataclass(slots=True)
class Points:
    """Points by their Unix second; `bad` counts values and points left out."""

    now: datetime
    bad: int = 0
    taken: int = 0
    _all: dict[int, dict[str, float | int]] = field(default_factory=dict)

    def add(self, second: float, values: Mapping[str, float | None]) -> None:
        """Add the values of a second; those of one already there are added to it."""
        low, high = TIME.low, (self.now + AHEAD).timestamp()
        if not isfinite(second) or not low <= second <= high:
            self.bad += 1
            return
        self.taken += 1
        point = self._all.setdefault(int(second), {})
        for name, value in values.items():
            if value is None:
                continue
            least, most = _BOUNDS[name]
            if not isfinite(value) or not least <= value <= most:
                self.bad += 1
                continue
            point[name] = round(value) if name in _WHOLE else value

    @property
    def seconds(self) -> list[int]:
        """Return the seconds that have a point, in order."""
        return sorted(self._all)

    def values(self, name: str) -> list[float | int]:
        """Return the known values of a channel in the order of time."""
        found = (self._all[each].get(name) for each in self.seconds)
        return [value for value in found if value is not None]

    def stream(self, start: int, end: int) -> dict[str, list[Any]] | None:
        """Return the stream from `start` to `end`, both included; None if empty."""
        seconds = [each for each in self.seconds if start <= each <= end][:POINTS_MAX]
        if not seconds:
            return None
        body: dict[str, list[Any]] = {"time": seconds}
        for channel in CHANNELS:
            if channel is TIME:
                continue
            values = [self._all[each].get(channel.name) for each in seconds]
            if any(value is not None for value in values):
                body[channel.name] = values
        return body

    def drop_strays(self) -> None:
        """Leave out points of another time than the rest: a clock that was not set."""
        seconds = self.seconds
        if not seconds:
            return
        middle = seconds[len(seconds) // 2]
        for each in seconds:
            if abs(each - middle) > _FARTHEST_SECONDS:
                del self._all[each]
                self.bad += 1
                self.taken -= 1

    def workout(self) -> dict[str, Any] | None:
        """Return the fields of a workout of all points; None without a duration."""
        seconds = self.seconds
        if len(seconds) < 2:
            return None
        rates = self.values("heartrate")
        distances = self.values("distance")
        heights = self.values("altitude")
        found: dict[str, Any] = {
            "time_start": datetime.fromtimestamp(seconds[0], UTC).isoformat(),
            "time_end": datetime.fromtimestamp(seconds[-1], UTC).isoformat(),
        }
        if rates:
            found["average_hr"] = round(sum(rates) / len(rates))
            found["max_hr"] = max(rates)
        if distances and max(distances) > 0:
            found["distance"] = max(distances)
        if heights:
            found["elev_high"], found["elev_low"] = max(heights), min(heights)
        return found
