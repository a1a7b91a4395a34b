"""Store recordings of workouts that came from a source."""

from __future__ import annotations

import base64
import logging
from datetime import datetime
from typing import TYPE_CHECKING, Any

from users.models import Summary
from users.operations.data.completing import find_same_time
from users.operations.data.streams import record_workout_stream
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.operations.pulling.recordings import read_fit_recordings
from users.wearables.readings import ElementsInvalid
from users.wearables.resources import derive_summary_id
from users.wearables.streams import StreamInvalid
from users.wearables.summaries import WORKOUTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from portal.lib.actor import Actor
    from users.models import User

logger = logging.getLogger(__name__)


def store_pulled_streams(
    *,
    user: User,
    actor: Actor,
    provider: str,
    recordings: Sequence[dict[str, Any]],
    source_type: str,
    device_id: UUID | None,
    is_history: bool,
) -> None:
    """Store recordings: `fit` is a file in base64, of the workout `external_id`.

    A file of several workouts names none of them by its ID. The workout is the one of
    the same external_id or the same time, else it is made of the recording: a file may
    come before its summary. What is not valid is skipped. In the transaction that
    stores the page, with the user locked. Source: Ours.
    """
    found = []
    for each in recordings:
        file = base64.b64decode(each["fit"])
        read = read_fit_recordings(file, provider=provider)
        if len(read) == 1 and each.get("external_id"):
            own = each["external_id"]
            read[0]["workout"] |= {"external_id": own, "provider_id": own}
        found += read
    for each in found:
        element = each["workout"]
        workout = _find(user, provider, element)
        try:
            if workout is None:
                batch = SummaryBatch(provider, [element], source_type, None, device_id)
                record_summaries(
                    user=user,
                    actor=actor,
                    resource=WORKOUTS,
                    batch=batch,
                    is_history=is_history,
                )
                workout = _find(user, provider, element)
            if workout is not None:
                workout.user = user
                record_workout_stream(
                    workout=workout,
                    actor=actor,
                    body=each["stream"],
                    is_history=is_history,
                )
        except (ElementsInvalid, StreamInvalid):
            logger.warning("skipped a recording that is not valid")


def _find(user: User, provider: str, element: dict[str, Any]) -> Summary | None:
    key = f"external_id:{element.get('external_id')}"
    own = derive_summary_id(user.uuid, provider, WORKOUTS.slug, key)
    mine = Summary.objects.for_tenant(user.tenant).filter(user=user, id=own)
    found: Summary | None = mine.first() or find_same_time(
        user=user,
        resource=WORKOUTS,
        provider=provider,
        start=datetime.fromisoformat(element["time_start"]),
        end=datetime.fromisoformat(element["time_end"]),
    )
    return found
