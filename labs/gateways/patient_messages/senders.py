"""The sender of each channel, as a tenant has it."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.core.mail import EmailMultiAlternatives

from labs.gateways.patient_messages.base import MessageRefused, Receipt
from labs.gateways.patient_messages.twilio import TwilioMessenger
from labs.queries.text_provider import find_text_provider
from labs.states.patient_notices import NoticeChannel
from portal.lib.secrets.encryption import decrypt_secret

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.gateways.patient_messages.base import Messenger, PatientMessage

_log = logging.getLogger(__name__)


class MailMessenger:
    """The installation's mail server."""

    def send(self, message: PatientMessage) -> Receipt:
        mail = EmailMultiAlternatives(
            subject=message.subject,
            body=message.text,
            to=[message.to],
            reply_to=[message.reply_to] if message.reply_to else None,
        )
        if message.html:
            mail.attach_alternative(message.html, "text/html")
        try:
            mail.send()
        except (OSError, SMTPException):
            _log.warning("mail to a patient was not taken")
            raise MessageRefused from None
        return Receipt()


def find_patient_message_sender(*, tenant: Tenant, channel: str) -> Messenger | None:
    """Return the sender of a tenant's channel; None: messages are only logged.

    Source: Ours: patients of the sandbox are made up, and whom a made-up address or
    number belongs to is not known.
    """
    if tenant.is_sandbox:
        return None
    if channel == NoticeChannel.EMAIL:
        return MailMessenger()
    provider = find_text_provider(tenant=tenant)
    if provider is None:
        return None
    return TwilioMessenger(
        account_sid=provider.account_sid,
        auth_token=decrypt_secret(provider.auth_token),
        sender=provider.sender,
    )
