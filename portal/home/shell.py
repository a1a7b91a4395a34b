"""Context of the page shell: the sidebar and the commands of the palette."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from portal.home.navigation import build_sidebar, count_navigation_badges
from portal.home.search import list_palette_commands

if TYPE_CHECKING:
    from django.http import HttpRequest

    from accounts.declarations.pages import NavCount
    from accounts.web.requests import TenantRequest
    from portal.home.navigation import SidebarGroup
    from portal.home.search import Group


class Shell:
    """Lazy values of the page shell, so that a fragment costs no query."""

    def __init__(self, request: TenantRequest) -> None:
        self._request = request

    @cached_property
    def nav_counts(self) -> dict[str, NavCount]:
        """The numbers of the sidebar, by section."""
        return count_navigation_badges(self._request)

    @cached_property
    def sidebar(self) -> list[SidebarGroup]:
        """The links of the sidebar, in groups."""
        return build_sidebar(self._request, self.nav_counts)

    @cached_property
    def commands(self) -> list[Group]:
        """What the palette lists before anything is typed."""
        return list_palette_commands(self._request)

    @property
    def drawn_commands(self) -> SafeString:
        """The same as HTML, drawn once for all who have the same."""
        return _draw_commands(tuple(self.commands))


@lru_cache(maxsize=256)
def _draw_commands(groups: tuple[Group, ...]) -> SafeString:
    parts = ({"group": each, "prefix": "pc"} for each in groups)
    return SafeString(
        "".join(render_to_string("portal/_palette_group.html", part) for part in parts)
    )


def team_shell_context(request: HttpRequest) -> dict[str, Shell]:
    """Add `shell` to the template context, on the pages of a team."""
    if not hasattr(request, "tenant"):
        return {}
    return {"shell": Shell(cast("TenantRequest", request))}
