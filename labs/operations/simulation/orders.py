"""Simulation in the sandbox: advance orders with the production operations.

Each step uses the same operation as in production.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.gateways.sandbox_results import SimulationFlags, simulate_result_delivery
from labs.operations.order_status.approval_gate import require_approved
from labs.operations.order_status.status import (
    audit_order_change,
    lock_order,
    require_order_is_no_history,
    store_reported_status,
)
from labs.operations.orders.kits import KitRegistration, register_kit
from labs.operations.orders.redraws import place_redraw_order
from labs.operations.orders.requisitions import create_requisition
from labs.operations.results.deliveries import store_result_delivery
from labs.operations.simulation.appointments import advance_order_and_appointment
from labs.queries.orders.history import (
    find_last_order_event_id,
    find_simulated_order_path,
    waits_for_new_visit,
)
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.results import find_current_result_version
from labs.states.catalogue import ResultType
from labs.states.orders import (
    ORDER_STATUSES,
    Interpretation,
    build_order_status,
    split_order_status,
)
from portal.lib.errors import DomainError, NotAllowed
from portal.lib.jobs.jobs import enqueue_job

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order, OrderEvent
    from portal.lib.actor import Actor

SIMULATE_JOB = "labs.simulate"
LONGEST_DELAY = timedelta(hours=1)  # Ours: contract 6.5
# Steps that an order takes by its lab's results.
_REPORTS = {"partial_results", "completed", "corrected"}
_NORMAL = SimulationFlags()
# Whom an unregistered kit is bound to when a walk passes its registration.
_SANDBOX_PATIENT = {
    "first_name": "Sandbox",
    "last_name": "Patient",
    "dob": "1990-01-01",
    "gender": "unknown",
    "phone_number": "+15550100",
    "email": "sandbox@assay.example",
}


def simulate_order_progress(
    *,
    order: Order,
    actor: Actor,
    final_status: str | None = None,
    delay: timedelta = timedelta(),
    seen: int | None = None,
    flags: SimulationFlags = _NORMAL,
) -> None:
    """Advance an order to `final_status` (default completed), now or after `delay`.

    The last report of the sandbox lab on the way is as `flags` ask for. `seen` is the
    id of the last step that the caller saw: of two who act on the same sight one is
    refused. Raises: not_a_sandbox (403); delay_out_of_range; final_status_unknown;
    final_status_unreachable, also past a cancelled visit; order_moved,
    order_is_history, with nothing written.
    Source: Contract 6.13.
    """
    if not order.tenant.is_sandbox:
        raise NotAllowed(
            "not_a_sandbox", _("Orders can be simulated only in the sandbox.")
        )
    if not timedelta() <= delay <= LONGEST_DELAY:
        raise DomainError(
            "delay_out_of_range", _("Enter a delay from 0 to 3600 seconds."), "delay"
        )
    require_order_is_no_history(order)
    goal = _resolve_goal(order, final_status)
    if not delay:
        _advance_now(order, actor, goal, seen, flags)
        return
    _require_reachable_goal(order, goal, seen)
    enqueue_job(
        SIMULATE_JOB,
        tenant=order.tenant,
        lock=f"order-{order.pk}",
        after=delay,
        order_id=str(order.pk),
        final_status=goal,
        flags=_encode_simulation_flags(flags),
    )


def decode_simulation_flags(packed: Mapping[str, Any]) -> SimulationFlags:
    """Return the flags of a job's input; defaults for jobs without any.

    Source: Ours (jobs outlive a deployment).
    """
    return SimulationFlags(
        interpretation=Interpretation(packed.get("interpretation", "normal")),
        result_types=tuple(ResultType(one) for one in packed.get("result_types", ())),
        has_missing_results=bool(packed.get("has_missing_results")),
    )


@transaction.atomic
def advance_order_to_goal(
    *,
    tenant: Tenant,
    actor: Actor,
    order_id: UUID,
    goal: str,
    flags: SimulationFlags = _NORMAL,
) -> Order:
    """Advance an order step by step to `goal`, with an event each; all or none.

    An order that can no longer get there, its visit cancelled since among other
    reasons, stays where it is. Source: Contract 6.13.
    """
    order = lock_order(get_order_with_details(tenant=tenant, order_id=order_id))
    walk = find_simulated_order_path(order, goal)
    return order if walk is None else _take_steps(order, actor, walk, flags)


def report_unknown_sandbox_status(
    *, order: Order, actor: Actor, status: str, detail: str = ""
) -> OrderEvent:
    """Report a status unknown to this version from the sandbox lab.

    Raises: not_a_sandbox (403); status_known, as one we know is simulated; those of
    store_reported_status. Source: Specification 9; Ours: customers can try that their
    client lives through a new value.
    """
    if not order.tenant.is_sandbox:
        raise NotAllowed(
            "not_a_sandbox", _("Orders can be simulated only in the sandbox.")
        )
    if status in ORDER_STATUSES:
        raise DomainError(
            "status_known",
            _("%(status)s is a known status: advance the order to it instead.")
            % {"status": status},
            "status",
        )
    return store_reported_status(order=order, actor=actor, status=status, detail=detail)


@transaction.atomic
def _advance_now(
    order: Order,
    actor: Actor,
    goal: str,
    seen: int | None,
    flags: SimulationFlags,
) -> None:
    order = lock_order(order)
    _take_steps(order, actor, _require_reachable_goal(order, goal, seen), flags)


def _require_reachable_goal(order: Order, goal: str, seen: int | None) -> list[str]:
    if seen is not None and find_last_order_event_id(order) != seen:
        raise DomainError(
            "order_moved",
            _("The order has changed since: its status is now %(status)s.")
            % {"status": order.status},
        )
    walk = find_simulated_order_path(order, goal)
    if walk is not None:
        return walk
    reason = _("The order can't reach %(goal)s from %(status)s.") % {
        "goal": goal,
        "status": order.status,
    }
    if waits_for_new_visit(order):
        reason = _(
            "The visit was cancelled. Book a new one before the order advances to"
            " %(goal)s."
        ) % {"goal": goal}
    raise DomainError("final_status_unreachable", reason, "final_status")


def _take_steps(
    order: Order, actor: Actor, walk: list[str], flags: SimulationFlags
) -> Order:
    reports = [status for status in walk if split_order_status(status).low in _REPORTS]
    for status in walk:
        is_last = status in reports[-1:]
        _take_step(order, actor, status, flags if is_last else flags.without_findings)
        order = lock_order(order)
    audit_order_change(order, actor, "simulate_order", {"status": [None, walk[-1]]})
    return order


def _take_step(order: Order, actor: Actor, status: str, flags: SimulationFlags) -> None:
    """Take one step with the operation production uses."""
    match split_order_status(status).low:
        case "requisition_created":
            require_approved(order)
            create_requisition(tenant=order.tenant, actor=actor, order_id=order.pk)
        case "registered":
            register_kit(
                tenant=order.tenant,
                actor=actor,
                request=KitRegistration(
                    sample_id=order.sample_id,
                    patient_details=order.patient_details or _SANDBOX_PATIENT,
                    patient_address=order.patient_address
                    or order.shipping_address
                    or {},
                ),
            )
        case "redraw_available":
            place_redraw_order(order=order, actor=actor)
        case low if low in _REPORTS:
            _deliver_simulated_results(order, actor, low, flags)
        case _:
            advance_order_and_appointment(order=order, actor=actor, status=status)


def _deliver_simulated_results(
    order: Order, actor: Actor, low: str, flags: SimulationFlags
) -> None:
    """Deliver simulated results; storing them takes the step."""
    prefetch_related_objects(order.placed.markers, "lab", "expected_results")
    delivery = simulate_result_delivery(
        order=order,
        markers=order.placed.markers,
        flags=flags,
        before=find_current_result_version(order=order),
        low=low,
        at=timezone.now(),
    )
    store_result_delivery(order=order, actor=actor, delivery=delivery)


def _encode_simulation_flags(flags: SimulationFlags) -> dict[str, object]:
    """Return the flags as a job's input; see decode_simulation_flags."""
    return {
        "interpretation": flags.interpretation.value,
        "result_types": [one.value for one in flags.result_types],
        "has_missing_results": flags.has_missing_results,
    }


def _resolve_goal(order: Order, final_status: str | None) -> str:
    if final_status is None:
        return build_order_status(order.method, "completed")
    parts = split_order_status(final_status)
    try:
        known = build_order_status(parts.method, parts.low)
    except (KeyError, ValueError):
        known = ""
    if known != final_status or parts.method != order.method:
        raise DomainError(
            "final_status_unknown",
            _("Orders with collection method %(method)s have no status %(status)s.")
            % {"method": order.method, "status": final_status},
            "final_status",
        )
    return final_status
