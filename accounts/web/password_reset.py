"""A password set by a mailed link, which also makes the device a known one.

Must not be here: the link (accounts.web.adapter, accounts.operations.passwords).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.views import PasswordResetFromKeyView

from accounts.web.known_devices import remember_device

if TYPE_CHECKING:
    from django.http import HttpResponse


class SetPassword(PasswordResetFromKeyView):
    """allauth's own; who reads the member's mail does not wait for others' tries."""

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        remember_device(self.request, response, self.reset_user)
        return response
