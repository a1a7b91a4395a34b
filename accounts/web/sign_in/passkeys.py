"""Add, rename, remove and use passkeys.

allauth's own views, kept to passkeys that verify the person (a finger, a face, a PIN),
so that one alone signs in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal import auth, flows
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    EditWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django import forms
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404
from django.urls import reverse_lazy
from django.utils.cache import add_never_cache_headers
from django.utils.decorators import method_decorator

from accounts.operations.sign_in.passkeys import is_next_passkey_signature
from accounts.operations.sign_in.sessions import record_wrong_second_factor
from accounts.web.sign_in.second_factor import (
    mark_second_factor_as_given,
    remember_page_after_sign_in,
)
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase

NAME_MAX_LENGTH = 60


class PasskeyForm(AddWebAuthnForm):
    """A new passkey and its name."""

    name = forms.CharField(required=False, max_length=NAME_MAX_LENGTH)
    passwordless = None  # all are: the challenge itself says so


class PasskeyNameForm(EditWebAuthnForm):
    """A new name for a passkey."""

    name = forms.CharField(
        max_length=NAME_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter a name.")},
    )


class _CountedPasskeyMixin:
    """Refuse a signature that a copy of the passkey made, or may have made."""

    cleaned_data: dict[str, Any]

    def clean_credential(self) -> Authenticator:
        given = self.cleaned_data["credential"]
        passkey: Authenticator = super().clean_credential()  # type: ignore[misc]  # of the form beside it
        signed = auth.parse_authentication_response(given).response.authenticator_data
        if not is_next_passkey_signature(passkey=passkey, count=signed.counter):
            record_wrong_second_factor(
                member=passkey.user,
                address=context.request.META.get("REMOTE_ADDR") or None,
                kind="passkey",
            )
            raise get_adapter().validation_error("incorrect_code")
        return passkey


class PasskeyAfterPasswordForm(_CountedPasskeyMixin, AuthenticateWebAuthnForm):
    """The passkey asked for after the password."""


class PasskeySignInForm(_CountedPasskeyMixin, LoginWebAuthnForm):
    """A passkey that signs in alone."""


class ConfirmingPasskeyForm(_CountedPasskeyMixin, ReauthenticateWebAuthnForm):
    """A passkey that confirms a member's identity."""


class AddPasskey(AddWebAuthnView):
    """Create a passkey and record it as given; the first brings recovery codes."""

    form_class = PasskeyForm

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        remember_page_after_sign_in(request)
        response: HttpResponse = super().get(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        options = auth.begin_registration(self.request.user, passwordless=True)
        return {**context, "options": options}

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        mark_second_factor_as_given(self.request, str(Authenticator.Type.WEBAUTHN))
        return response


class SignInWithPasskey(LoginWebAuthnView):
    """Sign in with only a passkey; the session ends with the browser.

    Whoever asks gets the same challenge, so that it tells nobody who is a member.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        authenticator = form.cleaned_data["credential"]
        self.request.session.set_expiry(0)
        response: HttpResponse = flows.perform_passwordless_login(
            self.request,
            authenticator,
            Login(
                user=authenticator.user,
                redirect_url=get_next_redirect_url(self.request),
            ),
        )
        return response


class ConfirmWithPasskey(ReauthenticateWebAuthnView):
    """Confirm the member's identity with a passkey."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**context, "options": context["js_data"]["request_options"]}

    def form_invalid(self, form: Any) -> HttpResponse:
        response: HttpResponse = self.render_to_response(self.get_context_data())
        return response


class _OwnPasskeyMixin:
    """Answer 404 for another member's passkey, before asking to confirm."""

    @method_decorator(login_required)
    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        get_object_or_404(
            Authenticator,
            pk=kwargs["pk"],
            user=request.user,
            type=Authenticator.Type.WEBAUTHN,
        )
        response: HttpResponseBase = super().dispatch(  # type: ignore[misc]
            request, *args, **kwargs
        )
        return response


class RenamePasskey(_OwnPasskeyMixin, EditWebAuthnView):
    """Rename a passkey."""

    form_class = PasskeyNameForm
    success_url = reverse_lazy("mfa_index")


class RemovePasskey(_OwnPasskeyMixin, RemoveWebAuthnView):
    """Remove a passkey; with the last factor the recovery codes go too."""

    success_url = reverse_lazy("mfa_index")
