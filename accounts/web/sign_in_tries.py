"""Count a try to sign in as the device that it comes from, or say how long to wait.

Must not be here: how many there may be (accounts.operations.sign_in_tries).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.core.internal.ratelimit import truncate_ip
from django.core.exceptions import ValidationError
from django.template.defaultfilters import pluralize

from accounts.operations.sign_in_tries import Try, take_try
from accounts.web.known_devices import device_of

if TYPE_CHECKING:
    from django.http import HttpRequest


def begin_try(
    request: HttpRequest, *, subject: str, email: str, or_else: str = ""
) -> Try:
    """Count a try at what `subject` names, of the account with this address.

    `or_else` is what to do instead of waiting. Raises: ValidationError
    (too_many_login_attempts).
    """
    taken = take_try(
        subject=subject,
        device=device_of(request, email),
        address=truncate_ip(request.META.get("REMOTE_ADDR") or ""),
    )
    if not taken.is_allowed:
        raise ValidationError(
            f"Too many tries. Wait {wait_words(taken.wait)}{or_else}.",
            code="too_many_login_attempts",
        )
    return taken


def wait_words(seconds: int) -> str:
    """A wait as people say it: whole seconds, or minutes from one on."""
    if seconds < 60:
        return f"{seconds} second{pluralize(seconds)}"
    minutes = -(-seconds // 60)
    return f"{minutes} minute{pluralize(minutes)}"
