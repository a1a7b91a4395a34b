"""Faults to plant in the product, which the walks of their machine have to find."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest import mock

from accounts.webhooks import schedule
from accounts.webhooks.delivery import outcomes
from labs.operations.appointments import booking
from labs.operations.appointments import status as visits
from labs.operations.order_status import status as orders
from labs.operations.orders import placing
from labs.states.orders import build_order_status
from portal.lib import idempotency
from portal.lib.api import idempotency as keyed
from portal.lib.database.transitions import Transitions
from reports.operations.review import reviews
from reports.operations.signing import signing
from users.operations.sources import connections, sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Plant = Callable[[], Any]


class _Everything:
    def __contains__(self, _each: object) -> bool:
        return True


@contextmanager
def _cancel_however_late() -> Iterator[None]:
    """Both of what refuses it is gone: the check, and the table of moves."""
    possible_moves = orders._possible_moves

    def with_cancelled(order: Any) -> Transitions[str]:
        cancelled = build_order_status(order.method, "cancelled")
        moves = dict(possible_moves(order))
        return Transitions({**moves, order.status: moves[order.status] | {cancelled}})

    with (
        mock.patch.object(placing, "CANCELLABLE", _Everything()),
        mock.patch.object(orders, "_possible_moves", with_cancelled),
    ):
        yield


def _unless_cancelled(emit: Any, order: Any, what: str) -> None:
    if not order.status.endswith("cancelled"):
        emit(order, what)


def _unless_moved(emit: Any, visit: Any, order: Any, what: str) -> None:
    if not visit.event_data.get("is_reschedule"):
        emit(visit, order, what)


def _without_comparing(row: Any, _claim: Any) -> tuple[int, bytes]:
    if row.status is None:
        raise idempotency.build_key_in_use_error()
    return row.status, bytes(row.body or b"")


def _one_endpoint(claim: Any, tenant: Any, _endpoint: str, *rest: Any) -> Any:
    return claim(tenant, "any", *rest)


# By the module of the machine: what is wrong, and how it is made so.
PLANTED: dict[str, dict[str, Plant]] = {
    "orders": {
        "an order is cancelled however late": _cancel_however_late,
        "a cancelled order sends nothing": lambda: mock.patch.object(
            orders,
            "emit_order_event",
            partial(_unless_cancelled, orders.emit_order_event),
        ),
    },
    "appointments": {
        "an order has two visits": lambda: mock.patch.object(
            booking, "find_active_appointment", return_value=None
        ),
        "a visit that is moved sends nothing": lambda: mock.patch.object(
            visits,
            "_emit_appointment_event",
            partial(_unless_moved, visits._emit_appointment_event),
        ),
        "a cancelled order keeps its visit at home": lambda: mock.patch.object(
            placing, "cancel_home_appointment_of_order"
        ),
    },
    "reviews": {
        "one reader reads twice": lambda: mock.patch.object(
            reviews, "_require_other_reader"
        ),
        "a claim holds nobody off": lambda: mock.patch.object(
            reviews, "_is_claimed_by_other", return_value=False
        ),
        "an unready review is signed": lambda: mock.patch.object(
            signing, "find_unmet_signing_rules", return_value=[]
        ),
    },
    "deliveries": {
        "the last retry comes too early": lambda: mock.patch.object(
            schedule, "LADDER_S", (*schedule.LADDER_S[:-1], 3_600)
        ),
        "failures disable an endpoint a day late": lambda: mock.patch.object(
            outcomes, "DISABLE_AFTER", timedelta(days=6)
        ),
    },
    "idempotency": {
        "a key answers any body": lambda: mock.patch.object(
            idempotency, "_answer_of", _without_comparing
        ),
        "endpoints share keys": lambda: mock.patch.object(
            idempotency, "_claim", partial(_one_endpoint, idempotency._claim)
        ),
        "an answer is kept two hours longer": lambda: mock.patch.dict(
            keyed.respond_once_per_idempotency_key.__kwdefaults__,
            retention=idempotency.RETENTION + timedelta(hours=2),
        ),
    },
    "connections": {
        "a connection that breaks sends nothing": lambda: mock.patch.object(
            connections, "emit_event", return_value=mock.Mock(message_id="")
        ),
        "a new connection sends nothing": lambda: mock.patch.object(
            sources, "emit_event", return_value=mock.Mock(message_id="")
        ),
    },
}
