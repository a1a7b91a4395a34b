"""Wire shapes of patients, addresses and medical proxies (contract 6.9, 6.10).

Every key is always present; missing values are null.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping


class ProxyAddressAnswer(TypedDict):
    """The address of a medical proxy."""

    first_line: str
    second_line: str | None
    country: str
    zip: str
    city: str
    state: str
    access_notes: str | None


class ProxyAnswer(TypedDict):
    """The person who represents a minor."""

    first_name: str
    last_name: str
    address: ProxyAddressAnswer
    phone_number: str
    household_income: int | None
    household_size: int | None
    email: str | None


class PatientDetailsAnswer(TypedDict):
    """The patient; `dob` is at midnight UTC."""

    first_name: str | None
    last_name: str | None
    dob: datetime
    gender: str
    phone_number: str | None
    email: str | None
    medical_proxy: ProxyAnswer | None
    race: str | None
    ethnicity: str | None
    sexual_orientation: str | None
    gender_identity: str | None


class PatientAddressAnswer(TypedDict):
    """The patient's address."""

    receiver_name: str | None
    first_line: str
    second_line: str | None
    city: str
    state: str
    zip: str
    country: str
    access_notes: str | None
    phone_number: str | None


class ShippingAnswer(TypedDict):
    """The address a kit is shipped to."""

    receiver_name: str
    first_line: str
    second_line: str | None
    city: str
    state: str
    zip: str
    country: str
    phone_number: str


def build_patient_details(
    details: Mapping[str, Any] | None,
) -> PatientDetailsAnswer | None:
    """Build the patient stored on an order."""
    if details is None:
        return None
    born = date.fromisoformat(details["dob"][:10])
    return {
        "first_name": details.get("first_name"),
        "last_name": details.get("last_name"),
        "dob": datetime.combine(born, time(), UTC),
        "gender": details["gender"],
        "phone_number": details.get("phone_number"),
        "email": details.get("email"),
        "medical_proxy": _build_proxy(details.get("medical_proxy")),
        "race": details.get("race"),
        "ethnicity": details.get("ethnicity"),
        "sexual_orientation": details.get("sexual_orientation"),
        "gender_identity": details.get("gender_identity"),
    }


def _build_proxy(proxy: Mapping[str, Any] | None) -> ProxyAnswer | None:
    if not proxy:
        return None
    lives_at = proxy["address"]
    return {
        "first_name": proxy["first_name"],
        "last_name": proxy.get("last_name", ""),
        "address": {
            "first_line": lives_at["first_line"],
            "second_line": lives_at.get("second_line"),
            "country": lives_at["country"],
            "zip": lives_at["zip"],
            "city": lives_at["city"],
            "state": lives_at["state"],
            "access_notes": lives_at.get("access_notes"),
        },
        "phone_number": proxy.get("phone_number", ""),
        "household_income": proxy.get("household_income"),
        "household_size": proxy.get("household_size"),
        "email": proxy.get("email"),
    }


def build_shipping_address(address: Mapping[str, Any] | None) -> ShippingAnswer | None:
    """Build the shipping address stored on an order."""
    if address is None:
        return None
    return {
        "receiver_name": address.get("receiver_name", ""),
        "first_line": address["first_line"],
        "second_line": address.get("second_line"),
        "city": address["city"],
        "state": address["state"],
        "zip": address["zip"],
        "country": address["country"],
        "phone_number": address.get("phone_number", ""),
    }


def build_patient_address(
    address: Mapping[str, Any] | None,
) -> PatientAddressAnswer | None:
    """Build the patient's address stored on an order."""
    if address is None:
        return None
    return {
        "receiver_name": address.get("receiver_name"),
        "first_line": address["first_line"],
        "second_line": address.get("second_line"),
        "city": address["city"],
        "state": address["state"],
        "zip": address["zip"],
        "country": address["country"],
        "access_notes": address.get("access_notes"),
        "phone_number": address.get("phone_number"),
    }
