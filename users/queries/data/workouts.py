"""Reads of workout streams, and of the data behind heart rate zones.

Every reader of these audits the read (accounts.operations.audit.entries).
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

import orjson

from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from accounts.models import Tenant
    from users.models import User


class WorkoutStreamRow(NamedTuple):
    """The user of a workout, and its stream's gzipped answer or None."""

    user_uuid: UUID
    content: bytes | None


def workout_stream(*, tenant: Tenant, workout_id: UUID) -> WorkoutStreamRow | None:
    """Return the stream of a live user's workout, or None; one query."""
    found = rows.fetch_rows(
        "SELECT person.uuid, stream.content FROM users_summary workout"
        " JOIN users_user person"
        " ON person.id = workout.user_id AND person.deleted_at IS NULL"
        " LEFT JOIN users_workoutstream stream"
        " ON stream.user_id = workout.user_id AND stream.workout_id = workout.id"
        " WHERE workout.tenant_id = %s AND workout.id = %s"
        " AND workout.kind = 'workouts'",
        [tenant.pk, workout_id],
    )
    return WorkoutStreamRow(*found[0]) if found else None


def sum_seconds_at_each_heart_rate(
    *, user: User, workout_ids: Collection[UUID]
) -> dict[UUID, dict[int, int]]:
    """Return the seconds of each heart rate by workout; one query.

    A workout whose stream does not tell is not there.
    """
    found = rows.fetch_rows(
        "SELECT workout_id, heart_rate_seconds::text FROM users_workoutstream"
        " WHERE user_id = %s AND tenant_id = %s AND workout_id = ANY(%s)"
        " AND heart_rate_seconds IS NOT NULL",
        [user.pk, user.tenant_id, list(workout_ids)],
    )
    return {
        workout_id: {int(rate): seconds for rate, seconds in orjson.loads(text).items()}
        for workout_id, text in found
    }


def find_birth_dates_by_source(*, user: User) -> dict[str, date]:
    """Return the birth date in each source's profile, by slug; one query."""
    found = rows.fetch_rows(
        "SELECT provider, body->>'birth_date' FROM users_summary"
        " WHERE tenant_id = %s AND user_id = %s AND kind = 'profile'"
        " AND body->>'birth_date' IS NOT NULL ORDER BY updated_at, id",
        [user.tenant_id, user.pk],
    )
    return {provider: date.fromisoformat(text) for provider, text in found}
