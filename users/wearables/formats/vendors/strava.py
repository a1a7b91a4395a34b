"""Strava's archive: activities.csv, and the recordings beside it.

"Activity Date" is UTC. The first Distance and Elapsed Time are rounded and of the
athlete's unit, the second ones are meters and seconds (archives of 2018 to 2026 in
tests/bench/health_files.csv). A recording named by a row is that
workout's stream, whoever made it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.rows import Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Form,
    iterate_cells,
    make_sport,
    make_summary,
)
from users.wearables.formats.uploads.values import (
    add_seconds,
    parse_number,
    parse_whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_COLUMNS = ("activity id", "activity date", "activity type", "elapsed time")
_DATES = ("%b %d, %Y, %I:%M:%S %p", "%d %b %Y, %H:%M:%S", "%Y-%m-%d %H:%M:%S")
_NUMBERS = {
    "distance": "distance#2",
    "total_elevation_gain": "elevation gain",
    "elev_high": "elevation high",
    "elev_low": "elevation low",
    "average_speed": "average speed",
    "max_speed": "max speed",
    "calories": "calories",
    "average_watts": "average watts",
    "max_watts": "max watts",
    "weighted_average_watts": "weighted average power",
}
_WHOLE = {
    "average_hr": ("average heart rate",),
    "max_hr": ("max heart rate#2", "max heart rate"),
    "moving_time": ("moving time",),
    "steps": ("total steps",),
}
# Recordings by their name, and the workout that each is of.
KEPT = "recordings"


def _read(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
    recordings = reading.kept.setdefault(KEPT, {})
    for cells in iterate_cells(member, head, _COLUMNS):
        if isinstance(cells, SkippedRows):
            yield cells
            continue
        start = _at(cells.first("activity date"))
        lasted = parse_number(cells.first("elapsed time#2", "elapsed time"))
        if start is None or not lasted:
            reason = DropReason.BAD_TIME if start is None else DropReason.NO_VALUE
            yield SkippedRows(reason, "activity")
            continue
        row = make_summary(
            "workouts",
            Origin(),
            {
                "time_start": start,
                "time_end": add_seconds(start, lasted),
                "provider_id": cells.first("activity id"),
                "title": cells.first("activity name")[:1000],
                "sport": make_sport(cells.first("activity type")),
                **{
                    name: parse_number(cells.first(column), comma="decimal")
                    for name, column in _NUMBERS.items()
                },
                **{
                    name: parse_whole(cells.first(*columns), comma="decimal")
                    for name, columns in _WHOLE.items()
                },
            },
        )
        file = cells.first("filename").rsplit("/", 1)[-1].removesuffix(".gz")
        if file:
            recordings[file] = row.element
        yield row


def _at(text: str) -> str | None:
    for form in _DATES:
        try:
            at = datetime.strptime(  # noqa: DTZ007 - its zone is UTC
                text.replace("\u202f", " "), form
            )
        except ValueError:
            continue
        return at.replace(tzinfo=UTC).isoformat()
    return None


FORMS = (Form("Strava activities", ImportFormat.STRAVA, _read, columns=_COLUMNS),)
PROVIDER = "strava"
