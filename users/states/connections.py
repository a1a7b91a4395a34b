"""Statuses of connections and pulls: transitions, explanations and next steps.

One table says what a state or a fault means for people, and what to do next.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class ConnectionStatus(OpenChoices):
    """Status of a live connection (contract 2.4)."""

    CONNECTED = "connected", gettext_lazy("Connected")
    ERROR = "error", gettext_lazy("Error")
    PAUSED = "paused", gettext_lazy("Paused")


# Ours; the specification names no states of a connection. An error may come while
# paused, and the end of ingestion pauses a broken connection too.
CONNECTION_MOVES: Transitions[ConnectionStatus] = Transitions(
    {
        ConnectionStatus.CONNECTED: {ConnectionStatus.ERROR, ConnectionStatus.PAUSED},
        ConnectionStatus.ERROR: {ConnectionStatus.CONNECTED, ConnectionStatus.PAUSED},
        ConnectionStatus.PAUSED: {ConnectionStatus.CONNECTED, ConnectionStatus.ERROR},
    }
)


class ConnectionFault(OpenChoices):
    """Cause of a connection's error (contract 2.4)."""

    TOKEN_REFRESH_FAILED = "token_refresh_failed", gettext_lazy("Token refresh failed")
    WEBHOOK_REGISTRATION_FAILED = (
        "webhook_registration_failed",
        gettext_lazy("Webhook registration failed"),
    )
    USER_NOT_FOUND = "user_not_found", gettext_lazy("User not found")
    DEREGISTERED_PER_PROVIDER = (
        "deregistered_per_provider",
        gettext_lazy("Deregistered by the provider"),
    )
    REQUIRED_SCOPES_NOT_GRANTED = (
        "required_scopes_not_granted",
        gettext_lazy("Required scopes not granted"),
    )
    PROVIDER_CREDENTIAL_ERROR = (
        "provider_credential_error",
        gettext_lazy("Credentials refused"),
    )
    PROVIDER_PASSWORD_EXPIRED = (
        "provider_password_expired",
        gettext_lazy("Password expired"),
    )
    UNKNOWN = "unknown", gettext_lazy("Unknown")


class PauseCause(OpenChoices):
    """Cause of a pause (ours); only ingestion's pauses end by themselves."""

    BY_HAND = "by_hand", gettext_lazy("Paused by your team")
    INGESTION_ENDED = "ingestion_ended", gettext_lazy("Ingestion has ended")


class EntryKind(OpenChoices):
    """Kind of an entry in a connection's timeline (ours)."""

    CONNECTED = "connected", gettext_lazy("Connected")
    FAILED = "failed", gettext_lazy("Failed")
    MENDED = "mended", gettext_lazy("Recovered")
    PAUSED = "paused", gettext_lazy("Paused")
    RESUMED = "resumed", gettext_lazy("Resumed")
    REFRESHED = "refreshed", gettext_lazy("Refresh requested")
    HISTORY = "history", gettext_lazy("Past data available")
    EMAILED = "emailed", gettext_lazy("User emailed")
    DISCONNECTED = "disconnected", gettext_lazy("Disconnected")


# How often a connected source is asked for what is new, by itself (ours).
PULL_EVERY = timedelta(hours=1)


class PullStatus(OpenChoices):
    """Status of a pull (contract 5.5; values ours)."""

    SCHEDULED = "scheduled", gettext_lazy("Scheduled")
    STARTED = "started", gettext_lazy("Running")
    SUCCESS = "success", gettext_lazy("Done")
    FAILURE = "failure", gettext_lazy("Failed")


# Ours. A pull that has to wait (too many requests) goes back to the queue; one whose
# connection ended before its turn fails without having run.
PULL_MOVES: Transitions[PullStatus] = Transitions(
    {
        PullStatus.SCHEDULED: {PullStatus.STARTED, PullStatus.FAILURE},
        PullStatus.STARTED: {
            PullStatus.SCHEDULED,
            PullStatus.SUCCESS,
            PullStatus.FAILURE,
        },
        PullStatus.SUCCESS: set(),
        PullStatus.FAILURE: set(),
    }
)


@dataclass(frozen=True, slots=True)
class Condition:
    """Explanation and next step of a status, in whole sentences."""

    sentence: str
    next_step: str
    # Whether the user has to connect anew, with a link.
    needs_user: bool = False


# By status, fault or cause of a pause: their values are told apart by name.
CONDITIONS: dict[str, Condition] = {
    ConnectionStatus.CONNECTED: Condition(
        gettext_lazy("Data arrives as the source sends it."), ""
    ),
    PauseCause.BY_HAND: Condition(
        gettext_lazy("Your team paused this source. No data is fetched from it."),
        gettext_lazy("Resume it to fetch the data recorded since."),
    ),
    PauseCause.INGESTION_ENDED: Condition(
        gettext_lazy("Ingestion ended more than 7 days ago. No data is fetched."),
        gettext_lazy("Set ingestion_end to a later date to resume it."),
    ),
    ConnectionFault.TOKEN_REFRESH_FAILED: Condition(
        gettext_lazy("The source no longer accepts the user's permission."),
        gettext_lazy("Send the user a new link to connect it again."),
        needs_user=True,
    ),
    ConnectionFault.WEBHOOK_REGISTRATION_FAILED: Condition(
        gettext_lazy("The source rejected the webhook registration."),
        gettext_lazy(
            "Refresh it to fetch data now. If this repeats, connect it again."
        ),
    ),
    ConnectionFault.USER_NOT_FOUND: Condition(
        gettext_lazy("The account no longer exists at the source."),
        gettext_lazy("Ask the user if they closed the account, then send a new link."),
        needs_user=True,
    ),
    ConnectionFault.DEREGISTERED_PER_PROVIDER: Condition(
        gettext_lazy("The user revoked access in the source's settings."),
        gettext_lazy("Send a new link if the user wants to share data again."),
        needs_user=True,
    ),
    ConnectionFault.REQUIRED_SCOPES_NOT_GRANTED: Condition(
        gettext_lazy("The user did not grant all required permissions."),
        gettext_lazy("Send a new link and ask the user to allow all permissions."),
        needs_user=True,
    ),
    ConnectionFault.PROVIDER_CREDENTIAL_ERROR: Condition(
        gettext_lazy("The source rejects the sign-in."),
        gettext_lazy("Send the user a new link to sign in again."),
        needs_user=True,
    ),
    ConnectionFault.PROVIDER_PASSWORD_EXPIRED: Condition(
        gettext_lazy("The user's password at the source has expired."),
        gettext_lazy("Ask the user to set a new password, then send a new link."),
        needs_user=True,
    ),
    ConnectionFault.UNKNOWN: Condition(
        gettext_lazy("The source failed with an unknown error."),
        gettext_lazy("Refresh it. If it fails again, send the user a new link."),
    ),
}
_UNNAMED = Condition(
    gettext_lazy("The status is unknown."),
    gettext_lazy("Refresh it and check again."),
)


def explain_connection_status(
    status: str, *, error_type: str = "", pause_cause: str = ""
) -> Condition:
    """Return the explanation of a connection's status, also of an unknown one."""
    match status:
        case ConnectionStatus.CONNECTED:
            return CONDITIONS[ConnectionStatus.CONNECTED]
        case ConnectionStatus.PAUSED:
            return CONDITIONS[
                PauseCause.known(pause_cause) or PauseCause.INGESTION_ENDED
            ]
        case ConnectionStatus.ERROR:
            return CONDITIONS[
                ConnectionFault.known(error_type) or ConnectionFault.UNKNOWN
            ]
        case _:
            return _UNNAMED
