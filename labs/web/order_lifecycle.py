"""An order's progress on its page: stages, history, next step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from django.utils import timezone
from django.utils.translation import gettext as _

from labs.operations.shipments.couriers import COURIER
from labs.states.catalogue import CollectionMethod
from labs.states.order_queues import (
    AWAITS_REQUISITION,
    is_order_closed_without_results,
    is_order_in_progress,
)
from labs.states.orders import (
    LOW_LEVEL_STATUSES,
    OrderStatusDetail,
    OrderTopLevelStatus,
    split_order_status,
)
from labs.states.physicians import ApprovalStatus
from labs.states.turnaround import get_result_lateness
from portal.lib.translation import gettext_lazy
from portal.ui.dates import write_date
from portal.ui.parts import Happening
from portal.ui.pills import find_status_pill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from labs.models import Order, OrderApproval, OrderEvent
    from labs.states.turnaround import Lateness

_ENDED_BEFORE_RESULTS = {
    "cancelled",
    "do_not_process",
    "failure_to_deliver_to_customer",
    "failure_to_deliver_to_lab",
    "lost",
}
_KINDS: dict[str, Literal["ok", "warn", "bad"]] = {
    "ok": "ok",
    "warn": "warn",
    "bad": "bad",
}
# The stage in progress for each status; past the last stage the order has ended.
READY, COLLECTING, WITH_LAB, RESULTS, OVER = range(1, 6)
_STAGE_BY_STATUS = {
    "ordered": READY,
    "awaiting_registration": READY,
    "requisition_created": COLLECTING,
    "requisition_bypassed": COLLECTING,
    "registered": COLLECTING,
    "transit_customer": COLLECTING,
    "out_for_delivery": COLLECTING,
    "with_customer": COLLECTING,
    "problem_in_transit_customer": COLLECTING,
    "failure_to_deliver_to_customer": COLLECTING,
    "appointment_pending": COLLECTING,
    "appointment_scheduled": COLLECTING,
    "appointment_cancelled": COLLECTING,
    "redraw_available": COLLECTING,
    "draw_completed": WITH_LAB,
    "transit_lab": WITH_LAB,
    "problem_in_transit_lab": WITH_LAB,
    "failure_to_deliver_to_lab": WITH_LAB,
    "delivered_to_lab": WITH_LAB,
    "lab_processing_blocked": WITH_LAB,
    "sample_error": WITH_LAB,
    "partial_results": RESULTS,
    "completed": OVER,
    "corrected": OVER,
}
# Where a status of a lab is unknown, its first part may still say how far it is.
_STAGE_BY_TOP_STATUS = {
    OrderTopLevelStatus.COLLECTING_SAMPLE: COLLECTING,
    OrderTopLevelStatus.SAMPLE_WITH_LAB: WITH_LAB,
    OrderTopLevelStatus.COMPLETED: OVER,
}
# These end a stage; of the next one nothing has happened yet.
_ENDING_A_STAGE = {"ordered", "requisition_created", "requisition_bypassed"}
_PROBLEMS = {"warn", "bad", "mute"}

_VISIT = gettext_lazy("Next: book a visit for the patient.")
_NEXT_STEPS: dict[str, str] = {
    "ordered": gettext_lazy(
        "Next: the order is sent to the lab and the requisition is created."
    ),
    "awaiting_registration": gettext_lazy(
        "Next: the kit is sent. Register the patient now or when the kit arrives."
    ),
    "registered": gettext_lazy(
        "Next: the order is sent to the lab and the requisition is created."
    ),
    "requisition_created": gettext_lazy("Next: the sample is collected."),
    "transit_customer": gettext_lazy("The kit is on its way to the patient."),
    "out_for_delivery": gettext_lazy("The kit arrives today."),
    "with_customer": gettext_lazy(
        "Next: the patient takes the sample and sends it to the lab."
    ),
    "problem_in_transit_customer": gettext_lazy(
        "The courier reports a delivery problem. Check the tracking, and send another"
        " kit if this one is lost."
    ),
    "problem_in_transit_lab": gettext_lazy(
        "The courier reports a problem on the way to the lab. Check the tracking."
    ),
    "appointment_pending": gettext_lazy(
        "Next: the visit is confirmed. If none is booked, book one for the patient."
    ),
    "appointment_scheduled": gettext_lazy(
        "Next: the sample is collected at the visit."
    ),
    "appointment_cancelled": gettext_lazy(
        "The visit was cancelled. Book a new visit or cancel the order."
    ),
    "draw_completed": gettext_lazy("The sample is on its way to the lab."),
    "transit_lab": gettext_lazy("The sample is on its way to the lab."),
    "delivered_to_lab": gettext_lazy("The lab is processing the sample."),
    "lab_processing_blocked": gettext_lazy(
        "The lab needs an answer to continue. Call the lab with the sample ID."
    ),
    "partial_results": gettext_lazy("Some results are in. More are expected."),
    "redraw_available": gettext_lazy(
        "The sample was not usable. The redraw is a separate order in this transaction."
    ),
    "completed": gettext_lazy("All results are in."),
    "corrected": gettext_lazy("All results are in. The lab has corrected them."),
    "cancelled": gettext_lazy("The order was cancelled."),
    "do_not_process": gettext_lazy("The lab was asked not to process this order."),
    "sample_error": gettext_lazy(
        "The lab could not use the sample. Place a new order to test again."
    ),
    "failure_to_deliver_to_customer": gettext_lazy(
        "The kit did not reach the patient. Send another kit."
    ),
    "failure_to_deliver_to_lab": gettext_lazy(
        "The sample did not reach the lab. Send another kit to test again."
    ),
    "lost": gettext_lazy("The kit is lost. Send another kit."),
}
_NEXT_STEPS["requisition_bypassed"] = _NEXT_STEPS["requisition_created"]
_NEXT_STEPS_BY_METHOD = {
    (CollectionMethod.WALK_IN_TEST, "requisition_created"): gettext_lazy(
        "Next: the patient goes to a service center with the requisition."
    ),
    (CollectionMethod.AT_HOME_PHLEBOTOMY, "requisition_created"): _VISIT,
    (CollectionMethod.ON_SITE_COLLECTION, "requisition_created"): gettext_lazy(
        "Next: the sample is collected on site."
    ),
    (CollectionMethod.TESTKIT, "requisition_created"): gettext_lazy(
        "Next: the kit is sent."
    ),
    (CollectionMethod.WALK_IN_TEST, "requisition_bypassed"): gettext_lazy(
        "Next: the patient goes to a service center with the requisition created"
        " elsewhere."
    ),
}
_UNSETTLED = gettext_lazy("Critical, not acknowledged")
_ACKNOWLEDGE = gettext_lazy(
    "Next: a clinician acknowledges the critical result and records the action taken."
)
_KIT_IS_BACK = gettext_lazy("Next: the patient sends the sample to the lab.")


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage: `state` is done, now or empty; `at` is when it ended."""

    label: str
    state: str
    at: datetime | None = None
    note: str = ""
    has_problem: bool = False


@dataclass(frozen=True, slots=True)
class Turnaround:
    """An order's results compared with their expected days.

    `came_on` is the day all of them were there, None while some are to come; `late_by`
    the days past `due_by`, 0 in time.
    """

    state: Lateness
    due_by: date
    worst_case_by: date | None
    came_on: date | None
    late_by: int


def build_order_turnaround(
    order: Order, events: Sequence[OrderEvent]
) -> Turnaround | None:
    """Compare actual with expected results; None without an expected day.

    An order that ended without its results has none either.
    """
    came_on = next(
        (
            event.created_at.date()
            for event in events
            if split_order_status(event.status).low == "completed"
        ),
        None,
    )
    if order.due_by is None or is_order_closed_without_results(order.status):
        return None
    until = came_on or timezone.now().date()
    state = get_result_lateness(
        due_by=order.due_by, worst_case_by=order.worst_case_due_by, on=until
    )
    assert state is not None  # noqa: S101 - for the type checker: due_by is set
    return Turnaround(
        state=state,
        due_by=order.due_by,
        worst_case_by=order.worst_case_due_by,
        came_on=came_on,
        late_by=max(0, (until - order.due_by).days),
    )


def build_order_stages(
    order: Order, events: Sequence[OrderEvent], *, is_unsettled: bool = False
) -> list[StageRow]:
    """Build the five stages of an order from its events, oldest first.

    With a critical result that nobody has acknowledged it `is_unsettled`: its results
    are not over.
    """
    here = 0
    over_at: dict[int, datetime] = {}
    for event in events:
        reached = max(here, _current_stage(order, event.status))
        over_at |= dict.fromkeys(range(here, reached), event.created_at)
        here = reached
    if is_unsettled and here >= RESULTS:
        return [
            *(
                _build_stage(order, number, label, RESULTS, over_at.get(number), "")
                for number, label in enumerate(_stage_labels(order)[:RESULTS])
            ),
            StageRow(
                _stage_labels(order)[RESULTS], "now", note=_UNSETTLED, has_problem=True
            ),
        ]
    family = find_status_pill(order.status).family
    return [
        _build_stage(order, number, label, here, over_at.get(number), family)
        for number, label in enumerate(_stage_labels(order))
    ]


def build_order_status_history(
    events: Sequence[OrderEvent], *, is_moved: bool = False
) -> list[Happening]:
    """List the status changes of an order, newest first.

    Those of an order that `is_moved` were taken on the platform it comes from.
    """
    last = events[-1].pk
    steps = [
        _build_history_step(event, is_last=event.pk == last)
        for event in reversed(events)
    ]
    if is_moved:
        steps = [replace(step, actor_name=_("Previous platform")) for step in steps]
    return steps


def describe_next_order_step(
    order: Order, *, is_unsettled: bool = False, approval: OrderApproval | None = None
) -> str:
    """Describe in a sentence what happens next; `approval` where it needs one."""
    if is_unsettled:
        return _ACKNOWLEDGE
    low = split_order_status(order.status).low
    if order.moved_from:
        return _(
            "History of another platform, imported. Nothing acts on it here; if it is"
            " not closed, it goes on there."
        )
    if approval and approval.status == ApprovalStatus.WAITING:
        if low in AWAITS_REQUISITION:
            return _("Next: a physician of your team approves the order.")
    elif approval and approval.status == ApprovalStatus.REFUSED:
        return _("A physician refused this order: %(reason)s") % {
            "reason": approval.reason
        }
    if order.activate_by and low == "ordered" and not _has_started(order):
        return _("Scheduled: the requisition is created on %(day)s.") % {
            "day": _format_day(order.activate_by)
        }
    if order.is_registrable and low == "requisition_created":
        return _KIT_IS_BACK
    if order.is_registrable and low == "with_customer" and not order.registered_at:
        return _("The kit has arrived. Next: register the patient.")
    if order.interpretation and low in _ENDED_BEFORE_RESULTS:
        return _("This order ended before its results came. Read them under Results.")
    method = CollectionMethod.known(order.method)
    if method and (method, low) in _NEXT_STEPS_BY_METHOD:
        return _NEXT_STEPS_BY_METHOD[method, low]
    return _NEXT_STEPS.get(low) or _(
        "The lab reported a status that is new to Assay. It is stored unchanged, and"
        " the order continues from its previous step."
    )


def is_known_order_status(status: str) -> bool:
    """Return whether Assay knows a status."""
    return split_order_status(status).low in LOW_LEVEL_STATUSES


def _has_started(order: Order) -> bool:
    return order.activate_by is None or order.activate_by <= timezone.now().date()


def _current_stage(order: Order, status: str) -> int:
    status_parts = split_order_status(status)
    low = status_parts.low
    if low in {"requisition_created", "requisition_bypassed"}:
        sent_later = order.method == CollectionMethod.TESTKIT
        return READY if sent_later and not order.is_registrable else COLLECTING
    if low in _STAGE_BY_STATUS:
        return _STAGE_BY_STATUS[low]
    known = OrderTopLevelStatus.known(status_parts.top)
    return _STAGE_BY_TOP_STATUS.get(known, READY) if known else READY


def _stage_labels(order: Order) -> tuple[str, ...]:
    is_kit = order.method == CollectionMethod.TESTKIT
    ready = _("Kit sent") if is_kit else _("Requisition ready")
    return (
        _("Ordered"),
        ready,
        _("Collecting sample"),
        _("With the lab"),
        _("Results"),
    )


def _build_stage(
    order: Order,
    number: int,
    label: str,
    here: int,
    over_at: datetime | None,
    family: str,
) -> StageRow:
    if number < here:
        return StageRow(label, "done", at=over_at)
    if number == here:
        low = split_order_status(order.status).low
        return StageRow(
            label,
            "now",
            note=_("Next")
            if low in _ENDING_A_STAGE
            else find_status_pill(order.status).words,
            has_problem=family in _PROBLEMS,
        )
    note = ""
    if number == RESULTS and is_order_in_progress(order.status) and order.due_by:
        note = _("Expected %(day)s") % {"day": _format_day(order.due_by)}
    return StageRow(label, "", note=note)


def _format_day(value: date) -> str:
    return write_date(value, "j M Y")


def _build_history_step(event: OrderEvent, *, is_last: bool) -> Happening:
    family, icon, label = find_status_pill(event.status)
    details = (_describe_occurrence(event), _status_detail_label(event), event.why)
    return Happening(
        label=label,
        icon=icon,
        kind=_KINDS.get(family) or ("now" if is_last else ""),
        detail=". ".join(filter(None, details)),
        raw=event.status,
        at=event.created_at,
        actor_kind=event.actor_kind,
        actor_label=event.actor_label,
        actor_name=_("Courier") if event.actor_label == COURIER.label else "",
    )


def _describe_occurrence(event: OrderEvent) -> str:
    """Return when a step happened, on the reader's clock; empty if nobody said."""
    if event.occurred_at is None:
        return ""
    local = timezone.localtime(event.occurred_at)
    return _("Occurred %(moment)s") % {"moment": f"{_format_day(local)}, {local:%H:%M}"}


def _status_detail_label(event: OrderEvent) -> str:
    known = OrderStatusDetail.known(event.status_detail)
    return str(known.label) if known else event.status_detail
