"""Forms of the order wizard, one for each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext as _

from labs.models.order import COMMENTS_MAX_LENGTH
from labs.operations.catalogue.diagnoses import validate_diagnosis_codes
from labs.states.accounts import US_STATES, Billing
from labs.states.catalogue import QuestionType
from labs.states.patients import NPI, PHONE, ZIP_CODE, Consent, Relationship
from portal.lib.api.fields import person_name
from portal.lib.birth_dates import require_plausible_birth_date
from portal.lib.errors import Invalid
from portal.lib.translation import gettext_lazy
from users.states import Ethnicity, Gender, GenderIdentity, Race, SexualOrientation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from labs.models import Marker

DIAGNOSES_ASKED = 4
_NONE = ("", gettext_lazy("Not given"))
_NAME_MAX = 50
_LINES = ("first_line", "second_line", "city", "state", "zip", "country")
_ADDRESS = (*_LINES, "access_notes")


def _text_field(
    required_message: str = "", *, limit: int = 200, **options: Any
) -> forms.CharField:
    """Build a text field; required if an error text is given."""
    return forms.CharField(
        max_length=limit,
        required=bool(required_message),
        error_messages={"required": required_message} if required_message else {},
        **options,
    )


def _optional_choice(values: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(required=False, choices=[_NONE, *values])


def _full_match(pattern: str, message: str) -> RegexValidator:
    return RegexValidator(rf"^(?:{pattern})\Z", message=message)


_is_name = RegexValidator(
    person_name.regex,
    message=gettext_lazy("Use only letters, digits, spaces and . , ' -"),
)
_is_phone = _full_match(
    PHONE, gettext_lazy("Enter a phone number, such as +1 555 010 1234.")
)
_is_zip = _full_match(ZIP_CODE, gettext_lazy("Enter a 5-digit ZIP code."))
_is_npi = _full_match(NPI, gettext_lazy("Enter a 10-digit NPI."))
_STATES = [
    ("", gettext_lazy("Choose a state")),
    *((code, code) for code in sorted(US_STATES)),
]


class QuestionsForm(forms.Form):
    """The order questions of all markers, a field for each."""

    def __init__(self, markers: Sequence[Marker], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.required_of: dict[int, list[str]] = {}
        for marker in markers:
            for question in sorted(marker.aoe_questions, key=lambda q: q["sequence"]):
                name = f"q_{marker.pk}_{question['id']}"
                self.fields[name] = _question_field(marker, question)
                if question["required"]:
                    self.required_of.setdefault(marker.pk, []).append(name)

    def answers(self) -> tuple[dict[str, Any], ...]:
        """Return the answers for the operation."""
        found = []
        for name, value in self.cleaned_data.items():
            marker_id, question_id = name.removeprefix("q_").split("_")
            text = ",".join(value) if isinstance(value, list) else str(value)
            if text:
                found.append(
                    {
                        "marker_id": int(marker_id),
                        "question_id": int(question_id),
                        "answer": text,
                    }
                )
        return tuple(found)

    def first_unanswered_field(self, marker: Marker) -> str:
        """Return a marker's first required field without an answer."""
        names = self.required_of[marker.pk]
        return next(name for name in names if not self.cleaned_data.get(name))


def _question_field(marker: Marker, question: Mapping[str, Any]) -> forms.Field:
    # Whether an answer is needed the operation says: fasting is excepted.
    kind = QuestionType.known(question["type"])
    options = [(answer["code"], answer["value"]) for answer in question["answers"]]
    common: dict[str, Any] = {
        "label": f"{question['value']} ({marker.name})",
        "help_text": question.get("constraint") or "",
        "required": False,
    }
    match kind:
        case QuestionType.CHOICE:
            return forms.ChoiceField(choices=[_NONE, *options], **common)
        case QuestionType.MULTI_CHOICE:
            return forms.MultipleChoiceField(
                choices=options, widget=forms.CheckboxSelectMultiple, **common
            )
        case QuestionType.NUMERIC:
            entry = forms.TextInput(attrs={"inputmode": "decimal"})
            is_number = _full_match(r"-?\d+(?:\.\d+)?", _("Enter a number."))
            return forms.CharField(
                max_length=20, widget=entry, validators=[is_number], **common
            )
        case _:
            return forms.CharField(max_length=500, **common)


def _check_birth_date(day: date) -> None:
    try:
        require_plausible_birth_date(day)  # a year typed by half is none
    except Invalid as refusal:
        raise forms.ValidationError(refusal.message) from None


class PatientForm(forms.Form):
    """The patient, their address, and a minor's representative."""

    first_name = _text_field(
        gettext_lazy("Enter the first name."), limit=_NAME_MAX, validators=[_is_name]
    )
    last_name = _text_field(
        gettext_lazy("Enter the last name."), limit=_NAME_MAX, validators=[_is_name]
    )
    dob = forms.DateField(
        validators=[_check_birth_date],
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={
            "required": gettext_lazy("Enter the birth date."),
            "invalid": gettext_lazy("Enter a date, such as 1990-05-17."),
        },
    )
    gender = forms.ChoiceField(
        choices=[("", gettext_lazy("Choose")), *Gender.offered()],
        error_messages={"required": gettext_lazy("Choose a gender.")},
    )
    phone_number = _text_field(
        gettext_lazy("Enter a phone number."), limit=30, validators=[_is_phone]
    )
    email = forms.EmailField(
        max_length=254,
        error_messages={"required": gettext_lazy("Enter an email address.")},
    )
    first_line = _text_field(gettext_lazy("Enter the street address."))
    second_line = _text_field()
    city = _text_field(gettext_lazy("Enter the city."), limit=100)
    state = forms.ChoiceField(
        choices=_STATES, error_messages={"required": gettext_lazy("Choose the state.")}
    )
    zip = _text_field(
        gettext_lazy("Enter the ZIP code."), limit=10, validators=[_is_zip]
    )
    country = _text_field(gettext_lazy("Enter the country."), limit=100)
    access_notes = _text_field(limit=1000)
    race = _optional_choice(Race.offered())
    ethnicity = _optional_choice(Ethnicity.offered())
    sexual_orientation = _optional_choice(SexualOrientation.offered())
    gender_identity = _optional_choice(GenderIdentity.offered())
    proxy_first_name = _text_field(limit=_NAME_MAX, validators=[_is_name])
    proxy_last_name = _text_field(limit=_NAME_MAX, validators=[_is_name])
    proxy_phone_number = _text_field(limit=50, validators=[_is_phone])
    proxy_email = forms.EmailField(max_length=254, required=False)

    @property
    def has_proxy(self) -> bool:
        """Return whether a representative's field has a value or an error."""
        names = [name for name in self.fields if name.startswith("proxy_")]
        return any(self[name].value() or self[name].errors for name in names)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        needed = ("proxy_first_name", "proxy_last_name", "proxy_phone_number")
        if any(found.get(name) for name in (*needed, "proxy_email")):
            for name in needed:
                if not found.get(name) and name not in self.errors:
                    self.add_error(name, _("Required for a representative."))
        return found

    @property
    def details(self) -> dict[str, Any]:
        """Return the patient in the shape of the API (contract 6.9)."""
        data = self.cleaned_data
        names = ("first_name", "last_name", "gender", "phone_number", "email")
        more = ("race", "ethnicity", "sexual_orientation", "gender_identity")
        details = {name: data[name] for name in names}
        details["dob"] = data["dob"].isoformat()
        details |= {name: data[name] for name in more if data[name]}
        if data["proxy_first_name"]:
            # Ours: a minor's proxy has the patient's address.
            proxy = {
                name: data[f"proxy_{name}"]
                for name in ("first_name", "last_name", "phone_number", "email")
                if data[f"proxy_{name}"]
            }
            details["medical_proxy"] = {**proxy, "address": self.address}
        return details

    @property
    def address(self) -> dict[str, str]:
        """Return the address in the shape of the API (contract 6.9)."""
        data = self.cleaned_data
        return {name: data[name] for name in _ADDRESS if data[name]}


class BillingForm(forms.Form):
    """The ordering physician, diagnoses and billing.

    `billing` are the ways to pay that the account allows, `physicians` those named
    before, by NPI, `payors` insurers by their code.
    """

    physician = forms.ChoiceField(required=False)
    physician_first_name = _text_field(limit=_NAME_MAX)
    physician_last_name = _text_field(limit=_NAME_MAX)
    physician_npi = _text_field(limit=10, validators=[_is_npi])
    billing_type = forms.ChoiceField(
        error_messages={"required": gettext_lazy("Choose who to bill.")},
    )
    payor_code = forms.ChoiceField(required=False)
    insurance_id = _text_field(limit=50)
    relationship = _optional_choice(Relationship.offered())
    responsible_first_name = _text_field(limit=_NAME_MAX)
    responsible_last_name = _text_field(limit=_NAME_MAX)
    responsible_phone_number = _text_field(limit=50, validators=[_is_phone])
    consents = forms.MultipleChoiceField(
        required=False, choices=Consent.offered, widget=forms.CheckboxSelectMultiple
    )

    def __init__(
        self,
        *args: Any,
        billing: list[tuple[str, str]],
        physicians: Sequence[Mapping[str, str]],
        payors: list[tuple[str, str]],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.physicians = {one["npi"]: one for one in physicians}
        named = [
            (npi, f"{one['first_name']} {one['last_name']}, NPI {npi}")
            for npi, one in self.physicians.items()
        ]
        nobody = ("", _("None, or another physician"))
        self.fields["physician"].choices = [nobody, *named]  # type: ignore[attr-defined]  # a choice field
        self.fields["billing_type"].choices = billing  # type: ignore[attr-defined]  # as above
        self.fields["payor_code"].choices = [("", _("Choose an insurer")), *payors]  # type: ignore[attr-defined]  # as above
        for number in range(1, DIAGNOSES_ASKED + 1):
            self.fields[f"icd_{number}"] = _text_field(
                label=_("Diagnosis %(number)d") % {"number": number}
            )

    @property
    def takes_insurance(self) -> bool:
        """Return whether insurance is among the billing types."""
        offered = self.fields["billing_type"].choices  # type: ignore[attr-defined]  # a choice field
        return Billing.COMMERCIAL_INSURANCE in dict(offered)

    @property
    def diagnosis_fields(self) -> list[forms.BoundField]:
        """Return the fields of diagnosis codes."""
        return [self[f"icd_{number}"] for number in range(1, DIAGNOSES_ASKED + 1)]

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        self._check_physician(found)
        self._check_diagnoses(found)
        if found.get("billing_type") == Billing.COMMERCIAL_INSURANCE:
            for name, message in (
                ("payor_code", _("Choose the insurer.")),
                ("insurance_id", _("Enter the member ID on the insurance card.")),
                ("relationship", _("Choose the insured person.")),
            ):
                if not found.get(name):
                    self.add_error(name, message)
            if found.get("relationship") not in {None, "", Relationship.SELF}:
                for part in ("first_name", "last_name", "phone_number"):
                    if not found.get(f"responsible_{part}"):
                        self.add_error(
                            f"responsible_{part}", _("Required for the insured person.")
                        )
            if not found.get("icd_1"):
                self.add_error(
                    "icd_1",
                    _("Enter a diagnosis code. Insurance billing requires one."),
                )
        return found

    def _check_physician(self, found: dict[str, Any]) -> None:
        names = ("physician_first_name", "physician_last_name", "physician_npi")
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

    def build_insurance(self, address: Mapping[str, str]) -> dict[str, Any] | None:
        """Build the insurance in the shape of the API, or None.

        Whoever is responsible is taken to live at the patient's `address`.
        """
        data = self.cleaned_data
        if data["billing_type"] != Billing.COMMERCIAL_INSURANCE:
            return None
        insurance: dict[str, Any] = {
            "payor_code": data["payor_code"],
            "insurance_id": data["insurance_id"],
            "responsible_relationship": data["relationship"],
            "diagnosis_codes": list(self.icd_codes),
        }
        if data["relationship"] != Relationship.SELF:
            insurance["responsible_details"] = {
                "first_name": data["responsible_first_name"],
                "last_name": data["responsible_last_name"],
                "phone_number": data["responsible_phone_number"],
                "address": dict(address),
            }
        return insurance


class CommentsForm(forms.Form):
    """The comment for the lab, the start date and the priority."""

    comments = forms.CharField(
        max_length=COMMENTS_MAX_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        error_messages={"max_length": gettext_lazy("Enter at most 1,000 characters.")},
    )
    activate_by = forms.DateField(
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": gettext_lazy("Enter a date, such as 2027-01-31.")},
    )
    priority = forms.BooleanField(required=False)


def parse_diagnosis_code(text: str) -> str:
    """Return the code at the start of a chosen or typed diagnosis."""
    return text.split(maxsplit=1)[0].strip(" ,;").upper() if text.strip() else ""


def get_raw_form_values(form: forms.Form, data: Any) -> dict[str, Any]:
    """Return a form's entered values, valid or not, as JSON values."""
    return {
        name: field.widget.value_from_datadict(data, {}, name) or ""
        for name, field in form.fields.items()
    }
