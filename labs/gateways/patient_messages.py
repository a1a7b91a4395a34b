"""Delivery of messages to patients: mail; text messages have no provider yet.

A provider of text messages is added as a Messenger beside MailMessenger, and named in
`find_patient_message_sender`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from smtplib import SMTPException
from typing import TYPE_CHECKING, Protocol

from django.core.mail import EmailMessage

from labs.states.patient_notices import NoticeChannel

if TYPE_CHECKING:
    from accounts.models import Tenant

_log = logging.getLogger(__name__)


class MessageRefused(Exception):
    """The message was not accepted; it may be sent again."""


@dataclass(frozen=True, slots=True)
class PatientMessage:
    """A message and its recipient's email address or phone number.

    `subject` and `reply_to` are for channels that have them.
    """

    to: str = field(repr=False)
    subject: str
    text: str = field(repr=False)
    reply_to: str = ""


class Messenger(Protocol):
    """A sender of messages of one channel."""

    def send(self, message: PatientMessage) -> None:
        """Send the message. Raises: MessageRefused."""
        ...


class MailMessenger:
    """The installation's mail server."""

    def send(self, message: PatientMessage) -> None:
        mail = EmailMessage(
            subject=message.subject,
            body=message.text,
            to=[message.to],
            reply_to=[message.reply_to] if message.reply_to else None,
        )
        try:
            mail.send()
        except (OSError, SMTPException):
            _log.warning("mail to a patient was not taken")
            raise MessageRefused from None


def find_patient_message_sender(*, tenant: Tenant, channel: str) -> Messenger | None:
    """Return the sender of a tenant's channel; None: messages are only logged.

    Source: Ours: patients of the sandbox are made up, and whom a made-up address or
    number belongs to is not known.
    """
    if tenant.is_sandbox or channel != NoticeChannel.EMAIL:
        return None
    return MailMessenger()
