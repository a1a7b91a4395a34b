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
from labs.web.order_wizard.entry import STEPS, describe_lab_account_choice
from labs.web.order_wizard.forms import QuestionsForm
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
        "user": [
            (_("Client user ID"), entry.user.client_user_id if entry.user else "")
        ],
        "lab": [
            (_("Lab"), entry.lab.name if entry.lab else ""),
            (_("Account"), describe_lab_account_choice(entry)),
        ],
        "tests": [
            (_("Panels"), ", ".join(panel.name for panel in entry.panels)),
            (
                _("Single markers"),
                ", ".join(marker.name for marker in entry.single_markers),
            ),
            (_("Collection"), _choice_label(CollectionMethod, entry.method)),
        ],
        "questions": _list_answers(entry),
    }
    if request is not None:
        rows["patient"] = _list_patient_rows(request)
        rows["billing"] = _list_billing_rows(entry, request)
        start = request.activate_by
        rows["comments"] = [
            (_("Starts"), start.isoformat() if start else _("Now")),
            (_("Urgency"), _("Urgent (STAT)") if request.priority else _("Routine")),
        ]
    return [
        ReviewSection(
            step,
            STEPS[step],
            tuple((label, text) for label, text in rows.get(step, []) if text),
        )
        for step in entry.steps
        if step != "review"
    ]


def _list_answers(entry: OrderEntry) -> list[tuple[str, str]]:
    form = QuestionsForm(entry.question_markers, entry.draft.step_values("questions"))
    if not form.is_valid():
        return []
    found = []
    for bound in form:
        value = form.cleaned_data[bound.name]
        labels = dict(getattr(bound.field, "choices", []))
        values = value if isinstance(value, list) else [value]
        text = ", ".join(str(labels.get(one, one)) for one in values if one)
        found.append((str(bound.label), text or _("Not given")))
    return found


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
