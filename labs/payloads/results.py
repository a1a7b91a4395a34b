"""Wire shapes of results (contract 6.15, 8.2)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from labs.states.orders import Interpretation

if TYPE_CHECKING:
    from labs.models import Order


class CriticalAnswer(TypedDict):
    """An order with a critical result; request its results by ID."""

    order_id: UUID
    sample_id: str
    status: str
    interpretation: Annotated[str, Interpretation]
    team_id: UUID
    user_id: UUID
    created_at: datetime
    updated_at: datetime


# Data of labtest.result.critical (contract 8.2): all of it is required.
CRITICAL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": sorted(CriticalAnswer.__required_keys__),
    "properties": {
        "order_id": {"type": "string", "format": "uuid"},
        "sample_id": {"type": "string"},
        "status": {"type": "string"},
        "interpretation": {"type": "string"},
        "team_id": {"type": "string", "format": "uuid"},
        "user_id": {"type": "string", "format": "uuid"},
        "created_at": {"type": "string", "format": "date-time"},
        "updated_at": {"type": "string", "format": "date-time"},
    },
}


def build_critical_result_event(order: Order) -> CriticalAnswer:
    """Build the event of an order with a critical result: its times and full status."""
    return {
        "order_id": order.pk,
        "sample_id": order.sample_id,
        "status": order.status,
        "interpretation": Interpretation.CRITICAL,
        "team_id": order.tenant.team_id,
        "user_id": order.user.uuid,
        "created_at": order.created_at,
        "updated_at": order.updated_at,
    }
