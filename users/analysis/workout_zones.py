"""Heart rate zones of workouts, derived from stream and age if not sent.

They are worked out as they are read, so that a birth date that is given later, or
mended, acts at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from users.analysis.heart_rate import max_heart_rate, sum_seconds_in_heart_rate_zones
from users.queries import find_birth_dates_by_source, sum_seconds_at_each_heart_rate
from users.wearables.readings import Schema, build_closed_object_schema
from users.wearables.summaries import WORKOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from users.models import User
    from users.queries import SummaryRow
    from users.wearables.resources import SummaryResource


PROVENANCE_SCHEMA: Schema = {
    **build_closed_object_schema(
        {
            "hr_zones": {
                **build_closed_object_schema(
                    {
                        "max_heart_rate": {"type": "integer", "description": "bpm"},
                        "birth_date_source": {
                            "type": "string",
                            "description": "Slug of the source, or of the origin of the"
                            " user's fallback",
                        },
                    }
                ),
                "type": ["object", "null"],
                "description": "Null if the source sent the zones or none are known",
            }
        }
    ),
    "description": "Calculated values and their basis; only on request",
}


@dataclass(frozen=True, slots=True)
class WorkoutZones:
    """Seconds in five zones, and their basis.

    `birth_date_source` is the slug of what gave the birth date that `max_heart_rate`
    (bpm) comes from: the workout's own source, or whatever set the user's fallback.
    """

    seconds: list[int]
    max_heart_rate: int
    birth_date_source: str

    @property
    def provenance(self) -> dict[str, int | str]:
        """Return the basis of the zones in wire form."""
        return {
            "max_heart_rate": self.max_heart_rate,
            "birth_date_source": self.birth_date_source,
        }


def derive_workout_zones(
    *, user: User, workouts: Sequence[SummaryRow]
) -> dict[UUID, WorkoutZones]:
    """Derive the zones of workouts without any from their streams.

    A source's own birth date goes before the user's fallback. No query where all have
    zones, else at most two. Source: Contract 2.1 (fallback_birth_date), 4.7; Ours: the
    heart rates of the workout's stream.
    """
    without = {row.id: row for row in workouts if row.body.get("hr_zones") is None}
    if not without:
        return {}
    lasted = sum_seconds_at_each_heart_rate(user=user, workout_ids=without)
    if not lasted:
        return {}
    given = find_birth_dates_by_source(user=user)
    return {
        id_: zones
        for id_, seconds in lasted.items()
        if (zones := _zones(user, without[id_], given, seconds)) is not None
    }


def fill_missing_workout_zones(
    *, user: User, resource: SummaryResource, rows: list[SummaryRow]
) -> list[SummaryRow]:
    """Return rows as answered; workouts without zones get derived ones."""
    if resource is not WORKOUTS:
        return rows
    derived = derive_workout_zones(user=user, workouts=rows)
    return [
        row._replace(body={**row.body, "hr_zones": derived[row.id].seconds})
        if row.id in derived
        else row
        for row in rows
    ]


def _zones(
    user: User,
    workout: SummaryRow,
    fields: Mapping[str, date],
    heart_rate_seconds: Mapping[int, int],
) -> WorkoutZones | None:
    birth_date = fields.get(workout.provider)
    source = workout.provider
    if birth_date is None:
        birth_date = user.fallback_birth_date
        source = user.fallback_birth_date_source
    if birth_date is None:
        return None
    day = date.fromisoformat(workout.body["calendar_date"])
    most = max_heart_rate(day, birth_date)
    if most is None:
        return None
    return WorkoutZones(
        sum_seconds_in_heart_rate_zones(heart_rate_seconds, most), most, source
    )
