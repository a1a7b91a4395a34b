"""Results as a lab reports them, and versions of an order's, for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from labs.gateways.results import ReportedResult, ResultDelivery
from labs.models import ExpectedResult, Marker, Order, ResultVersion
from labs.operations.order_status.status import advance_order
from labs.operations.orders.requisitions import create_requisition
from labs.operations.results.deliveries import store_result_delivery
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod, ResultType
from labs.states.results import ResultStatus
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_order

REPORTED_AT = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)
_FIRST = 900_000_000


def make_expected_result(*, marker: Marker, **fields: Any) -> ExpectedResult:
    """A required number between 65 and 99 mg/dL; its code is the marker's and a one."""
    number = marker.expected_results.count() + 1
    expected = ExpectedResult(
        **{
            "id": _FIRST + marker.pk * 100 + number,
            "marker": marker,
            "name": f"{marker.name} result {number}",
            "slug": f"{marker.slug}-result-{number}",
            "provider_id": f"{marker.provider_id}-{number:02}",
            "loinc_code": "",
            "unit": "mg/dL",
            "result_type": ResultType.NUMERIC,
            "low": 65.0,
            "high": 99.0,
            **fields,
        }
    )
    expected.save(force_insert=True)
    return expected


def make_reported_result(
    name: str = "Glucose", text: str = "85", **fields: Any
) -> ReportedResult:
    """A normal number with its range, by a code made of its name."""
    return ReportedResult(
        **{
            "name": name,
            "text": text,
            "unit": "mg/dL",
            "reference_range": "65-99",
            "provider_id": name.upper(),
            **fields,
        }
    )


def delivery(
    *results: ReportedResult, status: str = ResultStatus.FINAL, **fields: Any
) -> ResultDelivery:
    """A lab's delivery; of one normal result unless told."""
    return ResultDelivery(
        **{
            "status": ResultStatus(status),
            "reported_at": REPORTED_AT,
            "results": results or (make_reported_result(),),
            **fields,
        }
    )


def make_order_awaiting_results(*, tenant: Any, **wanted: Any) -> Order:
    """An order that waits for its results: its sample is drawn or with the lab."""
    order = make_order(tenant=tenant, **wanted)
    create_requisition(tenant=tenant, actor=ACTOR, order_id=order.pk)
    order = get_order_with_details(tenant=tenant, order_id=order.pk)
    for low in {
        CollectionMethod.ON_SITE_COLLECTION: ("draw_completed",),
        CollectionMethod.AT_HOME_PHLEBOTOMY: (
            "appointment_pending",
            "appointment_scheduled",
            "draw_completed",
        ),
        CollectionMethod.TESTKIT: (
            "transit_customer",
            "with_customer",
            "transit_lab",
            "delivered_to_lab",
        ),
    }.get(CollectionMethod(order.method), ()):
        advance_order(order=order, actor=ACTOR, to=low)
    return order


def make_results(
    *, order: Order, results: tuple[ReportedResult, ...] = (), **fields: Any
) -> ResultVersion:
    """A version of an order's results, stored by the operation; the order is ready."""
    return store_result_delivery(
        order=order, actor=ACTOR, delivery=delivery(*results, **fields)
    )
