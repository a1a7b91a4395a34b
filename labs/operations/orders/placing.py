"""Place, import, cancel and schedule orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Order
from labs.operations.account_choice import (
    resolve_lab_account,
    resolve_lab_account_of_import,
)
from labs.operations.appointments.changes import cancel_home_appointment_of_order
from labs.operations.catalogue.order_sets import resolve_order_set
from labs.operations.order_status.status import (
    advance_order,
    audit_order_change,
    lock_order,
)
from labs.operations.orders.checks import (
    require_adult_or_permitted_minor,
    require_start_date_not_past,
    require_valid_order_answers,
)
from labs.operations.orders.plans import (
    OrderPlan,
    build_order_columns,
    create_order_transaction,
    get_lab_of_chosen_account,
    get_user_to_order_for,
    require_comments_not_too_long,
    require_terms_of_account,
    require_terms_of_import,
    store_order,
)
from labs.operations.orders.requisitions import enqueue_requisition
from labs.operations.physicians.asking import request_approval
from labs.operations.production import require_home_visits, require_lab_gateway
from labs.states.catalogue import CollectionMethod
from labs.states.orders import CANCELLABLE, OrderOrigin, split_order_status
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from datetime import date

    from accounts.models import Tenant
    from labs.operations.orders.plans import OrderRequest
    from portal.lib.actor import Actor


@transaction.atomic
def place_order(*, tenant: Tenant, actor: Actor, request: OrderRequest) -> Order:
    """Place an order; it stays `ordered` until its requisition is created.

    Where the team's physicians approve orders, it waits for one of them first.
    In production a job makes the requisition, on `activate_by` where one is given; in
    the sandbox nothing moves without simulation. Raises: user_not_found,
    lab_test_not_found, marker_not_found, lab_account_not_found (404); those of
    resolve_order_set and resolve_lab_account; comments_too_long (422);
    activate_by_past, physician_missing, billing_not_allowed, health_insurance_missing,
    minor_not_allowed, medical_proxy_missing, aoe_answer_missing, aoe_answer_unknown;
    in production lab_gateway_required, lab_account_required, physician_required,
    directory_required. Source: Contract 6.6, 6.12, D23.
    """
    plan = preview_order(tenant=tenant, request=request)
    order = Order(
        transaction=create_order_transaction(tenant=tenant, user=plan.user),
        **build_order_columns(tenant=tenant, plan=plan),
    )
    store_order(order=order, actor=actor, verb="place_order")
    request_approval(order)
    enqueue_requisition(order)
    return order


def preview_order(*, tenant: Tenant, request: OrderRequest) -> OrderPlan:
    """Return what place_order would store, or raise why not; store nothing.

    Raises: as place_order. Source: Ours: who orders sees first what is ordered, on
    which account, and why.
    """
    require_lab_gateway(tenant)
    user = get_user_to_order_for(tenant=tenant, user_id=request.user_id)
    require_comments_not_too_long(request.comments)
    resolved = resolve_order_set(
        tenant=tenant,
        order_set=request.order_set,
        method=request.method,
        lab=get_lab_of_chosen_account(tenant=tenant, account_id=request.lab_account_id),
    )
    account = resolve_lab_account(
        tenant=tenant, lab=resolved.lab, account_id=request.lab_account_id
    )
    require_home_visits(tenant=tenant, method=resolved.method)
    require_terms_of_account(tenant=tenant, account=account.account, request=request)
    require_adult_or_permitted_minor(tenant, request.patient_details)
    require_valid_order_answers(resolved.markers, request.aoe_answers)
    return OrderPlan(user, resolved, account, request)


@transaction.atomic
def import_order(
    *, tenant: Tenant, actor: Actor, request: OrderRequest, sample_id: str
) -> Order:
    """Import an order placed elsewhere; no requisition is created.

    An account that is being set up is accepted, and no lab gateway is needed. Two
    events at once: ordered, then requisition_bypassed. Raises: as place_order, without
    the patient's age and the questions; sample_id_missing, sample_id_taken. Source:
    Specification 3; contract 6.7, D23.
    """
    user = get_user_to_order_for(tenant=tenant, user_id=request.user_id)
    require_comments_not_too_long(request.comments)
    resolved = resolve_order_set(
        tenant=tenant,
        order_set=request.order_set,
        method=request.method,
        lab=get_lab_of_chosen_account(tenant=tenant, account_id=request.lab_account_id),
    )
    account = resolve_lab_account_of_import(
        tenant=tenant, lab=resolved.lab, account_id=request.lab_account_id
    )
    require_terms_of_import(tenant=tenant, account=account.account, request=request)
    if not sample_id.strip():
        raise DomainError(
            "sample_id_missing",
            _("Enter the sample ID of the imported order."),
            "sample_id",
        )
    plan = OrderPlan(user, resolved, account, request)
    order = Order(
        transaction=create_order_transaction(tenant=tenant, user=user),
        sample_id=sample_id.strip(),
        **build_order_columns(tenant=tenant, plan=plan),
    )
    store_order(order=order, actor=actor, verb="import_order")
    advance_order(order=order, actor=actor, to="requisition_bypassed")
    return order


@transaction.atomic
def cancel_order(*, order: Order, actor: Actor, why: str = "") -> Order:
    """Cancel an order and its at-home appointment; a center's appointment stays.

    Raises: order_not_cancellable. Source: Contract 6.12.
    """
    order = lock_order(order)
    require_cancellable(order)
    cancel_home_appointment_of_order(order=order, actor=actor)
    advance_order(order=order, actor=actor, to="cancelled", why=why)
    audit_order_change(order, actor, "cancel_order")
    return order


@transaction.atomic
def change_start_date(*, order: Order, actor: Actor, day: date | None) -> Order:
    """Change a scheduled order's start date (None: today) before it starts.

    Raises: order_activated, activate_by_past. Source: Contract 6.5.
    """
    order = lock_order(order)
    if order.activate_by is None or split_order_status(order.status).low != "ordered":
        raise DomainError(
            "order_activated", _("This order has already started."), "activate_by"
        )
    require_start_date_not_past(day)
    before, order.activate_by = order.activate_by, day
    order.updated_at = timezone.now()
    order.save(update_fields=["activate_by", "updated_at"])
    audit_order_change(
        order,
        actor,
        "reschedule_activation",
        {"activate_by": [str(before), str(day) if day else None]},
    )
    enqueue_requisition(order)
    return order


@transaction.atomic
def record_sample_drawn(*, order: Order, actor: Actor) -> Order:
    """Record that an on-site sample was collected.

    Raises: not_on_site; transition_not_allowed. Source: Contract 6.5.
    """
    order = lock_order(order)
    if order.method != CollectionMethod.ON_SITE_COLLECTION:
        raise DomainError("not_on_site", _("Only on-site collections have this step."))
    advance_order(order=order, actor=actor, to="draw_completed")
    audit_order_change(order, actor, "complete_draw")
    return order


def require_cancellable(order: Order) -> None:
    """Refuse an order that can no longer be cancelled, or was redrawn.

    Raises: order_not_cancellable. Source: Contract 6.12.
    """
    redrawn = (
        Order.objects.for_tenant(order.tenant)
        .filter(transaction_id=order.transaction_id, origin=OrderOrigin.REDRAW)
        .exclude(pk=order.pk)
        .exists()
    )
    if order.status not in CANCELLABLE or redrawn:
        raise DomainError(
            "order_not_cancellable",
            _("The order can't change from %(old)s to %(new)s.")
            % {"old": order.status, "new": "cancelled"},
        )
