"""Check password strength, and create links for setting a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.urls import reverse

from portal.lib.errors import DomainError
from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from accounts.models import Member


def check_password_strength(password: str, *, member: Member, field: str) -> None:
    """Refuse a password that is short, common or like the member's name.

    `field` is the input at fault. Raises: password_weak. Source: Ours: the rules of a
    reset.
    """
    try:
        validate_password(password, user=member)
    except ValidationError as weak:
        raise DomainError("password_weak", " ".join(weak.messages), field) from None


def create_password_reset_link(member: Member) -> str:
    """Create a one-time URL valid for `settings.PASSWORD_RESET_TIMEOUT`.

    It carries no session: whoever holds it may set the password, so it is shown to
    one person once. Source: Ours: the same mechanism as a reset by mail.
    """
    key = default_token_generator.make_token(member)
    path = reverse(
        "account_reset_password_from_key",
        kwargs={"uidb36": user_pk_to_url_str(member), "key": key},
    )
    return build_absolute_url(path)
