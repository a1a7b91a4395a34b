"""Place, import, cancel and schedule orders."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Order, OrderTransaction
from labs.models.order import COMMENTS_MAX_LENGTH
from labs.operations.accounts import (
    ResolvedAccount,
    require_billing_type_allowed,
    resolve_lab_account,
)
from labs.operations.appointments.changes import cancel_home_appointment_of_order
from labs.operations.catalogue.order_sets import (
    OrderSet,
    ResolvedSet,
    find_or_create_panel_of_order_set,
    resolve_order_set,
)
from labs.operations.order_status.status import (
    advance_order,
    audit_order_change,
    emit_order_event,
    lock_order,
    store_order_event,
)
from labs.operations.orders.checks import (
    require_adult_or_permitted_minor,
    require_physician,
    require_start_date_not_past,
    require_valid_order_answers,
)
from labs.operations.orders.requisitions import enqueue_requisition
from labs.queries.accounts import get_linked_lab_account
from labs.states.accounts import AccountReason, Billing
from labs.states.catalogue import CollectionMethod
from labs.states.orders import (
    CANCELLABLE,
    OrderOrigin,
    build_order_status,
    split_order_status,
)
from portal.lib.errors import DomainError, Invalid, NotFound
from users.queries import find_user

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import LabAccount
    from portal.lib.actor import Actor
    from users.queries import UserRow


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """An order to place (contract 6.6).

    Details, address, physician, insurance and consents have the wire's shapes, checked
    by the edge. `comments` is the order's clinical comment.
    """

    user_id: UUID
    order_set: OrderSet
    patient_details: Mapping[str, Any]
    patient_address: Mapping[str, Any]
    method: CollectionMethod | None = None
    lab_account_id: UUID | None = None
    comments: str = ""
    physician: Mapping[str, Any] | None = None
    health_insurance: Mapping[str, Any] | None = None
    priority: bool = False
    billing_type: str = Billing.CLIENT_BILL
    icd_codes: tuple[str, ...] = ()
    consents: tuple[Mapping[str, Any], ...] = ()
    activate_by: date | None = None
    aoe_answers: tuple[Mapping[str, Any], ...] = ()
    passthrough: str = ""
    creator_member_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class OrderPlan:
    """A validated order, before it is stored."""

    user: UserRow
    resolved: ResolvedSet
    account: ResolvedAccount
    request: OrderRequest
    fields: dict[str, Any] = field(default_factory=dict)


@transaction.atomic
def place_order(*, tenant: Tenant, actor: Actor, request: OrderRequest) -> Order:
    """Place an order; it stays `ordered` until its requisition is created.

    In production a job makes the requisition, on `activate_by` where one is given; in
    the sandbox nothing moves without simulation. Raises: user_not_found,
    lab_test_not_found, marker_not_found, lab_account_not_found (404); those of
    resolve_order_set and resolve_lab_account; comments_too_long (422);
    activate_by_past, physician_missing, billing_not_allowed, health_insurance_missing,
    minor_not_allowed, medical_proxy_missing, aoe_answer_missing, aoe_answer_unknown.
    Source: Contract 6.6, 6.12.
    """
    plan = preview_order(tenant=tenant, request=request)
    return store_validated_order(tenant, actor, plan, "place_order")


def preview_order(*, tenant: Tenant, request: OrderRequest) -> OrderPlan:
    """Return what place_order would store, or raise why not; store nothing.

    Raises: as place_order. Source: Ours: who orders sees first what is ordered, on
    which account, and why.
    """
    plan = validate_order_request(tenant, request)
    require_adult_or_permitted_minor(tenant, request.patient_details)
    require_valid_order_answers(plan.resolved.markers, request.aoe_answers)
    return plan


@transaction.atomic
def import_order(
    *, tenant: Tenant, actor: Actor, request: OrderRequest, sample_id: str
) -> Order:
    """Import an order placed elsewhere; no requisition is created.

    An account that is being set up is accepted. Two events at once: ordered, then
    requisition_bypassed. Raises: as place_order, without the patient's age and the
    questions; sample_id_missing, sample_id_taken. Source: Specification 3; contract
    6.7.
    """
    plan = validate_order_request(tenant, request, importing=True)
    plan.fields["sample_id"] = sample_id.strip()
    if not plan.fields["sample_id"]:
        raise DomainError(
            "sample_id_missing",
            _("Enter the sample ID of the imported order."),
            "sample_id",
        )
    order = store_validated_order(
        tenant, actor, plan, "import_order", makes_requisition=False
    )
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


def validate_order_request(
    tenant: Tenant,
    request: OrderRequest,
    *,
    importing: bool = False,
    leave_out: LabAccount | None = None,
    carried: Order | None = None,
    with_archived: bool = False,
) -> OrderPlan:
    """Validate an order request and return the plan of the order to store.

    `leave_out` and `carried` are a recreation's: the account that was wrong, the order
    whose account stays. Raises: as place_order. Source: Contract 6.6, 6.14.
    """
    found = find_user(tenant=tenant, user_id=request.user_id)
    if found is None:
        raise NotFound("user_not_found", _("User not found."), "user_id")
    if len(request.comments) > COMMENTS_MAX_LENGTH:
        raise Invalid(
            "comments_too_long",
            _("Enter at most %(most)d characters.") % {"most": COMMENTS_MAX_LENGTH},
            "comments",
        )
    chosen = None
    if request.lab_account_id is not None:
        chosen = get_linked_lab_account(
            tenant=tenant, account_id=request.lab_account_id
        ).lab
    resolved = resolve_order_set(
        tenant=tenant,
        order_set=request.order_set,
        method=request.method,
        lab=chosen,
        with_archived=with_archived,
    )
    if carried is not None and carried.lab_id == resolved.lab.pk:
        account = ResolvedAccount(carried.lab_account, AccountReason.CARRIED_OVER)
    else:
        account = resolve_lab_account(
            tenant=tenant,
            lab=resolved.lab,
            account_id=request.lab_account_id,
            importing=importing,
            leave_out=leave_out,
        )
    require_billing_type_allowed(
        account=account.account,
        billing_type=request.billing_type,
        state=str(request.patient_address.get("state", "")),
    )
    require_physician(account.account, request.physician)
    require_start_date_not_past(request.activate_by)
    if (
        request.billing_type == Billing.COMMERCIAL_INSURANCE
        and request.health_insurance is None
    ):
        raise DomainError(
            "health_insurance_missing",
            _("Send health_insurance: commercial insurance requires it."),
            "health_insurance",
        )
    return OrderPlan(found.user, resolved, account, request)


def store_validated_order(
    tenant: Tenant,
    actor: Actor,
    plan: OrderPlan,
    verb: str,
    *,
    makes_requisition: bool = True,
) -> Order:
    """Store a validated order, emit its event, enqueue its requisition if due.

    Raises: sample_id_taken. Source: Contract 6.6, 6.12.
    """
    request = plan.request
    details, address = request.patient_details, request.patient_address
    if "transaction_id" not in plan.fields:
        transaction_row = OrderTransaction(tenant=tenant, user_id=plan.user.id)
        transaction_row.save(force_insert=True)
        plan.fields["transaction_id"] = transaction_row.pk
    panel = find_or_create_panel_of_order_set(tenant=tenant, resolved=plan.resolved)
    order = Order(
        tenant=tenant,
        user_id=plan.user.id,
        lab=plan.resolved.lab,
        lab_test=panel,
        lab_account=plan.account.account,
        account_reason=plan.account.reason,
        method=str(plan.resolved.method),
        status=build_order_status(str(plan.resolved.method), "ordered"),
        patient_details=dict(details),
        patient_address=dict(address),
        patient_name=f"{details['first_name']} {details['last_name']}",
        patient_dob=details["dob"],
        physician=dict(request.physician) if request.physician else None,
        health_insurance=dict(request.health_insurance)
        if request.health_insurance
        else None,
        consents=[dict(consent) for consent in request.consents],
        aoe_answers=[dict(answer) for answer in request.aoe_answers],
        comments=request.comments,
        passthrough=request.passthrough,
        priority=request.priority,
        billing_type=request.billing_type,
        icd_codes=list(request.icd_codes),
        creator_member_id=request.creator_member_id,
        activate_by=request.activate_by,
        **plan.fields,
    )
    return store_order(order=order, actor=actor, verb=verb, asks=makes_requisition)


def store_order(*, order: Order, actor: Actor, verb: str, asks: bool) -> Order:
    """Store a new order with its first event; enqueue its requisition if `asks`.

    Raises: sample_id_taken. Source: Contract 6.6, 6.12.
    """
    try:
        with transaction.atomic():
            order.save(force_insert=True)
    except IntegrityError:
        raise DomainError(
            "sample_id_taken",
            _("Another order at this lab has this sample ID."),
            "sample_id",
        ) from None
    store_order_event(order, actor)
    audit_order_change(order, actor, verb)
    emit_order_event(order, "created")
    if asks:
        enqueue_requisition(order)
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
