"""Forms of the order wizard: insurance, and physician, diagnoses and billing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _

from labs.operations.catalogue.diagnoses import validate_diagnosis_codes
from labs.states.accounts import Billing
from labs.states.patients import NPI, Consent, Relationship
from labs.web.order_wizard.forms import (
    NAME_MAX,
    full_match,
    is_phone,
    optional_choice,
    text_field,
)
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DIAGNOSES_ASKED = 4
_ANOTHER_PHYSICIAN = ("physician_first_name", "physician_last_name", "physician_npi")
_RESPONSIBLE = ("first_name", "last_name", "phone_number")
_is_npi = full_match(NPI, gettext_lazy("Enter a 10-digit NPI."))


class InsuranceForm(forms.Form):
    """The patient's insurance: whole, or empty. `payors` are insurers by their code."""

    payor_code = forms.ChoiceField(required=False)
    insurance_id = text_field(limit=50)
    relationship = optional_choice(Relationship.offered())
    responsible_first_name = text_field(limit=NAME_MAX)
    responsible_last_name = text_field(limit=NAME_MAX)
    responsible_phone_number = text_field(limit=50, validators=[is_phone])

    def __init__(
        self, *args: Any, payors: list[tuple[str, str]], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.has_insurers = bool(payors)
        self.fields["payor_code"].choices = [("", _("No insurance")), *payors]  # type: ignore[attr-defined]  # a choice field

    @property
    def is_given(self) -> bool:
        """Return whether a valid form holds an insurance."""
        return bool(self.cleaned_data.get("payor_code"))

    @property
    def names_insured(self) -> bool:
        """Return whether a field of the insured person has a value or an error."""
        bound = [self[f"responsible_{part}"] for part in _RESPONSIBLE]
        return any(one.value() or one.errors for one in bound)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if not any([*found.values(), *self.errors]):
            return found
        for name, message in (
            ("payor_code", _("Choose the insurer.")),
            ("insurance_id", _("Enter the member ID on the insurance card.")),
            ("relationship", _("Choose the insured person.")),
        ):
            if not found.get(name) and name not in self.errors:
                self.add_error(name, message)
        if found.get("relationship") not in {None, "", Relationship.SELF}:
            for part in _RESPONSIBLE:
                name = f"responsible_{part}"
                if not found.get(name) and name not in self.errors:
                    self.add_error(name, _("Required for the insured person."))
        return found

    def build_insurance(
        self, address: Mapping[str, str], icd_codes: Sequence[str]
    ) -> dict[str, Any]:
        """Build the insurance in the shape of the API.

        Whoever is responsible is taken to live at the patient's `address`.
        """
        data = self.cleaned_data
        insurance: dict[str, Any] = {
            "payor_code": data["payor_code"],
            "insurance_id": data["insurance_id"],
            "responsible_relationship": data["relationship"],
            "diagnosis_codes": list(icd_codes),
        }
        if data["relationship"] != Relationship.SELF:
            insurance["responsible_details"] = {
                **{part: data[f"responsible_{part}"] for part in _RESPONSIBLE},
                "address": dict(address),
            }
        return insurance


class BillingForm(forms.Form):
    """The ordering physician, diagnoses and billing.

    `billing` are the ways to pay that the account allows, `physicians` those named
    before, by NPI; `is_insured` is whether an insurance was entered.
    """

    physician = forms.ChoiceField(required=False)
    physician_first_name = text_field(limit=NAME_MAX)
    physician_last_name = text_field(limit=NAME_MAX)
    physician_npi = text_field(limit=10, validators=[_is_npi])
    billing_type = forms.ChoiceField(
        error_messages={"required": gettext_lazy("Choose who to bill.")},
    )
    consents = forms.MultipleChoiceField(
        required=False, choices=Consent.offered, widget=forms.CheckboxSelectMultiple
    )

    def __init__(
        self,
        *args: Any,
        billing: list[tuple[str, str]],
        physicians: Sequence[Mapping[str, str]],
        is_insured: bool,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.is_insured = is_insured
        self.physicians = {one["npi"]: one for one in physicians}
        named = [
            (npi, f"{one['first_name']} {one['last_name']}, NPI {npi}")
            for npi, one in self.physicians.items()
        ]
        nobody = ("", _("None, or another physician"))
        self.fields["physician"].choices = [nobody, *named]  # type: ignore[attr-defined]  # a choice field
        self.fields["billing_type"].choices = billing  # type: ignore[attr-defined]  # as above
        for number in range(1, DIAGNOSES_ASKED + 1):
            self.fields[f"icd_{number}"] = text_field(
                label=_("Diagnosis %(number)d") % {"number": number}
            )

    @property
    def names_another(self) -> bool:
        """Return whether a field of another physician has a value or an error."""
        bound = [self[name] for name in _ANOTHER_PHYSICIAN]
        return any(one.value() or one.errors for one in bound)

    @property
    def diagnosis_fields(self) -> list[forms.BoundField]:
        """Return the fields of diagnosis codes."""
        return [self[f"icd_{number}"] for number in range(1, DIAGNOSES_ASKED + 1)]

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        self._check_physician(found)
        self._check_diagnoses(found)
        if found.get("billing_type") == Billing.COMMERCIAL_INSURANCE:
            if not self.is_insured:
                message = _("Enter the patient's insurance in the first step.")
                self.add_error("billing_type", message)
            if not found.get("icd_1"):
                self.add_error(
                    "icd_1",
                    _("Enter a diagnosis code. Insurance billing requires one."),
                )
        return found

    def _check_physician(self, found: dict[str, Any]) -> None:
        names = _ANOTHER_PHYSICIAN
        entered = [name for name in names if found.get(name)]
        if found.get("physician") and entered:
            self.add_error(
                "physician", _("Choose a physician or enter another, not both.")
            )
        elif entered:
            for name in names:
                if name not in entered and name not in self.errors:
                    self.add_error(name, _("Required for a physician."))

    def _check_diagnoses(self, found: dict[str, Any]) -> None:
        names = [bound.name for bound in self.diagnosis_fields if found.get(bound.name)]
        codes = {name: parse_diagnosis_code(found[name]) for name in names}
        checked = validate_diagnosis_codes(list(codes.values()))
        for fault in (*checked.errors, *checked.violations):
            said_of = {fault.diagnosis_code, fault.diagnosis_code.replace(".", "")}
            at = [name for name, code in codes.items() if code in said_of]
            self.add_error(at[-1], fault.message)

    @property
    def icd_codes(self) -> tuple[str, ...]:
        """Return the diagnosis codes, with their dot."""
        entered = [
            parse_diagnosis_code(self.cleaned_data[bound.name])
            for bound in self.diagnosis_fields
            if self.cleaned_data[bound.name]
        ]
        return validate_diagnosis_codes(entered).codes

    @property
    def named_physician(self) -> dict[str, str] | None:
        """Return the physician in the shape of the API, or None."""
        data = self.cleaned_data
        if data["physician"]:
            return dict(self.physicians[data["physician"]])
        if not data["physician_npi"]:
            return None
        return {
            "first_name": data["physician_first_name"],
            "last_name": data["physician_last_name"],
            "npi": data["physician_npi"],
        }


def parse_diagnosis_code(text: str) -> str:
    """Return the code at the start of a chosen or typed diagnosis."""
    return text.split(maxsplit=1)[0].strip(" ,;").upper() if text.strip() else ""
