"""What laboratories and couriers do: results and shipments."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.utils import timezone

from labs.operations.results.deliveries import store_result_delivery
from labs.queries.orders.orders import get_order_with_details
from tests.factories.accounts import ACTOR
from tests.factories.results import delivery, make_reported_result

if TYPE_CHECKING:
    from labs.gateways.results import ResultDelivery
    from tests.simulation.world import Side, World

SHIPMENTS = ("transit_customer", "with_customer", "transit_lab", "delivered_to_lab")


def report_results(world: World, side: Side) -> None:
    """A lab sends a result, preliminary or final; what was not taken it keeps."""
    books = side.books
    mine = [each for each in side.open_orders() if each in books.results]
    order = world.pick(mine)
    if order is None:
        return
    value = str(70 + world.number())
    is_final = order in books.final or world.dice.random() < 0.5
    given = delivery(
        make_reported_result(text=value),
        status="final" if is_final else "partial",
        reported_at=timezone.now(),
    )
    refusal = world.operate(side, lambda: _store(side, order, given))
    if refusal is not None:
        assert refusal == "results_not_expected", refusal
        return
    books.results[order].append(value)
    if is_final:
        books.final.add(order)


def _store(side: Side, order_id: str, given: ResultDelivery) -> None:
    order = get_order_with_details(tenant=side.tenant, order_id=UUID(order_id))
    order.tenant = side.tenant
    store_result_delivery(order=order, actor=ACTOR, delivery=given)


def ship(world: World, side: Side) -> None:
    """A courier says where a kit is, right or wrong."""
    if order := world.pick(side.open_orders()):
        step = world.dice.choice(SHIPMENTS)
        body = {"status": step, "occurred_at": timezone.now().isoformat()}
        path = f"/v3/order/{order}/shipment_events"
        reply = world.call(lambda: side.api.post(path, body))
        if reply.status_code == 200:
            side.books.shipped.add((order, step))
