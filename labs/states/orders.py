"""Statuses of an order, its transitions and the shortest paths.

A status is `{top}.{method}.{low}`.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from labs.states.catalogue import CollectionMethod
from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy, pgettext_lazy

if TYPE_CHECKING:
    from collections.abc import Mapping


class OrderTopLevelStatus(OpenChoices):
    """The first part of a status: the phase of the order (contract 6.11)."""

    RECEIVED = "received", gettext_lazy("Received")
    COLLECTING_SAMPLE = "collecting_sample", gettext_lazy("Collecting sample")
    SAMPLE_WITH_LAB = "sample_with_lab", gettext_lazy("With the lab")
    COMPLETED = "completed", pgettext_lazy("order", "Completed")
    CANCELLED = "cancelled", pgettext_lazy("order", "Cancelled")
    FAILED = "failed", gettext_lazy("Failed")


class OrderStatusDetail(OpenChoices):
    """The reason for a status (contract 6.10)."""

    FULFILLMENT_ERROR = "fulfillment_error", gettext_lazy("Fulfillment error")
    DATE_OF_COLLECTION_UNSPECIFIED = (
        "date_of_collection_unspecified",
        gettext_lazy("Collection date missing"),
    )
    DEMOGRAPHIC_INFORMATION_UNSPECIFIED = (
        "demographic_information_unspecified",
        gettext_lazy("Patient details missing"),
    )
    DEMOGRAPHIC_INFORMATION_MISMATCH = (
        "demographic_information_mismatch",
        gettext_lazy("Patient details do not match"),
    )
    SAMPLE_QUANTITY_NOT_SUFFICIENT = (
        "sample_quantity_not_sufficient",
        gettext_lazy("Insufficient sample quantity"),
    )
    SAMPLE_CONTAMINATED = "sample_contaminated", gettext_lazy("Sample contaminated")
    SAMPLE_STABILITY_EXCEEDED = (
        "sample_stability_exceeded",
        gettext_lazy("Sample too old"),
    )
    SAMPLE_HEMOLYZED = "sample_hemolyzed", gettext_lazy("Sample hemolyzed")
    SAMPLE_IMPROPER_COLLECTION = (
        "sample_improper_collection",
        gettext_lazy("Sample collected incorrectly"),
    )
    SAMPLE_DAMAGED_IN_TRANSIT = (
        "sample_damaged_in_transit",
        gettext_lazy("Sample damaged in transit"),
    )
    SAMPLE_INTEGRITY_COMPROMISED = (
        "sample_integrity_compromised",
        gettext_lazy("Sample integrity compromised"),
    )
    SAMPLE_NOT_PROVIDED = "sample_not_provided", gettext_lazy("No sample in the kit")
    CONSENT_MISSING = "consent_missing", gettext_lazy("Consent missing")
    LAB_NOT_CERTIFIED_FOR_STATE = (
        "lab_not_certified_for_state",
        gettext_lazy("Lab not certified for the state"),
    )
    COLLECTION_DEVICE_EXPIRED = "collection_device_expired", gettext_lazy("Kit expired")
    KIT_NOT_REGISTERED = "kit_not_registered", gettext_lazy("Kit not registered")
    COLLECTION_SITE_UNRECOGNISED = (
        "collection_site_unrecognised",
        gettext_lazy("Collection site not recognized"),
    )
    REJECTED_ON_REQUEST = "rejected_on_request", gettext_lazy("Rejected on request")


class OrderOrigin(OpenChoices):
    """How an order was created (contract 6.10)."""

    INITIAL = "initial", gettext_lazy("Placed")
    REDRAW = "redraw", gettext_lazy("Redraw")
    RECREATION = "recreation", gettext_lazy("Recreated")


class OrderTransactionStatus(OpenChoices):
    """Whether a transaction has open orders (contract 6.10)."""

    ACTIVE = "active", gettext_lazy("Active")
    COMPLETED = "completed", pgettext_lazy("order", "Completed")
    CANCELLED = "cancelled", pgettext_lazy("order", "Cancelled")


class UpdateReason(OpenChoices):
    """Why an order is recreated (contract 6.14), upper case on the wire."""

    INCORRECT_LAB = "INCORRECT_LAB", gettext_lazy("Wrong lab")
    INCORRECT_PATIENT_DETAILS = (
        "INCORRECT_PATIENT_DETAILS",
        gettext_lazy("Wrong patient details"),
    )
    INCORRECT_TEST = "INCORRECT_TEST", gettext_lazy("Wrong test")
    OTHER = "OTHER", gettext_lazy("Other")


class Interpretation(OpenChoices):
    """How results compare with their ranges (contract 6.8, D2)."""

    NORMAL = "normal", gettext_lazy("Normal")
    ABNORMAL = "abnormal", gettext_lazy("Abnormal")
    CRITICAL = "critical", gettext_lazy("Critical")
    UNKNOWN = "unknown", gettext_lazy("Unknown")


# Contract 6.11: which low-level statuses a method has below each top-level one.
_REQUISITION = "requisition_created requisition_bypassed"
_VOCABULARY: dict[CollectionMethod, dict[str, str]] = {
    CollectionMethod.WALK_IN_TEST: {
        "received": f"ordered {_REQUISITION}",
        "collecting_sample": "appointment_pending appointment_scheduled"
        " appointment_cancelled redraw_available",
        "sample_with_lab": "partial_results",
        "completed": "completed corrected",
        "failed": "sample_error",
        "cancelled": "cancelled",
    },
    CollectionMethod.AT_HOME_PHLEBOTOMY: {
        "received": f"ordered {_REQUISITION}",
        "collecting_sample": "appointment_pending appointment_scheduled draw_completed"
        " appointment_cancelled",
        "sample_with_lab": "partial_results",
        "completed": "completed corrected",
        "failed": "sample_error",
        "cancelled": "cancelled",
    },
    CollectionMethod.TESTKIT: {
        "received": f"ordered awaiting_registration {_REQUISITION} registered",
        "collecting_sample": "transit_customer out_for_delivery with_customer"
        " transit_lab problem_in_transit_customer problem_in_transit_lab",
        "sample_with_lab": "delivered_to_lab lab_processing_blocked",
        "completed": "completed corrected",
        "failed": "failure_to_deliver_to_customer failure_to_deliver_to_lab"
        " sample_error lost",
        "cancelled": "cancelled do_not_process",
    },
    CollectionMethod.ON_SITE_COLLECTION: {
        "received": f"ordered {_REQUISITION}",
        "sample_with_lab": "draw_completed partial_results",
        "completed": "completed corrected",
        "failed": "sample_error",
        "cancelled": "cancelled",
    },
}

# From each low-level status to those that may follow, by method (contract 6.12).
# `req` stands for both kinds of requisition. Edges that the contract marks with a plus
# are ours: the published graphs lack them, real labs need them.
_LATE = "partial_results completed sample_error"
_MOVES: dict[CollectionMethod, dict[str, str]] = {
    CollectionMethod.WALK_IN_TEST: {
        "ordered": f"{_REQUISITION} cancelled",
        "req": f"appointment_pending cancelled redraw_available {_LATE}",
        "appointment_pending": "appointment_scheduled appointment_cancelled cancelled",
        "appointment_scheduled": "appointment_pending appointment_scheduled"
        f" appointment_cancelled cancelled redraw_available {_LATE}",
        "appointment_cancelled": "appointment_pending cancelled partial_results"
        " completed",
        "partial_results": f"redraw_available {_LATE}",
        "completed": "corrected",
        "corrected": "corrected",
    },
    CollectionMethod.AT_HOME_PHLEBOTOMY: {
        "ordered": f"{_REQUISITION} cancelled",
        "req": "appointment_pending cancelled",
        "appointment_pending": "appointment_scheduled appointment_cancelled cancelled",
        "appointment_scheduled": "appointment_scheduled appointment_cancelled"
        " draw_completed cancelled",
        "appointment_cancelled": "appointment_pending appointment_scheduled cancelled",
        "draw_completed": f"cancelled {_LATE}",
        "partial_results": _LATE,
        "completed": "corrected",
        "corrected": "corrected",
    },
    CollectionMethod.ON_SITE_COLLECTION: {
        "ordered": f"{_REQUISITION} cancelled",
        "req": "draw_completed cancelled",
        "draw_completed": f"cancelled {_LATE}",
        "partial_results": _LATE,
        "completed": "corrected",
        "corrected": "corrected",
    },
    CollectionMethod.TESTKIT: {
        "ordered": f"{_REQUISITION} cancelled",
        "req": "transit_customer cancelled do_not_process",
        "with_customer": "transit_lab",
    },
}
_KIT_ON_ITS_WAY = {
    "transit_customer": "out_for_delivery with_customer problem_in_transit_customer"
    " failure_to_deliver_to_customer lost",
    "out_for_delivery": "with_customer problem_in_transit_customer"
    " failure_to_deliver_to_customer lost",
    "problem_in_transit_customer": "transit_customer out_for_delivery with_customer"
    " failure_to_deliver_to_customer lost",
    "transit_lab": "delivered_to_lab problem_in_transit_lab failure_to_deliver_to_lab"
    " lost",
    "problem_in_transit_lab": "transit_lab delivered_to_lab failure_to_deliver_to_lab"
    " lost",
    "delivered_to_lab": "completed sample_error lab_processing_blocked lost",
    "lab_processing_blocked": "delivered_to_lab completed sample_error",
    "completed": "corrected",
    "corrected": "corrected",
}
_MOVES[CollectionMethod.TESTKIT] |= _KIT_ON_ITS_WAY
# Edges of results that come before anybody reported the way (contract D24): to what
# they prove, that the sample was drawn or at the lab. Simulation never takes them.
_EARLY_RESULTS: dict[CollectionMethod, dict[str, str]] = {
    CollectionMethod.WALK_IN_TEST: {"appointment_pending": "partial_results completed"},
    CollectionMethod.AT_HOME_PHLEBOTOMY: dict.fromkeys(
        ("req", "appointment_pending", "appointment_cancelled"), "draw_completed"
    ),
    CollectionMethod.ON_SITE_COLLECTION: {},
    CollectionMethod.TESTKIT: dict.fromkeys(
        (
            *("req", "transit_customer", "out_for_delivery"),
            *("problem_in_transit_customer", "with_customer"),
        ),
        "delivered_to_lab",
    ),
}
_EARLY_RESULTS_OF_REGISTERED_KIT = dict.fromkeys(
    ("registered", "requisition_created"), "delivered_to_lab"
)
# A kit that is bound to its person after it was sent. The contract's list of what can
# be cancelled names its requisition, so that edge is here too.
_REGISTRABLE_KIT = {
    "ordered": "awaiting_registration cancelled",
    "awaiting_registration": "transit_customer registered cancelled",
    "with_customer": "registered",
    "registered": "requisition_created cancelled",
    "requisition_created": "transit_lab cancelled",
    **_KIT_ON_ITS_WAY,
}

_TOP_OF = {
    (method, low): top
    for method, tops in _VOCABULARY.items()
    for top, lows in tops.items()
    for low in lows.split()
}
ORDER_STATUSES: tuple[str, ...] = tuple(
    f"{top}.{method}.{low}" for (method, low), top in _TOP_OF.items()
)
LOW_LEVEL_STATUSES: tuple[str, ...] = tuple(dict.fromkeys(low for _, low in _TOP_OF))


class StatusParts(NamedTuple):
    """A status in its three parts; of an unknown one the parts there are."""

    top: str
    method: str
    low: str


def build_order_status(method: str, low: str) -> str:
    """Build `received.walk_in_test.ordered` from `walk_in_test` and `ordered`.

    Raises KeyError where the method has no such status.
    """
    known = CollectionMethod(method)
    return f"{_TOP_OF[known, low]}.{known}.{low}"


@lru_cache(maxsize=256)
def split_order_status(status: str) -> StatusParts:
    """Split a status into its parts, even an unknown one."""
    top, _, rest = status.partition(".")
    method, _, low = rest.partition(".")
    return StatusParts(top, method, low or method or top)


def _build_moves(
    method: CollectionMethod, *tables: Mapping[str, str]
) -> Transitions[str]:
    rows: dict[str, set[str]] = {
        build_order_status(method, low): set()
        for known, low in _TOP_OF
        if known == method
    }
    for low, following in [row for table in tables for row in table.items()]:
        for one in _REQUISITION.split() if low == "req" else [low]:
            rows[build_order_status(method, one)] |= {
                build_order_status(method, after) for after in following.split()
            }
    return Transitions(rows)


# What simulation walks along, and with the edges of early results what is allowed.
_USUAL_MOVES = {method: _build_moves(method, moves) for method, moves in _MOVES.items()}
_USUAL_REGISTRABLE_KIT_MOVES = _build_moves(CollectionMethod.TESTKIT, _REGISTRABLE_KIT)
ORDER_MOVES: dict[CollectionMethod, Transitions[str]] = {
    method: _build_moves(method, moves, _EARLY_RESULTS[method])
    for method, moves in _MOVES.items()
}
REGISTRABLE_KIT_MOVES = _build_moves(
    CollectionMethod.TESTKIT, _REGISTRABLE_KIT, _EARLY_RESULTS_OF_REGISTERED_KIT
)

# What a person or a customer may still cancel (contract 6.12).
_BOOKED = "appointment_pending appointment_scheduled appointment_cancelled"
CANCELLABLE: frozenset[str] = frozenset(
    build_order_status(method, low)
    for method, lows in {
        CollectionMethod.WALK_IN_TEST: f"ordered {_REQUISITION} {_BOOKED}",
        CollectionMethod.AT_HOME_PHLEBOTOMY: f"ordered {_REQUISITION} {_BOOKED}"
        " draw_completed",
        CollectionMethod.TESTKIT: f"ordered awaiting_registration {_REQUISITION}"
        " registered",
        CollectionMethod.ON_SITE_COLLECTION: f"ordered {_REQUISITION} draw_completed",
    }.items()
    for low in lows.split()
)
# Statuses from which on a requisition exists; bypassed ones never had one.
_BEFORE_REQUISITION = {"ordered", "awaiting_registration", "registered"}

# What a lab says of a sample by another way than its results.
LAB_STEPS = ("lab_processing_blocked", "sample_error", "do_not_process")
# Which details a status may carry (contract 6.12); null always.
STATUS_DETAILS: dict[str, frozenset[str]] = {
    "lab_processing_blocked": frozenset(
        {
            OrderStatusDetail.DATE_OF_COLLECTION_UNSPECIFIED,
            OrderStatusDetail.DEMOGRAPHIC_INFORMATION_UNSPECIFIED,
            OrderStatusDetail.DEMOGRAPHIC_INFORMATION_MISMATCH,
        }
    ),
    "sample_error": frozenset(
        value for value in OrderStatusDetail.values if value.startswith("sample_")
    ),
}


def get_allowed_order_transitions(
    method: str, *, registrable: bool
) -> Transitions[str]:
    """Return the transitions of an order's method; a kit to register has its own.

    An order of a method that we do not know may not move.
    """
    known = CollectionMethod.known(method)
    if known is None:
        return Transitions({})
    if registrable and known is CollectionMethod.TESTKIT:
        return REGISTRABLE_KIT_MOVES
    return ORDER_MOVES[known]


def has_status_passed_requisition(status: str) -> bool:
    """Return whether an order in this status has its requisition created."""
    return split_order_status(status).low not in _BEFORE_REQUISITION


# Steps of the shortest walk that simulation never takes by itself (contract 6.13).
_DETOURS = {
    "requisition_bypassed",
    "problem_in_transit_customer",
    "problem_in_transit_lab",
    "lab_processing_blocked",
    "appointment_cancelled",
}
DEFAULT_WALKS: dict[str, str] = {
    CollectionMethod.TESTKIT: "ordered requisition_created transit_customer"
    " out_for_delivery with_customer transit_lab delivered_to_lab completed",
    CollectionMethod.WALK_IN_TEST: "ordered requisition_created partial_results"
    " completed",
    CollectionMethod.AT_HOME_PHLEBOTOMY: "ordered requisition_created"
    " appointment_pending appointment_scheduled draw_completed completed",
    CollectionMethod.ON_SITE_COLLECTION: "ordered requisition_created draw_completed"
    " completed",
}
REGISTRABLE_WALK = (
    "ordered awaiting_registration transit_customer out_for_delivery with_customer"
    " registered requisition_created transit_lab delivered_to_lab completed"
)


def find_order_status_path(
    status: str, *, to: str, registrable: bool
) -> list[str] | None:
    """Return the statuses from `status` to `to` of one method; None if unreachable.

    Along the default walk where both lie on it, `to` after `status`; else the shortest
    legal way, through detours only where `to` is one itself. Source: Contract 6.13.
    """
    method = split_order_status(status).method
    known = CollectionMethod.known(method)
    if known is None:
        return None
    is_registrable_kit = registrable and known is CollectionMethod.TESTKIT
    moves = _USUAL_REGISTRABLE_KIT_MOVES if is_registrable_kit else _USUAL_MOVES[known]
    walked = REGISTRABLE_WALK if is_registrable_kit else DEFAULT_WALKS[known]
    usual = [build_order_status(method, low) for low in walked.split()]
    if status in usual and to in usual and usual.index(status) < usual.index(to):
        return usual[usual.index(status) + 1 : usual.index(to) + 1]
    following = dict(moves)
    came_from: dict[str, str] = {}
    waiting = deque([status])
    while waiting:
        here = waiting.popleft()
        for after in sorted(following.get(here, ())):
            if after in came_from and after != to:
                continue
            if after == to:
                walk = [after]
                while here != status:
                    walk.append(here)
                    here = came_from[here]
                return walk[::-1]
            if split_order_status(after).low not in _DETOURS and after != status:
                came_from[after] = here
                waiting.append(after)
    return None
