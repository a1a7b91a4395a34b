"""Request bodies and queries about insurance, read into frozen values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.validators import EmailValidator
from rest_framework import serializers

from labs.api.v3.orders.inputs import to_json_values
from labs.api.v3.orders.patient_inputs import GuarantorAddressInputs, ProxyInputs
from labs.operations.insurance import InsuranceRequest, PayorRequest
from labs.states.patients import Relationship
from portal.lib.api.fields import (
    BirthDate,
    Bool,
    Inputs,
    OpenEnum,
    QueryBool,
    QueryText,
    Str,
    person_name,
)
from users.states import Gender

if TYPE_CHECKING:
    from collections.abc import Mapping

CODES_MAX = 100


class PayorQuery(Inputs):
    """Search terms for insurers."""

    insurance_name = QueryText(required=False, max_length=200)
    provider = QueryText(required=False, max_length=50)
    provider_payor_id = QueryText(required=False, max_length=50)


class PayorSearchInputs(Inputs):
    """Search terms for insurers; `provider_id` is the deprecated name of the ID."""

    insurance_name = Str(required=False, max_length=200)
    provider = Str(required=False, max_length=50)
    provider_id = Str(required=False, max_length=50)


class DiagnosisQuery(Inputs):
    """Search terms for diagnoses."""

    diagnosis_query = QueryText(max_length=200)


class DiagnosisCodesInputs(Inputs):
    """Diagnosis codes to validate, primary diagnosis first."""

    codes = serializers.ListField(child=Str(max_length=20), max_length=CODES_MAX)


class PayorInputs(Inputs):
    """An insurer to create."""

    name = Str(max_length=200)
    address = GuarantorAddressInputs()
    provider = Str(max_length=50, required=False)
    provider_payor_id = Str(max_length=50, required=False)


class InsuredInputs(Inputs):
    """The insured person."""

    first_name = Str(max_length=50, validators=[person_name])
    last_name = Str(max_length=50, validators=[person_name])
    gender = OpenEnum(Gender)
    address = GuarantorAddressInputs()
    dob = BirthDate()
    email = Str(max_length=254, validators=[EmailValidator()])
    phone_number = Str(max_length=50)


class InsuranceInputs(Inputs):
    """A user's insurance."""

    payor_code = Str(max_length=50)
    member_id = Str(max_length=50)
    relationship = OpenEnum(Relationship)
    insured = InsuredInputs()
    group_id = Str(max_length=50, required=False)
    guarantor = ProxyInputs(required=False)
    is_primary = Bool(default=True)


class LatestInsuranceQuery(Inputs):
    """Which insurance to return; by default the latest."""

    is_primary = QueryBool(required=False, allow_null=True)


def parse_payor_request(body: Mapping[str, Any]) -> PayorRequest:
    """Return the insurer of a validated body."""
    return PayorRequest(
        name=body["name"],
        address=_read_address(body["address"]),
        provider=body.get("provider", ""),
        provider_payor_id=body.get("provider_payor_id", ""),
    )


def parse_insurance_request(body: Mapping[str, Any]) -> InsuranceRequest:
    """Return the insurance of a validated body, with every key of the wire's shapes."""
    guarantor = body.get("guarantor")
    return InsuranceRequest(
        payor_code=body["payor_code"],
        member_id=body["member_id"],
        relationship=body["relationship"],
        insured={
            **to_json_values(body["insured"]),
            "address": _read_address(body["insured"]["address"]),
        },
        group_id=body.get("group_id", ""),
        guarantor=guarantor
        and {
            "household_income": None,
            "household_size": None,
            "email": None,
            **to_json_values(guarantor),
            "address": _read_address(guarantor["address"]),
        },
        is_primary=body["is_primary"],
    )


def _read_address(address: Mapping[str, Any]) -> dict[str, Any]:
    return {"second_line": None, "access_notes": None, **to_json_values(address)}
