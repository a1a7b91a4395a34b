"""Filters of the orders list: read from the query string, and described."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.queries.orders.order_list import NO_RESULT, ListFilters
from labs.states.catalogue import CollectionMethod
from labs.states.order_queues import Stage, WorkState
from labs.states.orders import Interpretation
from labs.web.columns import ORDERS
from portal.lib.translation import gettext_lazy
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from django.http import QueryDict

PAGE_SIZES = (25, 50, 100, 500)
DEFAULT_PAGE_SIZE = 50
PLATFORM = "platform"
RESULTS = [*Interpretation.offered(), (NO_RESULT, gettext_lazy("None yet"))]
# Days back from today, today among them.
PERIODS = {"today": 1, "7d": 7, "30d": 30, "90d": 90}
PERIOD_WORDS = {
    "today": gettext_lazy("Today"),
    "7d": gettext_lazy("Last 7 days"),
    "30d": gettext_lazy("Last 30 days"),
    "90d": gettext_lazy("Last 90 days"),
}
# The parameters that narrow the list by the day an order was created.
DAY_PARAMETERS = ("created", "since", "until")
_MAX_OFFSET = 2**63 - 1


class OrderFilterForm(forms.Form):
    """The list's query string; an invalid value counts as not given."""

    tab = forms.ChoiceField(required=False, choices=WorkState.offered)
    stage = forms.ChoiceField(required=False, choices=Stage.offered)
    status = forms.CharField(required=False, max_length=100)
    lab = forms.SlugField(required=False, max_length=50)
    account = forms.CharField(required=False, max_length=36)
    method = forms.ChoiceField(required=False, choices=CollectionMethod.offered)
    result = forms.ChoiceField(required=False, choices=RESULTS)
    created = forms.ChoiceField(required=False, choices=list(PERIOD_WORDS.items()))
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    user = forms.UUIDField(required=False)
    q = forms.CharField(required=False, max_length=255)
    sort = forms.CharField(required=False, max_length=50)
    offset = forms.IntegerField(required=False, min_value=0, max_value=_MAX_OFFSET)
    limit = forms.TypedChoiceField(
        required=False, coerce=int, choices=[(size, "") for size in PAGE_SIZES]
    )


@dataclass(frozen=True, slots=True)
class OrderListQuery:
    """The validated filters, sort and page of the orders list.

    `since` and `until` are days, both included, in the reader's time zone.
    """

    tab: WorkState = WorkState.ALL
    stage: str = ""
    status: str = ""
    lab: str = ""
    account: UUID | None = None
    on_platform: bool = False
    method: str = ""
    result: str = ""
    created: str = ""
    since: date | None = None
    until: date | None = None
    user: UUID | None = None
    q: str = ""
    sort: str = ORDERS.sort
    offset: int = 0
    limit: int = DEFAULT_PAGE_SIZE

    @classmethod
    def from_query(cls, query: QueryDict) -> OrderListQuery:
        """Read a query string."""
        form = OrderFilterForm(query)
        form.is_valid()
        values = {name: value for name, value in form.cleaned_data.items() if value}
        account = values.pop("account", "")
        return cls(
            **{
                **values,
                "tab": WorkState(values.get("tab", WorkState.ALL)),
                "sort": ORDERS.read(values.get("sort", "")).sort,
                "account": _parse_uuid(account),
                "on_platform": account == PLATFORM,
            }
        )

    @property
    def filters(self) -> ListFilters:
        """Return the filters for the query."""
        return ListFilters(
            work=self.tab,
            stage=self.stage,
            status=self.status,
            method=self.method,
            lab=self.lab,
            account_id=self.account,
            on_platform=self.on_platform,
            result=self.result,
            created_from=_start_of_day(self._first_day),
            created_until=_start_of_day(self.until, days=1),
            user_uuid=self.user,
            text=self.q.strip(),
            order_by=ORDERS.read(self.sort).order_by,
        )

    @property
    def created_label(self) -> str:
        """Return the creation days as text, or an empty text."""
        if self.since and self.until:
            return _("%(since)s to %(until)s") % {
                "since": _format_day(self.since),
                "until": _format_day(self.until),
            }
        if self.since:
            return _("since %(day)s") % {"day": _format_day(self.since)}
        if self.until:
            return _("until %(day)s") % {"day": _format_day(self.until)}
        return PERIOD_WORDS.get(self.created, "")

    @property
    def search_parameters(self) -> list[tuple[str, object]]:
        """List the parameters that a new search keeps."""
        account = PLATFORM if self.on_platform else self.account
        search_parameters: list[tuple[str, object]] = [
            ("tab", self.tab if self.tab != WorkState.ALL else None),
            ("stage", self.stage),
            ("status", self.status),
            ("lab", self.lab),
            ("account", account),
            ("method", self.method),
            ("result", self.result),
            ("created", self.created),
            ("since", self.since and self.since.isoformat()),
            ("until", self.until and self.until.isoformat()),
            ("user", self.user),
            ("sort", self.sort if self.sort != ORDERS.sort else None),
            ("limit", self.limit if self.limit != DEFAULT_PAGE_SIZE else None),
        ]
        return [(name, value) for name, value in search_parameters if value]

    @property
    def parameters_without_days(self) -> list[tuple[str, object]]:
        """List the parameters that a new choice of days keeps."""
        search_parameters = [
            (name, value)
            for name, value in self.search_parameters
            if name not in DAY_PARAMETERS
        ]
        return [*search_parameters, ("q", self.q)] if self.q else search_parameters

    @property
    def is_filtered(self) -> bool:
        """Return whether a filter besides the tab is set."""
        beside = {"tab", "sort", "limit"}
        return bool(self.q or {name for name, value in self.search_parameters} - beside)

    @property
    def _first_day(self) -> date | None:
        if self.since or self.until or not self.created:
            return self.since
        return timezone.localdate() - timedelta(days=PERIODS[self.created] - 1)


def _start_of_day(day: date | None, *, days: int = 0) -> datetime | None:
    """Return when the day `days` after `day` starts, in the reader's zone."""
    if day is None:
        return None
    try:
        return timezone.make_aware(datetime.combine(day + timedelta(days=days), time()))
    except OverflowError:  # the last day that there is has none after it
        return None


def _format_day(day: date) -> str:
    this_year = day.year == timezone.localdate().year
    return write_date(day, "j M" if this_year else "j M Y")


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
