"""The sidebar: the links that are open to a member, in groups, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from accounts.declarations.pages import list_nav_links

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.declarations.pages import NavCount, NavGroup, NavLink
    from accounts.web.requests import TenantRequest


@dataclass(frozen=True, slots=True)
class SidebarGroup:
    """A group of the sidebar; each link with its number, None for no number."""

    group: NavGroup
    links: tuple[tuple[NavLink, NavCount | None], ...]


def build_sidebar(
    request: TenantRequest, counts: Mapping[str, NavCount]
) -> list[SidebarGroup]:
    """Build the groups that have a link open to the member; `counts` by section."""
    return [
        SidebarGroup(group, tuple((link, counts.get(link.section)) for link in links))
        for group, links in groupby(
            list_allowed_links(request), key=lambda link: link.group
        )
    ]


def count_navigation_badges(request: TenantRequest) -> dict[str, NavCount]:
    """Count what the sidebar shows beside its links, by section."""
    return {
        link.section: count
        for link in list_allowed_links(request)
        if link.count and (count := link.count(request))
    }


def list_allowed_links(request: TenantRequest) -> list[NavLink]:
    """List the links that are open to the member, in order."""
    return [
        link
        for link in list_nav_links()
        if all(request.rights.allow(area, write=link.write) for area in link.areas)
        and not (link.is_production_only and request.tenant.is_sandbox)
    ]
