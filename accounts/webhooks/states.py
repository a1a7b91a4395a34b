"""Define delivery states and transitions, reasons to disable and attempt faults."""

from __future__ import annotations

from django.db import models

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy, pgettext_lazy


class DeliveryStatus(OpenChoices):
    """How far a delivery is (contract 8.5)."""

    PENDING = "pending", gettext_lazy("Waiting for the next attempt")
    HELD = "held", gettext_lazy("On hold while the endpoint is disabled")
    DELIVERED = "delivered", gettext_lazy("Delivered")
    FAILED = "failed", gettext_lazy("Failed after all attempts")
    DROPPED = "dropped", pgettext_lazy("delivery", "Cancelled")


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

    PROBING = "probing", gettext_lazy("Testing one event")
    RUNNING = "running", gettext_lazy("Sending")
    DONE = "done", gettext_lazy("Done")
    CANCELLED = "cancelled", pgettext_lazy("replay", "Cancelled")
    STOPPED = "stopped", gettext_lazy("Stopped automatically")


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

    MEMBER = "member", gettext_lazy("Disabled by the team")
    FAILING = "failing", gettext_lazy("Disabled after 5 days of failures")
    GONE = "gone", gettext_lazy("Responded with 410 Gone")


class DeliveryFault(OpenChoices):
    """What an attempt met instead of a 2xx answer in time."""

    STATUS = "status", gettext_lazy("Responded with a status other than 2xx")
    REDIRECT = (
        "redirect",
        gettext_lazy("Responded with a redirect, which is not followed"),
    )
    TIMEOUT = "timeout", gettext_lazy("No response within 15 seconds")
    DNS = "dns", gettext_lazy("Host name could not be resolved")
    BLOCKED = "blocked", gettext_lazy("Private or reserved address")
    REFUSED = "refused", gettext_lazy("Connection refused")
    TLS = "tls", gettext_lazy("TLS handshake failed")
    CERTIFICATE = "certificate", gettext_lazy("Invalid TLS certificate")
    RESET = "reset", gettext_lazy("Connection closed before a response")
    GARBAGE = "garbage", gettext_lazy("Response is not HTTP")
