"""Wire shapes shared by API and events, and their builders.

Every key is always present; missing values are null.
"""

from labs.payloads.catalogue import (
    LabAnswer,
    LabTestAnswer,
    MarkerAnswer,
    build_lab,
    build_lab_test,
    build_marker,
    build_ordered_lab_test,
)
from labs.payloads.orders import (
    ORDER_SCHEMA,
    OrderAnswer,
    PhysicianAnswer,
    build_order,
    build_order_event,
    get_transaction_status,
    list_order_events,
)
from labs.payloads.results import (
    CRITICAL_SCHEMA,
    CriticalAnswer,
    build_critical_result_event,
)

__all__ = [
    "CRITICAL_SCHEMA",
    "ORDER_SCHEMA",
    "CriticalAnswer",
    "LabAnswer",
    "LabTestAnswer",
    "MarkerAnswer",
    "OrderAnswer",
    "PhysicianAnswer",
    "build_critical_result_event",
    "build_lab",
    "build_lab_test",
    "build_marker",
    "build_order",
    "build_order_event",
    "build_ordered_lab_test",
    "get_transaction_status",
    "list_order_events",
]
