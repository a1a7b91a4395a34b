"""The events of the labs app: orders, visits, critical and unmatched results."""

from __future__ import annotations

from accounts.webhooks.catalogue import EventType
from labs.payloads import CRITICAL_SCHEMA, ORDER_SCHEMA
from labs.payloads.appointments import APPOINTMENT_SCHEMA
from labs.payloads.match_reviews import MATCH_REVIEW_SCHEMA
from labs.payloads.tracking import TRACKING_SCHEMA
from portal.lib.translation import gettext_lazy

EVENT_TYPES = (
    EventType(
        "labtest.order.created",
        gettext_lazy("An order was placed; data is the order."),
        ORDER_SCHEMA,
    ),
    EventType(
        "labtest.order.updated",
        gettext_lazy("An order's status changed; data is the order."),
        ORDER_SCHEMA,
    ),
    EventType(
        "labtest.order_tracking.updated",
        gettext_lazy(
            "When a sample was collected or results are due changed; data is the"
            " order's tracking."
        ),
        TRACKING_SCHEMA,
    ),
    EventType(
        "labtest.appointment.created",
        gettext_lazy("A visit was booked or requested; data is the appointment."),
        APPOINTMENT_SCHEMA,
    ),
    EventType(
        "labtest.appointment.updated",
        gettext_lazy("A visit's status changed; data is the appointment."),
        APPOINTMENT_SCHEMA,
    ),
    EventType(
        "labtest.result.critical",
        gettext_lazy("A lab reported a critical result; data has the order's ID."),
        CRITICAL_SCHEMA,
    ),
    EventType(
        "labtest.match_review.created",
        gettext_lazy(
            "A result came that matches no order; data is its review. Its user is the"
            " nil UUID."
        ),
        MATCH_REVIEW_SCHEMA,
    ),
    EventType(
        "labtest.match_review.updated",
        gettext_lazy(
            "An unmatched result was matched, rejected, escalated or restored; data is"
            " its review. Its user is that of the order, else the nil UUID."
        ),
        MATCH_REVIEW_SCHEMA,
    ),
)
