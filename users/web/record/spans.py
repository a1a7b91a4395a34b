"""The span of days that a user's page shows, from its query string."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.translation import gettext_lazy
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from django.http import QueryDict


@dataclass(frozen=True, slots=True)
class SpanChoice:
    """A length to choose; `before` and `after` name the steps to its neighbors."""

    key: str
    words: str
    days: int
    before: str
    after: str


SPANS = (
    SpanChoice(
        "week",
        gettext_lazy("Week"),
        7,
        gettext_lazy("Week before"),
        gettext_lazy("Week after"),
    ),
    SpanChoice(
        "month",
        gettext_lazy("Month"),
        31,
        gettext_lazy("Month before"),
        gettext_lazy("Month after"),
    ),
    SpanChoice(
        "quarter",
        gettext_lazy("Quarter"),
        92,
        gettext_lazy("Quarter before"),
        gettext_lazy("Quarter after"),
    ),
    SpanChoice(
        "year",
        gettext_lazy("Year"),
        366,
        gettext_lazy("Year before"),
        gettext_lazy("Year after"),
    ),
)
_BY_KEY = {each.key: each for each in SPANS}
DEFAULT = _BY_KEY["month"]
# Before any source; the days before it, with those compared, are still dates.
_EARLIEST = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class ChosenSpan:
    """The days shown, `first` to `last` inclusive; `today` is the user's."""

    choice: SpanChoice
    last: date
    today: date

    @property
    def first(self) -> date:
        """Return the first day."""
        return self.last - timedelta(days=self.choice.days - 1)

    @property
    def is_latest(self) -> bool:
        """Return whether it ends today."""
        return self.last == self.today

    @property
    def before(self) -> str:
        """Return the query string of the span before."""
        return self._query(self.first - timedelta(days=1))

    @property
    def after(self) -> str:
        """Return the query string of the span after; empty for the latest."""
        if self.is_latest:
            return ""
        return self._query(self.last + timedelta(days=self.choice.days))

    @property
    def words(self) -> str:
        """Return the days in words: 18 Oct to 17 Nov 2026."""
        first, last = self.first, self.last
        start = "j M Y" if first.year != last.year else "j M"
        return _("%(first)s to %(last)s") % {
            "first": write_date(first, start),
            "last": write_date(last, "j M Y"),
        }

    @property
    def links(self) -> list[tuple[SpanChoice, str]]:
        """Return the lengths with their query strings, ending on the same day."""
        return [(each, self._query(self.last, each)) for each in SPANS]

    def _query(self, last: date, choice: SpanChoice | None = None) -> str:
        key = (choice or self.choice).key
        return f"?span={key}" + ("" if last >= self.today else f"&to={last}")


def read_span(query: QueryDict, *, today: date) -> ChosenSpan:
    """Return the span of `span` and `to`; what means nothing is the latest month."""
    choice = _BY_KEY.get(query.get("span", ""), DEFAULT)
    try:
        last = date.fromisoformat(query.get("to", ""))
    except ValueError:
        last = today
    return ChosenSpan(choice, max(min(last, today), _EARLIEST), today)
