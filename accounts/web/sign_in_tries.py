"""Count a try to sign in as the device that it comes from, or say how long to wait.

Must not be here: how many there may be (accounts.operations.sign_in_tries).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.core.internal.ratelimit import truncate_ip
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.operations.sign_in_tries import SignInAttempt, count_attempt
from accounts.web.known_devices import find_device_name

if TYPE_CHECKING:
    from django.http import HttpRequest


def start_attempt(
    request: HttpRequest, *, subject: str, email: str, refusal: str = ""
) -> SignInAttempt:
    """Count a try at what `subject` names, of the account with this address.

    `refusal` replaces the usual text; `%(wait)s` in it is the wait. Raises:
    ValidationError (too_many_login_attempts).
    """
    taken = count_attempt(
        subject=subject,
        device=find_device_name(request, email),
        address=truncate_ip(request.META.get("REMOTE_ADDR") or ""),
    )
    if not taken.is_allowed:
        raise ValidationError(
            (refusal or _("Too many attempts. Wait %(wait)s and try again."))
            % {"wait": describe_wait(taken.wait)},
            code="too_many_login_attempts",
        )
    return taken


def describe_wait(seconds: int) -> str:
    """A wait as people say it: whole seconds, or minutes from one on."""
    if seconds < 60:
        return ngettext("%(n)d second", "%(n)d seconds", seconds) % {"n": seconds}
    minutes = -(-seconds // 60)
    return ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes}
