"""States of deliveries and their moves; why an endpoint is off; what an attempt met.

Must not be here: when the next attempt is due (schedule).
"""

from __future__ import annotations

from django.db import models

from portal.lib.choices import OpenChoices
from portal.lib.transitions import Transitions


class DeliveryStatus(OpenChoices):
    """How far a delivery is (contract 8.5)."""

    PENDING = "pending", "Waiting for its next attempt"
    HELD = "held", "Kept while the endpoint is disabled"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Given up after all attempts"
    DROPPED = "dropped", "Not to be sent any more"


# A replay moves a finished delivery back to pending; its webhook-id stays (8.6).
DELIVERY_MOVES: Transitions[DeliveryStatus] = Transitions(
    {
        DeliveryStatus.PENDING: {
            DeliveryStatus.DELIVERED,
            DeliveryStatus.FAILED,
            DeliveryStatus.HELD,
            DeliveryStatus.DROPPED,
        },
        DeliveryStatus.HELD: {DeliveryStatus.PENDING, DeliveryStatus.DROPPED},
        DeliveryStatus.DELIVERED: {DeliveryStatus.PENDING},
        DeliveryStatus.FAILED: {DeliveryStatus.PENDING},
        DeliveryStatus.DROPPED: {DeliveryStatus.PENDING},
    }
)


class DeliveryLane(models.IntegerChoices):
    """The queue of an endpoint that a delivery waits in: replays hold up nothing."""

    LIVE = 0, "Live"
    REPLAY = 1, "Replay"


class ReplayStatus(OpenChoices):
    """How far a replay is."""

    PROBING = "probing", "One message was sent first"
    RUNNING = "running", "Sending"
    DONE = "done", "Done"
    CANCELLED = "cancelled", "Cancelled"
    STOPPED = "stopped", "Stopped by itself"


# Ours: what has ended is not taken up again; what is left is a replay of its own.
REPLAY_MOVES: Transitions[ReplayStatus] = Transitions(
    {
        ReplayStatus.PROBING: {
            ReplayStatus.RUNNING,
            ReplayStatus.DONE,
            ReplayStatus.CANCELLED,
            ReplayStatus.STOPPED,
        },
        ReplayStatus.RUNNING: {
            ReplayStatus.DONE,
            ReplayStatus.CANCELLED,
            ReplayStatus.STOPPED,
        },
        ReplayStatus.DONE: set(),
        ReplayStatus.CANCELLED: set(),
        ReplayStatus.STOPPED: set(),
    }
)


class DisabledBy(OpenChoices):
    """Why an endpoint gets nothing."""

    MEMBER = "member", "Disabled by the team"
    FAILING = "failing", "Disabled after five days of failures alone"
    GONE = "gone", "It answered 410 Gone"


class DeliveryFault(OpenChoices):
    """What an attempt met instead of a 2xx answer in time."""

    STATUS = "status", "Answered with a status other than 2xx"
    REDIRECT = "redirect", "Answered with a redirect, which is not followed"
    TIMEOUT = "timeout", "No answer within 15 seconds"
    DNS = "dns", "The host name does not resolve"
    BLOCKED = "blocked", "The address is private or reserved"
    REFUSED = "refused", "Nothing listens at the address"
    TLS = "tls", "The TLS handshake failed"
    CERTIFICATE = "certificate", "The TLS certificate is not valid"
    RESET = "reset", "The connection was closed before an answer"
    GARBAGE = "garbage", "The answer was not HTTP"
