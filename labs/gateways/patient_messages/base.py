"""The gateway Protocol of messages to patients.

Calls may take seconds and fail: never inside a transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from labs.states.patient_notices import NoticeStatus

if TYPE_CHECKING:
    from datetime import timedelta


class MessageRefused(Exception):
    """The message was not accepted, or nobody answered; it may be sent again.

    `retry_after` is how long the provider asks to be left alone.
    """

    def __init__(
        self, reason: str = "", *, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class MessageRejected(Exception):
    """The provider will never accept this message; `code` is its own, or ours."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class PatientMessage:
    """A message and its recipient's email address or phone number.

    `subject`, `html` and `reply_to` are for channels that have them, `status_url` for
    those that report what became of a message.
    """

    to: str = field(repr=False)
    text: str = field(repr=False)
    subject: str = ""
    html: str = field(default="", repr=False)
    reply_to: str = ""
    status_url: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a channel answered: the status, and the provider's id of the message."""

    status: NoticeStatus = NoticeStatus.SENT
    provider_id: str = ""


class Messenger(Protocol):
    """A sender of messages of one channel."""

    def send(self, message: PatientMessage) -> Receipt:
        """Send the message. Raises: MessageRefused, MessageRejected."""
        ...
