"""Response shapes of insurance, and their builders. Contract 2.6, 6.21."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from labs.states.patients import PayorSource, Relationship
from users.states import Gender

if TYPE_CHECKING:
    from labs.models import UserInsurance
    from labs.operations.catalogue.diagnoses import Diagnosis, DiagnosisCheck
    from labs.operations.insurance import PayorEntry


class InsuranceAddress(TypedDict):
    """A postal address."""

    first_line: str
    second_line: str | None
    country: str
    zip: str
    city: str
    state: str
    access_notes: str | None


class PayorAnswer(TypedDict):
    """An insurer; orders and insurance refer to it by `payor_code`."""

    payor_code: str
    name: str
    aliases: list[str]
    org_address: InsuranceAddress
    source: Annotated[str, PayorSource]


class FoundPayorAnswer(PayorAnswer):
    """An insurer found by the deprecated search; `code` repeats `payor_code`."""

    code: str


class DiagnosisAnswer(TypedDict):
    """A diagnosis; a secondary diagnosis can't be listed first."""

    diagnosis_code: str
    description: str
    is_secondary: bool


class DiagnosisViolation(TypedDict):
    """A violated coding rule: `type` is stable, `message` is for people.

    `conflicts_with` is the other diagnosis, empty where there is none.
    """

    code: str
    conflicts_with: str
    type: str
    message: str


class DiagnosisWarning(TypedDict):
    """A warning; `overlaps_with` is the other diagnosis, or empty."""

    code: str
    overlaps_with: str
    type: str
    message: str


class DiagnosisCheckAnswer(TypedDict):
    """The outcome of a validation; valid without errors and violations.

    `errors` lists texts that are no ICD-10-CM codes.
    """

    valid: bool
    errors: list[str]
    violations: list[DiagnosisViolation]
    warnings: list[DiagnosisWarning]


class InsuredPerson(TypedDict):
    """The insured person."""

    first_name: str
    last_name: str
    gender: Annotated[str, Gender]
    address: InsuranceAddress
    dob: str
    email: str
    phone_number: str


class InsuranceCompany(TypedDict):
    """The insurer as of when the insurance was stored."""

    name: str
    address: InsuranceAddress


class InsuranceGuarantor(TypedDict):
    """The person responsible for what insurance does not pay."""

    first_name: str
    last_name: str
    address: InsuranceAddress
    phone_number: str
    household_income: int | None
    household_size: int | None
    email: str | None


class InsuranceAnswer(TypedDict):
    """A user's insurance."""

    member_id: str
    payor_code: str
    relationship: Annotated[str, Relationship]
    insured: InsuredPerson
    company: InsuranceCompany
    group_id: str | None
    guarantor: InsuranceGuarantor | None
    is_primary: bool


Payors = list[PayorAnswer]
FoundPayors = list[FoundPayorAnswer]
Diagnoses = list[DiagnosisAnswer]


def build_payor(payor: PayorEntry) -> PayorAnswer:
    """Build a built-in or team insurer."""
    address: InsuranceAddress = {**payor.address}  # type: ignore[typeddict-item]  # stored in the wire's shape
    return {
        "payor_code": payor.payor_code,
        "name": payor.name,
        "aliases": list(payor.aliases),
        "org_address": address,
        "source": payor.source,
    }


def build_payor_search_result(payor: PayorEntry) -> FoundPayorAnswer:
    """Build an insurer with the deprecated name of its code."""
    return {"code": payor.payor_code, **build_payor(payor)}


def build_diagnosis_search_result(diagnosis: Diagnosis) -> DiagnosisAnswer:
    """Build a found diagnosis."""
    return {
        "diagnosis_code": diagnosis.code,
        "description": diagnosis.description,
        "is_secondary": diagnosis.is_secondary,
    }


def build_diagnosis_validation(checked: DiagnosisCheck) -> DiagnosisCheckAnswer:
    """Build the outcome of validating diagnosis codes."""
    return {
        "valid": checked.is_valid,
        "errors": [f"{one.diagnosis_code}: {one.message}" for one in checked.errors],
        "violations": [
            {
                "code": one.diagnosis_code,
                "conflicts_with": one.other,
                "type": one.code,
                "message": one.message,
            }
            for one in checked.violations
        ],
        "warnings": [
            {
                "code": one.diagnosis_code,
                "overlaps_with": one.other,
                "type": one.code,
                "message": one.message,
            }
            for one in checked.warnings
        ],
    }


def build_insurance(insurance: UserInsurance) -> InsuranceAnswer:
    """Build a user's stored insurance."""
    return {
        "member_id": insurance.member_id,
        "payor_code": insurance.payor_code,
        "relationship": insurance.relationship,
        "insured": insurance.insured,
        "company": insurance.company,
        "group_id": insurance.group_id or None,
        "guarantor": insurance.guarantor,
        "is_primary": insurance.is_primary,
    }
