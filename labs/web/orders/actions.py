"""Views that change an order: cancel, recreate, register, advance, resend.

Each has a dialog or page that also shows why an action is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.operations.appointments.changes import cancel_appointment
from labs.operations.orders.kits import KitRegistration, register_kit
from labs.operations.orders.placing import (
    cancel_order,
    change_start_date,
    record_sample_drawn,
    require_cancellable,
)
from labs.operations.orders.plans import OrderPlan
from labs.operations.orders.recreations import preview_recreation, recreate_order
from labs.operations.orders.resending import resend_last_order_events
from labs.operations.simulation.orders import (
    report_unknown_sandbox_status,
    simulate_order_progress,
)
from labs.queries.accounts import list_linked_lab_accounts
from labs.queries.appointments.appointments import find_active_appointment
from labs.queries.catalogue import LabTestFilters, list_lab_tests
from labs.queries.orders.history import find_last_order_event_id
from labs.queries.orders.orders import get_order_with_details
from labs.states.appointments import AppointmentType
from labs.states.catalogue import LabTestStatus
from labs.web.appointments.card import build_appointment_row
from labs.web.order_rows import format_lab_account_name
from labs.web.order_wizard.forms import PatientForm
from labs.web.orders.action_forms import (
    ActivationForm,
    AdvanceForm,
    CancelForm,
    RecreateForm,
    UnknownStatusForm,
)
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.pills import format_wire_value_as_words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from django import forms
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order

_PANELS_OFFERED = 500


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a recreation's preview: a value before and after."""

    what: str
    before: str
    after: str
    why: str = ""

    @property
    def is_unchanged(self) -> bool:
        """Return whether the value stays the same."""
        return self.before == self.after


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
def cancel_order_dialog(request: TenantRequest, order_id: UUID) -> HttpResponse:
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    form = CancelForm(read_posted(request))
    visit = find_active_appointment(order=order)
    may_end_visit = (
        visit is not None
        and visit.type == AppointmentType.SERVICE_CENTER
        and request.rights.allow(Area.BOOKINGS, write=True)
    )
    refusal = ""
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                why = form.cleaned_data["why"]
                cancel_order(order=order, actor=request.actor, why=why)
                if may_end_visit and form.cleaned_data["with_visit"]:
                    cancel_appointment(
                        order=order, actor=request.actor, reason_id="order_cancelled"
                    )
        except DomainError as refused:
            refusal = refused.message
        else:
            messages.success(request, _("Order cancelled."))
            return _redirect_to_order(request, order)
    return _render_dialog(
        request,
        order,
        "cancel",
        _("Cancel this order?"),
        form,
        refusal,
        visit=build_appointment_row(visit) if visit else None,
        may_end_visit=may_end_visit,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
def recreate_order_page(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Preview a recreation, and recreate the order when confirmed."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    form = RecreateForm(
        order,
        read_posted(request),
        panels=_list_panels(request),
        accounts=list_linked_lab_accounts(tenant=request.tenant),
        may_correct_patient=request.rights.allow(Area.PATIENT_DETAILS, write=True),
    )
    closed = _explain_not_cancellable(order)
    refusal, changes = closed, []
    if request.method == "POST" and form.is_valid() and not closed:
        try:
            if "recreate" in request.POST:
                new = recreate_order(
                    order=order, actor=request.actor, recreation=form.recreation
                )
                messages.success(
                    request, _("Order recreated. This order replaces the old one.")
                )
                return _redirect_to_order(request, new)
            plan = preview_recreation(order=order, recreation=form.recreation)
        except DomainError as refused:
            refusal = refused.message
        else:
            changes = _list_changes(order, plan, form)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="order",
        subject_id=order.pk,
        user_uuid=order.user.uuid,
    )
    return render_page(
        request,
        "labs/order_recreate.html",
        fragment="labs/_order_recreate.html",
        status=422 if form.is_bound and not changes else 200,
        order=order,
        form=form,
        refusal=refusal,
        changes=changes,
        is_closed=bool(closed),
        section="orders",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
def advance_order_dialog(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Advance a sandbox order; without `final_status` show its options."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    if not request.tenant.is_sandbox:
        messages.error(request, _("Orders can be advanced only in a sandbox."))
        return _redirect_to_order(request, order)
    form = AdvanceForm(order, read_posted(request))
    refusal = ""
    if request.method == "POST" and form.is_valid():
        goal = form.cleaned_data["final_status"]
        try:
            simulate_order_progress(
                order=order,
                actor=request.actor,
                final_status=goal,
                delay=form.simulation_delay,
                seen=form.cleaned_data["seen"],
                flags=form.simulation_flags,
            )
        except DomainError as refused:
            refusal = refused.message
        else:
            now = get_order_with_details(tenant=request.tenant, order_id=order_id)
            messages.success(request, form.describe_advance(now))
            return _redirect_to_order(request, order)
    return _render_advance_dialog(
        request, order, form, UnknownStatusForm.for_order(order), refusal
    )


@require_POST
@require_right(Area.ORDERS, write=True)
def send_unknown_sandbox_status(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Report a status from the sandbox lab that Assay does not know."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    form = UnknownStatusForm(request.POST)
    if form.is_valid():
        try:
            report_unknown_sandbox_status(
                order=order,
                actor=request.actor,
                status=form.cleaned_data["status"],
                detail=form.cleaned_data["detail"],
            )
        except DomainError as refused:
            form.add_error("status", refused.message)
        else:
            messages.success(request, _("The status is kept as it came."))
            return _redirect_to_order(request, order)
    return _render_advance_dialog(request, order, AdvanceForm(order), form)


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS, write=True)
def register_kit_page(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Register a patient to a test kit."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    if not order.is_registrable or order.registered_at:
        messages.error(request, _("This order has no kit to register."))
        return _redirect_to_order(request, order)
    form = PatientForm(read_posted(request), initial={"country": "US"})
    refusal = ""
    if request.method == "POST" and form.is_valid():
        try:
            register_kit(
                tenant=request.tenant,
                actor=request.actor,
                request=KitRegistration(
                    sample_id=order.sample_id,
                    patient_details=form.details,
                    patient_address=form.address,
                ),
            )
        except DomainError as refused:
            refusal = refused.message
        else:
            messages.success(request, _("The kit is registered."))
            return _redirect_to_order(request, order)
    return _render_dialog(request, order, "register", _("Register kit"), form, refusal)


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
def change_order_start_date_dialog(
    request: TenantRequest, order_id: UUID
) -> HttpResponse:
    """Change the start date of a scheduled order."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    if order.activate_by is None:
        messages.error(request, _("This order has already started."))
        return _redirect_to_order(request, order)
    form = ActivationForm(read_posted(request), initial={"day": order.activate_by})
    if request.method == "POST" and form.is_valid():
        try:
            change_start_date(
                order=order, actor=request.actor, day=form.cleaned_data["day"]
            )
        except DomainError as refused:
            form.add_error("day", refused.message)
        else:
            messages.success(request, _("Start date changed."))
            return _redirect_to_order(request, order)
    return _render_dialog(request, order, "reschedule", _("Change start date"), form)


@require_POST
@require_right(Area.ORDERS, write=True)
def mark_sample_collected(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Record that an on-site sample was collected."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        record_sample_drawn(order=order, actor=request.actor)
    except DomainError as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, _("Sample marked as collected."))
    return _redirect_to_order(request, order)


@require_POST
@require_right(Area.ORDERS, write=True)
def resend_last_order_event(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Send the event of an order's last status again."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    resend_last_order_events(
        tenant=request.tenant,
        actor=request.actor,
        order_ids=[order.pk],
        start_at=None,
        end_at=timezone.now(),
    )
    messages.success(request, _("Last event resent as a new message."))
    return _redirect_to_order(request, order)


def _explain_not_cancellable(order: Order) -> str:
    """Return why an order can't be cancelled, or an empty text."""
    try:
        require_cancellable(order)
    except DomainError as refused:
        return refused.message
    return ""


def _list_panels(request: TenantRequest) -> list[Any]:
    return list_lab_tests(
        tenant=request.tenant,
        filters=LabTestFilters(status=LabTestStatus.ACTIVE, sort="name"),
        limit=_PANELS_OFFERED,
    )


def _list_changes(order: Order, plan: OrderPlan, form: RecreateForm) -> list[Change]:
    """List what a recreation changes, with patient fields by name only."""
    panel, request = plan.resolved.panels[0], plan.request
    corrected_fields = [
        format_wire_value_as_words(name).lower() for name in form.corrected_fields
    ]
    if not form.may_correct_patient:
        corrected_fields = []
    return [
        Change(_("Lab"), order.lab.name, plan.resolved.lab.name),
        Change(
            _("Lab account"),
            format_lab_account_name(order.lab_account),
            format_lab_account_name(plan.account.account),
            why=str(plan.account.reason.label),
        ),
        Change(_("Test"), order.lab_test.name, panel.name),
        Change(
            _("Comment"), order.comments or _("None"), request.comments or _("None")
        ),
        Change(
            _("Patient"),
            _("As ordered"),
            _("Changed: %(fields)s") % {"fields": ", ".join(corrected_fields)}
            if corrected_fields
            else _("As ordered"),
        ),
        Change(
            _("Physician"),
            _physician_name(order.physician),
            _physician_name(request.physician),
        ),
        Change(_("Billing and codes"), _("As ordered"), _("As ordered")),
    ]


def _physician_name(physician: Mapping[str, Any] | None) -> str:
    return (
        f"{physician['first_name']} {physician['last_name']}"
        if physician
        else _("None")
    )


def _render_dialog(
    request: TenantRequest,
    order: Order,
    what: str,
    title: str,
    form: forms.Form,
    refusal: str = "",
    **context: Any,
) -> HttpResponse:
    return render_form(
        request,
        f"labs/_order_{what}.html",
        title=title,
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order %(order_id)s") % {"order_id": str(order.pk)[:8]},
        status=422 if refusal or form.errors else 200,
        form=form,
        order=order,
        refusal=refusal,
        section="orders",
        **context,
    )


def _render_advance_dialog(
    request: TenantRequest,
    order: Order,
    form: AdvanceForm,
    future: UnknownStatusForm,
    refusal: str = "",
) -> HttpResponse:
    return render_form(
        request,
        "labs/_order_advance.html",
        title=_("Advance order (sandbox)"),
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order %(order_id)s") % {"order_id": str(order.pk)[:8]},
        status=422 if refusal or form.errors or future.errors else 200,
        form=form,
        future=future,
        # Not the form's, which on a refusal is the step that was seen before.
        seen=find_last_order_event_id(order),
        order=order,
        refusal=refusal,
        section="orders",
    )


def _redirect_to_order(request: TenantRequest, order: Order) -> HttpResponse:
    return redirect_browser(request, page_url(request, "labs:order", order_id=order.pk))
