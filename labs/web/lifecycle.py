"""An order's way as its page shows it: its stages, its history, what comes next.

Must not be here: which moves exist (labs.states.orders), or how a status looks
(portal.pills).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone

from labs.states.catalogue import CollectionMethod
from labs.states.order_work import is_closed, is_in_progress
from labs.states.orders import (
    LOW_LEVEL_STATUSES,
    OrderStatusDetail,
    OrderTopLevelStatus,
    split_status,
)
from labs.states.turnaround import lateness
from portal.lib.actor import ActorKind
from portal.pills import find_pill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from labs.models import Order, OrderEvent
    from labs.states.turnaround import Lateness

# Which stage is under way while an order stands at a status; past the last it is over.
READY, COLLECTING, WITH_LAB, RESULTS, OVER = range(1, 6)
_UNDER_WAY = {
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
_UNDER_WAY_BY_TOP = {
    OrderTopLevelStatus.COLLECTING_SAMPLE: COLLECTING,
    OrderTopLevelStatus.SAMPLE_WITH_LAB: WITH_LAB,
    OrderTopLevelStatus.COMPLETED: OVER,
}
# These end a stage; of the next one nothing has happened yet.
_BEFORE = {"ordered", "requisition_created", "requisition_bypassed"}
_PROBLEMS = {"warn", "bad", "mute"}

_VISIT = "A visit is to be booked with the patient."
_NEXT: dict[str, str] = {
    "ordered": "Next the lab is told of the order, and the requisition is made.",
    "awaiting_registration": "Next the kit is sent. Its person can be registered now,"
    " or once the kit has arrived.",
    "registered": "Next the lab is told of the order, and the requisition is made.",
    "requisition_created": "Next the sample is taken.",
    "transit_customer": "The kit is on its way to its person.",
    "out_for_delivery": "The kit arrives today.",
    "with_customer": "Next the person takes the sample and sends it to the lab.",
    "problem_in_transit_customer": "The courier reports a problem on the way to the"
    " person: look at the tracking, and send another kit if it is lost.",
    "problem_in_transit_lab": "The courier reports a problem on the way to the lab:"
    " look at the tracking.",
    "appointment_pending": "A visit waits to be confirmed, or is to be booked with the"
    " patient.",
    "appointment_scheduled": "Next the sample is taken at the visit.",
    "appointment_cancelled": "The visit was called off: a new one is to be booked, or"
    " the order cancelled.",
    "draw_completed": "The sample is on its way to the lab.",
    "transit_lab": "The sample is on its way to the lab.",
    "delivered_to_lab": "The lab is working on the sample.",
    "lab_processing_blocked": "The lab can't go on before its question is answered:"
    " call it with the sample id.",
    "partial_results": "Some results are in; the rest is to come.",
    "redraw_available": "The sample was not usable. The redraw is an order of its own"
    " in this transaction.",
    "completed": "All results are in. Nothing is left to do.",
    "corrected": "The lab has corrected its results. Nothing is left to do.",
    "cancelled": "The order was called off. Nothing follows.",
    "do_not_process": "The lab was asked not to process it. Nothing follows.",
    "sample_error": "The lab could not use the sample. Order anew to test again.",
    "failure_to_deliver_to_customer": "The kit never reached its person. Place a new"
    " order to send another.",
    "failure_to_deliver_to_lab": "The sample never reached the lab. Place a new order"
    " to test again.",
    "lost": "The kit is lost. Place a new order to send another.",
}
_NEXT["requisition_bypassed"] = _NEXT["requisition_created"]
_NEXT_BY_METHOD = {
    (CollectionMethod.WALK_IN_TEST, "requisition_created"): "Next the patient goes to"
    " a collection site with the requisition.",
    (CollectionMethod.AT_HOME_PHLEBOTOMY, "requisition_created"): _VISIT,
    (CollectionMethod.ON_SITE_COLLECTION, "requisition_created"): "Next the sample is"
    " taken on site.",
    (CollectionMethod.TESTKIT, "requisition_created"): "Next the kit is sent.",
    (CollectionMethod.WALK_IN_TEST, "requisition_bypassed"): "Next the patient goes to"
    " a collection site with the requisition made elsewhere.",
}
_UNSETTLED = "Critical, not acknowledged"
_ACKNOWLEDGE = (
    "Next a clinician acknowledges the critical result, and says what was done."
)
_KIT_IS_BACK = "Next the person sends the sample to the lab."


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage: `state` is done, now or empty; `at` when it was over."""

    label: str
    state: str
    at: datetime | None = None
    note: str = ""
    has_problem: bool = False


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A step taken; `kind` colours its mark, `raw` is the status as it came."""

    label: str
    icon: str
    kind: str
    detail: str
    raw: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Turnaround:
    """How an order's results stand to the days they were expected by.

    `came_on` is the day all of them were there, None while some are to come; `late_by`
    the days past `due_by`, 0 in time.
    """

    state: Lateness
    due_by: date
    worst_case_by: date | None
    came_on: date | None
    late_by: int


def turnaround_of(order: Order, events: Sequence[OrderEvent]) -> Turnaround | None:
    """Expected against actual, from the steps; None where no day was expected.

    An order that ended without its results has none either.
    """
    came_on = next(
        (
            event.created_at.date()
            for event in events
            if split_status(event.status).low == "completed"
        ),
        None,
    )
    if order.due_by is None or is_closed(order.status):
        return None
    until = came_on or timezone.now().date()
    state = lateness(
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


def stages_of(
    order: Order, events: Sequence[OrderEvent], *, is_unsettled: bool = False
) -> list[StageRow]:
    """The five stages of an order, from its steps, oldest first.

    With a critical result that nobody has acknowledged it `is_unsettled`: its results
    are not over.
    """
    here = 0
    over_at: dict[int, datetime] = {}
    for event in events:
        reached = max(here, _under_way(order, event.status))
        over_at |= dict.fromkeys(range(here, reached), event.created_at)
        here = reached
    if is_unsettled and here >= RESULTS:
        return [
            *(
                _stage(order, number, label, RESULTS, over_at.get(number), "")
                for number, label in enumerate(_labels(order)[:RESULTS])
            ),
            StageRow(_labels(order)[RESULTS], "now", note=_UNSETTLED, has_problem=True),
        ]
    family = find_pill(order.status).family
    return [
        _stage(order, number, label, here, over_at.get(number), family)
        for number, label in enumerate(_labels(order))
    ]


def history_of(events: Sequence[OrderEvent]) -> list[HistoryRow]:
    """The steps of an order, newest first."""
    last = events[-1].pk
    return [_history_row(event, is_last=event.pk == last) for event in reversed(events)]


def next_step(order: Order, *, is_unsettled: bool = False) -> str:
    """What happens next, in a sentence; `is_unsettled` as stages_of has it."""
    if is_unsettled:
        return _ACKNOWLEDGE
    low = split_status(order.status).low
    if order.activate_by and low == "ordered" and not _has_started(order):
        return f"It is scheduled: on {_day(order.activate_by)} the requisition is made."
    if order.is_registrable and low == "requisition_created":
        return _KIT_IS_BACK
    if order.is_registrable and low == "with_customer" and not order.registered_at:
        return "The kit has arrived. Next its person is registered."
    method = CollectionMethod.known(order.method)
    if method and (method, low) in _NEXT_BY_METHOD:
        return _NEXT_BY_METHOD[method, low]
    return _NEXT.get(
        low,
        "The lab has reported a status that Assay does not know yet. It is kept as it"
        " came, and the order goes on from the step before.",
    )


def is_known(status: str) -> bool:
    """Whether a status is one of ours, not one that a lab has added since."""
    return split_status(status).low in LOW_LEVEL_STATUSES


def _has_started(order: Order) -> bool:
    return order.activate_by is None or order.activate_by <= timezone.now().date()


def _under_way(order: Order, status: str) -> int:
    top, _, low = split_status(status)
    if low in {"requisition_created", "requisition_bypassed"}:
        sent_later = order.method == CollectionMethod.TESTKIT
        return READY if sent_later and not order.is_registrable else COLLECTING
    if low in _UNDER_WAY:
        return _UNDER_WAY[low]
    known = OrderTopLevelStatus.known(top)
    return _UNDER_WAY_BY_TOP.get(known, READY) if known else READY


def _labels(order: Order) -> tuple[str, ...]:
    is_kit = order.method == CollectionMethod.TESTKIT
    ready = "Kit sent" if is_kit else "Requisition ready"
    return ("Ordered", ready, "Collecting sample", "With the lab", "Results")


def _stage(
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
        low = split_status(order.status).low
        return StageRow(
            label,
            "now",
            note="Next" if low in _BEFORE else find_pill(order.status).words,
            has_problem=family in _PROBLEMS,
        )
    note = ""
    if number == RESULTS and is_in_progress(order.status) and order.due_by:
        note = f"Expected {_day(order.due_by)}"
    return StageRow(label, "", note=note)


def _day(value: date) -> str:
    return f"{value.day} {value:%b %Y}"


def _history_row(event: OrderEvent, *, is_last: bool) -> HistoryRow:
    family, icon, label = find_pill(event.status)
    kind = family if family in {"ok", "warn", "bad"} else ""
    return HistoryRow(
        label=label,
        icon=icon,
        kind=kind or ("now" if is_last else ""),
        detail=". ".join(filter(None, (_detail(event), event.why, _actor(event)))),
        raw=event.status,
        at=event.created_at,
    )


def _detail(event: OrderEvent) -> str:
    known = OrderStatusDetail.known(event.status_detail)
    return str(known.label) if known else event.status_detail


def _actor(event: OrderEvent) -> str:
    match event.actor_kind:
        case ActorKind.SYSTEM:
            return "By Assay"
        case ActorKind.API_KEY:
            return f"By the API key {event.actor_label}"
        case _:
            return f"By {event.actor_label}"
