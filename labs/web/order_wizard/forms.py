"""Forms of the order wizard: the patient, the lab's questions and the comment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext as _

from labs.models.order import COMMENTS_MAX_LENGTH
from labs.states.accounts import US_STATES
from labs.states.catalogue import QuestionType
from labs.states.patients import PHONE, ZIP_CODE
from portal.lib.api.fields import person_name
from portal.lib.birth_dates import require_plausible_birth_date
from portal.lib.errors import Invalid
from portal.lib.translation import gettext_lazy
from users.states import Ethnicity, Gender, GenderIdentity, Race, SexualOrientation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from labs.models import Marker

_NONE = ("", gettext_lazy("Not given"))
NAME_MAX = 50
_LINES = ("first_line", "second_line", "city", "state", "zip", "country")
_ADDRESS = (*_LINES, "access_notes")


def text_field(
    required_message: str = "", *, limit: int = 200, **options: Any
) -> forms.CharField:
    """Build a text field; required if an error text is given."""
    return forms.CharField(
        max_length=limit,
        required=bool(required_message),
        error_messages={"required": required_message} if required_message else {},
        **options,
    )


def optional_choice(values: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(required=False, choices=[_NONE, *values])


def full_match(pattern: str, message: str) -> RegexValidator:
    return RegexValidator(rf"^(?:{pattern})\Z", message=message)


_is_name = RegexValidator(
    person_name.regex,
    message=gettext_lazy("Use only letters, digits, spaces and . , ' -"),
)
is_phone = full_match(
    PHONE, gettext_lazy("Enter a phone number, such as +1 555 010 1234.")
)
_is_zip = full_match(ZIP_CODE, gettext_lazy("Enter a 5-digit ZIP code."))
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
            is_number = full_match(r"-?\d+(?:\.\d+)?", _("Enter a number."))
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

    first_name = text_field(
        gettext_lazy("Enter the first name."), limit=NAME_MAX, validators=[_is_name]
    )
    last_name = text_field(
        gettext_lazy("Enter the last name."), limit=NAME_MAX, validators=[_is_name]
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
    phone_number = text_field(
        gettext_lazy("Enter a phone number."), limit=30, validators=[is_phone]
    )
    email = forms.EmailField(
        max_length=254,
        error_messages={"required": gettext_lazy("Enter an email address.")},
    )
    first_line = text_field(gettext_lazy("Enter the street address."))
    second_line = text_field()
    city = text_field(gettext_lazy("Enter the city."), limit=100)
    state = forms.ChoiceField(
        choices=_STATES, error_messages={"required": gettext_lazy("Choose the state.")}
    )
    zip = text_field(
        gettext_lazy("Enter the ZIP code."), limit=10, validators=[_is_zip]
    )
    country = text_field(gettext_lazy("Enter the country."), limit=100)
    access_notes = text_field(limit=1000)
    race = optional_choice(Race.offered())
    ethnicity = optional_choice(Ethnicity.offered())
    sexual_orientation = optional_choice(SexualOrientation.offered())
    gender_identity = optional_choice(GenderIdentity.offered())
    proxy_first_name = text_field(limit=NAME_MAX, validators=[_is_name])
    proxy_last_name = text_field(limit=NAME_MAX, validators=[_is_name])
    proxy_phone_number = text_field(limit=50, validators=[is_phone])
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


def get_raw_form_values(form: forms.Form, data: Any) -> dict[str, Any]:
    """Return a form's entered values, valid or not, as JSON values."""
    return {
        name: field.widget.value_from_datadict(data, {}, name) or ""
        for name, field in form.fields.items()
    }
