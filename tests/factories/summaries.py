"""Elements of summaries as sources send them, and stored ones; nobody's in truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.factories.accounts import ACTOR
from users.operations.summaries import Recorded, SummaryBatch, record_summaries
from users.wearables.summaries import SUMMARIES

if TYPE_CHECKING:
    from users.models import User


def cycle_element(**wanted: Any) -> dict[str, Any]:
    """The least valid element of a menstrual cycle."""
    return {
        "period_start": "2026-02-02",
        "period_end": "2026-02-06",
        "cycle_end": "2026-03-01",
        **wanted,
    }


def night_element(**wanted: Any) -> dict[str, Any]:
    """A short night of three stages, slept in Berlin."""
    return {
        "session_start": "2026-02-28T22:00:00",
        "session_end": "2026-03-01T00:00:00",
        "stage_start_offset_second": [0, 1800, 5400],
        "stage_end_offset_second": [1800, 5400, 7200],
        "stage_type": [2, 1, 3],
        "time_zone": "Europe/Berlin",
        **wanted,
    }


ELEMENTS = {"menstrual_cycle": cycle_element, "sleep_cycle": night_element}


def record(
    user: User,
    slug: str,
    *elements: dict[str, Any],
    provider: str = "oura",
    **wanted: Any,
) -> Recorded:
    """Store a batch, by default the least valid one."""
    return record_summaries(
        user=user,
        actor=ACTOR,
        resource=SUMMARIES[slug],
        batch=SummaryBatch(
            provider=provider, elements=elements or (ELEMENTS[slug](),), **wanted
        ),
    )
