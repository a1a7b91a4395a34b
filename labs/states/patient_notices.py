"""What patients are told of their orders, by which channel, and what became of it.

Ours: contract 9.2 has two switches and says no more. Must not be here: the sending.
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.transitions import Transitions


class NoticeKind(OpenChoices):
    """What a patient is told; never a test, a value or what they mean."""

    KIT_SENT = "kit_sent", "Kit on its way"
    REQUISITION_READY = "requisition_ready", "Requisition ready"
    VISIT_SCHEDULED = "visit_scheduled", "Visit booked"
    VISIT_CANCELLED = "visit_cancelled", "Visit called off"
    RESULTS_READY = "results_ready", "Results are there"


class NoticeChannel(OpenChoices):
    """How a patient is told."""

    EMAIL = "email", "Mail"
    SMS = "sms", "Text"


class NoticeStatus(OpenChoices):
    """What became of a notice."""

    WAITING = "waiting", "Waiting"
    SENT = "sent", "Sent"
    # In the sandbox, and by channels that nothing is connected to.
    RECORDED = "recorded", "Not sent, only noted"
    REFUSED = "refused", "Not taken"


# Ours: a message is sent once, and what was not taken is not tried for ever.
NOTICE_MOVES: Transitions[NoticeStatus] = Transitions(
    {
        NoticeStatus.WAITING: {
            NoticeStatus.SENT,
            NoticeStatus.RECORDED,
            NoticeStatus.REFUSED,
        },
        NoticeStatus.SENT: set(),
        NoticeStatus.RECORDED: set(),
        NoticeStatus.REFUSED: set(),
    }
)

# By low-level status of an order, at whatever method has it. A kit's requisition is in
# its box, and whoever comes to the home brings theirs.
NOTICE_OF_STEP: dict[str, NoticeKind] = {
    "transit_customer": NoticeKind.KIT_SENT,
    "appointment_scheduled": NoticeKind.VISIT_SCHEDULED,
    "appointment_cancelled": NoticeKind.VISIT_CANCELLED,
    "completed": NoticeKind.RESULTS_READY,
}
# Told of once, however often an order comes to its step.
ONCE = frozenset(
    {NoticeKind.KIT_SENT, NoticeKind.REQUISITION_READY, NoticeKind.RESULTS_READY}
)
