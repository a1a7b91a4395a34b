"""Set the public keys by which a backend service signs in with an API key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.api_keys.assertions import change_public_keys
from accounts.states import Area
from accounts.web.api_keys.views import get_api_key_or_404
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
)
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest

_KEY_SET_MAX_LENGTH = 40_000


class PublicKeysForm(forms.Form):
    """A JSON Web Key Set; empty for none."""

    key_set = forms.CharField(
        required=False,
        max_length=_KEY_SET_MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 10}),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
def change_public_keys_page(request: TenantRequest, api_key_id: str) -> HttpResponse:
    """Show and change a key's public keys."""
    key = get_api_key_or_404(request, api_key_id)
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    back = page_url(request, "team:api_key", api_key_id=key.pk)
    held = json.dumps({"keys": key.public_keys}, indent=2) if key.public_keys else ""
    form = PublicKeysForm(read_posted(request), initial={"key_set": held})
    if request.method == "POST" and form.is_valid():
        try:
            change_public_keys(
                key=key, actor=request.actor, text=form.cleaned_data["key_set"]
            )
        except DomainError as refusal:
            form.add_error("key_set", refusal.message)
        else:
            messages.success(request, _("The public keys are saved."))
            return redirect_browser(request, back)
    return render_form(
        request,
        "accounts/_public_keys.html",
        title=_("Public keys of %(name)s") % {"name": key.label},
        back=back,
        back_words=key.label,
        status=422 if form.errors else 200,
        form=form,
        key=key,
        verb=_("Save public keys"),
    )
