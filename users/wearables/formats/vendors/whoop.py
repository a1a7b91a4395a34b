"""WHOOP exports: sleeps, workouts, recoveries of cycles, and the journal (CSV).

Times are wall clock at "Cycle timezone". Stages are minutes, shares percent; heart rate
variability in ms is taken for RMSSD, as the API names it (hrv_rmssd_milli, which public
clients read; read 2026-11-24): the export does not say it. Columns: public exports
(digests in tests/bench/health_files.csv).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.rows import Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Cells,
    Form,
    iterate_cells,
    make_note,
    make_sample,
    make_sport,
    make_summary,
)
from users.wearables.formats.uploads.values import (
    add_seconds,
    parse_local_time,
    parse_number,
    parse_utc_offset,
    parse_whole,
    write_offset,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_ORIGIN = Origin()
_ZONE = "cycle timezone"
_SLEEP = ("sleep onset", "wake onset", _ZONE, "asleep duration (min)")
_CYCLE = ("recovery score %", *_SLEEP)
_WORKOUT = ("workout start time", "workout end time", _ZONE, "activity name")
_JOURNAL = ("question text", "answered yes|answered", _ZONE)
# Our fields of a night, by the column of minutes.
_STAGES = {
    "total": "asleep duration (min)",
    "light": "light sleep duration (min)",
    "deep": "deep (sws) duration (min)",
    "rem": "rem duration (min)",
    "awake": "awake duration (min)",
}


def _at(cells: Cells, name: str) -> str | None:
    """Return a time with its offset; without one it is of the user's zone."""
    local = parse_local_time(cells.first(name))
    offset = parse_utc_offset(cells.first(_ZONE))
    return local if local is None or offset is None else local + write_offset(offset)


def _read_nights(columns: tuple[str, ...]) -> Any:
    def read(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
        nights = reading.kept.setdefault("whoop nights", {})
        for cells in iterate_cells(member, head, columns):
            if isinstance(cells, SkippedRows):
                yield cells
                continue
            onset, wake = _at(cells, "sleep onset"), _at(cells, "wake onset")
            if onset is None or wake is None:
                yield SkippedRows(DropReason.BAD_TIME, "sleep")
                continue
            rows, night = nights.get(onset, (0, Cells()))
            nights[onset] = rows + 1, Cells({**night, **cells})

    return read


def finish(reading: Reading) -> Iterator[Row]:
    """Yield the nights, each of its rows in sleeps and in physiological cycles."""
    for onset, (rows, cells) in reading.kept.get("whoop nights", {}).items():
        wake = _at(cells, "wake onset")
        minutes = {name: parse_number(cells.first(c)) for name, c in _STAGES.items()}
        is_nap = cells.first("nap").lower() == "true"
        yield make_summary(
            "sleep",
            _ORIGIN,
            {
                "bedtime_start": onset,
                "bedtime_stop": wake,
                "timezone_offset": parse_utc_offset(cells.first(_ZONE)),
                "type": "acknowledged_nap" if is_nap else "long_sleep",
                **{
                    name: None if value is None else round(value * 60)
                    for name, value in minutes.items()
                },
                "efficiency": parse_number(cells.first("sleep efficiency %")),
                "respiratory_rate": parse_number(cells.first("respiratory rate (rpm)")),
                "recovery_readiness_score": parse_whole(
                    cells.first("recovery score %")
                ),
                "hr_resting": parse_whole(cells.first("resting heart rate (bpm)")),
                "average_hrv": parse_number(cells.first("heart rate variability (ms)")),
                "skin_temperature": parse_number(cells.first("skin temp (celsius)")),
            },
            rows,
        )
        oxygen = cells.first("blood oxygen %")
        if oxygen:
            yield make_sample("blood_oxygen", _ORIGIN, parse_number(oxygen), wake)


def _read_workouts(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
    for cells in iterate_cells(member, head, _WORKOUT):
        if isinstance(cells, SkippedRows):
            yield cells
            continue
        start, end = _at(cells, "workout start time"), _at(cells, "workout end time")
        if start is None or end is None:
            yield SkippedRows(DropReason.BAD_TIME, "workout")
            continue
        yield make_summary(
            "workouts",
            _ORIGIN,
            {
                "time_start": start,
                "time_end": end,
                "timezone_offset": parse_utc_offset(cells.first(_ZONE)),
                "sport": make_sport(cells.first("activity name")),
                # WHOOP's "cal" are food calories: its API has kilojoules of them.
                "calories": parse_number(cells.first("energy burned (cal)")),
                "average_hr": parse_whole(cells.first("average hr (bpm)")),
                "max_hr": parse_whole(cells.first("max hr (bpm)")),
                "distance": parse_number(cells.first("distance (meters)")),
                "total_elevation_gain": parse_number(
                    cells.first("altitude gain (meters)")
                ),
                "hr_zones": _zones(cells, start, end),
            },
        )


def _zones(cells: Cells, start: str, end: str) -> list[int] | None:
    """Return the seconds in five zones, of which the export has percent."""
    shares = [parse_number(cells.first(f"hr zone {each} %")) for each in range(1, 6)]
    lasted = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    if None in shares or lasted.total_seconds() <= 0:
        return None
    return [round(lasted.total_seconds() * (each or 0) / 100) for each in shares]


def _read_journal(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
    seen: dict[str, int] = {}
    for cells in iterate_cells(member, head, _JOURNAL):
        if isinstance(cells, SkippedRows):
            yield cells
            continue
        at = _at(cells, "cycle start time")
        answer = cells.first("answered yes", "answered").lower()
        said = {"true": "yes", "false": "no"}.get(answer, answer)
        text = f"{cells.first('question text')} {said} {cells.first('notes')}"
        # Of one moment are all answers of a cycle: each a second later than the last.
        nth = seen[at or ""] = seen.get(at or "", -1) + 1
        yield make_note(text, _ORIGIN, add_seconds(at, nth))


_FORMAT = ImportFormat.WHOOP
FORMS = (
    Form("WHOOP cycles", _FORMAT, _read_nights(_CYCLE), columns=_CYCLE),
    Form("WHOOP sleeps", _FORMAT, _read_nights(_SLEEP), columns=_SLEEP),
    Form("WHOOP workouts", _FORMAT, _read_workouts, columns=_WORKOUT),
    Form("WHOOP journal", _FORMAT, _read_journal, columns=_JOURNAL),
)
PROVIDER = "whoop_v2"
