"""Shapes of answers about insurance, and what builds them. Contract 2.6, 6.21."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from labs.states.patients import PayorSource, Relationship
from users.states import Gender

if TYPE_CHECKING:
    from labs.models import UserInsurance
    from labs.operations.diagnoses import Diagnosis, DiagnosisCheck, DiagnosisFault
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
    """An insurer; `payor_code` is what orders and insurance name it by."""

    payor_code: str
    name: str
    aliases: list[str]
    org_address: InsuranceAddress
    source: Annotated[str, PayorSource]


class DiagnosisAnswer(TypedDict):
    """A diagnosis; a secondary one can't stand first."""

    diagnosis_code: str
    description: str
    is_secondary: bool


class DiagnosisFaultAnswer(TypedDict):
    """What is said of one code: `code` is stable, `message` is for people."""

    diagnosis_code: str
    code: str
    message: str


class DiagnosisCheckAnswer(TypedDict):
    """Whether codes may go to an insurer: no errors and no violations."""

    valid: bool
    errors: list[DiagnosisFaultAnswer]
    violations: list[DiagnosisFaultAnswer]
    warnings: list[DiagnosisFaultAnswer]


class InsuredPerson(TypedDict):
    """Whose insurance it is."""

    first_name: str
    last_name: str
    gender: Annotated[str, Gender]
    address: InsuranceAddress
    dob: str
    email: str
    phone_number: str


class InsuranceCompany(TypedDict):
    """The insurer as it was when the insurance was written."""

    name: str
    address: InsuranceAddress


class InsuranceGuarantor(TypedDict):
    """Who answers for what insurance does not pay."""

    first_name: str
    last_name: str
    address: InsuranceAddress
    phone_number: str
    household_income: int | None
    household_size: int | None
    email: str | None


class InsuranceAnswer(TypedDict):
    """How a user is insured (contract 2.6)."""

    member_id: str
    payor_code: str
    relationship: Annotated[str, Relationship]
    insured: InsuredPerson
    company: InsuranceCompany
    group_id: str | None
    guarantor: InsuranceGuarantor | None
    is_primary: bool


Payors = list[PayorAnswer]
Diagnoses = list[DiagnosisAnswer]


def payor_answer(payor: PayorEntry) -> PayorAnswer:
    """An insurer of the set or of the team."""
    address: InsuranceAddress = {**payor.address}  # type: ignore[typeddict-item]  # stored in the wire's shape
    return {
        "payor_code": payor.payor_code,
        "name": payor.name,
        "aliases": list(payor.aliases),
        "org_address": address,
        "source": payor.source,
    }


def diagnosis_answer(diagnosis: Diagnosis) -> DiagnosisAnswer:
    """A diagnosis that was found."""
    return {
        "diagnosis_code": diagnosis.code,
        "description": diagnosis.description,
        "is_secondary": diagnosis.is_secondary,
    }


def diagnosis_check_answer(checked: DiagnosisCheck) -> DiagnosisCheckAnswer:
    """What is said of a list of codes."""
    return {
        "valid": checked.is_valid,
        "errors": [_fault(fault) for fault in checked.errors],
        "violations": [_fault(fault) for fault in checked.violations],
        "warnings": [_fault(fault) for fault in checked.warnings],
    }


def insurance_answer(insurance: UserInsurance) -> InsuranceAnswer:
    """A stored insurance."""
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


def _fault(fault: DiagnosisFault) -> DiagnosisFaultAnswer:
    return {
        "diagnosis_code": fault.diagnosis_code,
        "code": fault.code,
        "message": fault.message,
    }
