"""The account at Twilio that sends a team's texts to patients."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from labs.gateways.patient_messages.base import MessageRefused, MessageRejected
from labs.gateways.patient_messages.twilio import TwilioMessenger
from labs.models import TextProvider
from labs.queries.text_provider import find_text_provider
from portal.lib.errors import DomainError, NotFound, Unavailable
from portal.lib.secrets.encryption import decrypt_secret, encrypt_secret

if TYPE_CHECKING:
    from portal.lib.actor import Actor

_ACCOUNT = re.compile(r"AC[0-9a-fA-F]{32}")
_SENDER = re.compile(r"\+[1-9]\d{6,14}|MG[0-9a-fA-F]{32}")
# Twilio's are 32 hex digits; what it will not accept it says itself.
TOKEN_MAX_LENGTH = 128


@dataclass(frozen=True, slots=True)
class TextAccount:
    """The account as entered; an empty token keeps the stored one of this account."""

    account_sid: str
    sender: str
    auth_token: str = field(default="", repr=False)


def configure_text_provider(
    *, tenant: Tenant, actor: Actor, account: TextAccount
) -> TextProvider:
    """Set or change the account that sends a tenant's texts, after asking it.

    The account is looked up, no text is sent. Not inside a transaction. Raises:
    text_account_invalid, text_token_missing, text_sender_invalid,
    text_account_refused, text_account_inactive; text_provider_unavailable (503).
    Source: Ours (spec silent).
    """
    sid, sender = account.account_sid.strip(), account.sender.replace(" ", "")
    if not _ACCOUNT.fullmatch(sid):
        raise DomainError(
            "text_account_invalid",
            _("Enter an account SID: AC and 32 hex digits."),
            "account_sid",
        )
    if not _SENDER.fullmatch(sender):
        raise DomainError(
            "text_sender_invalid",
            _(
                "Enter a number with country code, such as +15555550100, or a"
                " messaging service SID."
            ),
            "sender",
        )
    before = find_text_provider(tenant=tenant)
    token = account.auth_token.strip()
    if not token and before is not None and before.account_sid == sid:
        token = decrypt_secret(before.auth_token)
    if not token or len(token) > TOKEN_MAX_LENGTH:
        raise DomainError(
            "text_token_missing",
            _("Enter the account's auth token of at most %(most)d characters.")
            % {"most": TOKEN_MAX_LENGTH},
            "auth_token",
        )
    _check_account(TwilioMessenger(sid, token, sender))
    return _store_provider(tenant, actor, sid, token, sender)


def check_text_provider(*, tenant: Tenant) -> TextProvider:
    """Ask the stored account whether it may send; no text is sent.

    Raises: text_provider_not_found (404); text_account_refused,
    text_account_inactive; text_provider_unavailable (503).
    """
    provider = _get_provider(tenant)
    _check_account(
        TwilioMessenger(
            provider.account_sid, decrypt_secret(provider.auth_token), provider.sender
        )
    )
    provider.checked_at = timezone.now()
    provider.save(update_fields=["checked_at"])
    return provider


@transaction.atomic
def remove_text_provider(*, tenant: Tenant, actor: Actor) -> None:
    """Remove the account; from then on texts are only logged.

    Raises: text_provider_not_found (404).
    """
    provider = _get_provider(tenant)
    key, shown = provider.pk, _audited_fields(provider)
    provider.delete()
    record_change(
        tenant=tenant,
        actor=actor,
        verb="remove_text_provider",
        subject="text_provider",
        subject_id=key,
        changes={name: [value, None] for name, value in shown.items()},
    )


@transaction.atomic
def _store_provider(
    tenant: Tenant, actor: Actor, sid: str, token: str, sender: str
) -> TextProvider:
    # Two members who save at once: the later one wins, and there is one row.
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    found = find_text_provider(tenant=tenant)
    provider = found or TextProvider(tenant=tenant)
    before = _audited_fields(provider) if found else {}
    is_rotated = found is not None and decrypt_secret(found.auth_token) != token
    provider.account_sid, provider.sender = sid, sender
    provider.auth_token = encrypt_secret(token)
    provider.checked_at = timezone.now()
    provider.save()
    changes: dict[str, object] = {
        name: [before.get(name), value]
        for name, value in _audited_fields(provider).items()
        if before.get(name) != value
    }
    if is_rotated:
        changes["auth_token"] = ["stored", "replaced"]
    record_change(
        tenant=tenant,
        actor=actor,
        verb="set_text_provider",
        subject="text_provider",
        subject_id=provider.pk,
        changes=changes,
    )
    return provider


def _audited_fields(provider: TextProvider) -> dict[str, str]:
    return {"account_sid": provider.account_sid, "sender": provider.sender}


def _get_provider(tenant: Tenant) -> TextProvider:
    provider = find_text_provider(tenant=tenant)
    if provider is None:
        raise NotFound("text_provider_not_found", _("No text provider is set up."))
    return provider


def _check_account(account: TwilioMessenger) -> None:
    try:
        is_active = account.is_account_active()
    except MessageRejected:
        raise DomainError(
            "text_account_refused",
            _("Twilio did not accept this account SID and auth token."),
            "auth_token",
        ) from None
    except MessageRefused:
        raise Unavailable(
            "text_provider_unavailable",
            _("Twilio did not answer. Try again in a minute."),
        ) from None
    if not is_active:
        raise DomainError(
            "text_account_inactive",
            _("This Twilio account is suspended or closed."),
            "account_sid",
        )
