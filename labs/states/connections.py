"""Transports of HL7 connections, their faults, and statuses of sent messages."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class Transport(OpenChoices):
    """How messages are exchanged."""

    FOLDER = "folder", gettext_lazy("Folder on this server")
    MLLP = "mllp", gettext_lazy("MLLP")
    SFTP = "sftp", gettext_lazy("SFTP")


class TransportFault(OpenChoices):
    """Why the last try to reach the other side failed."""

    UNREACHABLE = "unreachable", gettext_lazy("The server can't be reached")
    NOT_ALLOWED = (
        "not_allowed",
        gettext_lazy("The address is private and not in LAB_NETWORKS"),
    )
    CERTIFICATE = (
        "certificate",
        gettext_lazy("The certificate is not the one that was entered"),
    )
    NO_ANSWER = "no_answer", gettext_lazy("No acknowledgement arrived in time")
    BAD_ANSWER = "bad_answer", gettext_lazy("The answer is no HL7 acknowledgement")
    HELD_BACK = (
        "held_back",
        gettext_lazy("The other system asked to send the message again later"),
    )
    HOST_KEY = "host_key", gettext_lazy("The host key is not the one that was entered")
    SIGN_IN = "sign_in", gettext_lazy("The user name, password or key was refused")
    FOLDER = "folder", gettext_lazy("A folder can't be read or written")
    SETTINGS = (
        "settings",
        gettext_lazy("This server has no certificate for MLLP"),
    )


class OutboundStatus(OpenChoices):
    """The status of a message that is sent to another system."""

    QUEUED = "queued", gettext_lazy("Waiting to be sent")
    SENT = "sent", gettext_lazy("Sent, not answered")
    ACKNOWLEDGED = "acknowledged", gettext_lazy("Accepted")
    REJECTED = "rejected", gettext_lazy("Rejected")


# Ours. Files are sent, and answered by a file later or never; MLLP answers at once.
OUTBOUND_MOVES: Transitions[OutboundStatus] = Transitions(
    {
        OutboundStatus.QUEUED: {
            OutboundStatus.SENT,
            OutboundStatus.ACKNOWLEDGED,
            OutboundStatus.REJECTED,
        },
        OutboundStatus.SENT: {
            OutboundStatus.ACKNOWLEDGED,
            OutboundStatus.REJECTED,
        },
        OutboundStatus.ACKNOWLEDGED: set(),
        OutboundStatus.REJECTED: set(),
    }
)
