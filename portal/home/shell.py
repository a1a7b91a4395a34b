"""Context of the page shell: navigation counts and palette commands."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from portal.home.search import count_navigation_badges, list_palette_commands

if TYPE_CHECKING:
    from django.http import HttpRequest

    from portal.home.search import Group
    from portal.lib.registry import NavCount
    from portal.lib.web.views import TenantRequest


class Shell:
    """Lazy values of the page shell, so that a fragment costs no query."""

    def __init__(self, request: TenantRequest) -> None:
        self._request = request

    @cached_property
    def nav_counts(self) -> dict[str, NavCount]:
        """The numbers of the navigation, by section."""
        return count_navigation_badges(self._request)

    @cached_property
    def commands(self) -> list[Group]:
        """What the palette lists before anything is typed."""
        return list_palette_commands(self._request)


def team_shell_context(request: HttpRequest) -> dict[str, Shell]:
    """Add `shell` to the template context, on the pages of a team."""
    if not hasattr(request, "tenant"):
        return {}
    return {"shell": Shell(cast("TenantRequest", request))}
