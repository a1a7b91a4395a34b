"""Workout streams: store one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import emit_events
from portal.lib.database import rows
from users.analysis.workout_zones import fill_missing_workout_zones
from users.models import Summary
from users.operations.sources.sources import (
    ensure_source_connected,
    record_data_arrival,
)
from users.queries import SummaryRow, lock_user
from users.wearables.streams import (
    STREAM_RESOURCE,
    build_workout_stream_event,
    parse_workout_stream,
    workout_stream_event_type,
)
from users.wearables.summaries import WORKOUTS

if TYPE_CHECKING:
    from datetime import datetime

    from portal.lib.actor import Actor
    from users.models import User
    from users.wearables.streams import Stream

# An equal stream is left alone: no dead tuple, and no row comes back.
_UPSERT = """
    INSERT INTO users_workoutstream AS kept (
        user_id, workout_id, tenant_id, points, content, digest, heart_rate_seconds,
        version, created_at, updated_at
    )
    VALUES (%s, %s, %s, %s, %s, %s, %s, 1, %s, %s)
    ON CONFLICT (user_id, workout_id) DO UPDATE SET
        points = excluded.points, content = excluded.content,
        digest = excluded.digest, heart_rate_seconds = excluded.heart_rate_seconds,
        version = kept.version + 1, updated_at = excluded.updated_at
    WHERE kept.digest IS DISTINCT FROM excluded.digest
    RETURNING version
"""


@transaction.atomic
def record_workout_stream(
    *, workout: Summary, actor: Actor, body: Any, is_history: bool = False
) -> bool | None:
    """Store the stream of a live user's workout, replacing an earlier one.

    Returns whether it is new; None where nothing changed. `body` is the object of
    contract 5.3. An equal stream changes and emits nothing. One that is new or changed
    emits a shallow event (of `is_history` none, see record_samples); if it tells zones
    that the workout has none of, the workout was updated too. Of a workout outside of
    the ingestion bounds it is dropped. Raises: StreamInvalid (422); not_found. Source:
    Spec 6.4; Contract 5.3, 5.4, 8.2; Ours: the event of the workout, as what is
    answered of it changes.
    """
    now = timezone.now()
    stream = parse_workout_stream(body, now=now)
    user = lock_user(workout.user)
    is_new: bool | None = None
    is_dropped = not _is_within(user, workout)
    if not is_dropped:
        ensure_source_connected(
            user=user,
            actor=actor,
            provider=workout.provider,
            is_history=is_history,
        )
        before = _as_answered(user, workout)
        is_new = _store(user, workout, stream, now)
    record_data_arrival(
        user=user,
        provider=workout.provider,
        resource=STREAM_RESOURCE,
        at=now,
        received=1,
        created=int(is_new is True),
        updated=int(is_new is False),
        dropped=int(is_dropped),
        oldest=None if is_dropped else workout.starts_at,
        newest=None if is_dropped else workout.starts_at,
    )
    if is_new is None:
        return None
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb="record_workout_stream",
        subject=STREAM_RESOURCE,
        subject_id=workout.id,
        user_uuid=user.uuid,
        changes={"created": int(is_new), "updated": int(not is_new)},
    )
    messages = [
        (
            workout_stream_event_type(is_new=is_new),
            build_workout_stream_event(user.uuid, _row(workout)),
        )
    ]
    if _as_answered(user, workout).body != before.body:
        workout.version += 1
        workout.updated_at = now
        workout.save(update_fields=["version", "updated_at"])
        messages.append(
            (
                WORKOUTS.event_type(is_new=False),
                WORKOUTS.event(user.uuid, _as_answered(user, workout)),
            )
        )
    if not is_history:
        emit_events(tenant=user.tenant, user=user.ref, messages=messages)
    return is_new


def _is_within(user: User, workout: Summary) -> bool:
    """Return whether the workout's day lies in the ingestion bounds."""
    start, end = user.ingestion_start, user.ingestion_end
    return not (start and workout.last_date < start) and not (
        end and workout.calendar_date > end
    )


def _store(user: User, workout: Summary, stream: Stream, now: datetime) -> bool | None:
    """Upsert the stream; return whether it is new, None if unchanged."""
    lasted = stream.heart_rate_seconds
    found = rows.fetch_rows(
        _UPSERT,
        [
            *(user.pk, workout.id, user.tenant_id, stream.points),
            *(stream.content, stream.digest),
            None if lasted is None else Jsonb(lasted),
            *(now, now),
        ],
    )
    return found[0][0] == 1 if found else None


def _row(workout: Summary) -> SummaryRow:
    return SummaryRow(
        *(workout.id, workout.provider, workout.source_type, workout.app_id),
        *(workout.device_id, workout.body, workout.created_at, workout.updated_at),
    )


def _as_answered(user: User, workout: Summary) -> SummaryRow:
    (row,) = fill_missing_workout_zones(
        user=user, resource=WORKOUTS, rows=[_row(workout)]
    )
    return row
