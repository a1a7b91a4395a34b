"""How sources are named and summed up on every tab of a user's page.

Tags, so that other apps' tabs stand in the same shell without importing users.web.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

from users.models.user import MANUAL
from users.states import ConnectionStatus
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterable

    from users.models import Connection

register = template.Library()


@register.filter
def fallback_origin(slug: str) -> str:
    """Where a fallback came from, in words."""
    if slug in {"", MANUAL}:
        return "set by your team"
    return f"from {find_provider(slug).name}"


@register.filter
def worst_status(connections: Iterable[Connection]) -> str:
    """The status that says most: an error before a pause before all being well."""
    statuses = {connection.status for connection in connections}
    for status in (ConnectionStatus.ERROR, ConnectionStatus.PAUSED):
        if status in statuses:
            return status
    return min(statuses, default="")
