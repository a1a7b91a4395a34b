"""Wire shapes that the API and events share; explicit builders from rows to dicts.

Every listed key is always there, null for none. Must not be here: who may read a row.
"""

from labs.payloads.catalogue import (
    LabAnswer,
    LabTestAnswer,
    MarkerAnswer,
    lab_payload,
    lab_test_payload,
    marker_payload,
)
from labs.payloads.orders import (
    ORDER_SCHEMA,
    OrderAnswer,
    PhysicianAnswer,
    event_payload,
    order_events,
    order_payload,
    transaction_status,
)
from labs.payloads.results import CRITICAL_SCHEMA, CriticalAnswer, critical_payload

__all__ = [
    "CRITICAL_SCHEMA",
    "ORDER_SCHEMA",
    "CriticalAnswer",
    "LabAnswer",
    "LabTestAnswer",
    "MarkerAnswer",
    "OrderAnswer",
    "PhysicianAnswer",
    "critical_payload",
    "event_payload",
    "lab_payload",
    "lab_test_payload",
    "marker_payload",
    "order_events",
    "order_payload",
    "transaction_status",
]
