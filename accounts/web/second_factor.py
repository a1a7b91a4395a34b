"""Pages of the second factor: an authenticator app and its recovery codes.

allauth's own views with our way on after them. Must not be here: who needs one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.http import url_has_allowed_host_and_scheme

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

_ONWARD = "second_factor_onward"


class ActivateAuthenticatorApp(ActivateTOTPView):
    """Show the secret once, take a first code, and count it as given."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        onward = request.GET.get("next", "")
        if url_has_allowed_host_and_scheme(onward, allowed_hosts=None):
            request.session[_ONWARD] = onward
        response: HttpResponse = super().get(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        record_authentication(
            self.request, self.request.user, "mfa", type=str(Authenticator.Type.TOTP)
        )
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
