"""Health Connect's export of a phone: an SQLite database, read in its own order.

Tables and columns are named from public code; no public database was at hand. Times are
milliseconds of Unix beside the offset of the zone in seconds; mass is in grams, energy
in calories, length in meters, volume in liters. The file is opened read-only, its
schema is not trusted, and each query is bounded.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from users.states import SourceType
from users.states.imports import DropReason, ImportFormat, ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Form,
    make_sample,
    make_sport,
    make_summary,
)
from users.wearables.formats.uploads.values import parse_number, write_unix_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_PHONE = str(SourceType.PHONE)


class Table(NamedTuple):
    """A table of records: its column, our resource, and the scale of its values."""

    column: str
    slug: str
    scale: float = 1
    is_interval: bool = False


_TABLES = {
    "steps_record_table": Table("count", "steps", is_interval=True),
    "distance_record_table": Table("distance", "distance", is_interval=True),
    "active_calories_burned_record_table": Table(
        "energy", "calories_active", 0.001, is_interval=True
    ),
    "floors_climbed_record_table": Table("floors", "floors_climbed", is_interval=True),
    "heart_rate_variability_rmssd_record_table": Table(
        "heart_rate_variability_millis", "hrv"
    ),
    "oxygen_saturation_record_table": Table("percentage", "blood_oxygen"),
    "respiratory_rate_record_table": Table("rate", "respiratory_rate"),
    "weight_record_table": Table("weight", "body_weight", 0.001),
    "body_fat_record_table": Table("percentage", "body_fat"),
    "lean_body_mass_record_table": Table("mass", "lean_body_mass", 0.001),
    "blood_glucose_record_table": Table("level", "glucose"),
    "body_temperature_record_table": Table("temperature", "body_temperature"),
    "basal_body_temperature_record_table": Table(
        "temperature", "basal_body_temperature"
    ),
    "hydration_record_table": Table("volume", "water", 1000, is_interval=True),
    "vo2_max_record_table": Table("vo2_milliliters_per_minute_kilogram", "vo2_max"),
}
# Of sleep: SleepSessionRecord's stages, as ours.
_STAGES = {1: 4, 2: 2, 3: 4, 4: 2, 5: 1, 6: 3, 7: 4}
_STAGE_FIELDS = {4: "awake", 2: "light", 1: "deep", 3: "rem"}
# ExerciseSessionType numbers of the platform that a public export confirms.
_SPORTS = {33: "running", 45: "strength training", 53: "walking"}
_SESSIONS = frozenset(
    {
        *("heart_rate_record_table", "heart_rate_record_series_table"),
        *("sleep_session_record_table", "sleep_stages_table"),
        *("exercise_session_record_table", "blood_pressure_record_table"),
    }
)
_VALUE_MAX = 1024**2
_QUERY_SECONDS = 300
_STEPS_BETWEEN_CHECKS = 100_000


def _read(member: Member, _head: Head, _reading: Reading) -> Iterator[Row]:
    with member.as_path() as path:
        uri = f"file:{path}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as database:
                _harden(database)
                yield from _Database(database).rows()
        except sqlite3.Error:
            raise FileRefused(
                ImportRefusal.DAMAGED, "a Health Connect database"
            ) from None


def _harden(database: sqlite3.Connection) -> None:
    """Bound what a hostile file can make SQLite do."""
    ends = time.monotonic() + _QUERY_SECONDS
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_MAX)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA query_only = ON")
    database.execute("PRAGMA cell_size_check = ON")
    database.set_progress_handler(
        lambda: int(time.monotonic() > ends), _STEPS_BETWEEN_CHECKS
    )


class _Database:
    """An export, with the tables and columns that it really has."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        listed = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 2000"
        )
        self.tables = {str(name) for (name,) in listed}
        self._apps = self._read_apps()

    def rows(self) -> Iterator[Row]:
        if not self.tables & (_TABLES.keys() | _SESSIONS):
            raise FileRefused(ImportRefusal.NOT_READ_YET, "an SQLite database")
        for name, table in _TABLES.items():
            yield from self._samples(name, table)
        yield from self._heart_rates()
        yield from self._pressures()
        yield from self._nights()
        yield from self._exercises()
        known = _TABLES.keys() | _SESSIONS
        for name in sorted(self.tables - known):
            if name.lower().endswith("record_table") or name.endswith("RecordTable"):
                number = self._count(name)
                if number:
                    yield SkippedRows(DropReason.UNKNOWN_KIND, name[:60], number)

    def _samples(self, name: str, table: Table) -> Iterator[Row]:
        at = "start_time" if table.is_interval else "time"
        for row in self._select(name, at, table.column):
            value = parse_number(row[table.column])
            # 5e-324, the least there is, stands for nothing written.
            known = value if value is not None and abs(value) > 1e-300 else None
            offset = row.get("start_zone_offset", row.get("zone_offset"))
            yield make_sample(
                table.slug,
                self._origin(row),
                None if known is None else known * table.scale,
                _iso(row[at]),
                _iso(row.get("end_time")),
                timezone_offset=offset if isinstance(offset, int) else None,
            )

    def _heart_rates(self) -> Iterator[Row]:
        series, parent = "heart_rate_record_series_table", "heart_rate_record_table"
        if not {series, parent} <= self.tables:
            return
        query = (
            f"SELECT s.epoch_millis, s.beats_per_minute, p.app_info_id"  # noqa: S608
            f" FROM {series} s JOIN {parent} p ON p.row_id = s.parent_key"
        )
        for millis, rate, app in self._database.execute(query):
            origin = self._origin({"app_info_id": app})
            yield make_sample("heartrate", origin, parse_number(rate), _iso(millis))

    def _pressures(self) -> Iterator[Row]:
        for row in self._select(
            "blood_pressure_record_table", "time", "systolic", "diastolic"
        ):
            yield make_sample(
                "blood_pressure",
                self._origin(row),
                parse_number(row["systolic"]),
                _iso(row["time"]),
                diastolic=parse_number(row["diastolic"]),
            )

    def _nights(self) -> Iterator[Row]:
        for row in self._select("sleep_session_record_table", "start_time", "end_time"):
            start, end = row["start_time"], row["end_time"]
            stages = self._stages(row.get("row_id"), start, end)
            sums: dict[str, int] = {}
            for first, last, stage in stages:
                name = _STAGE_FIELDS[stage]
                sums[name] = sums.get(name, 0) + last - first
            session = {
                "timezone_offset": row.get("start_zone_offset"),
                "bedtime_start": _iso(start),
                "bedtime_stop": _iso(end),
            }
            yield make_summary("sleep", self._origin(row), session | sums)
            if stages:
                yield make_summary(
                    "sleep_cycle",
                    self._origin(row),
                    {
                        "session_start": _iso(start),
                        "session_end": _iso(end),
                        "stage_type": [each[2] for each in stages],
                        "stage_start_offset_second": [each[0] for each in stages],
                        "stage_end_offset_second": [each[1] for each in stages],
                    },
                    0,
                )

    def _stages(self, key: Any, start: Any, end: Any) -> list[tuple[int, int, int]]:
        if "sleep_stages_table" not in self.tables or type(start) is not int:
            return []
        found: list[tuple[int, int, int]] = []
        before = 0
        rows = self._database.execute(
            "SELECT stage_start_time, stage_end_time, stage_type FROM"
            " sleep_stages_table WHERE parent_key = ? ORDER BY 1 LIMIT 5000",
            (key,),
        )
        for begins, ends, kind in rows:
            stage = _STAGES.get(kind)
            if stage is None or type(begins) is not int or type(ends) is not int:
                continue
            first = max((begins - start) // 1000, before)
            last = min((ends - start) // 1000, (end - start) // 1000)
            if first < last:
                found.append((first, last, stage))
                before = last
        return found

    def _exercises(self) -> Iterator[Row]:
        for row in self._select(
            "exercise_session_record_table", "start_time", "end_time", "exercise_type"
        ):
            kind = row["exercise_type"]
            sport = _SPORTS.get(kind, f"exercise {kind}")
            number = kind if type(kind) is int and 0 <= kind < 1000 else 0
            yield make_summary(
                "workouts",
                self._origin(row),
                {
                    "time_start": _iso(row["start_time"]),
                    "time_end": _iso(row["end_time"]),
                    "timezone_offset": row.get("start_zone_offset"),
                    "title": str(row.get("title") or "")[:1000],
                    "sport": {**make_sport(sport), "id": number},
                },
            )

    def _select(self, name: str, *needed: str) -> Iterator[dict[str, Any]]:
        """Yield rows of a table as fields; nothing of one without these columns."""
        if name not in self.tables:
            return
        cursor = self._database.execute(f'SELECT * FROM "{name}"')  # noqa: S608
        columns = [each[0] for each in cursor.description]
        if not set(needed) <= set(columns):
            return
        for row in cursor:
            yield dict(zip(columns, row, strict=True))

    def _count(self, name: str) -> int:
        quoted = name.replace('"', '""')
        query = f'SELECT count(*) FROM "{quoted}"'  # noqa: S608 - quoted
        return int(self._database.execute(query).fetchone()[0])

    def _read_apps(self) -> dict[int, str]:
        rows = self._select("application_info_table", "row_id", "package_name")
        return {each["row_id"]: str(each["package_name"])[:255] for each in rows}

    def _origin(self, row: dict[str, Any]) -> Origin:
        return Origin(_PHONE, self._apps.get(row.get("app_info_id", -1)))


def _iso(millis: Any) -> str | None:
    return write_unix_time(millis / 1000) if type(millis) is int else None


FORMS = (Form("Health Connect", ImportFormat.HEALTH_CONNECT, _read, "sqlite"),)
PROVIDER = "health_connect"
