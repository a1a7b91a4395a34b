"""Dialogs that record a step of an order, and send another kit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.dialogs import read_posted, render_confirmation, render_form
from accounts.web.rights import require_right
from labs.operations.appointments.changes import (
    complete_appointment,
    start_appointment,
)
from labs.operations.order_status.lab_steps import record_lab_step
from labs.operations.orders.redraws import place_redraw_order
from labs.operations.orders.replacements import replace_kit, require_replaceable
from labs.operations.shipments.events import ReportedShipment, record_shipment_event
from labs.queries.orders.orders import get_order_with_details
from labs.states.shipments import ShipmentReporter, ShipmentStatus
from labs.web.orders.step_forms import (
    REDRAW,
    VISIT_COMPLETED,
    VISIT_STARTED,
    StepForm,
)
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.SHIPMENTS, write=True)
def record_step_dialog(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Record a step that a courier, a lab or a visit took."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    form = StepForm(order, read_posted(request))
    if not form.has_steps:
        messages.error(request, _("This order has no step to record."))
        return _redirect_to_order(request, order)
    refusal = ""
    if request.method == "POST" and form.is_valid():
        try:
            _record_step(request, order, form.cleaned_data)
        except DomainError as refused:
            if refused.field == "occurred_at":
                form.add_error("day", refused.message)
            else:
                refusal = refused.message
        else:
            messages.success(request, _("Step recorded."))
            return _redirect_to_order(request, order)
    return render_form(
        request,
        "labs/_order_step.html",
        title=_("Record a step"),
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order %(order_id)s") % {"order_id": str(order.pk)[:8]},
        status=422 if refusal or form.errors else 200,
        form=form,
        order=order,
        refusal=refusal,
        zone=timezone.get_current_timezone_name(),
        section="orders",
    )


def _record_step(request: TenantRequest, order: Order, data: dict[str, Any]) -> None:
    """Record a step by the operation of its kind; raises as that one does."""
    step, occurred_at, note = data["step"], data["occurred_at"], data["note"]
    actor = request.actor
    if shipped := ShipmentStatus.known(step):
        record_shipment_event(
            order=order,
            actor=actor,
            reported=ReportedShipment(
                shipped, occurred_at, data["tracking_number"], note
            ),
            reporter=ShipmentReporter.MEMBER,
        )
    elif step == REDRAW:
        place_redraw_order(order=order, actor=actor, why=note, occurred_at=occurred_at)
    elif step == VISIT_STARTED:
        start_appointment(order=order, actor=actor, occurred_at=occurred_at, note=note)
    elif step == VISIT_COMPLETED:
        complete_appointment(
            order=order, actor=actor, occurred_at=occurred_at, note=note
        )
    else:
        record_lab_step(
            order=order,
            actor=actor,
            step=step,
            occurred_at=occurred_at,
            detail=data["detail"],
            why=note,
        )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.SHIPMENTS, write=True)
def replace_kit_dialog(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Ask, then send another kit for one that was lost or failed."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        require_replaceable(order)
        if request.method == "POST":
            new = replace_kit(order=order, actor=request.actor)
            messages.success(
                request,
                _("Another kit is ordered. This order replaces the failed one."),
            )
            return _redirect_to_order(request, new)
    except DomainError as refused:
        messages.error(request, refused.message)
        return _redirect_to_order(request, order)
    return render_confirmation(
        request,
        title=_("Send another kit?"),
        says=_(
            "A new order with the same test, patient and address is placed in this"
            " transaction, and its events are sent. The failed order stays as it is."
        ),
        verb=_("Send kit"),
        keep=_("Not now"),
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order %(order_id)s") % {"order_id": str(order.pk)[:8]},
    )


def _redirect_to_order(request: TenantRequest, order: Order) -> HttpResponse:
    return redirect_browser(request, page_url(request, "labs:order", order_id=order.pk))
