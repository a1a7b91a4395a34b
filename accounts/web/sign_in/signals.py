"""Receive the signals of Django and allauth: sign-in, sign-out, resets and factors.

Apart from the views, as every command connects them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.signals import password_reset
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from django.contrib.auth.signals import user_logged_in, user_logged_out

from accounts.operations.members.profile import record_own_change_in_team_audits
from accounts.operations.sign_in.addresses import confirm_email_address_by_password_link
from accounts.operations.sign_in.attempts import (
    build_sign_in_subject_of_email,
    clear_sign_in_attempts,
)
from accounts.operations.sign_in.sessions import (
    delete_signed_out_session,
    record_wrong_second_factor,
)
from portal.lib.actor import Actor, ActorKind

if TYPE_CHECKING:
    from django.http import HttpRequest

    from accounts.models import Member

_KINDS = {
    Authenticator.Type.TOTP: "authenticator app",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}


def connect_sign_in_signals() -> None:
    """Connect these receivers to the signals of Django and allauth."""
    for signal, receiver, name in (
        (user_logged_in, record_session_on_sign_in, "sessions"),
        (user_logged_out, delete_session_record_on_sign_out, "sessions"),
        (password_reset, confirm_address_after_password_reset, "addresses"),
        (mfa.authenticator_added, record_second_factor_added, "second_factors"),
        (mfa.authenticator_removed, record_second_factor_removed, "second_factors"),
        (mfa.authenticator_reset, record_recovery_codes_renewed, "second_factors"),
        (
            mfa.authentication_failed,
            record_wrong_second_factor_code,
            "second_factors",
        ),
    ):
        signal.connect(receiver, dispatch_uid=f"accounts.{name}")


def record_session_on_sign_in(
    sender: object, request: HttpRequest, user: Member, **_: Any
) -> None:
    """Record a new session; called by Django's signal."""
    from accounts.web.sign_in.sessions import record_session  # with allauth's views

    record_session(request, user)


def delete_session_record_on_sign_out(
    sender: object, request: HttpRequest, **_: Any
) -> None:
    """Delete a session's record; called by Django's signal."""
    if request.session.session_key:
        delete_signed_out_session(session_key=request.session.session_key)


def confirm_address_after_password_reset(
    sender: object, request: HttpRequest, user: Member, **_: Any
) -> None:
    """Confirm the address after a reset by mail; called by allauth's signal.

    What was tried before was tried at another password.
    """
    confirm_email_address_by_password_link(user)
    clear_sign_in_attempts(subject=build_sign_in_subject_of_email(user.email))


def record_second_factor_added(
    sender: object, request: HttpRequest, user: Member, authenticator: Any, **_: Any
) -> None:
    """Record a new second factor; called by allauth's signal."""
    _record(request, user, "add_second_factor", authenticator)


def record_second_factor_removed(
    sender: object, request: HttpRequest, user: Member, authenticator: Any, **_: Any
) -> None:
    """Record a removed second factor; called by allauth's signal."""
    _record(request, user, "remove_second_factor", authenticator)


def record_recovery_codes_renewed(
    sender: object, request: HttpRequest, user: Member, authenticator: Any, **_: Any
) -> None:
    """Record new recovery codes; called by allauth's signal."""
    _record(request, user, "renew_second_factor", authenticator)


def record_wrong_second_factor_code(
    sender: object, request: HttpRequest, user: Member, authenticator: Any, **_: Any
) -> None:
    """Record a wrong code; called by allauth's signal."""
    record_wrong_second_factor(
        member=user,
        address=request.META.get("REMOTE_ADDR") or None,
        kind=_KINDS[authenticator.type],
    )


def _record(request: HttpRequest, member: Member, verb: str, one: Any) -> None:
    address = request.META.get("REMOTE_ADDR") or None
    kind = _KINDS[one.type]
    record_own_change_in_team_audits(
        member=member,
        actor=Actor(ActorKind.MEMBER, str(member.pk), member.email, address),
        verb=verb,
        changes={"second_factor": [kind, None] if "remove" in verb else [None, kind]},
    )
