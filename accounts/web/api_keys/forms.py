"""Forms of an API key's rules and of its call log's filters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.api_keys.api_keys import CALLS_PER_MINUTE_MAX, KeyRules
from accounts.queries.api_calls import CallFilters, StatusClass
from accounts.states import SCOPES, Access
from accounts.web.forms import KeyForm
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.http import QueryDict

    from accounts.models import ApiKey
    from accounts.states import Area

ALL_SCOPES, SOME_SCOPES = "all", "some"
KEEP_END, NO_END = "keep", ""
LASTING_DAYS = (7, 30, 90, 365)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PERIODS = {"1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7)}
PERIOD_WORDS = {
    "1h": gettext_lazy("Last hour"),
    "24h": gettext_lazy("Last 24 hours"),
    "7d": gettext_lazy("Last 7 days"),
}
QUERY_MAX_LENGTH = 200


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


class CallForm(forms.Form):
    """Parse the call log's query string; ignore invalid values."""

    q = forms.CharField(required=False, max_length=QUERY_MAX_LENGTH)
    answered = forms.ChoiceField(required=False, choices=StatusClass.offered)
    method = forms.ChoiceField(required=False, choices=[(m, m) for m in METHODS])
    period = forms.ChoiceField(required=False, choices=list(PERIOD_WORDS.items()))


@dataclass(frozen=True, slots=True)
class CallQuery:
    """The call log's filters, all valid."""

    q: str = ""
    answered: str = ""
    method: str = ""
    period: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> CallQuery:
        """Parse a query string."""
        form = CallForm(query)
        form.is_valid()
        return cls(
            **{name: value for name, value in form.cleaned_data.items() if value}
        )

    @property
    def filters(self) -> CallFilters:
        """Return the filters for the query."""
        since: datetime | None = None
        if self.period:
            since = timezone.now() - PERIODS[self.period]
        return CallFilters(
            begins=self.q.strip(),
            answered=self.answered,
            method=self.method,
            since=since,
        )

    @property
    def kept_but_q(self) -> list[tuple[str, str]]:
        """Return the query string without the search text."""
        pairs = (
            ("answered", self.answered),
            ("method", self.method),
            ("period", self.period),
        )
        return [(name, value) for name, value in pairs if value]

    @property
    def is_set(self) -> bool:
        """Return whether any filter is set."""
        return bool(self.q or self.kept_but_q)

    @property
    def answered_words(self) -> str:
        """Return the label of the status filter, or empty."""
        known = StatusClass.known(self.answered)
        return str(known.label) if known else ""

    @property
    def period_words(self) -> str:
        """Return the label of the period, or empty."""
        return PERIOD_WORDS.get(self.period, "")


def _build_scope_box(area: Area, access: Access, chosen: set[str]) -> ScopeBox | None:
    value = f"{area}:{access}"
    return ScopeBox(value, value in chosen) if value in SCOPES else None
