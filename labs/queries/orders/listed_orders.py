"""Orders of a page, with all that their payload shows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.db.models import prefetch_related_objects
from django.utils import timezone

from labs.models import (
    Lab,
    LabTest,
    Marker,
    Order,
    OrderEvent,
    OrderTransaction,
    Shipment,
)
from labs.models.catalogue_version import PlacedTest, build_placed_test
from labs.states.appointments import AppointmentStatus
from portal.lib.database.instances import Columns, keep_all_related, keep_related
from portal.lib.database.rows import fetch_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from users.models import User

_user_model: Any = Order._meta.get_field("user").related_model
# All that Order.placed reads.
CONTENT_OF_TEST = ("markers__versions", "versions__markers__versions")
_ORDER = Columns(
    Order,
    "labs_order",
    [
        *("id", "tenant_id", "user_id", "transaction_id", "parent_id", "origin"),
        *("update_reason", "lab_id", "lab_test_id", "lab_account_id", "method"),
        *("status", "patient_details", "patient_address", "shipping_address"),
        *("physician", "health_insurance_id", "comments", "passthrough", "priority"),
        *("billing_type", "icd_codes", "activate_by", "sample_id"),
        *("requisition_issued_at", "interpretation", "has_missing_results", "due_by"),
        *("worst_case_due_by", "moved_from", "created_at", "updated_at"),
    ],
)
# What is read of the other orders of a transaction.
_SIBLING = Columns(
    Order,
    "labs_order",
    [
        *("id", "tenant_id", "transaction_id", "status", "origin", "parent_id"),
        *("created_at", "updated_at"),
    ],
)
_USER: Columns[User] = Columns(_user_model, "person", ["id", "uuid"])
_SHIPMENT = Columns(Shipment, "labs_shipment")
_EVENT = Columns(
    OrderEvent,
    "labs_orderevent",
    ["id", "order_id", "status", "status_detail", "created_at"],
)
_TRANSACTION = Columns(OrderTransaction, "labs_ordertransaction", ["id"])
_TEST = Columns(LabTest, "labs_labtest")
_LAB = Columns(Lab, "labs_lab")
_MARKER = Columns(Marker, "labs_marker")
_ORDERS = f"""
    SELECT {_ORDER.sql}, {_USER.sql}, {_SHIPMENT.sql},
        (SELECT visit.id FROM labs_appointment visit
            WHERE visit.tenant_id = %(tenant)s AND visit.order_id = labs_order.id
                AND visit.status <> %(cancelled)s
            ORDER BY visit.created_at DESC LIMIT 1),
        EXISTS (SELECT 1 FROM labs_order other
            WHERE other.tenant_id = %(tenant)s AND other.id <> labs_order.id
                AND other.transaction_id = labs_order.transaction_id)
    FROM labs_order JOIN users_user person ON person.id = labs_order.user_id
    LEFT JOIN labs_shipment ON labs_shipment.order_id = labs_order.id
    WHERE labs_order.tenant_id = %(tenant)s AND labs_order.id = ANY(%(orders)s)
        AND person.deleted_at IS NULL
"""  # noqa: S608 - columns are ours
_SIBLINGS = f"""
    SELECT {_SIBLING.sql} FROM labs_order WHERE tenant_id = %(tenant)s
        AND transaction_id = ANY(%(transactions)s) AND id <> ALL(%(orders)s)
"""  # noqa: S608 - columns are ours
_EVENTS = f"""
    SELECT {_EVENT.sql} FROM labs_orderevent
    WHERE tenant_id = %(tenant)s AND order_id = ANY(%(orders)s) ORDER BY id
"""  # noqa: S608 - columns are ours
_TESTS = f"""
    SELECT {_TEST.sql}, {_LAB.sql},
        EXISTS (SELECT 1 FROM labs_labtestversion former
            WHERE former.tenant_id = %(tenant)s AND former.lab_test_id = labs_labtest.id
        ) OR EXISTS (SELECT 1 FROM labs_labtest_markers link
            JOIN labs_markerversion former ON former.marker_id = link.marker_id
            WHERE link.labtest_id = labs_labtest.id)
    FROM labs_labtest JOIN labs_lab ON labs_lab.id = labs_labtest.lab_id
    WHERE labs_labtest.tenant_id = %(tenant)s AND labs_labtest.id = ANY(%(tests)s)
"""  # noqa: S608 - columns are ours
_MARKERS = f"""
    SELECT {_MARKER.sql}, link.labtest_id FROM labs_labtest_markers link
    JOIN labs_marker ON labs_marker.id = link.marker_id
    WHERE link.labtest_id = ANY(%(tests)s)
"""  # noqa: S608 - columns are ours


def load_listed_orders(*, tenant: Tenant, ids: Sequence[UUID]) -> dict[UUID, Order]:
    """Load live orders by ID as orders_with_details does, for build_order alone.

    A page has few labs and tests: each is loaded once. What most orders lack is asked
    for only where there is any.
    """
    found: dict[UUID, Order] = {}
    people: dict[int, User] = {}
    siblings: dict[UUID, list[Order]] = defaultdict(list)
    shared = []
    inputs = {"tenant": tenant.pk, "orders": list(ids)}
    user_at, shipment_at = len(_ORDER), len(_ORDER) + len(_USER)
    end = shipment_at + len(_SHIPMENT)
    for row in fetch_rows(
        _ORDERS, {**inputs, "cancelled": AppointmentStatus.CANCELLED.value}
    ):
        order = _ORDER.build(row[:user_at])
        found[order.pk] = order
        person = people.get(order.user_id) or _USER.build(row[user_at:shipment_at])
        people[order.user_id] = person
        has_shipment = row[shipment_at] is not None
        shipment = _SHIPMENT.build(row[shipment_at:end]) if has_shipment else None
        keep_related(order, "tenant", tenant)
        keep_related(order, "user", person)
        keep_related(order, "shipment", shipment)
        order.visit_id = row[end]
        siblings[order.transaction_id].append(order)
        if row[end + 1]:
            shared.append(order.transaction_id)
    if shared:
        for row in fetch_rows(_SIBLINGS, {**inputs, "transactions": shared}):
            other = _SIBLING.build(row)
            siblings[other.transaction_id].append(other)
    _load_events(tenant, [each for own in siblings.values() for each in own])
    transactions = {key: _TRANSACTION.build([key]) for key in siblings}
    for key, own in siblings.items():
        keep_all_related(transactions[key], "orders", own)
    tests = _load_tests(tenant, {order.lab_test_id for order in found.values()})
    for order in found.values():
        test, placed = tests[order.lab_test_id]
        keep_related(order, "lab_test", test)
        keep_related(order, "transaction", transactions[order.transaction_id])
        if placed:
            vars(order)["placed"] = placed
    return found


def _load_events(tenant: Tenant, orders: Collection[Order]) -> None:
    events: dict[UUID, list[OrderEvent]] = {order.pk: [] for order in orders}
    for row in fetch_rows(_EVENTS, {"tenant": tenant.pk, "orders": list(events)}):
        event = _EVENT.build(row)
        events[event.order_id].append(event)
    for order in orders:
        keep_all_related(order, "events", events[order.pk])


def _load_tests(
    tenant: Tenant, ids: Iterable[UUID]
) -> dict[UUID, tuple[LabTest, PlacedTest | None]]:
    """Load tests with labs; with it what all orders of a test were placed with.

    That is None where a test or a marker has changed since some order may have been.
    """
    inputs = {"tenant": tenant.pk, "tests": list(ids)}
    tests: dict[UUID, LabTest] = {}
    lab_at, end = len(_TEST), len(_TEST) + len(_LAB)
    have_changed = False
    for row in fetch_rows(_TESTS, inputs):
        test = _TEST.build(row[:lab_at])
        keep_related(test, "lab", _LAB.build(row[lab_at:end]))
        tests[test.pk] = test
        have_changed |= row[end]
    if have_changed:
        prefetch_related_objects(list(tests.values()), *CONTENT_OF_TEST)
        return {key: (test, None) for key, test in tests.items()}
    markers: dict[UUID, list[Marker]] = {key: [] for key in tests}
    for row in fetch_rows(_MARKERS, inputs):
        marker = _MARKER.build(row[:-1])
        keep_all_related(marker, "versions", [])
        markers[row[-1]].append(marker)
    now = timezone.now()
    for key, test in tests.items():
        keep_all_related(test, "markers", markers[key])
        keep_all_related(test, "versions", [])
    return {
        key: (test, build_placed_test(panel=test, at=now))
        for key, test in tests.items()
    }
