"""Test kits ordered before their patient is known, and their registration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Order
from labs.operations.account_choice import (
    require_billing_type_allowed,
    resolve_lab_account,
)
from labs.operations.catalogue.order_sets import (
    OrderSet,
    find_or_create_panel_of_order_set,
    resolve_order_set,
)
from labs.operations.order_status.status import (
    advance_order,
    audit_order_change,
    lock_order,
)
from labs.operations.orders.checks import require_adult_or_permitted_minor
from labs.operations.orders.plans import (
    create_order_transaction,
    get_lab_of_chosen_account,
    get_user_to_order_for,
    store_order,
)
from labs.operations.orders.requisitions import enqueue_requisition
from labs.operations.physicians.asking import (
    request_approval,
    require_ordering_physician,
)
from labs.operations.production import (
    require_lab_gateway,
    require_lab_gateway_of_account,
    require_platform_account_allowed,
)
from labs.queries.orders.history import find_last_known_order_status
from labs.states.accounts import Billing
from labs.states.catalogue import CollectionMethod
from labs.states.orders import build_order_status, split_order_status
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor

_REGISTRABLE = {"awaiting_registration", "with_customer"}


@dataclass(frozen=True, slots=True)
class KitRequest:
    """A kit to order (contract 6.5)."""

    user_id: UUID
    lab_test_id: UUID
    shipping_address: Mapping[str, Any]
    lab_account_id: UUID | None = None
    passthrough: str = ""


@dataclass(frozen=True, slots=True)
class KitRegistration:
    """The patient of a kit (contract 6.5), shapes as on the wire."""

    sample_id: str
    patient_details: Mapping[str, Any]
    patient_address: Mapping[str, Any]
    user_id: UUID | None = None
    physician: Mapping[str, Any] | None = None
    health_insurance: Mapping[str, Any] | None = None
    consents: tuple[Mapping[str, Any], ...] = ()


@transaction.atomic
def order_kit(*, tenant: Tenant, actor: Actor, request: KitRequest) -> Order:
    """Order a kit whose patient is registered later.

    It carries its sample id from the start, as it is printed on the kit. Raises:
    user_not_found, lab_test_not_found, lab_account_not_found (404); not_a_kit; those
    of resolve_order_set and resolve_lab_account; lab_gateway_required. Source: Contract
    6.5, 6.12, D23.
    """
    require_lab_gateway(tenant)
    user = get_user_to_order_for(tenant=tenant, user_id=request.user_id)
    resolved = resolve_order_set(
        tenant=tenant,
        order_set=OrderSet(lab_test_ids=(request.lab_test_id,)),
        lab=get_lab_of_chosen_account(tenant=tenant, account_id=request.lab_account_id),
    )
    if resolved.method != CollectionMethod.TESTKIT:
        raise DomainError(
            "not_a_kit", _("This test can't be collected with a kit."), "lab_test_id"
        )
    account = resolve_lab_account(
        tenant=tenant, lab=resolved.lab, account_id=request.lab_account_id
    )
    require_lab_gateway_of_account(tenant=tenant, account=account.account)
    require_billing_type_allowed(
        account=account.account,
        billing_type=Billing.CLIENT_BILL,
        state=str(request.shipping_address.get("state", "")),
    )
    order = Order(
        tenant=tenant,
        user_id=user.id,
        transaction=create_order_transaction(tenant=tenant, user=user),
        lab=resolved.lab,
        lab_test=find_or_create_panel_of_order_set(tenant=tenant, resolved=resolved),
        lab_account=account.account,
        account_reason=account.reason,
        method=CollectionMethod.TESTKIT,
        status=build_order_status(CollectionMethod.TESTKIT, "ordered"),
        is_registrable=True,
        shipping_address=dict(request.shipping_address),
        recipient_name=str(request.shipping_address.get("receiver_name", "")),
        passthrough=request.passthrough,
    )
    order.sample_id = make_kit_sample_id(order)
    store_order(order=order, actor=actor, verb="order_kit")
    advance_order(order=order, actor=actor, to="awaiting_registration")
    return order


@transaction.atomic
def register_kit(*, tenant: Tenant, actor: Actor, request: KitRegistration) -> Order:
    """Register a kit to a patient, and to another user where one is named.

    Raises: kit_not_found, user_not_found (404); kit_registered; kit_not_registrable;
    minor_not_allowed, medical_proxy_missing, physician_missing, billing_not_allowed;
    in production lab_gateway_required, lab_account_required, physician_required.
    Source: Contract 6.12, D23.
    """
    rows = Order.objects.for_tenant(tenant).live().select_related("tenant")
    found = rows.filter(sample_id=request.sample_id, is_registrable=True).first()
    if found is None:
        raise NotFound("kit_not_found", _("No kit has this sample ID."), "sample_id")
    order = lock_order(found)
    if order.registered_at is not None:
        raise DomainError("kit_registered", _("This kit is already registered."))
    if split_order_status(find_last_known_order_status(order)).low not in _REGISTRABLE:
        raise DomainError(
            "kit_not_registrable",
            _("A kit in status %(status)s can't be registered.")
            % {"status": order.status},
        )
    require_lab_gateway_of_account(tenant=tenant, account=order.lab_account)
    if order.lab_account is None:
        require_platform_account_allowed(tenant=tenant, lab=order.lab)
    details = request.patient_details
    require_adult_or_permitted_minor(tenant, details)
    require_ordering_physician(
        tenant=tenant,
        account=order.lab_account,
        physician=request.physician,
        state=str(request.patient_address.get("state", "")),
    )
    require_billing_type_allowed(
        account=order.lab_account,
        billing_type=order.billing_type,
        state=str(request.patient_address.get("state", "")),
    )
    changes: dict[str, object] = {
        "registered_at": timezone.now(),
        "patient_details": dict(details),
        "patient_address": dict(request.patient_address),
        "patient_name": f"{details['first_name']} {details['last_name']}",
        "patient_dob": details["dob"],
        "physician": dict(request.physician) if request.physician else None,
        "consents": [dict(consent) for consent in request.consents],
    }
    if request.health_insurance is not None:
        changes["health_insurance"] = dict(request.health_insurance)
    if request.user_id is not None:
        other = get_user_to_order_for(tenant=tenant, user_id=request.user_id)
        changes["user_id"] = other.id
    advance_order(order=order, actor=actor, to="registered", changes=changes)
    audit_order_change(order, actor, "register_kit")
    request_approval(order)
    enqueue_requisition(order)
    return order


def make_kit_sample_id(order: Order) -> str:
    """Return the id printed on a kit: 12 characters of the order's id."""
    return f"K{order.pk.hex[:11].upper()}"
