"""Nights of an Apple Health export: sleep intervals combined into sessions."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from users.states import SleepStage
from users.states.imports import DropReason
from users.wearables.formats.apple.times import find_utc_offset_of_apple_time
from users.wearables.formats.rows import Origin, SkippedRows, SummaryRow

if TYPE_CHECKING:
    from collections.abc import Iterator

# Ours: who is up for longer has got up; naps stay naps.
_APART = timedelta(minutes=90)
_STAGES = {
    "InBed": None,
    "Asleep": SleepStage.UNKNOWN,  # until iOS 15
    "AsleepUnspecified": SleepStage.UNKNOWN,
    "AsleepCore": SleepStage.LIGHT,
    "AsleepDeep": SleepStage.DEEP,
    "AsleepREM": SleepStage.REM,
    "Awake": SleepStage.AWAKE,
}
_VALUE = "HKCategoryValueSleepAnalysis"
_ASLEEP = {SleepStage.LIGHT, SleepStage.DEEP, SleepStage.REM, SleepStage.UNKNOWN}


class _Stretch(NamedTuple):
    start: datetime
    end: datetime
    stage: SleepStage | None
    zone: str | None


class Nights:
    """Sleep intervals until the end of the file; some 10,000 a year."""

    def __init__(self) -> None:
        self._of: dict[Origin, list[_Stretch]] = defaultdict(list)

    def add(
        self,
        origin: Origin,
        start: datetime,
        end: datetime,
        value: str,
        zone: str | None,
    ) -> bool:
        """Add an interval; return whether its value is known and it has a length."""
        word = value.removeprefix(_VALUE)
        if word not in _STAGES or end <= start:
            return False
        self._of[origin].append(_Stretch(start, end, _STAGES[word], zone))
        return True

    def rows(self) -> Iterator[SummaryRow | SkippedRows]:
        """Yield a sleep and its cycle for each session, by source and time."""
        for origin, stretches in sorted(self._of.items(), key=str):
            for session in _sessions(sorted(set(stretches), key=_by_time)):
                yield from _night(origin, session)


def _by_time(stretch: _Stretch) -> tuple[datetime, datetime, int]:
    return stretch.start, stretch.end, -9 if stretch.stage is None else stretch.stage


def _sessions(stretches: list[_Stretch]) -> Iterator[list[_Stretch]]:
    session: list[_Stretch] = []
    reached: datetime | None = None
    for each in stretches:
        if reached is not None and each.start - reached > _APART:
            yield session
            session, reached = [], None
        session.append(each)
        reached = each.end if reached is None else max(reached, each.end)
    if session:
        yield session


def _night(
    origin: Origin, session: list[_Stretch]
) -> Iterator[SummaryRow | SkippedRows]:
    staged = _without_overlaps([each for each in session if each.stage is not None])
    if not any(each.stage in _ASLEEP for each in staged):
        yield SkippedRows(DropReason.IN_BED_ONLY, "SleepAnalysis", len(session))
        return
    start = min(each.start for each in session)
    end = max(each.end for each in session)
    zone = next((each.zone for each in session if each.zone), None)
    seconds: dict[SleepStage | None, int] = defaultdict(int)
    for each in staged:
        seconds[each.stage] += round((each.end - each.start).total_seconds())
    asleep = sum(seconds[stage] for stage in _ASLEEP)
    length = round((end - start).total_seconds())
    fell_asleep = next(each.start for each in staged if each.stage in _ASLEEP)
    yield SummaryRow(
        "sleep",
        origin,
        {
            "bedtime_start": start.isoformat(),
            "bedtime_stop": end.isoformat(),
            "timezone_offset": find_utc_offset_of_apple_time(start, zone),
            "type": "long_sleep" if asleep >= 3 * 3600 else "short_sleep",
            "duration": length,
            "total": asleep,
            "awake": seconds[SleepStage.AWAKE],
            "light": seconds[SleepStage.LIGHT],
            "rem": seconds[SleepStage.REM],
            "deep": seconds[SleepStage.DEEP],
            "latency": round((fell_asleep - start).total_seconds()),
            "efficiency": round(100 * asleep / length, 1),
        },
        len(session),
    )
    yield SummaryRow("sleep_cycle", origin, _cycle(start, end, staged, zone), 0)


def _cycle(
    start: datetime, end: datetime, staged: list[_Stretch], zone: str | None
) -> dict[str, Any]:
    def offset(moment: datetime) -> int:
        return round((moment - start).total_seconds())

    return {
        "session_start": _bare(start),
        "session_end": _bare(end),
        "stage_start_offset_second": [offset(each.start) for each in staged],
        "stage_end_offset_second": [offset(each.end) for each in staged],
        "stage_type": [int(each.stage) for each in staged if each.stage is not None],
        **({"time_zone": zone} if zone else {}),
    }


def _bare(moment: datetime) -> str:
    """Write a time in UTC without an offset (contract D16)."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat()


def _without_overlaps(stretches: list[_Stretch]) -> list[_Stretch]:
    """Return the intervals without overlaps, each after the end of the previous one."""
    clear: list[_Stretch] = []
    for each in stretches:
        start = max(each.start, clear[-1].end) if clear else each.start
        if start < each.end:
            clear.append(each._replace(start=start))
    return clear
