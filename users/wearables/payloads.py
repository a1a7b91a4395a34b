"""Wire shapes of sources that both answers and events carry.

Must not be here: anything that reads the database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from django.conf import settings

from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Mapping


class SourceBadge(TypedDict):
    """A source as people see it (contract 2.1); `logo` is an absolute URL of ours."""

    name: str
    slug: str
    logo: str


class Scopes(TypedDict):
    """Scopes a resource needs and may have."""

    required: list[str]
    optional: list[str]


class ScopeRequirementsGrants(TypedDict):
    """Which scopes the user granted and denied."""

    user_granted: Scopes
    user_denied: Scopes


class ResourceAvailability(TypedDict):
    """Whether a source gives a resource for this user (contract 2.4)."""

    status: str
    scope_requirements: ScopeRequirementsGrants | None


class ConnectionCreated(TypedDict):
    """Data of provider.connection.created (contract 8.2); `source` is the old twin."""

    user_id: str
    provider: SourceBadge
    source: SourceBadge
    resource_availability: dict[str, ResourceAvailability]
    external_user_id: str | None


def logo_url(slug: str) -> str:
    """Where we serve a source's logo."""
    return f"{settings.PUBLIC_URL}/logos/{slug}.svg"


def source_badge(slug: str) -> SourceBadge:
    """The badge of a source, also of one we do not know."""
    provider = find_provider(slug)
    return {"name": provider.name, "slug": slug, "logo": logo_url(slug)}


def availability_answer(
    stored: Mapping[str, Mapping[str, Any]],
) -> dict[str, ResourceAvailability]:
    """A connection's stored availability with every key of the contract."""
    return {
        resource: {
            "status": str(kept["status"]),
            "scope_requirements": kept.get("scope_requirements"),
        }
        for resource, kept in stored.items()
    }
