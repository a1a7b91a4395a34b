"""Template tag of a list's search field and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template

from portal.ui.filters import DayFilter, ListFilter

if TYPE_CHECKING:
    from django.http import QueryDict
    from django.template import Context

    from portal.ui.filters import FilterBar

register = template.Library()

# Where one is in a list, which another filter makes meaningless.
_PLACES = ("offset", "page", "cursor", "before", "view")
# How a list is shown, which "Clear filters" keeps.
_LOOKS = ("tab", "sort", "limit", "day", "with")


@register.inclusion_tag("components/filters.html", takes_context=True)
def filter_bar(context: Context, bar: FilterBar) -> dict[str, Any]:
    """Render the search field and the filters of a list, each as a chip.

    A chip that is unset opens a menu, or sets a switch; one that is set shows it
    and a link that removes it.
    """
    query: QueryDict = context["request"].GET
    given = {
        name: str(value)
        for name, value in query.items()
        if value and name not in _PLACES
    }
    chips = []
    for each in bar.filters:
        others = [pair for pair in given.items() if pair[0] != each.parameter]
        is_day = isinstance(each, DayFilter)
        choices = () if isinstance(each, DayFilter) else each.choices
        is_switch = isinstance(each, ListFilter) and each.is_switch
        chips.append(
            {
                "each": each,
                "menu": f"m-filter-{each.parameter}",
                "is_day": is_day,
                "is_switch": is_switch,
                "links": [
                    (_link(query, {**dict(others), each.parameter: value}), words)
                    for value, words in choices
                ],
                "others": others,
                "remove": _link(query, dict(others)),
            }
        )
    looks = {name: value for name, value in given.items() if name in _LOOKS}
    return {
        "bar": bar,
        "chips": chips,
        "kept": [pair for pair in given.items() if pair[0] != bar.parameter],
        "clear": _link(query, looks),
        "request": context["request"],
    }


def _link(query: QueryDict, parameters: dict[str, str]) -> str:
    """Return a query string; a bare address would open the member's default view."""
    made = query.copy()
    made.clear()
    made.update(parameters or {"view": "all"})
    return f"?{made.urlencode()}"
