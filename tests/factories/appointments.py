"""Sites, orders that visits are booked for, and visits; the people are made up."""

from __future__ import annotations

import itertools
from datetime import date
from typing import Any

from accounts.states import Environment
from labs.models import Appointment, Lab, Order, ServiceCenter
from labs.operations.appointments.booking import BookingRequest, book_appointment
from labs.operations.appointments.slots import FreeSlot, list_center_slots
from labs.operations.order_status.status import advance_order
from labs.states.catalogue import CollectionMethod
from labs.states.service_centers import (
    Capability,
    parse_opening_hours,
    serialize_opening_hours,
)
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab, make_lab_test, make_order

_numbers = itertools.count(1)
EVERY_DAY = "mon-sun 07:00-19:00"
HOME = {
    "first_line": "1 Sample Street",
    "city": "Phoenix",
    "state": "AZ",
    "zip_code": "85004",
}


def booking_lab(slug: str = "quest", *, tenant: Any = None) -> Lab:
    """The lab of this slug in the tenant's environment, else the sandbox's."""
    environment = tenant.environment if tenant else Environment.SANDBOX
    known = Lab.objects.filter(slug=slug, environment=environment)
    return known.first() or make_lab(slug, environment=environment)


def make_center(
    *, hours: str = EVERY_DAY, tenant: Any = None, **fields: Any
) -> ServiceCenter:
    """A center in Phoenix of the first bookable lab, booked here, of one place."""
    center = ServiceCenter(
        **{
            "lab": fields.pop("lab", None) or booking_lab(tenant=tenant),
            "site_code": f"T{next(_numbers)}",
            "name": "Test Center",
            "first_line": "1 Sample Street",
            "city": "Phoenix",
            "state": "AZ",
            "zip_code": "85004",
            "latitude": 33.4557,
            "longitude": -112.0686,
            "time_zone": "America/Phoenix",
            "hours": serialize_opening_hours(parse_opening_hours(hours)),
            "capabilities": [Capability.BOOKABLE_HERE],
            "bill_types": ["client_bill"],
            "places": 1,
            **fields,
        }
    )
    center.save(force_insert=True)
    return center


def make_bookable_order(
    *, tenant: Any, method: str = CollectionMethod.WALK_IN_TEST, **wanted: Any
) -> Order:
    """An order whose requisition is made, at the first bookable lab."""
    lab = booking_lab(tenant=tenant)
    panel = make_lab_test(tenant=tenant, lab=lab, method=method)
    order = make_order(tenant=tenant, lab_test=panel, **wanted)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    return order


def free_slots(tenant: Any, center: ServiceCenter, **wanted: Any) -> list[FreeSlot]:
    """What is free at a center in the next fourteen days."""
    found = list_center_slots(
        tenant=tenant,
        lab_slug=center.lab.slug,
        site_codes=[center.site_code],
        **wanted,
    )
    return [slot for day in found.days for slot in day.slots]


def make_appointment(
    *,
    order: Order,
    center: ServiceCenter | None = None,
    start: date | None = None,
    **wanted: Any,
) -> Appointment:
    """The first free slot of a center, from `start` on, booked by the operation."""
    center = center or make_center(tenant=order.tenant)
    key = free_slots(order.tenant, center, start=start)[0].booking_key
    return book_appointment(
        order=order, actor=ACTOR, request=BookingRequest(booking_key=key, **wanted)
    )
