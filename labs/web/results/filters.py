"""Filters of a user's results: what is searched, shown and compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.states.orders import Interpretation
from labs.web.results.rows import ABNORMAL
from portal.ui.filters import FilterBar, ListFilter

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import date

    from django.http import QueryDict

SHOWN = {"abnormal": ABNORMAL, "critical": (Interpretation.CRITICAL,)}
UNREVIEWED = "unreviewed"
# The filters that another choice of days keeps.
KEPT = ("q", "show", "lab", "panel")


@dataclass(frozen=True, slots=True)
class ResultFilters:
    """What is asked for; `of_day` and `with_day` are the days compared.

    Without `of_day` the newest of each marker is shown, without `with_day` it is
    compared with the one before.
    """

    text: str
    show: str
    lab: str
    panel: str
    of_day: date | None
    with_day: date | None

    @property
    def narrows(self) -> bool:
        """Return whether anything is filtered."""
        return bool(self.text or self.show or self.lab or self.panel)


def read_result_filters(query: QueryDict, days: Sequence[date]) -> ResultFilters:
    """Read a query string; a day without results counts as not given."""
    known = {day.isoformat(): day for day in days}
    show = query.get("show", "")
    return ResultFilters(
        text=query.get("q", "").strip()[:80],
        show=show if show in {*SHOWN, UNREVIEWED} else "",
        lab=query.get("lab", "")[:200],
        panel=query.get("panel", "")[:200],
        of_day=known.get(query.get("day", "")),
        with_day=known.get(query.get("with", "")),
    )


def build_result_filter_bar(
    filters: ResultFilters, *, labs: Collection[str], panels: Collection[str]
) -> FilterBar:
    """Build the search field and the filters by lab and panel, where there are several.

    An empty name stands for results that no lab or panel brought.
    """
    filters_by_name = []
    for name, words, value, every in (
        ("lab", _("Lab"), filters.lab, labs),
        ("panel", _("Panel"), filters.panel, panels),
    ):
        names = sorted(filter(None, set(every)))
        if len(names) > 1 or value:
            choices = tuple((one, one) for one in names)
            filters_by_name.append(ListFilter(name, words, value, choices))
    return FilterBar(
        tuple(filters_by_name),
        text=filters.text,
        label=_("Search by marker or LOINC"),
        placeholder=_("Marker or LOINC"),
    )
