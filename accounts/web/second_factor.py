"""The second factor: what is set up, an authenticator app, the recovery codes.

allauth's own views with our way on after them. Must not be here: passkeys
(accounts.web.passkeys), or who needs a second factor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.operations.profile import record_member_change
from accounts.operations.sessions import record_refused_factor
from accounts.operations.sign_in_tries import release_attempt
from accounts.queries import SECOND_FACTORS
from accounts.web.sign_in_tries import start_attempt
from portal.lib.actor import Actor, ActorKind

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member

_ONWARD = "second_factor_onward"
_KINDS = {
    Authenticator.Type.TOTP: "authenticator app",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}


def find_second_factor_step(
    request: HttpRequest, *, set_up: str = "mfa_index", onward: str = ""
) -> str | None:
    """Where the second factor is given, or set up; None once this session gave it.

    `set_up` is the page for who has none. Both lead on to `onward`, or back to where
    the member was going.
    """
    user = cast("Member", request.user)
    kinds = set(
        Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS).values_list(
            "type", flat=True
        )
    )
    given = [
        record
        for record in get_authentication_records(request, user)
        if record.get("method") == "mfa"
    ]
    if not kinds:
        page = set_up
    elif given:
        return None
    elif Authenticator.Type.TOTP in kinds:
        page = "mfa_reauthenticate"
    else:
        page = "mfa_reauthenticate_webauthn"
    return f"{reverse(page)}?{urlencode({'next': onward or request.get_full_path()})}"


def remember_next_page(request: HttpRequest) -> None:
    """Remember where the member was going, if it is a page of ours."""
    onward = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(onward, allowed_hosts=None):
        request.session[_ONWARD] = onward


def record_factor_given(request: HttpRequest, kind: str) -> None:
    """Who sets a second factor up has shown it: this session need not ask again."""
    record_authentication(request, cast("Member", request.user), "mfa", type=kind)


def on_factor_added(
    sender: object, request: HttpRequest, user: Member, authenticator: Any, **_: Any
) -> None:
    """Write down a new second factor; allauth's signal calls it."""
    _record(request, user, "add_second_factor", authenticator)


def on_factor_removed(
    sender: object, request: HttpRequest, user: Member, authenticator: Any, **_: Any
) -> None:
    """Write down that a second factor is gone; allauth's signal calls it."""
    _record(request, user, "remove_second_factor", authenticator)


def on_codes_renewed(
    sender: object, request: HttpRequest, user: Member, authenticator: Any, **_: Any
) -> None:
    """Write down that recovery codes were made anew; allauth's signal calls it."""
    _record(request, user, "renew_second_factor", authenticator)


def on_code_refused(
    sender: object, request: HttpRequest, user: Member, authenticator: Any, **_: Any
) -> None:
    """Write down that a code was wrong; allauth's signal calls it."""
    record_refused_factor(
        member=user,
        address=request.META.get("REMOTE_ADDR") or None,
        kind=_KINDS[authenticator.type],
    )


def _record(request: HttpRequest, member: Member, verb: str, one: Any) -> None:
    address = request.META.get("REMOTE_ADDR") or None
    kind = _KINDS[one.type]
    record_member_change(
        member=member,
        actor=Actor(ActorKind.MEMBER, str(member.pk), member.email, address),
        verb=verb,
        changes={"second_factor": [kind, None] if "remove" in verb else [None, kind]},
    )


class _CountedCodeMixin:
    """A code is tried as a password is: no faster, and nobody else's tries shut out."""

    user: Member

    def clean_code(self) -> str:
        taken = start_attempt(
            context.request,
            subject=f"second factor:{self.user.pk}",
            email=self.user.email,
        )
        code: str = super().clean_code()  # type: ignore[misc]  # of the form beside it
        release_attempt(taken)
        return code


class CodeForm(_CountedCodeMixin, AuthenticateForm):
    """A code after the password."""


class ConfirmingCodeForm(_CountedCodeMixin, ReauthenticateForm):
    """A code to confirm who it is."""


class ListSecondFactors(IndexView):
    """What the member has set up, and the way to more of it."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        remember_next_page(request)
        response: HttpResponse = super().get(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        onward = self.request.session.get(_ONWARD)
        if context["is_mfa_enabled"]:
            self.request.session.pop(_ONWARD, None)
        return {**context, "onward": onward or reverse("landing")}


class AskSecondFactor(AuthenticateView):
    """A code or a passkey after the password, whichever the member has."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kinds = set(
            Authenticator.objects.filter(user=self.stage.login.user).values_list(
                "type", flat=True
            )
        )
        return {
            **super().get_context_data(**kwargs),
            "has_app": Authenticator.Type.TOTP in kinds,
            "has_passkey": Authenticator.Type.WEBAUTHN in kinds,
        }


class ActivateAuthenticatorApp(ActivateTOTPView):
    """Show the secret once, take a first code, and count it as given."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        remember_next_page(request)
        response: HttpResponse = super().get(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        record_factor_given(self.request, str(Authenticator.Type.TOTP))
        return response


class ShowRecoveryCodes(ViewRecoveryCodesView):
    """The recovery codes, once, and the way to where the member was going."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        onward = self.request.session.pop(_ONWARD, reverse("landing"))
        return {**super().get_context_data(**kwargs), "onward": onward}

    def render_to_response(
        self, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        response: HttpResponse = super().render_to_response(context, **kwargs)
        add_never_cache_headers(response)
        return response
