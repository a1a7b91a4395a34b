"""Forms of members, keys, settings and profiles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.core.validators import RegexValidator, URLValidator
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from accounts.models.api_key import LABEL_MAX_LENGTH
from accounts.models.member import EMAIL_MAX_LENGTH
from accounts.models.member import NAME_MAX_LENGTH as PERSON_MAX_LENGTH
from accounts.models.sign_in import CLIENT_ID_MAX_LENGTH, ISSUER_MAX_LENGTH
from accounts.models.team import (
    CRITICAL_LIMIT_MINUTES_MAX,
    NAME_MAX_LENGTH,
    REPORT_MAX_AGE_DAYS_MAX,
)
from accounts.operations.api_keys.api_keys import OVERLAPS
from accounts.states import CheckMode, ReportCheck, Role, Theme
from portal.lib.languages import LANGUAGE_NAMES, is_member_language
from portal.lib.periods import list_time_zones
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import QueryDict

PAGE_SIZES = (25, 50, 100)
DEFAULT_PAGE_SIZE = 50
_MAX_OFFSET = 2**63 - 1
_OVERLAP_WORDS = {
    timedelta(0): gettext_lazy("Immediately"),
    timedelta(hours=24): gettext_lazy("After 24 hours"),
    timedelta(hours=72): gettext_lazy("After 72 hours"),
    timedelta(days=7): gettext_lazy("After 7 days"),
}


_CHECK_FIELD = "lab_report_check_{}"


class PageForm(forms.Form):
    """Parse the position in an offset list."""

    offset = forms.IntegerField(required=False, min_value=0, max_value=_MAX_OFFSET)
    limit = forms.TypedChoiceField(
        required=False, coerce=int, choices=[(size, "") for size in PAGE_SIZES]
    )


@dataclass(frozen=True, slots=True)
class PagePlace:
    """A valid position in an offset list."""

    offset: int
    limit: int

    @classmethod
    def read(cls, query: QueryDict) -> PagePlace:
        """Parse a query string; ignore invalid values."""
        form = PageForm(query)
        form.is_valid()
        values = form.cleaned_data
        return cls(values.get("offset") or 0, values.get("limit") or DEFAULT_PAGE_SIZE)


class RolesForm(forms.Form):
    """The roles of a member."""

    roles = forms.MultipleChoiceField(
        choices=Role.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Select at least one role.")},
    )


class InviteForm(RolesForm):
    """An email address to invite, and its roles."""

    email = forms.EmailField(
        max_length=EMAIL_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter a work email.")},
    )
    field_order = ("email", "roles")


class NewcomerForm(forms.Form):
    """The name and password of an invited person."""

    name = forms.CharField(
        max_length=PERSON_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter your name.")},
    )
    password = forms.CharField(
        widget=forms.PasswordInput,
        strip=False,
        error_messages={"required": gettext_lazy("Enter a new password.")},
    )


class SignInRulesForm(forms.Form):
    """A team's sign-in requirements."""

    requires_second_factor = forms.BooleanField(required=False)
    requires_single_sign_on = forms.BooleanField(required=False)


class ProviderForm(forms.Form):
    """A team's OpenID provider; an empty secret keeps the current one."""

    issuer = forms.CharField(
        max_length=ISSUER_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter the issuer URL.")},
    )
    client_id = forms.CharField(
        max_length=CLIENT_ID_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter the client ID.")},
    )
    client_secret = forms.CharField(
        required=False, strip=False, widget=forms.PasswordInput
    )
    domains = forms.CharField(
        required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 3})
    )
    roles = forms.MultipleChoiceField(
        required=False,
        choices=[
            (role.value, role.label)
            for role in Role
            if role not in (Role.OWNER, Role.ADMIN)
        ],
        widget=forms.CheckboxSelectMultiple,
    )

    def clean_domains(self) -> list[str]:
        return re.split(r"[\s,;]+", self.cleaned_data["domains"])


class AddressForm(forms.Form):
    """A new email address to sign in with."""

    email = forms.EmailField(
        max_length=EMAIL_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter a work email.")},
    )


class KeyForm(forms.Form):
    """A key's name; a new key's name must not be in `taken`."""

    label = forms.CharField(
        max_length=LABEL_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter a name for the key.")},
    )

    def __init__(
        self, *args: Any, taken: QuerySet[Any] | None = None, **named: Any
    ) -> None:
        super().__init__(*args, **named)
        self.taken = taken

    def clean_label(self) -> str:
        label: str = self.cleaned_data["label"]
        # A form that is sent twice makes one key, and a name revokes the key meant.
        if self.taken is not None and self.taken.filter(label=label).exists():
            raise forms.ValidationError(
                _("Another key has this name. Enter a different name.")
            )
        return label


class RotateForm(forms.Form):
    """When the old key of a rotation expires; values are seconds."""

    overlap = forms.TypedChoiceField(
        coerce=lambda seconds: timedelta(seconds=int(seconds)),
        choices=[
            (str(int(overlap.total_seconds())), _OVERLAP_WORDS[overlap])
            for overlap in OVERLAPS
        ],
        widget=forms.RadioSelect,
        initial=str(int(OVERLAPS[1].total_seconds())),
        error_messages={"required": gettext_lazy("Select when the old key expires.")},
    )


class ZoneSelect(forms.Select):
    """Render hundreds of time zones at once instead of a template for each."""

    def render(
        self, name: str, value: Any, attrs: Any = None, renderer: Any = None
    ) -> SafeString:
        options = format_html_join(
            "",
            '<option value="{}"{}>{}</option>',
            (
                (zone, SafeString(" selected") if zone == value else "", words)
                for zone, words in self.choices
            ),
        )
        attributes = flatatt(
            self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        )
        return format_html("<select{}>{}</select>", attributes, options)


class TeamForm(forms.Form):
    """A team's name and time zone."""

    name = forms.CharField(
        max_length=NAME_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter a name.")},
    )
    time_zone = forms.ChoiceField(widget=ZoneSelect)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _offer_zones(self, self["time_zone"].value())


class _PageAddress(forms.URLField):
    """A URL that a browser can open, with one of `schemes`."""

    def __init__(self, *, schemes: list[str]) -> None:
        super().__init__(required=False, assume_scheme="https")
        # In place of Django's own, which takes ftp as well.
        self.validators = [
            URLValidator(
                schemes, message=gettext_lazy("Enter a URL that starts with https://.")
            )
        ]


# Settings of the branding form that are no part of `brand_information`.
_BESIDE_BRAND = frozenset({"logo_url", "patient_language"})


class BrandForm(forms.Form):
    """Branding shown to patients (contract 9.2, brand_information and logo_url).

    Without a `patient_language` it stays.
    """

    company_name = forms.CharField(required=False, max_length=NAME_MAX_LENGTH)
    company_website = _PageAddress(schemes=["https", "http"])
    support_email = forms.EmailField(required=False)
    support_contact = forms.CharField(required=False, max_length=80)
    company_address = forms.CharField(
        required=False, max_length=200, widget=forms.Textarea(attrs={"rows": 3})
    )
    brand_color = forms.CharField(
        required=False,
        validators=[
            RegexValidator(
                r"^#[0-9a-fA-F]{6}\Z",
                gettext_lazy("Enter a hex color, for example #0f6170."),
            )
        ],
    )
    logo_url = _PageAddress(schemes=["https"])
    patient_language = forms.ChoiceField(
        required=False, choices=[*LANGUAGE_NAMES.items()]
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        rest = {name for name, text in values.items() if text} - _BESIDE_BRAND
        if rest and not values.get("company_name") and "company_name" in values:
            self.add_error("company_name", _("Enter the company name."))
        return values

    def settings(self) -> dict[str, object]:
        """Return the settings as stored."""
        brand = {**self.cleaned_data}
        logo = brand.pop("logo_url")
        language = brand.pop("patient_language")
        return {
            **({"patient_language": language} if language else {}),
            "brand_information": brand if brand["company_name"] else None,
            "logo_url": logo or None,
        }


class BehaviourForm(forms.Form):
    """Settings of a team in one environment (contract 9.2)."""

    lab_report_parsing_enabled = forms.BooleanField(required=False)
    lab_report_human_review_enabled = forms.BooleanField(required=False)
    lab_report_review_below = forms.IntegerField(
        required=False, min_value=1, max_value=100
    )
    lab_report_second_read_percent = forms.IntegerField(
        required=False, min_value=0, max_value=100
    )
    lab_report_max_age_days = forms.IntegerField(
        required=False, min_value=1, max_value=REPORT_MAX_AGE_DAYS_MAX
    )
    minor_ordering_enabled = forms.BooleanField(required=False)
    order_approval_enabled = forms.BooleanField(required=False)
    early_psc_booking_enabled = forms.BooleanField(required=False)
    lab_tests_patient_sms_communication_enabled = forms.BooleanField(required=False)
    lab_tests_patient_email_communication_enabled = forms.BooleanField(required=False)
    critical_result_notification_email = forms.EmailField(required=False)
    critical_result_limit_minutes = forms.IntegerField(
        required=False, min_value=1, max_value=CRITICAL_LIMIT_MINUTES_MAX
    )
    user_sharing_enabled = forms.BooleanField(required=False)
    partial_webhooks_enabled = forms.BooleanField(required=False)
    reject_duplicate_connection = forms.BooleanField(required=False)
    sdk_per_device_activity_timeseries = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        modes = self.initial.get("lab_report_checks") or {}
        for check in ReportCheck:
            self.fields[_CHECK_FIELD.format(check)] = forms.ChoiceField(
                choices=CheckMode.choices,
                required=False,
                label=check.label,
                initial=modes.get(check, CheckMode.HOLD),
            )

    @property
    def report_checks(self) -> list[forms.BoundField]:
        """Return the fields of the checks of lab reports."""
        return [self[_CHECK_FIELD.format(check)] for check in ReportCheck]

    def settings(self) -> dict[str, object]:
        """Return the settings as stored."""
        name = "critical_result_notification_email"
        share = "lab_report_second_read_percent"
        stored = {
            **self.cleaned_data,
            name: self.cleaned_data[name] or None,
            share: self.cleaned_data[share] or 0,
        }
        # One that is not given counts as hold, and hold is what no entry means.
        modes = {
            check.value: stored.pop(_CHECK_FIELD.format(check)) for check in ReportCheck
        }
        stored["lab_report_checks"] = {
            check: mode
            for check, mode in modes.items()
            if mode not in {"", CheckMode.HOLD}
        }
        kept = {"critical_result_limit_minutes", "lab_report_max_age_days"}
        return {k: v for k, v in stored.items() if k not in kept or v is not None}


def _list_own_languages() -> list[tuple[str, str]]:
    """Offer each language under its own name, for readers of no other."""
    known = [each for each in settings.LANGUAGES if is_member_language(each[0])]
    return [("", _("Match browser")), *known]


class ProfileForm(forms.Form):
    """A member's name, time zone, language, theme and shortcuts."""

    name = forms.CharField(
        max_length=PERSON_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter your name.")},
    )
    time_zone = forms.ChoiceField(required=False, widget=ZoneSelect)
    language = forms.ChoiceField(required=False, choices=_list_own_languages)
    theme = forms.ChoiceField(
        required=False,
        choices=[("", gettext_lazy("Match device")), *Theme.choices],
        widget=forms.RadioSelect,
    )
    shortcuts_enabled = forms.BooleanField(required=False)

    def __init__(self, *args: Any, team_zone: str, **options: Any) -> None:
        super().__init__(*args, **options)
        team = ("", _("Team default: %(zone)s") % {"zone": _zone_words(team_zone)})
        _offer_zones(self, self["time_zone"].value(), team)


class PasswordForm(forms.Form):
    """A member's current and new password."""

    current = forms.CharField(
        widget=forms.PasswordInput,
        strip=False,
        error_messages={"required": gettext_lazy("Enter your current password.")},
    )
    new = forms.CharField(
        widget=forms.PasswordInput,
        strip=False,
        error_messages={"required": gettext_lazy("Enter a new password.")},
    )


def _offer_zones(form: forms.Form, chosen: object, *first: tuple[str, str]) -> None:
    """Offer all place time zones, and the one chosen now."""
    places = {name for name in list_time_zones() if _is_place(name)}
    if str(chosen) in list_time_zones():
        places.add(str(chosen))
    field = form.fields["time_zone"]
    assert isinstance(field, forms.ChoiceField)  # noqa: S101 - for the type checker
    field.choices = [*first, *((name, _zone_words(name)) for name in sorted(places))]


def _is_place(name: str) -> bool:
    return name == "UTC" or ("/" in name and not name.startswith("Etc/"))


def _zone_words(name: str) -> str:
    return name.replace("_", " ")
