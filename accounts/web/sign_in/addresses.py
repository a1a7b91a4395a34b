"""Pages to confirm and change a member's email address.

Outside any team: who has not confirmed sees none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from allauth.core import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.sign_in.addresses import (
    confirm_email_address,
    request_email_address_change,
    send_address_confirmation_mail,
)
from accounts.web.forms import AddressForm
from accounts.web.sign_in.step_up import require_confirmed_identity
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Member
    from accounts.web.requests import TenantRequest


@login_required
@require_http_methods(["GET", "POST"])
def show_address_confirmation_page(request: HttpRequest) -> HttpResponse:
    """Show that a confirmation mail was sent, and send another."""
    member = cast("Member", request.user)
    if member.email_confirmed_at is not None:
        return HttpResponseRedirect(reverse("landing"))
    if request.method == "POST":
        limited = _refuse_too_many(request)
        if limited:
            return limited
        if send_address_confirmation_mail(member):
            messages.success(request, _sent_text())
        else:
            messages.error(request, _("The email could not be sent. Try again."))
        return HttpResponseRedirect(reverse("confirm_address"))
    context = {"sends_mail": bool(settings.EMAIL_URL)}
    return _set_no_cache(render(request, "accounts/confirm_address.html", context))


@login_required
@require_http_methods(["GET", "POST"])
def confirm_address_from_mailed_link(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm the address of a mailed link, after asking."""
    member = cast("Member", request.user)
    if request.method != "POST":
        return _set_no_cache(render(request, "accounts/address_link.html"))
    try:
        confirmed = confirm_email_address(
            member=member, actor=_actor(request), token=token
        )
    except DomainError as refusal:
        return _set_no_cache(
            render(
                request,
                "accounts/address_link.html",
                {"refused": refusal.message},
                status=422,
            )
        )
    messages.success(request, _("%(email)s is confirmed.") % {"email": confirmed.email})
    return HttpResponseRedirect(reverse("landing"))


@login_required
@require_http_methods(["GET", "POST"])
@require_confirmed_identity
def change_email_address_page(request: TenantRequest) -> HttpResponse:
    """Request another address, and email the link to it."""
    form = AddressForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        limited = _refuse_too_many(request)
        if limited:
            return limited
        try:
            email = request_email_address_change(
                member=cast("Member", request.user), **form.cleaned_data
            )
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            messages.success(request, _change_text(email))
            return HttpResponseRedirect(reverse("change_address"))
    return _set_no_cache(
        render(
            request,
            "accounts/change_address.html",
            {"form": form, "sends_mail": bool(settings.EMAIL_URL)},
            status=422 if form.errors else 200,
        )
    )


def _actor(request: HttpRequest) -> Actor:
    member = cast("Member", request.user)
    return Actor(
        ActorKind.MEMBER,
        str(member.pk),
        member.email,
        request.META.get("REMOTE_ADDR") or None,
    )


def _sent_text() -> str:
    if settings.EMAIL_URL:
        return _("Email sent. It may take a minute to arrive.")
    return _("A new link is in the server's mail folder.")


def _change_text(email: str) -> str:
    if settings.EMAIL_URL:
        return _("Open the link sent to %(email)s within 1 day.") % {"email": email}
    return _(
        "The link for %(email)s is in the server's mail folder. It expires in 1 day."
    ) % {"email": email}


def _refuse_too_many(request: HttpRequest) -> HttpResponse | None:
    limited: HttpResponse | None = ratelimit.consume_or_429(
        request, action="mail_address", user=request.user
    )
    return limited


def _set_no_cache(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    response["Referrer-Policy"] = "same-origin"
    return response
