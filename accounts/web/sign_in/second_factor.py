"""Set up and check second factors: authenticator app and recovery codes.

allauth's own views with our way on after them.
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

from accounts.operations.sign_in.attempts import uncount_correct_sign_in_attempt
from accounts.queries import SECOND_FACTORS
from accounts.web.sign_in.attempts import count_sign_in_attempt_or_refuse

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member

_ONWARD = "second_factor_onward"


def find_second_factor_url(
    request: HttpRequest, *, set_up: str = "mfa_index", onward: str = ""
) -> str | None:
    """Return the URL where the second factor is given or set up, else None.

    `set_up` is the page for who has none. Both lead on to `onward`, or back to where
    the member was going.
    """
    user = cast("Member", request.user)
    kinds = set(
        Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS).values_list(
            "type", flat=True
        )
    )
    given_methods = [
        record
        for record in get_authentication_records(request, user)
        if record.get("method") == "mfa"
    ]
    if not kinds:
        page = set_up
    elif given_methods:
        return None
    elif Authenticator.Type.TOTP in kinds:
        page = "mfa_reauthenticate"
    else:
        page = "mfa_reauthenticate_webauthn"
    return f"{reverse(page)}?{urlencode({'next': onward or request.get_full_path()})}"


def remember_page_after_sign_in(request: HttpRequest) -> None:
    """Remember the page to continue to, if it belongs to Assay."""
    onward = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(onward, allowed_hosts=None):
        request.session[_ONWARD] = onward


def mark_second_factor_as_given(request: HttpRequest, kind: str) -> None:
    """Record a newly set up factor as given in this session."""
    record_authentication(request, cast("Member", request.user), "mfa", type=kind)


class _CountedCodeMixin:
    """Limit attempts at codes like attempts at passwords."""

    user: Member

    def clean_code(self) -> str:
        taken = count_sign_in_attempt_or_refuse(
            context.request,
            subject=f"second factor:{self.user.pk}",
            email=self.user.email,
        )
        code: str = super().clean_code()  # type: ignore[misc]  # of the form beside it
        uncount_correct_sign_in_attempt(taken)
        return code


class CodeForm(_CountedCodeMixin, AuthenticateForm):
    """The code asked for after the password."""


class ConfirmingCodeForm(_CountedCodeMixin, ReauthenticateForm):
    """The code that confirms a member's identity."""


class ListSecondFactors(IndexView):
    """Show the member's second factors."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        remember_page_after_sign_in(request)
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
    """Ask for a code or a passkey after the password."""

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
    """Show the secret once, check a first code and record it as given."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        remember_page_after_sign_in(request)
        response: HttpResponse = super().get(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        app = Authenticator.objects.get(
            user=cast("Member", self.request.user), type=Authenticator.Type.TOTP
        )
        # Counts the code as used: it signs nobody else in (RFC 6238, 5.2).
        app.wrap().validate_code(form.cleaned_data["code"])
        mark_second_factor_as_given(self.request, str(Authenticator.Type.TOTP))
        return response


class ShowRecoveryCodes(ViewRecoveryCodesView):
    """Show the recovery codes once, then continue."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        onward = self.request.session.pop(_ONWARD, reverse("landing"))
        return {**super().get_context_data(**kwargs), "onward": onward}

    def render_to_response(
        self, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        response: HttpResponse = super().render_to_response(context, **kwargs)
        add_never_cache_headers(response)
        return response
