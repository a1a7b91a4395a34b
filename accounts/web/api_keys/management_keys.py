"""Create and revoke management keys. The API keys page lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.api_keys.management_keys import (
    create_management_key,
    revoke_management_key,
)
from accounts.queries import list_management_keys
from accounts.states import Area, ManagementRole
from accounts.web.api_keys.views import BACK_WORDS, render_api_keys_page
from accounts.web.dialogs import (
    read_posted,
    render_confirmation,
    render_form,
    replace_page_after_dialog,
)
from accounts.web.forms import KeyForm
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import require_confirmed_identity
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.models import ManagementKey
    from accounts.web.requests import TenantRequest


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def create_management_key_page(request: TenantRequest) -> HttpResponse:
    """Create a key for this team; operators create keys of an organization."""
    taken = list_management_keys(request.tenant.team).filter(revoked_at=None)
    form = KeyForm(read_posted(request), taken=taken)
    back = page_url(request, "team:api_keys")
    if request.method == "POST" and form.is_valid():
        try:
            key, text = create_management_key(
                team=request.tenant.team, actor=request.actor, **form.cleaned_data
            )
        except DomainError as refusal:
            form.add_error("label", refusal.message)
        else:
            response = render_api_keys_page(request, made_management=key, text=text)
            return replace_page_after_dialog(request, response, url=back)
    return render_form(
        request,
        "accounts/_create_management_key.html",
        title=_("Create management key"),
        back=back,
        back_words=BACK_WORDS,
        status=422 if form.errors else 200,
        form=form,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
def revoke_management_key_page(
    request: TenantRequest, management_key_id: str
) -> HttpResponse:
    key = _find_key(request, management_key_id)
    back = page_url(request, "team:api_keys")
    typed = request.POST.get("typed_name", "").strip()
    error = ""
    if request.method == "POST":
        if typed != key.label:
            error = _("The name does not match. Nothing was revoked.")
        else:
            try:
                revoke_management_key(
                    key=key, team=request.tenant.team, actor=request.actor
                )
            except DomainError as refusal:
                messages.error(request, refusal.message)
            else:
                messages.success(
                    request,
                    _("%(name)s (%(masked)s) is revoked.")
                    % {"name": key.label, "masked": key.masked},
                )
            return redirect_browser(request, back)
    whole = key.role == ManagementRole.ORG_ADMIN
    return render_confirmation(
        request,
        title=_("Revoke %(name)s?") % {"name": key.label},
        says=(
            _(
                "Calls with %(masked)s fail immediately for all teams of your "
                "organization."
            )
            % {"masked": key.masked}
            if whole
            else _("Calls with %(masked)s fail immediately in both environments.")
            % {"masked": key.masked}
        ),
        verb=_("Revoke key"),
        keep=_("Keep key"),
        back=back,
        back_words=BACK_WORDS,
        match=key.label,
        match_label=_("Key name"),
        error=error,
    )


def _find_key(request: TenantRequest, management_key_id: str) -> ManagementKey:
    try:
        key_id = UUID(management_key_id)
    except ValueError:
        raise Http404 from None
    key = list_management_keys(request.tenant.team).filter(pk=key_id).first()
    if key is None:
        raise Http404
    return key
