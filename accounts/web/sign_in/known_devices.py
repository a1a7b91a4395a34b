"""Recognize devices that a member signed in with before, by a signed cookie.

It lets nobody in. Who has it is not made to wait by what others try (accounts.
operations.sign_in_tries). It is good for LIFE, and no longer than the password and the
sessions of its member: a new password, or signing out everywhere, ends it.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner

from accounts.models import Member
from portal.lib.web.views import build_secure_cookie_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse

LIFE = timedelta(days=180)
# Members who share a device, as in a laboratory; the one who was there first goes.
MEMBERS_MAX = 5
_BETWEEN = "|"


def mark_device_known_to_member(
    request: HttpRequest, response: HttpResponse, member: Member
) -> None:
    """Mark the request's device as known for this member.

    Only for who has given all that signing in takes, or reads the member's mail.
    Whoever else is known on the device stays so.
    """
    signed = f"{member.pk.hex}.{secrets.token_urlsafe(16)}"
    others = [
        token
        for token in _read_tokens(request)
        if not token.startswith(f"{member.pk.hex}.")
    ]
    signatures = [_build_signer(member).sign(signed), *others][:MEMBERS_MAX]
    response.set_cookie(
        _cookie_name(),
        _BETWEEN.join(signatures),
        max_age=LIFE,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


def list_members_known_on_device(request: HttpRequest) -> Mapping[Member, str]:
    """Return the members known on this device, last sign-in first.

    What is forged, too old or of an earlier password counts for nothing.
    """
    found: dict[Member, str] | None = getattr(request, "_known_devices", None)
    if found is None:
        found = _find_members(_read_tokens(request))
        request._known_devices = found  # type: ignore[attr-defined]  # for this request
    return found


def find_known_device_by_email(request: HttpRequest, email: str) -> str:
    """Return the known device of this member, by email address, or empty.

    The database is asked by what the cookie says, so that nobody without it learns
    whether an account exists. A session of the member's is as good as a cookie.
    """
    email = email.strip().lower()
    if isinstance(request.user, Member) and request.user.email == email:
        return f"session:{request.session.session_key}"
    return next(
        (
            name
            for one, name in list_members_known_on_device(request).items()
            if one.email == email
        ),
        "",
    )


def _find_members(tokens: list[str]) -> dict[Member, str]:
    ids = {}
    for token in tokens:
        try:
            ids[UUID(token.partition(".")[0])] = token
        except ValueError:
            continue
    if not ids:
        return {}
    members = {member.pk: member for member in Member.objects.filter(pk__in=ids)}
    found = {}
    for pk, token in ids.items():
        member = members.get(pk)
        if member is None:
            continue
        try:
            signed = _build_signer(member).unsign(token, max_age=LIFE)
        except BadSignature:  # too old as well
            continue
        found[member] = signed.partition(".")[2]
    return found


def _read_tokens(request: HttpRequest) -> list[str]:
    signed = request.COOKIES.get(_cookie_name(), "")
    return signed.split(_BETWEEN)[:MEMBERS_MAX] if signed else []


def _build_signer(member: Member) -> TimestampSigner:
    # What ends it is part of the salt, which is hashed and never sent.
    return TimestampSigner(
        salt=f"accounts.known_device:{member.password}:{member.session_round}"
    )


def _cookie_name() -> str:
    return build_secure_cookie_name("known_device", path="/")
