"""How connections and pulls do: their states, moves, and what is said of each.

One table says what a state or a fault means for people, and what to do next. Must not
be here: who moves a row (users.operations.connections).
"""

from __future__ import annotations

from dataclasses import dataclass

from portal.lib.choices import OpenChoices
from portal.lib.transitions import Transitions


class ConnectionStatus(OpenChoices):
    """How a live connection does (contract 2.4)."""

    CONNECTED = "connected", "Connected"
    ERROR = "error", "Error"
    PAUSED = "paused", "Paused"


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
    """Why a connection broke (contract 2.4)."""

    TOKEN_REFRESH_FAILED = "token_refresh_failed", "Token refresh failed"
    WEBHOOK_REGISTRATION_FAILED = (
        "webhook_registration_failed",
        "Webhook registration failed",
    )
    USER_NOT_FOUND = "user_not_found", "User not found"
    DEREGISTERED_PER_PROVIDER = (
        "deregistered_per_provider",
        "Deregistered by the provider",
    )
    REQUIRED_SCOPES_NOT_GRANTED = (
        "required_scopes_not_granted",
        "Required scopes not granted",
    )
    PROVIDER_CREDENTIAL_ERROR = "provider_credential_error", "Credentials refused"
    PROVIDER_PASSWORD_EXPIRED = "provider_password_expired", "Password expired"
    UNKNOWN = "unknown", "Unknown"


class PauseCause(OpenChoices):
    """Who paused a connection (ours); only what ingestion paused resumes by itself."""

    BY_HAND = "by_hand", "Paused by your team"
    INGESTION_ENDED = "ingestion_ended", "Ingestion has ended"


class EntryKind(OpenChoices):
    """What a line of a connection's timeline tells (ours)."""

    CONNECTED = "connected", "Connected"
    FAILED = "failed", "Failed"
    MENDED = "mended", "Works again"
    PAUSED = "paused", "Paused"
    RESUMED = "resumed", "Resumed"
    REFRESHED = "refreshed", "Refresh asked for"
    HISTORY = "history", "Past data can be read"
    DISCONNECTED = "disconnected", "Disconnected"


class PullStatus(OpenChoices):
    """How asking a source for one resource does (contract 5.5; values ours)."""

    SCHEDULED = "scheduled", "Scheduled"
    STARTED = "started", "Running"
    SUCCESS = "success", "Done"
    FAILURE = "failure", "Failed"


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
    """What a state means and what to do next, in whole sentences."""

    sentence: str
    next_step: str
    # Whether the user has to connect anew, with a link.
    needs_user: bool = False


# By status, fault or cause of a pause: their values are told apart by name.
CONDITIONS: dict[str, Condition] = {
    ConnectionStatus.CONNECTED: Condition("Data arrives as the source sends it.", ""),
    PauseCause.BY_HAND: Condition(
        "Your team paused this source; nothing is fetched from it.",
        "Resume it to fetch what it has recorded since.",
    ),
    PauseCause.INGESTION_ENDED: Condition(
        "Ingestion ended more than seven days ago; nothing is fetched any more.",
        "Move the end of ingestion to a later day and it resumes by itself.",
    ),
    ConnectionFault.TOKEN_REFRESH_FAILED: Condition(
        "The source no longer accepts the permission that the user gave.",
        "Send the user a new link to connect it again.",
        needs_user=True,
    ),
    ConnectionFault.WEBHOOK_REGISTRATION_FAILED: Condition(
        "The source would not agree to announce new data.",
        "Refresh it to fetch data now; the source may need to be connected again.",
    ),
    ConnectionFault.USER_NOT_FOUND: Condition(
        "The source no longer knows this account.",
        "Ask the user whether the account was closed, then send a new link.",
        needs_user=True,
    ),
    ConnectionFault.DEREGISTERED_PER_PROVIDER: Condition(
        "The user took back the permission in the source's own settings.",
        "Send a new link if the user wants to share data again.",
        needs_user=True,
    ),
    ConnectionFault.REQUIRED_SCOPES_NOT_GRANTED: Condition(
        "The user did not allow everything that is needed to read the data.",
        "Send a new link and ask the user to tick every box.",
        needs_user=True,
    ),
    ConnectionFault.PROVIDER_CREDENTIAL_ERROR: Condition(
        "The source refuses the sign-in.",
        "Send the user a new link to sign in again.",
        needs_user=True,
    ),
    ConnectionFault.PROVIDER_PASSWORD_EXPIRED: Condition(
        "The user's password at the source has expired.",
        "Ask the user to set a new one there, then send a new link.",
        needs_user=True,
    ),
    ConnectionFault.UNKNOWN: Condition(
        "The source failed in a way we can't name.",
        "Refresh it; if it fails again, send the user a new link.",
    ),
}
_UNNAMED = Condition("Its state has no words here yet.", "Refresh it and look again.")


def condition_of(
    status: str, *, error_type: str = "", pause_cause: str = ""
) -> Condition:
    """What is said of a connection; one of a state we do not know has words too."""
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
