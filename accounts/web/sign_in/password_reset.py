"""Set a password by a mailed link, and mark the device as known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.views import PasswordResetFromKeyView

from accounts.web.sign_in.known_devices import mark_device_known_to_member

if TYPE_CHECKING:
    from django.http import HttpResponse


class SetPassword(PasswordResetFromKeyView):
    """Set the password and remember the device."""

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        mark_device_known_to_member(self.request, response, self.reset_user)
        return response
