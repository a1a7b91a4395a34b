"""How allauth signs members in: no open sign-up, our words, tries left counted.

Must not be here: pages (accounts.web.views) or who belongs to a team.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal.ratelimit import get_rates
from django.core.cache import cache

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

    def reauthenticate(self, user: Member, password: str) -> bool:
        # allauth looks for an address in its own table, which members do not use.
        signed_in = self.authenticate(self.request, email=user.email, password=password)
        return signed_in is not None and signed_in.pk == user.pk
