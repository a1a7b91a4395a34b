"""The page of the account that sends texts to patients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.states import Area
from accounts.web.dialogs import render_confirmation
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import require_confirmed_identity
from labs.models.text_provider import SENDER_MAX_LENGTH, SID_MAX_LENGTH
from labs.operations.texts.provider import (
    TOKEN_MAX_LENGTH,
    TextAccount,
    check_text_provider,
    configure_text_provider,
    remove_text_provider,
)
from labs.queries.text_provider import find_text_provider
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


class TextAccountForm(forms.Form):
    """An account at Twilio; an empty token keeps the stored one."""

    account_sid = forms.CharField(
        max_length=SID_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter the account SID.")},
    )
    auth_token = forms.CharField(
        required=False,
        max_length=TOKEN_MAX_LENGTH,
        strip=False,
        widget=forms.PasswordInput,
    )
    sender = forms.CharField(
        max_length=SENDER_MAX_LENGTH,
        error_messages={
            "required": gettext_lazy("Enter a number or a messaging service SID.")
        },
    )


@require_GET
@require_right(Area.TEAM)
def show_text_settings(request: TenantRequest) -> HttpResponse:
    return _render(request)


@sensitive_post_parameters("auth_token")
@require_POST
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def save_text_provider(request: TenantRequest) -> HttpResponse:
    """Save the account after asking it; what is refused stays in the form."""
    form = TextAccountForm(request.POST)
    if form.is_valid():
        try:
            configure_text_provider(
                tenant=request.tenant,
                actor=request.actor,
                account=TextAccount(**form.cleaned_data),
            )
        except DomainError as refusal:
            form.add_error(
                refusal.field,
                _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
            )
        else:
            messages.success(request, _("Account checked and saved."))
            return redirect_browser(request, page_url(request, "labs:texts"))
    return _render(request, form=form)


@require_POST
@require_right(Area.TEAM, write=True)
def check_text_provider_now(request: TenantRequest) -> HttpResponse:
    """Ask the stored account whether it may send."""
    try:
        check_text_provider(tenant=request.tenant)
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("The account answered. No text was sent."))
    return redirect_browser(request, page_url(request, "labs:texts"))


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def remove_text_provider_page(request: TenantRequest) -> HttpResponse:
    if request.method == "POST":
        try:
            remove_text_provider(tenant=request.tenant, actor=request.actor)
        except DomainError as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, _("Account removed."))
        return redirect_browser(request, page_url(request, "labs:texts"))
    return render_confirmation(
        request,
        title=_("Remove the text account?"),
        says=_(
            "Texts are then logged and no longer sent. Statuses of texts that were"
            " sent are no longer received."
        ),
        verb=_("Remove account"),
        keep=_("Keep account"),
        back=page_url(request, "labs:texts"),
        back_words=_("Text messages"),
    )


def _render(
    request: TenantRequest, *, form: TextAccountForm | None = None
) -> HttpResponse:
    provider = find_text_provider(tenant=request.tenant)
    may_change = request.rights.allow(Area.TEAM, write=True)
    shown = form or TextAccountForm(
        initial={"account_sid": provider.account_sid, "sender": provider.sender}
        if provider
        else None
    )
    if not may_change:
        for field in shown.fields.values():
            field.disabled = True
    return render_page(
        request,
        "labs/texts.html",
        status=422 if form else 200,
        section="settings",
        form=shown,
        provider=provider,
        may_change=may_change,
        is_allowed=request.tenant.lab_tests_patient_sms_communication_enabled,
    )
