"""The page of the mailbox in which a team receives reports."""

from __future__ import annotations

from dataclasses import dataclass
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
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from reports.models.mail import ADDRESS_MAX_LENGTH, HOST_MAX_LENGTH, NAME_MAX_LENGTH
from reports.operations.mail.mailbox import (
    PASSWORD_MAX_LENGTH,
    MailboxRequest,
    check_report_mailbox,
    configure_report_mailbox,
    remove_report_mailbox,
)
from reports.queries.mail import (
    count_held_mails,
    find_report_mailbox,
    list_recent_mails,
)
from reports.states import MailboxFault, MailEncryption, MailReason

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import ReceivedMail, ReportMailbox

MAILS_SHOWN = 25
_SENDERS_MAX_LENGTH = 30_000


class MailboxForm(forms.Form):
    """A mailbox; an empty password keeps the stored one."""

    address = forms.CharField(
        max_length=ADDRESS_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter the mailbox's address.")},
    )
    host = forms.CharField(
        max_length=HOST_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter the server's host name.")},
    )
    encryption = forms.ChoiceField(choices=MailEncryption.choices)
    port = forms.IntegerField(required=False)
    user_name = forms.CharField(required=False, max_length=ADDRESS_MAX_LENGTH)
    password = forms.CharField(
        required=False,
        max_length=PASSWORD_MAX_LENGTH,
        strip=False,
        widget=forms.PasswordInput,
    )
    folder = forms.CharField(required=False, max_length=NAME_MAX_LENGTH)
    handled_folder = forms.CharField(required=False, max_length=NAME_MAX_LENGTH)
    senders = forms.CharField(
        max_length=_SENDERS_MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 4}),
        error_messages={"required": gettext_lazy("Enter at least one sender.")},
    )


@dataclass(frozen=True, slots=True)
class MailRow:
    """A mail as the page shows it: sender's domain, time, outcome and reason."""

    mail: ReceivedMail
    reason: str


@require_GET
@require_right(Area.TEAM)
def show_mailbox(request: TenantRequest) -> HttpResponse:
    return _render(request)


@sensitive_post_parameters("password")
@require_POST
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def save_mailbox(request: TenantRequest) -> HttpResponse:
    """Save the mailbox after signing in to it; what is refused stays in the form."""
    form = MailboxForm(request.POST)
    if form.is_valid():
        given = dict(form.cleaned_data)
        senders = tuple(given.pop("senders").replace(",", "\n").splitlines())
        try:
            configure_report_mailbox(
                tenant=request.tenant,
                actor=request.actor,
                request=MailboxRequest(senders=senders, **given),
            )
        except DomainError as refusal:
            form.add_error(
                refusal.field if refusal.field in form.fields else None,
                _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
            )
        else:
            messages.success(request, _("Mailbox checked and saved."))
            return redirect_browser(request, page_url(request, "reports:mail"))
    return _render(request, form=form)


@require_POST
@require_right(Area.TEAM, write=True)
def check_mailbox_now(request: TenantRequest) -> HttpResponse:
    """Sign in to the stored mailbox; no mail is read."""
    try:
        check_report_mailbox(tenant=request.tenant)
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("The mailbox answered. No mail was read."))
    return redirect_browser(request, page_url(request, "reports:mail"))


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def remove_mailbox(request: TenantRequest) -> HttpResponse:
    """Ask, then remove the mailbox."""
    if request.method == "POST":
        try:
            remove_report_mailbox(tenant=request.tenant, actor=request.actor)
        except DomainError as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, _("Mailbox removed."))
        return redirect_browser(request, page_url(request, "reports:mail"))
    return render_confirmation(
        request,
        title=_("Remove the mailbox?"),
        says=_(
            "New mails are no longer received. Documents that were received stay, and"
            " mails stay in the mailbox."
        ),
        verb=_("Remove mailbox"),
        keep=_("Keep mailbox"),
        back=page_url(request, "reports:mail"),
        back_words=_("Reports by mail"),
    )


def _render(request: TenantRequest, *, form: MailboxForm | None = None) -> HttpResponse:
    mailbox = find_report_mailbox(tenant=request.tenant)
    may_change = request.rights.allow(Area.TEAM, write=True)
    shown = form or MailboxForm(initial=_initial(mailbox))
    if not may_change:
        for one in shown.fields.values():
            one.disabled = True
    fault = MailboxFault.known(mailbox.fault) if mailbox else None
    mails = list_recent_mails(mailbox=mailbox, limit=MAILS_SHOWN) if mailbox else []
    return render_page(
        request,
        "reports/mail/settings.html",
        status=422 if form else 200,
        section="settings",
        form=shown,
        mailbox=mailbox,
        fault=str(fault.label) if fault else "",
        mails=[MailRow(one, _describe_reason(one)) for one in mails],
        held=count_held_mails(mailbox=mailbox) if mailbox else 0,
        may_change=may_change,
        is_enabled=request.tenant.lab_report_parsing_enabled
        and request.tenant.lab_report_human_review_enabled,
    )


def _initial(mailbox: ReportMailbox | None) -> dict[str, object]:
    if mailbox is None:
        return {"folder": "INBOX", "encryption": MailEncryption.TLS}
    names = (
        "address",
        "host",
        "encryption",
        "port",
        "user_name",
        "folder",
        "handled_folder",
    )
    kept = {name: getattr(mailbox, name) for name in names}
    return {**kept, "senders": "\n".join(mailbox.senders)}


def _describe_reason(mail: ReceivedMail) -> str:
    known = MailReason.known(mail.reason)
    return str(known.label) if known else mail.reason
