"""Forms of the users pages: list filters and the ID look-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django import forms

from portal.lib.translation import gettext_lazy
from users.states import (
    ConnectionStatus,
    IngestionWindow,
    LastData,
    Silence,
    ZoneRegion,
)
from users.wearables.providers import KNOWN
from users.web.columns import build_users_columns

if TYPE_CHECKING:
    from django.http import QueryDict

PAGE_SIZES = (25, 50, 100, 500)
DEFAULT_PAGE_SIZE = 50
DEFAULT_SORT = "-created_on"
_NARROWING = ("source", "status", "last_data", "silence", "region", "window")
# PostgreSQL's largest bigint; a larger offset is no question at all.
_MAX_OFFSET = 2**63 - 1


class UserFilterForm(forms.Form):
    """Form of the list's query string; invalid values are ignored."""

    q = forms.CharField(required=False, max_length=255)
    source = forms.ChoiceField(required=False, choices=[(slug, "") for slug in KNOWN])
    status = forms.ChoiceField(required=False, choices=ConnectionStatus.offered)
    last_data = forms.ChoiceField(required=False, choices=LastData.offered)
    silence = forms.ChoiceField(required=False, choices=Silence.offered)
    region = forms.ChoiceField(required=False, choices=ZoneRegion.offered)
    window = forms.ChoiceField(required=False, choices=IngestionWindow.offered)
    sort = forms.CharField(required=False, max_length=50)
    offset = forms.IntegerField(required=False, min_value=0, max_value=_MAX_OFFSET)
    limit = forms.TypedChoiceField(
        required=False, coerce=int, choices=[(size, "") for size in PAGE_SIZES]
    )


@dataclass(frozen=True, slots=True)
class UserFilters:
    """Validated filters of the list."""

    q: str
    source: str
    status: str
    last_data: str
    silence: str
    region: str
    window: str
    sort: str
    offset: int
    limit: int

    @classmethod
    def read(cls, query: QueryDict) -> UserFilters:
        """Parse a query string."""
        form = UserFilterForm(query)
        form.is_valid()
        cleaned = form.cleaned_data
        return cls(
            q=cleaned.get("q", ""),
            source=cleaned.get("source", ""),
            status=cleaned.get("status", ""),
            last_data=cleaned.get("last_data", ""),
            silence=cleaned.get("silence", ""),
            region=cleaned.get("region", ""),
            window=cleaned.get("window", ""),
            sort=build_users_columns().read(cleaned.get("sort", "")).sort,
            offset=cleaned.get("offset") or 0,
            limit=cleaned.get("limit") or DEFAULT_PAGE_SIZE,
        )

    @property
    def kept(self) -> list[tuple[str, object]]:
        """Return the query parameters that a new search keeps."""
        usual = dict.fromkeys(_NARROWING, "") | {"sort": DEFAULT_SORT}
        pairs: list[tuple[str, object]] = [
            (name, getattr(self, name))
            for name, default in usual.items()
            if getattr(self, name) != default
        ]
        if self.limit != DEFAULT_PAGE_SIZE:
            pairs.append(("limit", self.limit))
        return pairs

    @property
    def are_set(self) -> bool:
        """Return whether any filter is set."""
        return bool(self.q) or any(getattr(self, name) for name in _NARROWING)


class ResolveForm(forms.Form):
    """Form of an exact client user ID."""

    client_user_id = forms.CharField(
        max_length=255,
        strip=False,
        error_messages={"required": gettext_lazy("Enter a client user ID.")},
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
