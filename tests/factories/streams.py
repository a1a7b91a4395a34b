"""Workouts and their streams, as sources send them; nobody's in truth."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.factories.accounts import ACTOR
from tests.factories.summaries import record
from users.models import Summary
from users.operations.data.streams import record_workout_stream

if TYPE_CHECKING:
    from users.models import User

# When the least workout of tests.factories.summaries starts.
WORKOUT_START = int(datetime(2026, 2, 28, 17, tzinfo=UTC).timestamp())


def stream_body(**wanted: Any) -> dict[str, Any]:
    """Three points of a run, a second apart."""
    return {
        "time": [WORKOUT_START, WORKOUT_START + 1, WORKOUT_START + 2],
        "heartrate": [118, 119, None],
        "velocity_smooth": [2.5, 2.75, 2.5],
        **wanted,
    }


def make_workout(user: User, **wanted: Any) -> Summary:
    """A workout of an hour; `source` is the batch's, the rest the element's."""
    source = wanted.pop("source", {})
    element = {
        "time_start": "2026-02-28T17:00:00+00:00",
        "time_end": "2026-02-28T18:00:00+00:00",
        **wanted,
    }
    recorded = record(user, "workouts", element, **source)
    found: Summary = Summary.objects.for_tenant(user.tenant).get(id=recorded.ids[0])
    found.user = user
    return found


def make_stream(workout: Summary, **wanted: Any) -> None:
    """Store a stream of the workout."""
    record_workout_stream(workout=workout, actor=ACTOR, body=stream_body(**wanted))
