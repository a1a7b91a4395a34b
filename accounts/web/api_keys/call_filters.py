"""Filters of the API log: parse the query string and describe it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.utils import timezone

from accounts.queries.api_calls import CallFilters, StatusClass
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.http import QueryDict

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PERIODS = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "all": None,
}
PERIOD_WORDS = {
    "1h": gettext_lazy("Last hour"),
    "24h": gettext_lazy("Last 24 hours"),
    "7d": gettext_lazy("Last 7 days"),
    "all": gettext_lazy("All time"),
}
# So that no search reads the calls of a month by accident.
USUAL_PERIOD = "24h"
SLOWER_WORDS = {
    "500": gettext_lazy("500 ms"),
    "1000": gettext_lazy("1 s"),
    "5000": gettext_lazy("5 s"),
}
QUERY_MAX_LENGTH = 200


class CallForm(forms.Form):
    """Parse the API log's query string; ignore invalid values."""

    q = forms.CharField(required=False, max_length=QUERY_MAX_LENGTH)
    key = forms.UUIDField(required=False)
    answered = forms.ChoiceField(required=False, choices=StatusClass.offered)
    method = forms.ChoiceField(required=False, choices=[(m, m) for m in METHODS])
    slower = forms.ChoiceField(required=False, choices=list(SLOWER_WORDS.items()))
    period = forms.ChoiceField(required=False, choices=list(PERIOD_WORDS.items()))


@dataclass(frozen=True, slots=True)
class CallQuery:
    """The API log's filters, all valid; an empty one does not filter."""

    q: str = ""
    key: UUID | None = None
    answered: str = ""
    method: str = ""
    slower: str = ""
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
        """Return the filters for the query; without a period, those of a day."""
        span = PERIODS[self.period or USUAL_PERIOD]
        return CallFilters(
            key_id=self.key,
            begins=self.q.strip(),
            answered=self.answered,
            method=self.method,
            slower_ms=int(self.slower) if self.slower else None,
            since=timezone.now() - span if span else None,
        )

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Return the query string, without what is not asked for."""
        pairs = (
            ("q", self.q),
            ("key", self.key),
            ("answered", self.answered),
            ("method", self.method),
            ("slower", self.slower),
            ("period", self.period),
        )
        return [(name, str(value)) for name, value in pairs if value]

    @property
    def kept_but_q(self) -> list[tuple[str, str]]:
        """Return the query string without the search text."""
        return [pair for pair in self.kept if pair[0] != "q"]

    @property
    def kept_elsewhere(self) -> list[tuple[str, str]]:
        """Return the query string for the other environment, which has other keys."""
        return [pair for pair in self.kept if pair[0] != "key"]

    @property
    def answered_words(self) -> str:
        """Return the label of the status filter, or empty."""
        known = StatusClass.known(self.answered)
        return str(known.label) if known else ""

    @property
    def slower_words(self) -> str:
        """Return the label of the duration filter, or empty."""
        return str(SLOWER_WORDS.get(self.slower, ""))

    @property
    def period_words(self) -> str:
        """Return the label of the period, or empty."""
        return str(PERIOD_WORDS.get(self.period, ""))
