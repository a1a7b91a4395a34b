"""Messages to patients: kinds, channels and statuses.

Source: Ours: contract 9.2 only has two switches.
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class NoticeKind(OpenChoices):
    """The subject of a message; never a test, a value or its meaning."""

    KIT_SENT = "kit_sent", gettext_lazy("Kit shipped")
    REQUISITION_READY = "requisition_ready", gettext_lazy("Requisition ready")
    VISIT_SCHEDULED = "visit_scheduled", gettext_lazy("Visit booked")
    VISIT_CANCELLED = "visit_cancelled", gettext_lazy("Visit cancelled")
    RESULTS_READY = "results_ready", gettext_lazy("Results ready")


class NoticeChannel(OpenChoices):
    """The channel of a message."""

    EMAIL = "email", gettext_lazy("Email")
    SMS = "sms", gettext_lazy("SMS")


class NoticeStatus(OpenChoices):
    """The status of a message."""

    WAITING = "waiting", gettext_lazy("Queued")
    # A provider of texts has it; what it reports next follows.
    ACCEPTED = "accepted", gettext_lazy("Queued at the provider")
    SENT = "sent", gettext_lazy("Sent")
    DELIVERED = "delivered", gettext_lazy("Delivered")
    UNDELIVERED = "undelivered", gettext_lazy("Not delivered")
    # In the sandbox, and by channels that nothing is connected to.
    RECORDED = "recorded", gettext_lazy("Logged, not sent")
    REFUSED = "refused", gettext_lazy("Rejected")


_REPORTED = {NoticeStatus.SENT, NoticeStatus.DELIVERED, NoticeStatus.UNDELIVERED}
# Ours: a message is sent once, and what was not taken is not tried for ever. A provider
# that was too slow to answer may report of a message that counts as rejected here.
NOTICE_MOVES: Transitions[NoticeStatus] = Transitions(
    {
        NoticeStatus.WAITING: {
            NoticeStatus.ACCEPTED,
            NoticeStatus.RECORDED,
            NoticeStatus.REFUSED,
            *_REPORTED,
        },
        NoticeStatus.ACCEPTED: _REPORTED,
        NoticeStatus.SENT: {NoticeStatus.DELIVERED, NoticeStatus.UNDELIVERED},
        NoticeStatus.DELIVERED: set(),
        NoticeStatus.UNDELIVERED: set(),
        NoticeStatus.RECORDED: set(),
        NoticeStatus.REFUSED: _REPORTED,
    }
)

# By low-level status of an order, at whatever method has it. A kit's requisition is in
# its box, and a home visitor brings it.
NOTICE_OF_STEP: dict[str, NoticeKind] = {
    "transit_customer": NoticeKind.KIT_SENT,
    "appointment_scheduled": NoticeKind.VISIT_SCHEDULED,
    "appointment_cancelled": NoticeKind.VISIT_CANCELLED,
    "completed": NoticeKind.RESULTS_READY,
}
# Sent once, even if an order repeats the step.
ONCE = frozenset(
    {NoticeKind.KIT_SENT, NoticeKind.REQUISITION_READY, NoticeKind.RESULTS_READY}
)
