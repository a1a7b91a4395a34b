"""Request bodies and queries about orders, read into frozen values.

Deprecated and duplicate field names are resolved here; operations get one name each.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from labs.api.v3.orders.patient_inputs import (
    ConsentInputs,
    HealthInsuranceInputs,
    ImportAddressInputs,
    PatientAddressInputs,
    PatientDetailsInputs,
    PhysicianInputs,
    ShippingInputs,
)
from labs.models.order import COMMENTS_MAX_LENGTH
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.orders.kits import KitRegistration, KitRequest
from labs.operations.orders.plans import OrderRequest
from labs.operations.orders.recreations import RecreationRequest
from labs.states.accounts import US_STATES, Billing
from labs.states.catalogue import CollectionMethod
from labs.states.orders import UpdateReason
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import (
    Bool,
    Date,
    Inputs,
    Int,
    OpenEnum,
    Str,
    Uuid,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

ADD_ON_MAX = 200
PRICED_SETS_MAX = 20
RESEND_WINDOW = timedelta(days=60)  # Contract 6.5


class AnswerInputs(Inputs):
    """An answer to a question asked at order entry."""

    marker_id = Int()
    question_id = Int()
    answer = Str(max_length=500)


class AddOnInputs(Inputs):
    """Additional markers, by ID or by the lab's codes."""

    marker_ids = serializers.ListField(
        child=Int(min_value=0, max_value=2**31 - 1),
        required=False,
        max_length=ADD_ON_MAX,
    )
    provider_ids = serializers.ListField(
        child=Str(max_length=50), required=False, max_length=ADD_ON_MAX
    )


class OrderSetInputs(Inputs):
    """The tests to order."""

    lab_test_ids = serializers.ListField(
        child=Uuid(), required=False, max_length=ADD_ON_MAX
    )
    add_on = AddOnInputs(required=False)
    lab_account_id = Uuid(required=False)


class OrderSetPriceInputs(Inputs):
    """Order sets to price for a patient of a state; imported prices have no states."""

    order_sets = serializers.ListField(
        child=OrderSetInputs(), allow_empty=False, max_length=PRICED_SETS_MAX
    )
    modality = OpenEnum(CollectionMethod)
    us_state = serializers.ChoiceField(choices=sorted(US_STATES))
    billing = OpenEnum(Billing, default=Billing.CLIENT_BILL)


class _CommentFields(Inputs):
    """The clinical comment under either of its names (D7)."""

    comments = Str(required=False, max_length=COMMENTS_MAX_LENGTH)
    clinical_notes = Str(required=False, max_length=COMMENTS_MAX_LENGTH)


class OrderInputs(_CommentFields):
    """An order to place."""

    user_id = Uuid()
    order_set = OrderSetInputs(required=False)
    lab_test_id = Uuid(required=False)
    collection_method = OpenEnum(CollectionMethod, required=False)
    lab_account_id = Uuid(required=False)
    patient_details = PatientDetailsInputs()
    patient_address = PatientAddressInputs()
    physician = PhysicianInputs(required=False)
    health_insurance = HealthInsuranceInputs(required=False)
    priority = Bool(default=False)
    billing_type = OpenEnum(Billing, default=Billing.CLIENT_BILL)
    icd_codes = serializers.ListField(child=Str(max_length=20), required=False)
    consents = ConsentInputs(many=True, required=False)
    activate_by = Date(required=False)
    aoe_answers = AnswerInputs(many=True, required=False)
    passthrough = Str(max_length=5000, required=False)
    creator_member_id = Uuid(required=False)


class ImportInputs(_CommentFields):
    """An order placed elsewhere, to import."""

    user_id = Uuid()
    billing_type = OpenEnum(Billing)
    order_set = OrderSetInputs()
    collection_method = OpenEnum(CollectionMethod)
    patient_details = PatientDetailsInputs()
    patient_address = ImportAddressInputs()
    sample_id = Str(max_length=50)
    physician = PhysicianInputs(required=False)
    lab_account_id = Uuid(required=False)


class RecreateInputs(_CommentFields):
    """The reason and corrected details of a recreated order."""

    update_reason = Str(max_length=50)
    order_set = OrderSetInputs(required=False)
    collection_method = OpenEnum(CollectionMethod, required=False)
    patient_details = PatientDetailsInputs(required=False)
    patient_address = PatientAddressInputs(required=False)
    physician = PhysicianInputs(required=False)
    lab_account_id = Uuid(required=False)


class ActivationInputs(Inputs):
    """A new start date of a scheduled order."""

    activate_by = Date(required=False, allow_null=True)


class KitInputs(Inputs):
    """A kit to order before its patient is known."""

    user_id = Uuid()
    lab_test_id = Uuid()
    shipping_details = ShippingInputs()
    passthrough = Str(max_length=5000, required=False)
    lab_account_id = Uuid(required=False)


class RegistrationInputs(Inputs):
    """The patient and details of a registered kit."""

    sample_id = Str(max_length=50)
    patient_details = PatientDetailsInputs()
    patient_address = PatientAddressInputs()
    user_id = Uuid(required=False)
    physician = PhysicianInputs(required=False)
    health_insurance = HealthInsuranceInputs(required=False)
    consents = ConsentInputs(many=True, required=False)


class ResendInputs(Inputs):
    """The orders whose last events are resent, by ID or time window."""

    order_ids = serializers.ListField(child=Uuid(), required=False, max_length=500)
    start_at = serializers.DateTimeField(required=False)
    end_at = serializers.DateTimeField(required=False)


def parse_order_request(body: Mapping[str, Any]) -> OrderRequest:
    """Return the order of a validated body. Raises: 422 by missing, value_error."""
    order_set, account = _read_order_set(body)
    return OrderRequest(
        user_id=body["user_id"],
        order_set=order_set,
        method=body.get("collection_method"),
        lab_account_id=account,
        comments=_read_comment(body) or "",
        patient_details=to_json_values(body["patient_details"]),
        patient_address=to_json_values(body["patient_address"]),
        physician=_read_optional(body, "physician"),
        health_insurance=_read_optional(body, "health_insurance"),
        priority=body.get("priority", False),
        billing_type=body["billing_type"],
        icd_codes=tuple(body.get("icd_codes", ())),
        consents=tuple(to_json_values(one) for one in body.get("consents", ())),
        activate_by=body.get("activate_by"),
        aoe_answers=tuple(to_json_values(one) for one in body.get("aoe_answers", ())),
        passthrough=body.get("passthrough", ""),
        creator_member_id=body.get("creator_member_id"),
    )


def parse_order_recreation_request(body: Mapping[str, Any]) -> RecreationRequest:
    """Return the recreation of a validated body. Raises: 422 by enum, value_error."""
    text = body["update_reason"].strip().upper().replace(" ", "_").replace("-", "_")
    reason = UpdateReason.known(text)
    if reason is None:
        raise _field_error("update_reason", "Not an allowed value.", "enum")
    order_set, account = None, body.get("lab_account_id")
    if "order_set" in body:
        order_set, account = _read_order_set(body)
    return RecreationRequest(
        reason=reason,
        order_set=order_set,
        method=body.get("collection_method"),
        patient_details=_read_optional(body, "patient_details"),
        patient_address=_read_optional(body, "patient_address"),
        physician=_read_optional(body, "physician"),
        lab_account_id=account,
        comments=_read_comment(body),
    )


def parse_kit_order_request(body: Mapping[str, Any]) -> KitRequest:
    """Return the kit of a validated body."""
    return KitRequest(
        user_id=body["user_id"],
        lab_test_id=body["lab_test_id"],
        shipping_address=to_json_values(body["shipping_details"]),
        lab_account_id=body.get("lab_account_id"),
        passthrough=body.get("passthrough", ""),
    )


def parse_kit_registration_request(body: Mapping[str, Any]) -> KitRegistration:
    """Return the registration of a validated body."""
    return KitRegistration(
        sample_id=body["sample_id"],
        patient_details=to_json_values(body["patient_details"]),
        patient_address=to_json_values(body["patient_address"]),
        user_id=body.get("user_id"),
        physician=_read_optional(body, "physician"),
        health_insurance=_read_optional(body, "health_insurance"),
        consents=tuple(to_json_values(one) for one in body.get("consents", ())),
    )


def parse_event_resend_request(
    body: Mapping[str, Any],
) -> tuple[list[UUID], datetime | None, datetime]:
    """Return ids, start and end of a resend. Raises: 422 by missing, value_error."""
    ids, start = list(body.get("order_ids", ())), body.get("start_at")
    end = body.get("end_at") or timezone.now()
    if not ids and start is None:
        raise _field_error("order_ids", "Send order_ids or start_at.", "missing")
    if start is not None and not timedelta() <= end - start <= RESEND_WINDOW:
        raise _field_error(
            "end_at", ("end_at must be 0 to 60 days after start_at."), "value_error"
        )
    return ids, start, end


def _read_order_set(body: Mapping[str, Any]) -> tuple[OrderSet, UUID | None]:
    """Return the order set and its account; `lab_test_id` is deprecated."""
    legacy_lab_test_id = body.get("lab_test_id")
    order_set = body.get("order_set")
    if (order_set is None) == (legacy_lab_test_id is None):
        kind = "missing" if order_set is None else "value_error"
        raise _field_error("order_set", "Send either order_set or lab_test_id.", kind)
    if order_set is None:
        order_set = {"lab_test_ids": [legacy_lab_test_id]}
    accounts = {
        account
        for account in (body.get("lab_account_id"), order_set.get("lab_account_id"))
        if account is not None
    }
    if len(accounts) > 1:
        raise _field_error(
            "lab_account_id",
            ("lab_account_id and order_set.lab_account_id differ. Send one."),
            "value_error",
        )
    add_on = order_set.get("add_on")
    return (
        OrderSet(
            lab_test_ids=tuple(order_set.get("lab_test_ids", ())),
            marker_ids=tuple((add_on or {}).get("marker_ids", ())),
            provider_ids=tuple((add_on or {}).get("provider_ids", ())),
            has_add_on=add_on is not None,
        ),
        accounts.pop() if accounts else None,
    )


def _read_comment(body: Mapping[str, Any]) -> str | None:
    """Return the comment under either name, None where neither is given (D7)."""
    comments = {body[key] for key in ("comments", "clinical_notes") if key in body}
    if len(comments) > 1:
        raise _field_error(
            "comments", ("comments and clinical_notes differ. Send one."), "value_error"
        )
    return comments.pop() if comments else None


def _read_optional(body: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    return to_json_values(body[key]) if body.get(key) is not None else None


def to_json_values(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a validated object as JSON values: dates and enumerations as text."""
    return {key: _to_json_value(one) for key, one in value.items()}


def _to_json_value(value: Any) -> Any:
    match value:
        case dict():
            return to_json_values(value)
        case list():
            return [_to_json_value(one) for one in value]
        case bool() | int() | float() | None:
            return value
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _:
            return str(value)


def _field_error(field: str, message: str, kind: str) -> RequestInvalid:
    return RequestInvalid([FieldError(("body", field), message, kind)])
