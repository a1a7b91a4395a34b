"""Page of calendar addresses: the member's own, and those of service centers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.states import Area
from accounts.web.dialogs import (
    read_posted,
    render_confirmation,
    render_form,
    replace_page_after_dialog,
)
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
    require_confirmed_identity,
)
from labs.operations.appointments.calendar_feeds import (
    create_member_calendar,
    create_site_calendar,
    revoke_member_calendar,
    revoke_site_calendar,
    rotate_site_calendar,
)
from labs.queries.appointments.calendar_feeds import (
    find_member_calendar,
    get_site_calendar,
    list_site_calendars,
    list_sites_without_calendar,
)
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.operations.appointments.calendar_feeds import IssuedCalendar

BACK_WORDS = gettext_lazy("Calendars")


class SiteCalendarForm(forms.Form):
    """The service center that gets a calendar."""

    site = forms.ChoiceField(
        label=gettext_lazy("Service center"),
        error_messages={
            "required": gettext_lazy("Choose a service center."),
            "invalid_choice": gettext_lazy("Choose a listed service center."),
        },
    )

    def __init__(
        self, *args: Any, sites: Sequence[tuple[str, str, str]], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.fields["site"].choices = [  # type: ignore[attr-defined]  # a choice field
            (f"{provider} {code}", f"{name} ({code})") for provider, code, name in sites
        ]


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS)
def show_calendars(request: TenantRequest) -> HttpResponse:
    return _render_page(request)


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS)
@require_confirmed_identity
def create_calendar_dialog(request: TenantRequest) -> HttpResponse:
    """Ask, then create or rotate the member's own address and show it this once."""
    if request.method == "POST":
        issued = create_member_calendar(
            tenant=request.tenant, actor=request.actor, member=request.member
        )
        return _show_issued(request, issued)
    if find_member_calendar(tenant=request.tenant, member_id=request.member.pk):
        return _ask_to_rotate(request)
    return _confirm(
        request,
        title=_("Create your calendar address?"),
        says=_(
            "The address is shown once. Your calendar service stores the times and"
            " centers of all visits, without names, home addresses or tests."
        ),
        verb=_("Create address"),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS)
@require_confirmed_identity
def revoke_calendar_dialog(request: TenantRequest) -> HttpResponse:
    """Ask, then revoke the member's own address."""
    if request.method == "POST":
        revoke_member_calendar(
            tenant=request.tenant, actor=request.actor, member=request.member
        )
        return _redirect_revoked(request)
    return _ask_to_revoke(request)


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
@require_confirmed_identity
def create_site_calendar_dialog(request: TenantRequest) -> HttpResponse:
    """Choose a center, then create its address and show it this once."""
    form = SiteCalendarForm(
        read_posted(request), sites=list_sites_without_calendar(tenant=request.tenant)
    )
    if request.method == "POST" and form.is_valid():
        provider, _blank, code = form.cleaned_data["site"].partition(" ")
        try:
            issued = create_site_calendar(
                tenant=request.tenant,
                actor=request.actor,
                member=request.member,
                provider=provider,
                site_code=code,
            )
        except DomainError as refusal:
            form.add_error("site", refusal.message)
        else:
            return _show_issued(request, issued)
    return render_form(
        request,
        "labs/_site_calendar.html",
        title=_("Create a center's calendar"),
        back=page_url(request, "labs:calendars"),
        back_words=str(BACK_WORDS),
        status=422 if form.errors else 200,
        form=form,
        section="visits",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def rotate_site_calendar_dialog(request: TenantRequest, feed_id: UUID) -> HttpResponse:
    """Ask, then replace a center's address and show the new one this once."""
    _require_site_calendar(request, feed_id)
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    if request.method == "POST":
        issued = rotate_site_calendar(
            tenant=request.tenant,
            actor=request.actor,
            member=request.member,
            feed_id=feed_id,
        )
        return _show_issued(request, issued)
    return _ask_to_rotate(request)


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def revoke_site_calendar_dialog(request: TenantRequest, feed_id: UUID) -> HttpResponse:
    """Ask, then revoke a center's address."""
    _require_site_calendar(request, feed_id)
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    if request.method == "POST":
        revoke_site_calendar(
            tenant=request.tenant, actor=request.actor, feed_id=feed_id
        )
        return _redirect_revoked(request)
    return _ask_to_revoke(request)


def _require_site_calendar(request: TenantRequest, feed_id: UUID) -> None:
    try:
        get_site_calendar(tenant=request.tenant, feed_id=feed_id)
    except NotFound:
        raise Http404 from None


def _ask_to_rotate(request: TenantRequest) -> HttpResponse:
    return _confirm(
        request,
        title=_("Rotate this calendar address?"),
        says=_(
            "The old address stops working at once. The new one is shown once: enter it"
            " wherever the old one was."
        ),
        verb=_("Rotate address"),
    )


def _ask_to_revoke(request: TenantRequest) -> HttpResponse:
    return _confirm(
        request,
        title=_("Revoke this calendar address?"),
        says=_(
            "The address stops working at once. What calendars fetched stays in them"
            " until they refresh or are deleted there."
        ),
        verb=_("Revoke address"),
    )


def _redirect_revoked(request: TenantRequest) -> HttpResponse:
    messages.success(request, _("Calendar address revoked."))
    return redirect_browser(request, page_url(request, "labs:calendars"))


def _confirm(
    request: TenantRequest, *, title: str, says: str, verb: str
) -> HttpResponse:
    return render_confirmation(
        request,
        title=title,
        says=says,
        verb=verb,
        keep=_("Cancel"),
        back=page_url(request, "labs:calendars"),
        back_words=str(BACK_WORDS),
    )


def _show_issued(request: TenantRequest, issued: IssuedCalendar) -> HttpResponse:
    return replace_page_after_dialog(
        request,
        _render_page(request, issued=issued),
        url=page_url(request, "labs:calendars"),
    )


def _render_page(
    request: TenantRequest, *, issued: IssuedCalendar | None = None
) -> HttpResponse:
    may_change = request.rights.allow(Area.BOOKINGS, write=True)
    own = find_member_calendar(tenant=request.tenant, member_id=request.member.pk)
    return render_page(
        request,
        "labs/calendars.html",
        own=own,
        sites=list_site_calendars(tenant=request.tenant),
        may_add=may_change and bool(list_sites_without_calendar(tenant=request.tenant)),
        may_change=may_change,
        issued=issued,
        section="visits",
    )
