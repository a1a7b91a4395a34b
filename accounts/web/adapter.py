"""How allauth signs members in: no open sign-up, our words, tries left counted.

Must not be here: pages (accounts.web.views) or who belongs to a team.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.core.internal.ratelimit import get_rates
from allauth.mfa.adapter import DefaultMFAAdapter
from django.core.cache import cache

from portal.lib.encryption import decrypt, encrypt

if TYPE_CHECKING:
    from accounts.models import Member


class MemberAdapter(DefaultAccountAdapter):
    """Members are invited by a team; nobody signs up by themselves."""

    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "That email and password do not match.",
        "incorrect_password": "That is not your password.",
        "too_many_login_attempts": (
            "Too many tries. Wait five minutes, or reset the password."
        ),
        "invalid_password_reset": "This link has been used or is too old.",
    }

    def is_open_for_signup(self, request: Any) -> bool:
        return False

    def authentication_failed(self, request: Any, **_: Any) -> None:
        # The page says how many tries the two limits still give. That tells nobody
        # whether the address is known: unknown ones are counted alike.
        rates = get_rates(app="allauth.account", action="login_failed")
        request.tries_left = min(
            rate.amount - len(cache.get(use.cache_key, []))
            for rate, use in zip(rates, self._login_failed_rl_usage.usage, strict=True)
        )

    def send_notification_mail(
        self,
        template_prefix: str,
        user: Any,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        # Always sent, and to the member's one address: allauth's own table is empty.
        self.send_mail(template_prefix, email or user.email, context or {})

    def is_reauthentication_required(self, *, app: str) -> bool:
        # allauth counts only what was confirmed again; a fresh sign-in is as good.
        records = get_authentication_records(self.request, self.request.user)
        limit = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
        return not any(record["at"] > limit for record in records)

    def reauthenticate(self, user: Member, password: str) -> bool:
        # allauth looks for an address in its own table, which members do not use.
        signed_in = self.authenticate(self.request, email=user.email, password=password)
        return signed_in is not None and signed_in.pk == user.pk


class SecondFactorAdapter(DefaultMFAAdapter):
    """Second factors: what allauth keeps of them is encrypted."""

    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "That code is not right, or its half minute is over.",
    }

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)
