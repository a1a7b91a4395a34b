"""The command palette: pages, actions and places by rights, and things by their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.declarations.pages import list_destinations, list_searches
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from accounts.declarations.pages import Destination, Hit
    from accounts.web.requests import TenantRequest

# Fewer letters would fit too much to be of use.
LEAST_LETTERS = 2
MOST_LETTERS = 255


@dataclass(frozen=True, slots=True)
class Option:
    """One line of the palette."""

    words: str
    icon: str
    url: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Lines under one heading; `key` keeps its IDs apart from other groups."""

    key: str
    title: str
    options: list[Option]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found; `exact` is where a whole id leads, if the text was one."""

    groups: list[Group]
    exact: str | None


def search_records_by_id(request: TenantRequest, text: str) -> Found:
    """Search the IDs of every record that the member may read.

    The number of queries depends on the kinds of things alone.
    """
    text = text.strip()
    if not LEAST_LETTERS <= len(text) <= MOST_LETTERS or "\0" in text:
        return Found(groups=[], exact=None)
    found: list[tuple[Group, list[Hit]]] = []
    for kind in list_searches():
        if request.rights.allow(kind.area):
            hits = kind.find(request, text)
            options = [Option(h.words, kind.icon, h.url, h.detail) for h in hits]
            found.append((Group(kind.key, kind.title, options), hits))
    exact = [hit.url for _group, hits in found for hit in hits if hit.is_exact]
    return Found(
        groups=[group for group, _hits in found if group.options],
        exact=exact[0] if exact else None,
    )


def list_overview_actions(request: TenantRequest) -> list[Option]:
    """List the actions that the overview offers as buttons."""
    allowed = _allowed(request)
    return [_option(request, place) for place in allowed if place.on_overview]


def list_palette_commands(request: TenantRequest) -> list[Group]:
    """List pages, actions and other places that are open to the member."""
    allowed = _allowed(request)
    pages = [_option(request, place) for place in allowed if not place.is_action]
    actions = [_option(request, place) for place in allowed if place.is_action]
    groups = [
        Group("goto", _("Go to"), pages),
        Group("actions", _("Actions"), actions),
        Group("places", _("Switch to"), _places(request)),
    ]
    return [group for group in groups if group.options]


def filter_palette_commands(groups: list[Group], text: str) -> list[Group]:
    """Return the lines whose words hold `text`, in any case; for who has no script."""
    lower_text = text.strip().lower()
    kept = [
        Group(g.key, g.title, [o for o in g.options if lower_text in o.words.lower()])
        for g in groups
    ]
    return [group for group in kept if group.options]


def _allowed(request: TenantRequest) -> list[Destination]:
    """Destinations that are open to the member, in order."""
    return [
        place
        for place in list_destinations()
        if (place.area is None or request.rights.allow(place.area, write=place.write))
        and (request.tenant.is_sandbox or not place.is_sandbox_only)
    ]


def _option(request: TenantRequest, destination: Destination) -> Option:
    url = page_url(request, destination.path_name)
    if destination.query:
        url += f"?{destination.query}"
    return Option(destination.words, destination.icon, url)


def _places(request: TenantRequest) -> list[Option]:
    return [
        Option(
            f"{place.team.name}, {place.get_environment_display()}",
            "updown",
            reverse(
                "home",
                kwargs={
                    "team_slug": place.team.slug,
                    "environment": place.environment,
                },
            ),
        )
        for place in request.places
        if place.pk != request.tenant.pk
    ]
