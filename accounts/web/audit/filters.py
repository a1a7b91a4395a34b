"""Filters of the audit log: parse the query string, describe it and write it again.

The page and its export read the same query string, but for `system`: files always hold
what jobs and commands did. Invalid values are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.declarations.hooks import list_app_hooks
from accounts.queries.audit import AuditFilters, Kind
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import QueryDict

    from accounts.declarations.hooks import UserBook
    from accounts.models import Tenant


PERIODS = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "quarter": timedelta(days=91),
    "year": timedelta(days=366),
    "all": None,
}
PERIOD_WORDS = {
    "day": gettext_lazy("Last 24 hours"),
    "week": gettext_lazy("Last 7 days"),
    "month": gettext_lazy("Last 30 days"),
    "quarter": gettext_lazy("Last 3 months"),
    "year": gettext_lazy("Last year"),
    "all": gettext_lazy("All time"),
}
# So that no search begins at the first entry of years by accident.
USUAL_PERIOD = "month"


class AuditForm(forms.Form):
    """Parse the audit's query string; invalid values are ignored."""

    kind = forms.ChoiceField(required=False, choices=Kind.offered)
    verb = forms.RegexField(r"^[a-z_]+\Z", required=False, max_length=60)
    subject = forms.CharField(required=False, max_length=60)
    actor = forms.CharField(required=False, max_length=80)
    user = forms.UUIDField(required=False)
    q = forms.CharField(required=False, max_length=80)
    reason = forms.BooleanField(required=False)
    system = forms.BooleanField(required=False)
    period = forms.ChoiceField(required=False, choices=list(PERIOD_WORDS.items()))
    since = forms.DateTimeField(required=False, input_formats=["%Y-%m-%dT%H:%M"])
    until = forms.DateTimeField(required=False, input_formats=["%Y-%m-%dT%H:%M"])


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """The audit's filters, all valid."""

    kind: str = ""
    verb: str = ""
    subject: str = ""
    actor: str = ""
    user: UUID | None = None
    q: str = ""
    reason: bool = False
    system: bool = False
    period: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def read(cls, query: QueryDict) -> AuditQuery:
        """Parse a query string."""
        form = AuditForm(query)
        form.is_valid()
        values = {
            name: value
            for name, value in form.cleaned_data.items()
            if value and "\0" not in str(value)
        }
        return cls(**values)

    def filters(self, tenant: Tenant) -> AuditFilters:
        """Return the filters for the query; resolve a client_user_id."""
        since = self.since
        period = PERIODS[self.period or USUAL_PERIOD]
        if period and not (self.since or self.until):
            since = timezone.now() - period
        filters = AuditFilters(
            kind=self.kind,
            verb=self.verb,
            subject=self.subject,
            actor=self.actor,
            user=self.user,
            begins=self.q.strip(),
            since=since,
            until=self.until,
            # Who asks for one job or command by name gets it.
            without_system=not (self.system or self.actor),
            with_reason=self.reason,
        )
        for book in list_user_books():
            if filters.begins and (found := book.find(tenant, filters.begins)):
                return replace(filters, begins="", user=found)
        return filters

    @property
    def kept(self) -> list[tuple[str, object]]:
        """Return the query string as pairs."""
        pairs: list[tuple[str, object]] = [
            ("kind", self.kind),
            ("verb", self.verb),
            ("subject", self.subject),
            ("actor", self.actor),
            ("user", self.user),
            ("q", self.q),
            ("reason", "on" if self.reason else ""),
            ("system", "on" if self.system else ""),
            ("period", self.period),
            ("since", self.since_input),
            ("until", self.until_input),
        ]
        return [(name, value) for name, value in pairs if value]

    @property
    def kept_but_search(self) -> list[tuple[str, object]]:
        """Return the query string without the search text."""
        return [(name, value) for name, value in self.kept if name != "q"]

    @property
    def kept_but_time(self) -> list[tuple[str, object]]:
        """Return the query string without the period."""
        time = {"period", "since", "until"}
        return [(name, value) for name, value in self.kept if name not in time]

    @property
    def since_input(self) -> str:
        """Return the first minute as an input's value."""
        return _format_minute(self.since)

    @property
    def until_input(self) -> str:
        """Return the minute after the last as an input's value."""
        return _format_minute(self.until)

    @property
    def kind_words(self) -> str:
        """Return the label of the kind, or empty."""
        known = Kind.known(self.kind)
        return str(known.label) if known else ""

    @property
    def time_words(self) -> str:
        """Return the label of the period, or empty for the default."""
        if self.since or self.until:
            since = self.since_input.replace("T", " ") or _("the beginning")
            until = self.until_input.replace("T", " ") or _("now")
            return _("%(start)s to %(end)s") % {"start": since, "end": until}
        return PERIOD_WORDS.get(self.period, "")


def list_user_books() -> list[UserBook]:
    """Return how each app finds and names users."""
    return [book for app in list_app_hooks() for book in app.user_books]


def _format_minute(moment: datetime | None) -> str:
    if moment is None:
        return ""
    return f"{timezone.localtime(moment):%Y-%m-%dT%H:%M}"
