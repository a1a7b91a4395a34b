"""Numbers on the tabs of a user's page, which other apps' pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template
from django.db.models import Count, Value

from accounts.declarations.pages import list_user_tab_counts

if TYPE_CHECKING:
    from users.models import User

register = template.Library()


@register.simple_tag(takes_context=True)
def count_user_tabs(context: dict[str, Any], user: User) -> dict[str, int]:
    """Return what each tab lists, exactly, by the tab's name.

    Only of tabs that the member may read. One statement, by the indexes on users.
    """
    request = context["request"]
    allowed = [
        each for each in list_user_tab_counts() if request.rights.allow(each.area)
    ]
    counted = [
        rows.order_by().values(tab=Value(each.tab)).annotate(number=Count("pk"))
        for each in allowed
        for rows in each.rows(request.tenant, user.pk)
    ]
    numbers = {each.tab: 0 for each in allowed}
    if counted:
        first, *others = counted
        found = first.union(*others, all=True) if others else first
        for tab, number in found.values_list("tab", "number"):
            numbers[tab] += number
    return numbers
