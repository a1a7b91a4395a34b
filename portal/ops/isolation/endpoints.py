"""List the endpoints of the server: every URL with a parameter, by guard.

Told by the URL conf alone, so that a new one is among them by existing. The suite and
`manage.py isolation_report` sweep the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.urls import URLPattern, URLResolver, get_resolver

if TYPE_CHECKING:
    from collections.abc import Iterator

METHODS = ("get", "post", "put", "patch", "delete")
# Parameters that name nobody's data, and why.
PUBLIC = {
    "slug": "a source's logo",
    "event_type": "a type of the catalogue, the same for all",
    "page_slug": "a page of the documentation, the same for all",
    "lab_id": "a lab, the same for all",
    "provider_id": "a lab's code of a marker, the same for all",
    "uidb36": "a one-time link, its own proof",
    "key": "a one-time link, its own proof",
    "token": "a one-time link, its own proof",
    "share_token": "a shared link's secret, its own proof",
    "shared_file_number": "of a shared link, whose secret is the proof",
    "color": "a style sheet of one colour, the same for all",
    "record_type": "a type of a phone's records, the same for all",
    "operation_slug": "a call of the API reference, the same for all",
}
# Parameters that name what a team has in both of its environments.
TEAM_WIDE = {"member_id", "invitation_id", "management_key_id"}
# URLs that answer a stranger, and why.
OPEN = {
    "api-docs-event": "the catalogue of events, the same for all",
    "api-docs-call": "a call of the API reference, the same for all",
    "docs-page": "a page of the documentation, the same for all",
    "logo": "a source's logo",
    "colors": "a style sheet of one colour, the same for all",
    "api-link-provider-oauth": "a source's slug; without a link's token it is 401",
    "api-lab-marker": "a marker, the same for all; without a key it is 401",
    "account_reset_password_from_key": "a one-time link, its own proof",
    "invitation_link": "a one-time link, its own proof",
    "mailed_invitation_link": "a one-time link, its own proof",
    "courier-events": "a courier's own address; without its signature it is 401",
    "source_push": "a source's own address; without its secret part it is 404",
    "phone_sync": "a phone's own address; without its token it is 401",
    "phone_logs": "a phone's own address; without its token it is 401",
    "phone_records": "a phone's own address; without its token it is 403",
    "phone_upload": "a phone's own address; without its token it is 401",
    "address_link": "a one-time link, its own proof",
    "shared_manifest": "a shared link's own secret; without it it is 404",
    "shared_file": "the same",
    "single_sign_on": "a team's door, before anyone has signed in",
    "single_sign_on_go": "the same",
    "single_sign_on_back": "the same",
}
PARAMETER = re.compile(r"\(\?P<(\w+)>[^)]*\)|<(?:\w+:)?(\w+)>")
_NO_UUID = str(UUID(int=0))
# A team is one in both environments, and so are the labs of its orders: only other
# teams are strangers to their ids.
OF_THE_TEAM = ("v2/team/", "fhir/R4/^Organization/")
# The operators' admin stands above teams.
ABOVE_TEAMS = "admin/"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Routes with a parameter, by the kind of access they need."""

    api: list[str]
    management: list[str]
    pages: list[str]


def list_named_urls(
    resolver: Any = None, prefix: str = "", space: str = ""
) -> Iterator[tuple[str, str, Any]]:
    """Return each URL as (route text, name, view)."""
    for entry in (resolver or get_resolver()).url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            inner = f"{entry.namespace}:" if entry.namespace else ""
            yield from list_named_urls(entry, route, space + inner)
        elif isinstance(entry, URLPattern):
            yield route, f"{space}{entry.name}", entry.callback


def list_endpoints_with_path_parameters() -> Endpoints:
    """List URLs with parameters in their path, but those open to everyone."""
    named = [
        route
        for route, name, _ in list_named_urls()
        if PARAMETER.search(route)
        and not route.startswith(ABOVE_TEAMS)
        and name.rpartition(":")[2] not in OPEN
    ]
    api = [r for r in named if r.startswith(("v2/", "v3/", "lab_report/", "fhir/"))]
    management = [r for r in named if r.startswith("v1/")]
    pages = [r for r in named if r not in {*api, *management}]
    return Endpoints(api, management, pages)


def list_route_parameters(route: str) -> set[str]:
    """Return the names in a route."""
    return {a or b for a, b in PARAMETER.findall(route)}


def list_absent_ids(route: str) -> dict[str, str]:
    """Return an ID for each parameter of a route that it accepts and no row has."""
    return {
        name: _NO_UUID if f"<uuid:{name}>" in route else "1"
        for name in list_route_parameters(route)
    }


def fill_route_parameters(route: str, samples: dict[str, str]) -> str:
    """Put samples into a route; a parameter without one is a KeyError."""
    path = PARAMETER.sub(lambda found: samples[found[1] or found[2]], route)
    # Anchors go, a literal such as the \\$ of FHIR's operations stays.
    return "/" + re.sub(r"/\?\$|\\(.)|[\^$?]", lambda found: found[1] or "", path)
