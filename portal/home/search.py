"""The command palette: pages, actions and places by rights, and what is searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.declarations.pages import list_destinations, list_searches
from accounts.queries.audit import list_records_opened
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.declarations.pages import Destination, Search
    from accounts.web.requests import TenantRequest

# Fewer letters would fit too much to be of use.
LEAST_LETTERS = 2
MOST_LETTERS = 255
# Records offered again.
MOST_RECENT = 8


@dataclass(frozen=True, slots=True)
class Option:
    """One line of the palette."""

    words: str
    icon: str
    url: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Lines under one heading; `key` keeps its IDs apart from other groups.

    `is_last` groups are below pages and actions.
    """

    key: str
    title: str
    options: tuple[Option, ...]
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What was found; `exact` is where a whole id leads, if the text was one."""

    groups: list[Group]
    exact: str | None


def search_everything(request: TenantRequest, text: str) -> Found:
    """Search every kind of record or page that the member may read.

    Of each kind what is exactly `text` comes first, then what the member opened lately.
    The number of queries depends on the kinds of things alone.
    """
    text = text.strip()
    if not LEAST_LETTERS <= len(text) <= MOST_LETTERS or "\0" in text:
        return Found(groups=[], exact=None)
    hits = {kind: kind.find(request, text) for kind in _list_searches(request)}
    opened = [str(record) for _subject, record in _list_opened(request)]
    for found in hits.values():
        found.sort(key=lambda hit: (not hit.is_exact, hit.record not in opened))
    exact = [hit.url for found in hits.values() for hit in found if hit.is_exact]
    return Found(
        groups=[
            Group(
                kind.key,
                kind.title,
                tuple(Option(h.words, kind.icon, h.url, h.detail) for h in found),
                kind.is_last,
            )
            for kind, found in hits.items()
            if found
        ],
        exact=exact[0] if exact else None,
    )


def list_recently_opened(request: TenantRequest) -> list[Group]:
    """Return the records that the member opened last, newest first, as one group.

    The audit is where it stands who opened what.
    """
    opened = _list_opened(request)
    lines: dict[str, Option] = {}
    for kind in _list_searches(request):
        ids = [record for subject, record in opened if subject == kind.subject]
        for hit in kind.reopen(request, ids) if kind.reopen and ids else ():
            lines[hit.record] = Option(hit.words, kind.icon, hit.url, hit.detail)
    options = tuple(lines[str(each)] for _subject, each in opened if str(each) in lines)
    return [Group("recent", _("Recently opened"), options)] if options else []


def list_overview_actions(request: TenantRequest) -> list[Option]:
    """List the actions that the overview offers as buttons."""
    allowed = _allowed(request)
    return [_option(request, place) for place in allowed if place.on_overview]


def list_palette_commands(request: TenantRequest) -> list[Group]:
    """List pages, actions and other places that are open to the member."""
    allowed = _allowed(request)
    pages = tuple(_option(request, place) for place in allowed if not place.is_action)
    actions = tuple(_option(request, place) for place in allowed if place.is_action)
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
        Group(
            g.key,
            g.title,
            tuple(o for o in g.options if lower_text in o.words.lower()),
        )
        for g in groups
    ]
    return [group for group in kept if group.options]


def _list_searches(request: TenantRequest) -> list[Search]:
    """Kinds of things that the member may search, in order."""
    return [
        kind
        for kind in list_searches()
        if kind.area is None or request.rights.allow(kind.area)
    ]


def _list_opened(request: TenantRequest) -> list[tuple[str, UUID]]:
    return list_records_opened(
        tenant=request.tenant,
        actor_key=request.actor.key,
        subjects=[kind.subject for kind in _list_searches(request) if kind.subject],
        limit=MOST_RECENT,
    )


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
    return Option(str(destination.words), destination.icon, url)


def _places(request: TenantRequest) -> tuple[Option, ...]:
    return tuple(
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
    )
