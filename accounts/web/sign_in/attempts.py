"""Count sign-in attempts by device, and say how long to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.core.internal.ratelimit import truncate_ip
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.operations.sign_in.attempts import SignInAttempt, count_sign_in_attempt
from accounts.web.sign_in.known_devices import find_known_device_by_email

if TYPE_CHECKING:
    from django.http import HttpRequest


def count_sign_in_attempt_or_refuse(
    request: HttpRequest, *, subject: str, email: str, refusal: str = ""
) -> SignInAttempt:
    """Count an attempt at `subject`, for the account of this address.

    `refusal` replaces the usual text; `%(wait)s` in it is the wait. Raises:
    ValidationError (too_many_login_attempts).
    """
    taken = count_sign_in_attempt(
        subject=subject,
        device=find_known_device_by_email(request, email),
        address=truncate_ip(request.META.get("REMOTE_ADDR") or ""),
    )
    if not taken.is_allowed:
        raise ValidationError(
            (refusal or _("Too many attempts. Wait %(wait)s and try again."))
            % {"wait": describe_wait_time(taken.wait)},
            code="too_many_login_attempts",
        )
    return taken


def describe_wait_time(seconds: int) -> str:
    """Return a wait in seconds, or in minutes from one minute on."""
    if seconds < 60:
        return ngettext("%(n)d second", "%(n)d seconds", seconds) % {"n": seconds}
    minutes = -(-seconds // 60)
    return ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes}
