"""Page of one order: status, details, actions.

It polls while the order is in progress; only polls with a new event are audited.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.audit.steps import add_audited_changes, group_steps
from accounts.web.rights import require_right
from accounts.webhooks.queries import list_events_about_object
from labs.documents.specimens import describe_order_tubes
from labs.operations.documents.order_documents import get_requisition_comment
from labs.payloads import list_order_events
from labs.queries.connections import find_hl7_connection
from labs.queries.orders.answers import list_order_answers
from labs.queries.orders.approvals import find_approval
from labs.queries.orders.history import (
    get_last_order_event,
    get_next_status_to_completion,
    list_reachable_order_status_paths,
)
from labs.queries.orders.orders import get_order_with_details
from labs.queries.orders.patient_notices import list_notices_of_order
from labs.queries.results.critical import list_critical_alerts_of_order
from labs.queries.results.outgoing import list_results_messages
from labs.states.accounts import AccountReason, Billing
from labs.states.catalogue import COMMENT_LABS, CollectionMethod, LabTestStatus
from labs.states.order_queues import (
    is_order_closed_without_results,
    is_order_in_progress,
)
from labs.states.orders import (
    CANCELLABLE,
    OrderOrigin,
    OrderTopLevelStatus,
    UpdateReason,
    get_allowed_order_transitions,
    split_order_status,
)
from labs.web.appointments.card import build_appointment_card
from labs.web.documents.views import list_order_documents
from labs.web.order_lifecycle import (
    build_order_stages,
    build_order_status_history,
    build_order_turnaround,
    describe_next_order_step,
    is_known_order_status,
)
from labs.web.order_rows import format_account_of_order, format_lab_account_name
from labs.web.orders.step_forms import list_steps_to_record
from labs.web.results.critical import build_critical_result_row
from portal.lib.web.views import is_page_fragment_requested, render_page
from portal.ui.dates import write_date
from portal.ui.pills import find_status_pill, format_wire_value_as_words
from users.states import Gender

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.web.requests import TenantRequest
    from labs.models import Order, OrderEvent

ORDER_EVENTS = ("labtest.order.created", "labtest.order.updated")
# Poll often just after a status change, rarely otherwise.
_LIVELY = timedelta(minutes=2)
_OFTEN, _SELDOM = 5, 30
_REGISTRABLE = {"awaiting_registration", "with_customer"}


@dataclass(frozen=True, slots=True)
class OrderActions:
    """The actions allowed on an order; `next_goal` is its usual next status."""

    cancel: bool
    recreate: bool
    register: bool
    reschedule: bool
    complete_draw: bool
    simulate: bool
    order_again: bool
    record_step: bool
    replace_kit: bool
    next_goal: str = ""
    waits_for_visit: bool = False

    @property
    def next_goal_label(self) -> str:
        """Return the usual next status as text."""
        return find_status_pill(self.next_goal).words


@dataclass(frozen=True, slots=True)
class TransactionOrder:
    """An order of the same transaction."""

    order: Order
    origin: str
    is_this: bool


@require_GET
@require_right(Area.ORDERS)
def show_order_page(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Show an order; a poll sends the last event `seen` and its interval."""
    is_poll = is_page_fragment_requested(request) and "seen" in request.GET
    if is_poll:
        step = get_last_order_event(tenant=request.tenant, order_id=order_id)
        known = (str(step.pk), str(_poll_seconds(step) or ""))
        if (request.GET["seen"], request.GET.get("every", "")) == known:
            return HttpResponse(status=204)
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    return render_order_page(request, order)


@require_POST
@require_right(Area.ORDERS)
@require_right(Area.PATIENT_DETAILS)
def show_order_patient_details(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Show the order's patient, and record the read in the audit log."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    _record_read(request, order, "order_patient")
    if is_page_fragment_requested(request):
        return render_page(
            request,
            "labs/_order_patient.html",
            order=order,
            patient=list_patient_details_by_label(order),
        )
    return render_order_page(
        request, order, patient=list_patient_details_by_label(order)
    )


def render_order_page(
    request: TenantRequest,
    order: Order,
    *,
    patient: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Render an order and record the read; `patient` where it is shown."""
    _record_read(request, order, "order")
    events = list_order_events(order)
    reason = AccountReason.known(order.account_reason)
    update_reason = UpdateReason.known(order.update_reason)
    billing = Billing.known(order.billing_type)
    method = CollectionMethod.known(order.method)
    alerts = list_critical_alerts_of_order(tenant=request.tenant, order_id=order.pk)
    approval = find_approval(order)
    is_unsettled = any(alert.acknowledged_at is None for alert in alerts)
    return render_page(
        request,
        "labs/order.html",
        fragment="labs/_order.html",
        order=order,
        section="orders",
        is_status_known=is_known_order_status(order.status),
        last_event=events[-1],
        poll_seconds=None if order.moved_from else _poll_seconds(events[-1]),
        stages=build_order_stages(order, events, is_unsettled=is_unsettled),
        alerts=[build_critical_result_row(alert, ()) for alert in alerts],
        may_acknowledge=request.rights.allow(Area.SIGN_REPORTS, write=True),
        history=group_steps(
            request,
            add_audited_changes(
                request,
                build_order_status_history(events, is_moved=bool(order.moved_from)),
                user_uuid=order.user.uuid,
                subject="order",
                subject_id=order.pk,
            ),
        ),
        next_step=describe_next_order_step(
            order, is_unsettled=is_unsettled, approval=approval
        ),
        approval=approval,
        turnaround=build_order_turnaround(order, events),
        actions=list_order_actions(request, order),
        method=method.label if method else format_wire_value_as_words(order.method),
        account=format_account_of_order(order),
        account_before=_previous_account_name(order),
        account_reason=reason.label
        if reason
        else format_wire_value_as_words(order.account_reason),
        update_reason=update_reason.label if update_reason else order.update_reason,
        billing=billing.label
        if billing
        else format_wire_value_as_words(order.billing_type),
        tubes=describe_order_tubes(order),
        markers=sorted(order.placed.markers, key=lambda one: one.name),
        is_archived=order.lab_test.status == LabTestStatus.INACTIVE,
        answers=list_order_answers(order),
        comment=get_requisition_comment(order),
        prints_comments=order.lab.slug in COMMENT_LABS,
        documents=list_order_documents(request, order),
        visit=build_appointment_card(request, order),
        relatives=_list_transaction_orders(order),
        insurance=_list_insurance_rows(order),
        patient=patient,
        notices=list_notices_of_order(order),
        results_sent=list_results_messages(order=order) if order.interpretation else (),
        may_resend=_may_resend_results(request, order),
        sent=list_events_about_object(
            tenant=request.tenant,
            user_uuid=order.user.uuid,
            event_types=ORDER_EVENTS,
            data_id=order.pk,
            says="last_event__status",
        ),
    )


def _may_resend_results(request: TenantRequest, order: Order) -> bool:
    """Return whether results can be sent to a system of the team's own."""
    return (
        bool(order.interpretation)
        and not order.moved_from
        and request.rights.allow(Area.ORDERS, write=True)
        and find_hl7_connection(tenant=request.tenant, account=None) is not None
    )


def list_order_actions(request: TenantRequest, order: Order) -> OrderActions:
    """Return the actions the member can take on an order now."""
    may_write = request.rights.allow(Area.ORDERS, write=True) and not order.moved_from
    may_patients = request.rights.allow(Area.PATIENT_DETAILS, write=True)
    low = split_order_status(order.status).low
    is_redrawn = any(
        one.origin == OrderOrigin.REDRAW and one.pk != order.pk
        for one in order.transaction.orders.all()
    )
    can_cancel = may_write and order.status in CANCELLABLE and not is_redrawn
    moves = get_allowed_order_transitions(
        order.method, registrable=order.is_registrable
    )
    goals = (
        list_reachable_order_status_paths(order)
        if may_write and request.tenant.is_sandbox
        else []
    )
    next_goal = get_next_status_to_completion(goals)
    may_ship = may_write and request.rights.allow(Area.SHIPMENTS, write=True)
    replaceable = may_ship and _is_kit_to_replace(order)
    return OrderActions(
        cancel=can_cancel,
        recreate=can_cancel and order.patient_details is not None,
        register=may_write
        and may_patients
        and order.is_registrable
        and order.registered_at is None
        and low in _REGISTRABLE,
        reschedule=may_write and order.activate_by is not None and low == "ordered",
        complete_draw=may_write
        and order.method == CollectionMethod.ON_SITE_COLLECTION
        and moves.allows(
            order.status, f"sample_with_lab.{order.method}.draw_completed"
        ),
        simulate=bool(goals),
        record_step=may_ship
        and not request.tenant.is_sandbox
        and bool(list_steps_to_record(order)),
        replace_kit=replaceable,
        order_again=may_write
        and not replaceable
        and is_order_closed_without_results(order.status)
        and low != "redraw_available",
        next_goal=next_goal,
        waits_for_visit=low == "appointment_cancelled" and not next_goal,
    )


def _is_kit_to_replace(order: Order) -> bool:
    """Return whether a kit failed and no other one was sent for it."""
    return (
        order.method == CollectionMethod.TESTKIT
        and order.status_parts.top == OrderTopLevelStatus.FAILED
        and not any(
            one.parent_id == order.pk and one.status_parts.low != "cancelled"
            for one in order.transaction.orders.all()
        )
    )


def list_patient_details_by_label(order: Order) -> dict[str, str]:
    """List the patient's known details by label."""
    details = order.patient_details or {}
    gender = Gender.known(str(details.get("gender", "")))
    proxy = details.get("medical_proxy") or {}
    insurance = order.health_insurance or {}
    shown = {
        _("Name"): order.patient_name,
        _("Birth date"): write_date(order.patient_dob, "j M Y"),
        _("Gender"): str(gender.label) if gender else str(details.get("gender", "")),
        _("Phone"): details.get("phone_number") or "",
        _("Email"): details.get("email") or "",
        _("Address"): _format_address(order.patient_address),
        _("Shipping address"): _format_address(order.shipping_address),
        _("Represented by"): _format_full_name(proxy),
        _("Member ID"): insurance.get("insurance_id") or "",
        _("Insured person"): _format_full_name(
            insurance.get("responsible_details") or {}
        ),
    }
    return {label: value for label, value in shown.items() if value}


def _record_read(request: TenantRequest, order: Order, subject: str) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=order.pk,
        user_uuid=order.user.uuid,
    )


def _poll_seconds(last: OrderEvent) -> int | None:
    """Return the poll interval in seconds, or None for an ended order."""
    if not is_order_in_progress(last.status):
        return None
    return _OFTEN if timezone.now() - last.created_at < _LIVELY else _SELDOM


def _list_transaction_orders(order: Order) -> list[TransactionOrder]:
    """List the transaction's orders, oldest first; empty for a single one."""
    orders = sorted(
        order.transaction.orders.all(), key=lambda one: (one.created_at, one.pk)
    )
    if len(orders) == 1:
        return []
    origins = {one.pk: OrderOrigin.known(one.origin) for one in orders}
    return [
        TransactionOrder(
            order=one,
            origin=str(origin.label) if (origin := origins[one.pk]) else one.origin,
            is_this=one.pk == order.pk,
        )
        for one in orders
    ]


def _previous_account_name(order: Order) -> str:
    """Return the lab account of the order this one replaces, if different."""
    if order.origin != OrderOrigin.RECREATION or order.parent is None:
        return ""
    before = order.parent.lab_account
    return "" if before == order.lab_account else format_lab_account_name(before)


def _list_insurance_rows(order: Order) -> dict[str, str]:
    """List the insurance details without names."""
    insurance = order.health_insurance or {}
    shown = {
        _("Insurer"): insurance.get("payor_code") or "",
        _("Insured person"): insurance.get("responsible_relationship") or "",
        _("Diagnosis codes"): ", ".join(insurance.get("diagnosis_codes") or ()),
    }
    return {label: value for label, value in shown.items() if value}


def _format_full_name(person: Mapping[str, Any]) -> str:
    return f"{person.get('first_name', '')} {person.get('last_name', '')}".strip()


def _format_address(address: Mapping[str, Any] | None) -> str:
    if not address:
        return ""
    place = f"{address.get('city', '')}, {address.get('state', '')}"
    lines = (
        address.get("receiver_name"),
        address.get("first_line"),
        address.get("second_line"),
        f"{place} {address.get('zip', '')}",
        address.get("country"),
        address.get("phone_number"),
    )
    return "\n".join(str(line) for line in lines if line)
