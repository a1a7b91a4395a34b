"""Forms of an API key's rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.api_keys.api_keys import CALLS_PER_MINUTE_MAX, KeyRules
from accounts.states import SCOPES, Access
from accounts.web.forms import KeyForm
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from accounts.models import ApiKey
    from accounts.states import Area

ALL_SCOPES, SOME_SCOPES = "all", "some"
KEEP_END, NO_END = "keep", ""
LASTING_DAYS = (7, 30, 90, 365)


@dataclass(frozen=True, slots=True)
class ScopeBox:
    """A checkbox of the scopes table."""

    value: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """An area with its checkboxes; None if no call needs it."""

    area: Area
    reads: ScopeBox | None
    writes: ScopeBox | None


class ApiKeyForm(KeyForm):
    """A key's name and rules; `key` is the key being edited, if any."""

    reach = forms.ChoiceField(
        choices=[
            (ALL_SCOPES, gettext_lazy("Full access")),
            (SOME_SCOPES, gettext_lazy("Selected scopes")),
        ],
        widget=forms.RadioSelect,
        initial=ALL_SCOPES,
        error_messages={"required": gettext_lazy("Select full access or scopes.")},
    )
    scopes = forms.MultipleChoiceField(
        required=False,
        choices=[(scope, scope) for scope in SCOPES],
        widget=forms.CheckboxSelectMultiple,
    )
    networks = forms.CharField(
        required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 3})
    )
    calls_per_minute = forms.IntegerField(
        required=False, min_value=1, max_value=CALLS_PER_MINUTE_MAX
    )
    lasting = forms.ChoiceField(required=False)

    def __init__(
        self,
        *args: Any,
        key: ApiKey | None = None,
        end_words: str = "",
        **named: Any,
    ) -> None:
        if key is not None:
            named["initial"] = {
                "label": key.label,
                "reach": ALL_SCOPES if key.scopes is None else SOME_SCOPES,
                "scopes": key.scopes or [],
                "networks": "\n".join(key.networks),
                "calls_per_minute": key.calls_per_minute,
                "lasting": KEEP_END if key.expires_at else NO_END,
            }
        super().__init__(*args, **named)
        self.key = key
        lasting = self.fields["lasting"]
        assert isinstance(lasting, forms.ChoiceField)  # noqa: S101 - for the type checker
        lasting.choices = [
            *([(KEEP_END, end_words)] if key and key.expires_at else []),
            (NO_END, _("Never")),
            *(
                (str(days), _("In %(days)d days") % {"days": days})
                for days in LASTING_DAYS
            ),
        ]

    @property
    def scope_rows(self) -> list[ScopeRow]:
        """Return the scopes by area, with the chosen ones marked."""
        chosen = set(self["scopes"].value() or ())
        areas = dict.fromkeys(area for area, _ in SCOPES.values())
        return [
            ScopeRow(
                area,
                _build_scope_box(area, Access.READ, chosen),
                _build_scope_box(area, Access.WRITE, chosen),
            )
            for area in areas
        ]

    def rules(self) -> KeyRules:
        """Return the rules entered."""
        values = self.cleaned_data
        lasting = values["lasting"]
        if lasting == KEEP_END and self.key:
            expires_at = self.key.expires_at
        elif lasting:
            expires_at = timezone.now() + timedelta(days=int(lasting))
        else:
            expires_at = None
        some = values["reach"] == SOME_SCOPES
        return KeyRules(
            scopes=frozenset(values["scopes"]) if some else None,
            networks=tuple(values["networks"].replace(",", " ").split()),
            calls_per_minute=values["calls_per_minute"],
            expires_at=expires_at,
        )


def _build_scope_box(area: Area, access: Access, chosen: set[str]) -> ScopeBox | None:
    value = f"{area}:{access}"
    return ScopeBox(value, value in chosen) if value in SCOPES else None
