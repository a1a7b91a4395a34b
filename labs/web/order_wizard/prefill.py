"""What a new order takes over: the user's last order, and the details stored of them.

Every caller audits the read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from labs.queries.insurance import find_latest_insurance
from labs.queries.orders.last_orders import find_last_order_of_user
from labs.states.accounts import US_STATES, Billing
from labs.states.patients import Relationship
from portal.lib.translation import gettext_lazy
from users.queries import latest_user_info
from users.states import Gender

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from labs.models import LabTest, Order
    from users.models import User

_DETAILS = (
    *("first_name", "last_name", "phone_number", "email", "race", "ethnicity"),
    *("sexual_orientation", "gender_identity"),
)
_RESPONSIBLE = ("first_name", "last_name", "phone_number")
# What a profile that changed after the last order is compared by.
_COMPARED = {
    gettext_lazy("name"): ("first_name", "last_name"),
    gettext_lazy("birth date"): ("dob",),
    gettext_lazy("gender"): ("gender",),
    gettext_lazy("phone"): ("phone_number",),
    gettext_lazy("email"): ("email",),
    gettext_lazy("address"): ("first_line", "second_line", "city", "state", "zip"),
}


@dataclass(frozen=True, slots=True)
class Prefill:
    """Values of a form and where they are from: an order, or the stored details.

    `newer` names what the stored details say otherwise since that order; `stored` are
    those details as values of the form.
    """

    values: dict[str, Any]
    order: Order | None = None
    newer: tuple[str, ...] = ()
    stored: dict[str, Any] = field(default_factory=dict)

    @property
    def is_stored(self) -> bool:
        """Return whether the values are the user's stored details."""
        return self.order is None and bool(
            self.values.get("first_name") or self.values.get("payor_code")
        )


def prefill_patient(user: User | None) -> Prefill:
    """Take the patient from the user's last order, else from their stored details.

    The order is what a lab has accepted; stored details that changed after it and
    differ are named, and win only when chosen. Two queries.
    Source: Ours (workflows, order entry).
    """
    stored, changed_at = _load_stored_patient(user)
    order = find_last_order_of_user(user) if user else None
    if order is None:
        return Prefill(stored or {"country": "US"}, stored=stored)
    values = _flatten(order.patient_details or {}, order.patient_address or {})
    newer: tuple[str, ...] = ()
    if changed_at is not None and changed_at > order.created_at:
        newer = tuple(
            str(label)
            for label, names in _COMPARED.items()
            if any(
                str(stored.get(name) or "") != str(values.get(name) or "")
                for name in names
            )
        )
    return Prefill(values, order=order, newer=newer, stored=stored)


def prefill_insurance(user: User | None, *, payors: Collection[str]) -> Prefill:
    """Take the insurance from the last order that was billed to one, or the stored one.

    Only of an insurer among `payors`, their codes. At most two queries.
    """
    order = find_last_order_of_user(user) if user else None
    found = Prefill(_load_stored_insurance(user))
    if order is not None and order.health_insurance:
        insurance = order.health_insurance
        responsible = insurance.get("responsible_details") or {}
        values = {
            "payor_code": insurance.get("payor_code") or "",
            "insurance_id": insurance.get("insurance_id") or "",
            "relationship": insurance.get("responsible_relationship") or "",
        }
        for part in _RESPONSIBLE:
            values[f"responsible_{part}"] = responsible.get(part) or ""
        found = Prefill(values, order=order)
    return found if found.values.get("payor_code") in payors else Prefill({})


def prefill_billing(
    user: User | None,
    *,
    billing_types: Sequence[str],
    physicians: Collection[str],
    is_insured: bool,
) -> Prefill:
    """Take physician and payment from the last order, as far as this one offers them.

    `billing_types` and `physicians`, by NPI, are what it offers. Diagnoses and consents
    are given anew for each order. Without a last order an insured patient's insurance
    is billed where it may be, else the first way to pay.
    """
    order = find_last_order_of_user(user) if user else None
    usual = [Billing.COMMERCIAL_INSURANCE] if is_insured else []
    offered = [*(one for one in usual if one in billing_types), *billing_types]
    values: dict[str, Any] = {"billing_type": next(iter(offered), "")}
    if order is None:
        return Prefill(values)
    insured_enough = is_insured or order.billing_type != Billing.COMMERCIAL_INSURANCE
    if order.billing_type in billing_types and insured_enough:
        values["billing_type"] = order.billing_type
    npi = (order.physician or {}).get("npi", "")
    if npi in physicians:
        values["physician"] = npi
    return Prefill(values, order=order)


def find_last_test_of_user(user: User) -> LabTest | None:
    """Return the lab test of the user's last order, or None; one query."""
    order = find_last_order_of_user(user, with_test=True)
    return order.lab_test if order else None


def _load_stored_patient(user: User | None) -> tuple[dict[str, Any], Any]:
    info = latest_user_info(user=user) if user else None
    if info is None:
        return {}, None
    details = {name: getattr(info, name) for name in _DETAILS}
    details |= {
        "dob": info.dob.isoformat(),
        "gender": info.gender,
        "medical_proxy": info.medical_proxy,
    }
    return _flatten(details, info.address), info.updated_at


def _flatten(details: Mapping[str, Any], address: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: details.get(name) or "" for name in _DETAILS}
    found["dob"] = str(details.get("dob") or "")
    found["gender"] = Gender.read(str(details.get("gender") or "")) or ""
    found |= {name: value for name, value in address.items() if value}
    state = str(address.get("state") or "").strip().upper()
    found["state"] = state if state in US_STATES else ""
    for name, value in (details.get("medical_proxy") or {}).items():
        if name != "address":
            found[f"proxy_{name}"] = value or ""
    return found


def _load_stored_insurance(user: User | None) -> dict[str, Any]:
    found = find_latest_insurance(user=user, is_primary=True) if user else None
    if found is None:
        return {}
    stored = {
        "payor_code": found.payor_code,
        "insurance_id": found.member_id,
        "relationship": found.relationship,
    }
    if found.relationship != Relationship.SELF:
        for part in _RESPONSIBLE:
            stored[f"responsible_{part}"] = found.insured.get(part) or ""
    return stored
