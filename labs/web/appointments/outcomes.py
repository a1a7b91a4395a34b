"""Dialogs that record a visit's time, and that it took place."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.operations.appointments.changes import (
    complete_appointment,
    schedule_requested_appointment,
)
from labs.operations.appointments.entered_visits import (
    EnteredVisit,
    enter_agreed_visit,
    get_visit_place,
)
from labs.operations.appointments.site_confirmation import (
    confirm_visit_by_staff,
    is_waiting_for_site,
)
from labs.queries.appointments.appointments import find_active_appointment
from labs.queries.orders.orders import get_order_with_details
from labs.states.accounts import US_STATES
from labs.states.appointments import NOTES_MAX_LENGTH
from labs.states.service_centers import AgreedBy
from labs.web.appointments.card import has_home_visit_started, needs_appointment_time
from portal.lib.errors import DomainError
from portal.lib.periods import (
    SkippedTime,
    convert_local_time_to_utc,
    find_time_zone_by_name,
)
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order

_USUAL_MINUTES = 30
_LONGEST_MINUTES = 480


class LocalTimeForm(forms.Form):
    """A visit's day, time and length, on the clock of its place."""

    day = forms.DateField(
        label=gettext_lazy("Day"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    time = forms.TimeField(
        label=gettext_lazy("Time"),
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    minutes = forms.IntegerField(
        label=gettext_lazy("Minutes"),
        min_value=5,
        max_value=_LONGEST_MINUTES,
        initial=_USUAL_MINUTES,
    )

    def read_span(self, time_zone: str) -> tuple[datetime, datetime] | None:
        """Return start and end in UTC; None, with the error, for a skipped time."""
        data = self.cleaned_data
        try:
            start = convert_local_time_to_utc(
                datetime.combine(data["day"], data["time"]),
                find_time_zone_by_name(time_zone),
            )
        except SkippedTime:
            self.add_error(
                "time", _("Clocks skip this time on that day. Enter another time.")
            )
            return None
        return start, start + timedelta(minutes=data["minutes"])

    def add_refusal(self, refused: DomainError) -> None:
        """Show a refusal at the field that it names, else above the form."""
        field = "day" if refused.field == "start_at" else refused.field
        self.add_error(field if field in self.fields else None, refused.message)


class AppointmentTimeForm(LocalTimeForm):
    """The visit's local time and the provider's number for it."""

    external_id = forms.CharField(
        label=gettext_lazy("Provider's visit number"), max_length=100, required=False
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def set_appointment_time(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Enter the time of a requested visit."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    visit = find_active_appointment(order=order)
    if visit is None or not needs_appointment_time(visit):
        messages.error(request, _("No requested visit needs a time."))
        return _redirect_to_order(request, order)
    form = AppointmentTimeForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        span = form.read_span(visit.time_zone)
        if span is not None and _set_time(request, order, form, span):
            messages.success(request, _("Visit time saved. The visit is confirmed."))
            return _redirect_to_order(request, order)
    return render_form(
        request,
        "labs/_visit_time.html",
        title=_("When does the provider come?"),
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order %(order_id)s") % {"order_id": str(order.pk)[:8]},
        status=422 if form.errors else 200,
        form=form,
        visit=visit,
        section="orders",
    )


def _set_time(
    request: TenantRequest,
    order: Order,
    form: AppointmentTimeForm,
    span: tuple[datetime, datetime],
) -> bool:
    try:
        schedule_requested_appointment(
            order=order,
            actor=request.actor,
            start_at=span[0],
            end_at=span[1],
            external_id=form.cleaned_data["external_id"],
        )
    except DomainError as refused:
        form.add_refusal(refused)
        return False
    return True


class EnteredVisitForm(LocalTimeForm):
    """A visit as agreed with a center, and who there agreed, and how."""

    site_name = forms.CharField(label=gettext_lazy("Center"), max_length=150)
    first_line = forms.CharField(label=gettext_lazy("Street address"), max_length=200)
    city = forms.CharField(label=gettext_lazy("City"), max_length=100)
    state = forms.ChoiceField(
        label=gettext_lazy("State"),
        choices=[(one, one) for one in ("", *sorted(US_STATES))],
        error_messages={"required": gettext_lazy("Choose the state.")},
    )
    zip_code = forms.CharField(label=gettext_lazy("ZIP code"), max_length=10)
    agreed_with = forms.CharField(
        label=gettext_lazy("Agreed with"),
        max_length=NOTES_MAX_LENGTH,
        error_messages={
            "required": gettext_lazy("Enter who at the center agreed to the visit.")
        },
    )
    agreed_by = forms.ChoiceField(
        label=gettext_lazy("By"),
        choices=lambda: [("", ""), *AgreedBy.offered()],
        error_messages={"required": gettext_lazy("Choose how the center agreed.")},
    )
    external_id = forms.CharField(
        label=gettext_lazy("Center's visit number"), max_length=100, required=False
    )
    notes = forms.CharField(
        label=gettext_lazy("Note"), max_length=NOTES_MAX_LENGTH, required=False
    )

    def read_visit(self) -> EnteredVisit | None:
        """Return the visit of a valid form; None, with the error, for a skipped time.

        Raises: zip_code_unknown.
        """
        data = self.cleaned_data
        span = self.read_span(get_visit_place(data["zip_code"]).time_zone)
        if span is None:
            return None
        taken = {"day", "time", "minutes"}
        return EnteredVisit(
            start_at=span[0],
            end_at=span[1],
            **{name: text for name, text in data.items() if name not in taken},
        )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def enter_visit_dialog(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Enter a visit that was agreed with a center."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    form = EnteredVisitForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            visit = form.read_visit()
            if visit is not None:
                enter_agreed_visit(order=order, actor=request.actor, visit=visit)
                messages.success(request, _("Visit entered. It is confirmed."))
                return _redirect_to_order(request, order)
        except DomainError as refused:
            form.add_refusal(refused)
    return render_form(
        request,
        "labs/_enter_visit.html",
        title=_("Enter an agreed visit"),
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order %(order_id)s") % {"order_id": str(order.pk)[:8]},
        status=422 if form.errors else 200,
        form=form,
        section="orders",
    )


class SiteConfirmationForm(forms.Form):
    """Who at the site confirmed a visit, and its number there."""

    confirmed_with = forms.CharField(
        label=gettext_lazy("Confirmed by"),
        max_length=NOTES_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter who confirmed the visit.")},
    )
    external_id = forms.CharField(
        label=gettext_lazy("Site's visit number"), max_length=100, required=False
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def confirm_appointment_dialog(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Record that the site confirmed the order's visit by another way."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    visit = find_active_appointment(order=order)
    if visit is None or not is_waiting_for_site(visit):
        messages.error(request, _("No visit waits for its site."))
        return _redirect_to_order(request, order)
    form = SiteConfirmationForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            confirm_visit_by_staff(
                order=order,
                actor=request.actor,
                confirmed_with=form.cleaned_data["confirmed_with"],
                external_id=form.cleaned_data["external_id"],
            )
        except DomainError as refused:
            form.add_error(
                refused.field if refused.field in form.fields else None, refused.message
            )
        else:
            messages.success(request, _("Visit confirmed."))
            return _redirect_to_order(request, order)
    return render_form(
        request,
        "labs/_visit_confirm.html",
        title=_("Confirm visit"),
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order %(order_id)s") % {"order_id": str(order.pk)[:8]},
        status=422 if form.errors else 200,
        form=form,
        visit=visit,
        section="orders",
    )


@require_POST
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def mark_appointment_completed(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Record that a home visit took place."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    visit = find_active_appointment(order=order)
    if visit is None or not has_home_visit_started(visit):
        messages.error(request, _("No home visit has started."))
        return _redirect_to_order(request, order)
    try:
        complete_appointment(order=order, actor=request.actor)
    except DomainError as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, _("Sample marked as collected."))
    return _redirect_to_order(request, order)


def _redirect_to_order(request: TenantRequest, order: Order) -> HttpResponse:
    return redirect_browser(request, page_url(request, "labs:order", order_id=order.pk))
