"""Template tag that draws the days of a resource in the table of completeness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html, format_html_join

from portal.templatetags.look import render_icon
from users.states import DayState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from django.utils.safestring import SafeString

    from users.analysis.completeness import CompletenessDay, ResourceCompleteness

register = template.Library()

_IS_CHOSEN = format_html(' aria-current="{}"', "true")
_ICONS = {DayState.MISSING: "alert", DayState.FILLED_LATER: "check"}


@register.simple_tag
def draw_completeness_days(
    resource: ResourceCompleteness,
    source: str,
    days: Mapping[date, str],
    until: date,
    chosen: CompletenessDay | None,
) -> SafeString:
    """Draw a cell for each day of a resource, which opens its proof.

    `source` is a slug, `days` has each day in words. By hand: a page has some six
    hundred cells, which took half of its time as a template.
    """
    name = resource.name
    query = f"?until={until.isoformat()}&source={source}&resource={resource.resource}"
    labels = {state: str(state.label) for state in DayState}
    icons = {state: render_icon(icon) for state, icon in _ICONS.items()}
    chosen_day = chosen.day if chosen else None
    return format_html_join(
        "",
        '<td><a class="cz cz--{}" href="{}&amp;day={}#cell" title="{}, {}: {}"{}>{}'
        '<span class="vh">{}</span></a></td>',
        (
            (
                each.state,
                query,
                each.day.isoformat(),
                name,
                days[each.day],
                labels[each.state],
                _IS_CHOSEN if each.day == chosen_day else "",
                icons.get(each.state, ""),
                labels[each.state],
            )
            for each in resource.days
        ),
    )
