"""Accounts that send texts; they are made up."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from labs.models import TextProvider
from portal.lib.secrets.encryption import encrypt_secret

SID = "AC" + "0" * 31 + "1"


def make_text_provider(*, tenant: Any) -> TextProvider:
    """The tenant's account at Twilio, as if it had been checked."""
    provider = TextProvider(
        tenant=tenant,
        account_sid=SID,
        auth_token=encrypt_secret("12345"),
        sender="+15555550100",
        checked_at=timezone.now(),
    )
    provider.save(force_insert=True)
    return provider
