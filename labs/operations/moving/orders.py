"""Keep orders of another platform as history, with their steps and results.

They are orders like all others, so that lists, trends, documents and FHIR show them,
but for `moved_from`, which lock_order and advance_order refuse. Reports of other
institutions were considered in their place (reports.operations.outside_reports): they
have neither an order's ID nor its steps, and a team's code asks for both.
"""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import DatabaseError, IntegrityError, transaction

from labs.models import LabTest, Marker, Order, OrderTransaction, Shipment
from labs.models.order import COMMENTS_MAX_LENGTH
from labs.operations.moving.results import store_past_results
from labs.operations.order_status.status import (
    audit_order_change,
    lock_order_row,
    record_past_step,
)
from labs.operations.orders.plans import get_user_to_order_for
from labs.queries.catalogue import get_lab_by_slug
from labs.states.accounts import AccountReason, Billing
from labs.states.catalogue import LabTestStatus
from labs.states.orders import OrderOrigin
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accounts.models import Tenant
    from labs.models import Lab
    from portal.lib.actor import Actor
    from users.queries import UserRow

LAB_MISSING = "lab_not_in_catalogue"
MARKER_MISSING = "marker_not_in_catalogue"
ID_TAKEN = "order_id_taken"
INVALID = "invalid_element"
_SHIPMENT = (
    *("outbound_tracking_number", "outbound_tracking_url", "outbound_courier"),
    *("inbound_tracking_number", "inbound_tracking_url", "inbound_courier", "notes"),
)


def store_past_orders(
    tenant: Tenant,
    actor: Actor,
    user_uuid: UUID,
    platform: str,
    elements: Sequence[Mapping[str, Any]],
) -> tuple[int, int, Counter[str]]:
    """Store orders of a user; return how many, how many changed, and what by rule not.

    Each element is {"order": an order, "result": its results or None}, as contract 6.10
    and 6.15 have them. An order keeps its ID; one that is stored gets the steps that
    are new, and results that differ are a new version. Nothing is emitted, and no lab,
    courier or patient hears of it. What is left out is counted: an order of a lab that
    the team's catalogue lacks, whose ID is another order's, or that is no order; of
    results only markers that the catalogue lacks. In the caller's transaction. Raises:
    user_not_found (404).
    """
    user = get_user_to_order_for(tenant=tenant, user_id=user_uuid)
    stored, changed, skipped = 0, 0, Counter[str]()
    for element in elements:
        try:
            with transaction.atomic():
                is_changed = _store_past_order(
                    tenant, actor, user, platform, element, skipped
                )
        except DomainError as refusal:
            known = {LAB_MISSING, ID_TAKEN}
            skipped[refusal.code if refusal.code in known else INVALID] += 1
        except IntegrityError:
            skipped[ID_TAKEN] += 1
        except (AttributeError, DatabaseError, LookupError, TypeError, ValueError):
            # Its content is health data: no more is said of it than that it is bad.
            skipped[INVALID] += 1
        else:
            stored += 1
            changed += is_changed
    return stored, changed, skipped


def _store_past_order(
    tenant: Tenant,
    actor: Actor,
    user: UserRow,
    platform: str,
    element: Mapping[str, Any],
    skipped: Counter[str],
) -> bool:
    """Store an order; return whether anything of it is new."""
    theirs = element["order"]
    events = sorted(theirs["events"], key=lambda each: each["id"])
    known = _find_known_order(tenant, user, platform, UUID(theirs["id"]))
    if known is None:
        lab = _find_lab(tenant, theirs["lab_test"])
        panel, missing = _find_or_keep_panel(tenant, lab, theirs["lab_test"])
        if missing:
            skipped[MARKER_MISSING] += missing
        order = Order(
            pk=UUID(theirs["id"]),
            tenant=tenant,
            user_id=user.id,
            transaction=_find_or_create_transaction(tenant, user, theirs),
            parent=_find_parent(tenant, theirs),
            lab=lab,
            lab_test=panel,
            account_reason=AccountReason.MOVED,
            method=theirs["details"]["type"],
            status=events[0]["status"],
            moved_from=platform,
            created_at=_moment(theirs["created_at"]),
            **_read_columns(theirs),
        )
        order.save(force_insert=True)
        steps = events
        audit_order_change(order, actor, "move_order_in")
        is_changed = True
    else:
        order, is_changed = known, False
        steps = events[order.events.count() :]
        columns = _read_columns(theirs)
        if changed := [n for n, v in columns.items() if getattr(order, n) != v]:
            for name in changed:
                setattr(order, name, columns[name])
            order.save(update_fields=changed)
            audit_order_change(order, actor, "update_moved_order")
            is_changed = True
    for step in steps:
        record_past_step(
            order=order,
            actor=actor,
            status=step["status"],
            detail=step.get("status_detail") or "",
            at=_moment(step["created_at"]),
        )
    _store_shipment(order, (theirs["details"].get("data") or {}).get("shipment"))
    results = element["result"]
    if results is not None:
        version = store_past_results(order=order, actor=actor, theirs=results)
        is_changed = is_changed or version is not None
    return is_changed or bool(steps)


def _find_known_order(
    tenant: Tenant, user: UserRow, platform: str, order_id: UUID
) -> Order | None:
    rows = Order.objects.for_tenant(tenant).filter(pk=order_id)
    found: Order | None = rows.select_related("user").first()
    if found is None:
        return None
    if found.moved_from != platform or found.user_id != user.id:
        raise DomainError(ID_TAKEN, "Another order has this ID.")
    found.tenant = tenant
    return lock_order_row(found)


def _find_or_create_transaction(
    tenant: Tenant, user: UserRow, theirs: Mapping[str, Any]
) -> OrderTransaction:
    ours = OrderTransaction(tenant=tenant, user_id=user.id)
    if given := theirs.get("order_transaction"):
        ours.pk = UUID(given["id"])
        rows = OrderTransaction.objects.for_tenant(tenant).filter(pk=ours.pk)
        found: OrderTransaction | None = rows.first()
        if found is not None:
            if found.user_id != user.id:
                raise DomainError(ID_TAKEN, "Another transaction has this ID.")
            return found
    ours.created_at = _moment(theirs["created_at"])
    ours.save(force_insert=True)
    return ours


def _find_parent(tenant: Tenant, theirs: Mapping[str, Any]) -> Order | None:
    """Return the order that this one replaces, if it is here."""
    for each in (theirs.get("order_transaction") or {}).get("orders") or ():
        if each["id"] == theirs["id"] and each.get("parent_id"):
            mine = Order.objects.for_tenant(tenant)
            found: Order | None = mine.filter(pk=each["parent_id"]).first()
            return found
    return None


def _find_lab(tenant: Tenant, test: Mapping[str, Any]) -> Lab:
    try:
        return get_lab_by_slug(tenant=tenant, slug=(test.get("lab") or {})["slug"])
    except (NotFound, KeyError):
        raise DomainError(LAB_MISSING, "The catalog has no such lab.") from None


def _find_or_keep_panel(
    tenant: Tenant, lab: Lab, test: Mapping[str, Any]
) -> tuple[LabTest, int]:
    """Return the panel of this content, archived where it is new, and what it lacks."""
    codes = [str(each.get("provider_id")) for each in test.get("markers") or ()]
    markers = list(Marker.objects.filter(lab=lab, provider_id__in=codes).order_by("pk"))
    wanted = {marker.pk for marker in markers}
    panel = LabTest(
        tenant=tenant,
        lab=lab,
        name=test["name"],
        slug=test["slug"],
        sample_type=test["sample_type"],
        method=test["method"],
        price=round(test["price"] or 0, 2),
        fasting=bool(test.get("fasting")),
        status=LabTestStatus.INACTIVE,
        generation="auto" if test.get("auto_generated") else "manual",
    )
    same = LabTest.objects.for_tenant(tenant).filter(
        **{
            name: getattr(panel, name)
            for name in ("lab", "name", "slug", "sample_type", "method", "price")
        },
        fasting=panel.fasting,
    )
    for each in same.prefetch_related("markers").order_by("pk"):
        if {marker.pk for marker in each.markers.all()} == wanted:
            return each, len(codes) - len(markers)
    panel.save(force_insert=True)
    panel.markers.set(markers)
    return panel, len(codes) - len(markers)


def _read_columns(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a later reading may change."""
    details = _drop_nulls(theirs.get("patient_details"))
    shipped_to = _drop_nulls(theirs.get("shipping_details"))
    columns: dict[str, Any] = {
        "patient_details": details,
        "patient_address": _drop_nulls(theirs.get("patient_address")),
        "shipping_address": shipped_to,
        "patient_name": "",
        "patient_dob": None,
        "recipient_name": (shipped_to or {}).get("receiver_name", ""),
        "physician": _drop_nulls(theirs.get("physician")),
        "health_insurance_id": _uuid(theirs.get("health_insurance_id")),
        "comments": (theirs.get("clinical_notes") or theirs.get("notes") or "")[
            :COMMENTS_MAX_LENGTH
        ],
        "passthrough": theirs.get("passthrough") or "",
        "priority": bool(theirs.get("priority")),
        "billing_type": theirs.get("billing_type") or Billing.CLIENT_BILL,
        "icd_codes": theirs.get("icd_codes") or [],
        "activate_by": _day(theirs.get("activate_by")),
        "sample_id": theirs.get("sample_id") or "",
        "is_registrable": shipped_to is not None,
        "interpretation": theirs.get("interpretation") or "",
        "has_missing_results": theirs.get("has_missing_results"),
        "due_by": _day(theirs.get("expected_result_by_date")),
        "worst_case_due_by": _day(theirs.get("worst_case_result_by_date")),
        "origin": theirs.get("origin") or OrderOrigin.INITIAL,
        "updated_at": _moment(theirs["updated_at"]),
    }
    if details is not None:
        details["dob"] = details["dob"][:10]
        names = (details.get("first_name"), details.get("last_name"))
        columns["patient_name"] = " ".join(name for name in names if name)
        columns["patient_dob"] = _day(details["dob"])
    return columns


def _store_shipment(order: Order, theirs: Mapping[str, Any] | None) -> None:
    if theirs is None:
        return
    values = {name: theirs.get(name) or "" for name in _SHIPMENT}
    rows = Shipment.objects.for_tenant(order.tenant)
    if not rows.filter(order=order).update(**values):
        row = Shipment(pk=UUID(theirs["id"]), tenant=order.tenant, order=order)
        for name, value in values.items():
            setattr(row, name, value)
        row.save(force_insert=True)


def _drop_nulls(shape: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a shape as orders store it: without its nulls."""
    if shape is None:
        return None
    return {
        name: _drop_nulls(value) if isinstance(value, dict) else value
        for name, value in shape.items()
        if value is not None
    }


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text[:10]) if text else None


def _uuid(text: str | None) -> UUID | None:
    return UUID(text) if text else None
