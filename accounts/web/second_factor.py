"""The second factor: what is set up, an authenticator app, the recovery codes.

allauth's own views with our way on after them. Must not be here: passkeys
(accounts.web.passkeys), or who needs a second factor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.queries import SECOND_FACTORS

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member

_ONWARD = "second_factor_onward"


def missing_step(request: HttpRequest, *, set_up: str = "mfa_index") -> str | None:
    """Where the second factor is given, or set up; None once this session gave it.

    `set_up` is the page for who has none. Both lead back to where the member was going.
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
    return f"{reverse(page)}?{urlencode({'next': request.get_full_path()})}"


def keep_onward(request: HttpRequest) -> None:
    """Remember where the member was going, if it is a page of ours."""
    onward = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(onward, allowed_hosts=None):
        request.session[_ONWARD] = onward


def count_as_given(request: HttpRequest, kind: str) -> None:
    """Who sets a second factor up has shown it: this session need not ask again."""
    record_authentication(request, cast("Member", request.user), "mfa", type=kind)


class ListSecondFactors(IndexView):
    """What the member has set up, and the way to more of it."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        keep_onward(request)
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
        keep_onward(request)
        response: HttpResponse = super().get(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        count_as_given(self.request, str(Authenticator.Type.TOTP))
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
