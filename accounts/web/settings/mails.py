"""The pages of a team's mails: the list, and the text of one in one language.

A preview is a page of its own in a frame without rights, since mails carry their styles
with them, which the content policy of our pages forbids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from csp.decorators import csp_replace
from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.declarations.mails import PLACEHOLDERS, load_mail_kinds
from accounts.models.mail_text import BODY_MAX_LENGTH, SUBJECT_MAX_LENGTH
from accounts.operations.mails.texts import (
    change_mail_text,
    check_wording,
    compose_sample_mail,
    reset_mail_text,
    send_test_mail,
)
from accounts.queries.mail_texts import (
    check_mail_language,
    find_edited_wording,
    get_default_wording,
    get_mail_kind,
    list_edited_languages,
)
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import DomainError
from portal.lib.languages import LANGUAGE_NAMES
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http.response import HttpResponseBase

    from accounts.declarations.mails import MailKind
    from accounts.web.requests import TenantRequest

# What a preview may load: its own styles and the team's logo.
_POLICY = {
    "default-src": ["'none'"],
    "style-src": ["'unsafe-inline'"],
    "img-src": ["https:"],
    "frame-ancestors": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "sandbox": [""],
}
_PLAIN = "text"


class MailTextForm(forms.Form):
    """The subject and the body of a mail; what they may say is the operation's."""

    subject = forms.CharField(
        max_length=SUBJECT_MAX_LENGTH,
        strip=False,
        error_messages={"required": gettext_lazy("Enter a text.")},
    )
    body = forms.CharField(
        max_length=BODY_MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 14}),
        error_messages={"required": gettext_lazy("Enter a text.")},
    )


@dataclass(frozen=True, slots=True)
class MailRow:
    """A kind of mail in the list, with the languages that the team edited."""

    name: str
    kind: MailKind
    is_on: bool
    languages: list[str]


@require_GET
@require_right(Area.TEAM)
def show_mails(request: TenantRequest) -> HttpResponse:
    """List the mails; those of the whole team in production alone."""
    tenant = request.tenant
    edited = list_edited_languages(tenant)
    rows = [
        MailRow(
            name,
            kind,
            kind.is_on(tenant),
            [str(LANGUAGE_NAMES[code]) for code in edited.get(name, [])],
        )
        for name, kind in load_mail_kinds().items()
        if not (kind.is_of_team and tenant.is_sandbox)
    ]
    return render_page(
        request,
        "accounts/mails.html",
        section="settings",
        rows=rows,
        language=tenant.patient_language,
        may_change=request.rights.allow(Area.TEAM, write=True),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM)
def edit_mail_page(
    request: TenantRequest, mail_kind: str, mail_language: str
) -> HttpResponseBase:
    """Show a mail in a language, and save its text."""
    _require_mail(request, mail_kind, mail_language)
    if request.method == "POST":
        return _save_mail(request, mail_kind, mail_language)
    return _render_mail(request, mail_kind, mail_language)


@require_right(Area.TEAM, write=True)
def _save_mail(request: TenantRequest, kind: str, language: str) -> HttpResponse:
    form = MailTextForm(request.POST)
    if form.is_valid():
        try:
            change_mail_text(
                tenant=request.tenant,
                actor=request.actor,
                kind=kind,
                language=language,
                **form.cleaned_data,
            )
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            messages.success(request, _("Email saved."))
            return _redirect(request, kind, language)
    return _render_mail(request, kind, language, form)


@require_POST
@require_right(Area.TEAM, write=True)
def reset_mail_page(
    request: TenantRequest, mail_kind: str, mail_language: str
) -> HttpResponse:
    _require_mail(request, mail_kind, mail_language)
    reset_mail_text(
        tenant=request.tenant,
        actor=request.actor,
        kind=mail_kind,
        language=mail_language,
    )
    messages.success(request, _("The default text is back."))
    return _redirect(request, mail_kind, mail_language)


@require_POST
@require_right(Area.TEAM, write=True)
def send_test_mail_page(
    request: TenantRequest, mail_kind: str, mail_language: str
) -> HttpResponse:
    """Send the stored text to the member's own address."""
    _require_mail(request, mail_kind, mail_language)
    try:
        send_test_mail(
            tenant=request.tenant,
            actor=request.actor,
            member=request.member,
            kind=mail_kind,
            language=mail_language,
        )
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(
            request,
            _("Test sent to %(address)s.") % {"address": request.member.email},
        )
    return _redirect(request, mail_kind, mail_language)


@require_http_methods(["GET", "POST"])
@xframe_options_sameorigin
@csp_replace(_POLICY)
@require_right(Area.TEAM)
def preview_mail(
    request: TenantRequest, mail_kind: str, mail_language: str
) -> HttpResponse:
    """Show the stored text as it will arrive, or with POST the one in the form.

    `as=text`: the plain text. A text that can't be sent is refused with its reason.
    """
    _require_mail(request, mail_kind, mail_language)
    wording = None
    try:
        if request.method == "POST":
            wording = check_wording(
                kind=mail_kind,
                subject=request.POST.get("subject", ""),
                body=request.POST.get("body", ""),
            )
    except DomainError as refusal:
        return HttpResponse(
            refusal.message, status=422, content_type="text/plain; charset=utf-8"
        )
    mail = compose_sample_mail(
        tenant=request.tenant,
        member=request.member,
        kind=mail_kind,
        language=mail_language,
        wording=wording,
    )
    if request.GET.get("as") == _PLAIN:
        text = f"{mail.subject}\n\n{mail.text}"
        return HttpResponse(text, content_type="text/plain; charset=utf-8")
    return HttpResponse(mail.html)


def _require_mail(request: TenantRequest, kind: str, language: str) -> None:
    """Raise mail_unknown (404) for no mail of this environment, or no language."""
    check_mail_language(language)
    if get_mail_kind(kind).is_of_team and request.tenant.is_sandbox:
        get_mail_kind("")


def _redirect(request: TenantRequest, kind: str, language: str) -> HttpResponse:
    return redirect_browser(
        request,
        page_url(request, "team:mail", mail_kind=kind, mail_language=language),
    )


def _render_mail(
    request: TenantRequest, name: str, language: str, form: MailTextForm | None = None
) -> HttpResponse:
    kind = get_mail_kind(name)
    edited = find_edited_wording(tenant=request.tenant, kind=name, language=language)
    stored = edited or get_default_wording(kind=name, language=language)
    shown = form or MailTextForm(
        initial={"subject": stored.subject, "body": stored.body}
    )
    may_change = request.rights.allow(Area.TEAM, write=True)
    if not may_change:
        for field in shown.fields.values():
            field.disabled = True
    return render_page(
        request,
        "accounts/mail.html",
        status=422 if form else 200,
        section="settings",
        name=name,
        kind=kind,
        language=language,
        languages=_list_languages(request, name),
        form=shown,
        edited=edited,
        subject=_fill_sample(request, name, language),
        placeholders=[
            (f"{{{each}}}", PLACEHOLDERS[each], each in kind.required)
            for each in kind.placeholders
        ],
        may_change=may_change,
    )


def _list_languages(request: TenantRequest, name: str) -> list[tuple[str, str, bool]]:
    """Return code, name and whether the team edited it, of each language."""
    edited = list_edited_languages(request.tenant).get(name, [])
    return [
        (code, str(words), code in edited) for code, words in LANGUAGE_NAMES.items()
    ]


def _fill_sample(request: TenantRequest, name: str, language: str) -> str:
    return compose_sample_mail(
        tenant=request.tenant, member=request.member, kind=name, language=language
    ).subject
