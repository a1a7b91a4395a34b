"""Review step of the order wizard: the order's content, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.operations.catalogue.diagnoses import find_diagnoses
from labs.operations.insurance import find_payor
from labs.states.accounts import Billing
from labs.states.catalogue import CollectionMethod
from labs.states.patients import Consent
from labs.web.order_wizard.account_options import describe_lab_account_choice
from labs.web.order_wizard.entry import STEPS
from users.states import Gender

if TYPE_CHECKING:
    from labs.operations.orders.plans import OrderRequest
    from labs.web.order_wizard.entry import OrderEntry
    from portal.lib.choices import OpenChoices


@dataclass(frozen=True, slots=True)
class ReviewSection:
    """A step on the review, as pairs of label and value."""

    step: str
    words: str
    rows: tuple[tuple[str, str], ...]


def build_order_review_sections(
    entry: OrderEntry, request: OrderRequest | None
) -> list[ReviewSection]:
    """List the order's content, step by step; empty values are left out."""
    rows: dict[str, list[tuple[str, str]]] = {
        "patient": [
            (_("Client user ID"), entry.user.client_user_id if entry.user else "")
        ],
        "tests": [
            (_("Lab"), entry.lab.name if entry.lab else ""),
            (_("Panels"), ", ".join(panel.name for panel in entry.panels)),
            (
                _("Single markers"),
                ", ".join(marker.name for marker in entry.single_markers),
            ),
            (_("Collection"), _choice_label(CollectionMethod, entry.method)),
        ],
        "lab": [(_("Account"), describe_lab_account_choice(entry.account))],
    }
    if request is not None:
        rows["patient"] += _list_patient_rows(request)
        rows["lab"] += _list_billing_rows(entry, request)
    return [
        ReviewSection(
            step,
            STEPS[step],
            tuple((label, text) for label, text in rows[step] if text),
        )
        for step in rows
    ]


def _list_patient_rows(request: OrderRequest) -> list[tuple[str, str]]:
    details, address = request.patient_details, request.patient_address
    proxy = details.get("medical_proxy", {})
    lines = ("first_line", "second_line", "city", "state", "zip", "country")
    return [
        (_("Name"), f"{details['first_name']} {details['last_name']}"),
        (_("Birth date"), details["dob"]),
        (_("Gender"), _choice_label(Gender, details["gender"])),
        (_("Phone"), details["phone_number"]),
        (_("Email"), details["email"]),
        (_("Address"), ", ".join(address[line] for line in lines if line in address)),
        (_("Access notes"), address.get("access_notes", "")),
        (
            _("Represented by"),
            f"{proxy.get('first_name', '')} {proxy.get('last_name', '')}".strip(),
        ),
    ]


def _list_billing_rows(
    entry: OrderEntry, request: OrderRequest
) -> list[tuple[str, str]]:
    doctor, insurance = request.physician, request.health_insurance or {}
    known = find_diagnoses(request.icd_codes)
    code = insurance.get("payor_code", "")
    payor = find_payor(tenant=entry.tenant, payor_code=code) if code else None
    return [
        (
            _("Physician"),
            _("%(first_name)s %(last_name)s, NPI %(npi)s") % doctor
            if doctor
            else _("None"),
        ),
        (_("Bill to"), _choice_label(Billing, request.billing_type)),
        (_("Insurer"), payor.name if payor else code),
        (_("Member ID"), insurance.get("insurance_id", "")),
        (
            _("Diagnoses"),
            "; ".join(
                f"{code} {known[code].description}" if code in known else code
                for code in request.icd_codes
            ),
        ),
        (
            _("Consents"),
            ", ".join(
                _choice_label(Consent, one["consentType"]) for one in request.consents
            ),
        ),
    ]


def _choice_label(choices: type[OpenChoices], value: str) -> str:
    known = choices.known(value)
    return str(known.label) if known else value
