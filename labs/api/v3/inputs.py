"""Request bodies and queries about orders, to the frozen values operations take.

Deprecated and twin names end here: operations never hear of them. Must not be here:
rules that need the database (operations).
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.validators import EmailValidator
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from labs.models.order import COMMENTS_MAX_LENGTH
from labs.operations.kits import KitRegistration, KitRequest
from labs.operations.order_sets import OrderSet
from labs.operations.orders import OrderRequest
from labs.operations.recreations import Recreation
from labs.queries.orders import OrderFilters
from labs.states.accounts import Billing
from labs.states.catalogue import CollectionMethod
from labs.states.orders import Interpretation, UpdateReason
from labs.states.patients import (
    NPI,
    PHONE,
    STATE,
    ZIP_CODE,
    Consent,
    Relationship,
)
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import (
    Bool,
    Date,
    Inputs,
    Int,
    OpenEnum,
    QueryText,
    QueryUuid,
    Str,
    Uuid,
    of_pattern,
    person_name,
)
from portal.lib.api.pagination import PageInputs
from portal.lib.choices import OpenChoices
from users.states import (
    Ethnicity,
    Gender,
    GenderIdentity,
    Race,
    SexualOrientation,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

ADD_ON_MAX = 200
RESEND_WINDOW = timedelta(days=60)  # Contract 6.5
IMAGE_MAX_CHARACTERS = 2_000_000
_email = EmailValidator()
_phone = of_pattern(PHONE)
_zip = of_pattern(ZIP_CODE)
_state = of_pattern(STATE)
_npi = of_pattern(NPI)


class ActivationType(OpenChoices):
    """Whether an order has started (contract 6.8)."""

    CURRENT = "current", "Current"
    SCHEDULED = "scheduled", "Scheduled"


class OrderKey(OpenChoices):
    """What a list of orders is sorted by (contract 6.8)."""

    CREATED_AT = "created_at", "Created"
    PATIENT_NAME = "patient_name", "Patient"
    LAST_STATUS = "last_status", "Status"


class Direction(OpenChoices):
    """Which way a list goes."""

    ASC = "asc", "Ascending"
    DESC = "desc", "Descending"


class GuarantorAddressInputs(Inputs):
    """Where somebody lives (contract 2.5)."""

    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False)
    country = Str(max_length=100)
    zip = Str(max_length=20)
    city = Str(max_length=100)
    state = Str(max_length=100)
    access_notes = Str(max_length=1000, required=False)


class ProxyInputs(Inputs):
    """Who stands for a minor (contract 2.5)."""

    first_name = Str(max_length=50, validators=[person_name])
    last_name = Str(max_length=50, validators=[person_name])
    address = GuarantorAddressInputs()
    phone_number = Str(max_length=50)
    household_income = Int(required=False, min_value=0)
    household_size = Int(required=False, min_value=0)
    email = Str(max_length=254, required=False, validators=[_email])


class PastDate(Date):
    """A day that has been, or is today."""

    def to_internal_value(self, data: Any) -> Any:
        day = super().to_internal_value(data)
        if day > timezone.now().date():
            raise ValidationError("In the future.", code="value_error")
        return day


class PatientDetailsInputs(Inputs):
    """The patient (contract 6.9)."""

    first_name = Str(max_length=50, validators=[person_name])
    last_name = Str(max_length=50, validators=[person_name])
    dob = PastDate()
    gender = OpenEnum(Gender)
    phone_number = Str(max_length=30, validators=[_phone])
    email = Str(max_length=254, validators=[_email])
    medical_proxy = ProxyInputs(required=False)
    race = OpenEnum(Race, required=False)
    ethnicity = OpenEnum(Ethnicity, required=False)
    sexual_orientation = OpenEnum(SexualOrientation, required=False)
    gender_identity = OpenEnum(GenderIdentity, required=False)
    household_income = Int(required=False, min_value=0)
    household_size = Int(required=False, min_value=0)


class PatientAddressInputs(Inputs):
    """Where the patient lives (contract 6.9)."""

    receiver_name = Str(max_length=150, required=False)
    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False)
    city = Str(max_length=100)
    state = Str(max_length=2, validators=[_state])
    zip = Str(max_length=10, validators=[_zip])
    country = Str(max_length=100)
    access_notes = Str(max_length=1000, required=False)
    phone_number = Str(max_length=30, required=False, validators=[_phone])


class ImportAddressInputs(PatientAddressInputs):
    """An imported patient's address: its zip is taken as it is (contract 6.7)."""

    receiver_name = Str(max_length=150)
    zip = Str(max_length=20)


class ShippingInputs(Inputs):
    """Where a kit is sent (contract 6.9)."""

    receiver_name = Str(max_length=150)
    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False)
    city = Str(max_length=100)
    state = Str(max_length=2, validators=[_state])
    zip = Str(max_length=10, validators=[_zip])
    country = Str(max_length=100)
    phone_number = Str(max_length=30, validators=[_phone])


class ImageInputs(Inputs):
    """A picture as base64 text."""

    content = Str(max_length=IMAGE_MAX_CHARACTERS)
    content_type = serializers.ChoiceField(
        choices=["image/jpeg", "image/png"],
        error_messages={"invalid_choice": "Not an allowed value."},
    )


class PhysicianInputs(Inputs):
    """Who orders (contract 6.6)."""

    first_name = Str(max_length=50)
    last_name = Str(max_length=50)
    npi = Str(max_length=10, validators=[_npi])
    email = Str(max_length=254, required=False, validators=[_email])
    licensed_states = serializers.ListField(
        child=Str(max_length=2, validators=[_state]), required=False
    )
    signature_image = ImageInputs(required=False)


class ConsentInputs(Inputs):
    """A consent; keys as the client spells them (contract 6.6)."""

    consentType = OpenEnum(Consent)  # noqa: N815 - the wire's
    version = Str(max_length=20, default="1.0")
    timeOfConsent = serializers.DateTimeField(required=False)  # noqa: N815 - the wire's


class AnswerInputs(Inputs):
    """An answer to a question at order entry."""

    marker_id = Int()
    question_id = Int()
    answer = Str(max_length=500)


class ResponsibleInputs(Inputs):
    """Who is responsible for insurance (contract 6.6)."""

    first_name = Str(max_length=50)
    last_name = Str(max_length=50)
    address = GuarantorAddressInputs()
    phone_number = Str(max_length=50)
    phone_type = Str(max_length=20, required=False)


class HealthInsuranceInputs(Inputs):
    """Insurance that pays for an order (contract 6.6)."""

    front_image = ImageInputs(required=False)
    back_image = ImageInputs(required=False)
    patient_signature_image = ImageInputs(required=False)
    subjective = Str(max_length=4000, required=False)
    assessment_plan = Str(max_length=4000, required=False)
    payor_code = Str(max_length=50, required=False)
    insurance_id = Str(max_length=50, required=False)
    responsible_relationship = OpenEnum(Relationship, required=False)
    responsible_details = ResponsibleInputs(required=False)
    diagnosis_codes = serializers.ListField(child=Str(max_length=20), required=False)


class AddOnInputs(Inputs):
    """Markers beside the panels, by our ids or by the lab's codes."""

    marker_ids = serializers.ListField(
        child=Int(min_value=0, max_value=2**31 - 1),
        required=False,
        max_length=ADD_ON_MAX,
    )
    provider_ids = serializers.ListField(
        child=Str(max_length=50), required=False, max_length=ADD_ON_MAX
    )


class OrderSetInputs(Inputs):
    """What is ordered (contract 6.6)."""

    lab_test_ids = serializers.ListField(
        child=Uuid(), required=False, max_length=ADD_ON_MAX
    )
    add_on = AddOnInputs(required=False)
    lab_account_id = Uuid(required=False)


class _Commented(Inputs):
    """The clinical comment under either of its names (D7)."""

    comments = Str(required=False, allow_blank=True, max_length=COMMENTS_MAX_LENGTH)
    clinical_notes = Str(
        required=False, allow_blank=True, max_length=COMMENTS_MAX_LENGTH
    )


class OrderInputs(_Commented):
    """POST /v3/order (contract 6.6)."""

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
    passthrough = Str(max_length=5000, required=False, allow_blank=True)
    creator_member_id = Uuid(required=False)


class ImportInputs(_Commented):
    """POST /v3/order/import (contract 6.7)."""

    user_id = Uuid()
    billing_type = OpenEnum(Billing)
    order_set = OrderSetInputs()
    collection_method = OpenEnum(CollectionMethod)
    patient_details = PatientDetailsInputs()
    patient_address = ImportAddressInputs()
    sample_id = Str(max_length=50)
    physician = PhysicianInputs(required=False)
    lab_account_id = Uuid(required=False)


class RecreateInputs(_Commented):
    """POST /v3/order/{order_id}/recreate (contract 6.14)."""

    update_reason = Str(max_length=50)
    order_set = OrderSetInputs(required=False)
    collection_method = OpenEnum(CollectionMethod, required=False)
    patient_details = PatientDetailsInputs(required=False)
    patient_address = PatientAddressInputs(required=False)
    physician = PhysicianInputs(required=False)
    lab_account_id = Uuid(required=False)


class ActivationInputs(Inputs):
    """PATCH /v3/order/{order_id} (contract 6.5)."""

    activate_by = Date(required=False, allow_null=True)


class KitInputs(Inputs):
    """POST /v3/order/testkit (contract 6.5)."""

    user_id = Uuid()
    lab_test_id = Uuid()
    shipping_details = ShippingInputs()
    passthrough = Str(max_length=5000, required=False, allow_blank=True)
    lab_account_id = Uuid(required=False)


class RegistrationInputs(Inputs):
    """POST /v3/order/testkit/register (contract 6.5)."""

    sample_id = Str(max_length=50)
    patient_details = PatientDetailsInputs()
    patient_address = PatientAddressInputs()
    user_id = Uuid(required=False)
    physician = PhysicianInputs(required=False)
    health_insurance = HealthInsuranceInputs(required=False)
    consents = ConsentInputs(many=True, required=False)


class SimulationQuery(Inputs):
    """Query of POST /v3/order/{order_id}/test (contract 6.13)."""

    final_status = QueryText(required=False)
    delay = serializers.IntegerField(default=0)


class ResendInputs(Inputs):
    """POST /v3/order/resend_events (contract 6.5)."""

    order_ids = serializers.ListField(child=Uuid(), required=False, max_length=500)
    start_at = serializers.DateTimeField(required=False)
    end_at = serializers.DateTimeField(required=False)


class OrderListQuery(PageInputs):
    """Query of GET /v3/orders (contract 6.8)."""

    search_input = QueryText(required=False)
    start_date = QueryText(required=False)
    end_date = QueryText(required=False)
    updated_start_date = QueryText(required=False)
    updated_end_date = QueryText(required=False)
    status = serializers.ListField(child=QueryText(), required=False)
    order_type = serializers.ListField(child=QueryText(), required=False)
    order_activation_types = serializers.ListField(
        child=OpenEnum(ActivationType), required=False
    )
    interpretation = OpenEnum(Interpretation, required=False)
    is_critical = serializers.BooleanField(required=False, allow_null=True)
    user_id = QueryUuid(required=False)
    order_transaction_id = QueryUuid(required=False)
    order_ids = serializers.ListField(child=QueryUuid(), required=False)
    patient_name = QueryText(required=False)
    shipping_recipient_name = QueryText(required=False)
    order_key = OpenEnum(OrderKey, default=OrderKey.CREATED_AT)
    order_direction = OpenEnum(Direction, default=Direction.DESC)


def read_order(body: Mapping[str, Any]) -> OrderRequest:
    """The request of a validated body. Raises: 422 by missing, value_error."""
    order_set, account = _order_set(body)
    return OrderRequest(
        user_id=body["user_id"],
        order_set=order_set,
        method=body.get("collection_method"),
        lab_account_id=account,
        comments=_comment(body) or "",
        patient_details=plain(body["patient_details"]),
        patient_address=plain(body["patient_address"]),
        physician=_optional(body, "physician"),
        health_insurance=_optional(body, "health_insurance"),
        priority=body.get("priority", False),
        billing_type=body["billing_type"],
        icd_codes=tuple(body.get("icd_codes", ())),
        consents=tuple(plain(one) for one in body.get("consents", ())),
        activate_by=body.get("activate_by"),
        aoe_answers=tuple(plain(one) for one in body.get("aoe_answers", ())),
        passthrough=body.get("passthrough", ""),
        creator_member_id=body.get("creator_member_id"),
    )


def read_recreation(body: Mapping[str, Any]) -> Recreation:
    """The recreation of a validated body. Raises: 422 by enum, value_error."""
    text = body["update_reason"].strip().upper().replace(" ", "_").replace("-", "_")
    reason = UpdateReason.known(text)
    if reason is None:
        raise _fault("update_reason", "Not an allowed value.", "enum")
    order_set, account = None, body.get("lab_account_id")
    if "order_set" in body:
        order_set, account = _order_set(body)
    return Recreation(
        reason=reason,
        order_set=order_set,
        method=body.get("collection_method"),
        patient_details=_optional(body, "patient_details"),
        patient_address=_optional(body, "patient_address"),
        physician=_optional(body, "physician"),
        lab_account_id=account,
        comments=_comment(body),
    )


def read_kit(body: Mapping[str, Any]) -> KitRequest:
    """The kit of a validated body."""
    return KitRequest(
        user_id=body["user_id"],
        lab_test_id=body["lab_test_id"],
        shipping_address=plain(body["shipping_details"]),
        lab_account_id=body.get("lab_account_id"),
        passthrough=body.get("passthrough", ""),
    )


def read_registration(body: Mapping[str, Any]) -> KitRegistration:
    """The registration of a validated body."""
    return KitRegistration(
        sample_id=body["sample_id"],
        patient_details=plain(body["patient_details"]),
        patient_address=plain(body["patient_address"]),
        user_id=body.get("user_id"),
        physician=_optional(body, "physician"),
        health_insurance=_optional(body, "health_insurance"),
        consents=tuple(plain(one) for one in body.get("consents", ())),
    )


def read_resend(
    body: Mapping[str, Any],
) -> tuple[list[UUID], datetime | None, datetime]:
    """Ids, start and end of a resend. Raises: 422 by missing, value_error."""
    ids, start = list(body.get("order_ids", ())), body.get("start_at")
    end = body.get("end_at") or timezone.now()
    if not ids and start is None:
        raise _fault("order_ids", "Give order_ids or start_at.", "missing")
    if start is not None and not timedelta() <= end - start <= RESEND_WINDOW:
        raise _fault("end_at", "A window is 0 to 60 days.", "value_error")
    return ids, start, end


def read_filters(query: Mapping[str, Any]) -> OrderFilters:
    """The filters of a validated query. Raises: 422 by date, value_error."""
    created = _window(query, "start_date", "end_date")
    updated = _window(query, "updated_start_date", "updated_end_date")
    return OrderFilters(
        search=query.get("search_input", "").strip(),
        created_from=created[0],
        created_until=created[1],
        updated_from=updated[0],
        updated_until=updated[1],
        low_statuses=tuple(_words(query.get("status", ()))),
        methods=tuple(_words(query.get("order_type", ()))),
        activation=frozenset(map(str, query.get("order_activation_types", ()))),
        interpretation=str(query.get("interpretation", "")),
        is_critical=query.get("is_critical"),
        user_uuid=query.get("user_id"),
        transaction_id=query.get("order_transaction_id"),
        order_ids=tuple(query.get("order_ids", ())),
        patient_name=query.get("patient_name", "").strip(),
        recipient_name=query.get("shipping_recipient_name", "").strip(),
        sort=str(query["order_key"]),
        descending=query["order_direction"] == Direction.DESC,
    )


def _words(values: Any) -> list[str]:
    """Enumeration values in any spelling (D2); those we do not know match nothing."""
    return [v.strip().lower().replace(" ", "_").replace("-", "_") for v in values]


def _order_set(body: Mapping[str, Any]) -> tuple[OrderSet, UUID | None]:
    """The order set and its account; `lab_test_id` is the old name of one panel."""
    legacy_lab_test_id = body.get("lab_test_id")
    given = body.get("order_set")
    if (given is None) == (legacy_lab_test_id is None):
        kind = "missing" if given is None else "value_error"
        raise _fault("order_set", "Give order_set, or lab_test_id.", kind)
    if given is None:
        given = {"lab_test_ids": [legacy_lab_test_id]}
    accounts = {
        account
        for account in (body.get("lab_account_id"), given.get("lab_account_id"))
        if account is not None
    }
    if len(accounts) > 1:
        raise _fault("lab_account_id", "Two different accounts.", "value_error")
    add_on = given.get("add_on")
    return (
        OrderSet(
            lab_test_ids=tuple(given.get("lab_test_ids", ())),
            marker_ids=tuple((add_on or {}).get("marker_ids", ())),
            provider_ids=tuple((add_on or {}).get("provider_ids", ())),
            has_add_on=add_on is not None,
        ),
        accounts.pop() if accounts else None,
    )


def _comment(body: Mapping[str, Any]) -> str | None:
    """The one comment under its two names, None where neither is given (D7)."""
    given = {body[key] for key in ("comments", "clinical_notes") if key in body}
    if len(given) > 1:
        raise _fault("comments", "comments and clinical_notes differ.", "value_error")
    return given.pop() if given else None


def _optional(body: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    return plain(body[key]) if body.get(key) is not None else None


def plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """A validated object as JSON holds it: dates as text, enumerations as values."""
    return {key: _plain_value(one) for key, one in value.items()}


def _plain_value(value: Any) -> Any:
    match value:
        case dict():
            return plain(value)
        case list():
            return [_plain_value(one) for one in value]
        case bool() | int() | float() | None:
            return value
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _:
            return str(value)


def _window(
    query: Mapping[str, Any], start: str, end: str
) -> tuple[datetime | None, datetime | None]:
    """Both ends included; a bare date means its first and its last second (1.5)."""
    first = _instant(query, start, time())
    last = _instant(query, end, time(23, 59, 59, 999999))
    if first and last and last < first:
        raise RequestInvalid(
            [FieldError(("query", end), "Before its start.", "value_error")]
        )
    return first, last


def _instant(query: Mapping[str, Any], name: str, at: time) -> datetime | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        kind = "date_from_datetime_parsing"
        raise RequestInvalid(
            [FieldError(("query", name), "Not a date.", kind)]
        ) from None
    if len(text) == len("YYYY-MM-DD"):
        found = datetime.combine(found.date(), at)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _fault(field: str, message: str, kind: str) -> RequestInvalid:
    return RequestInvalid([FieldError(("body", field), message, kind)])
