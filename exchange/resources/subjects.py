"""Whose health data a resource is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exchange.resources.base import parse_uuid

if TYPE_CHECKING:
    from uuid import UUID

    from exchange.resources.base import Json


def find_user_of_resource(resource: Json) -> UUID | None:
    """Return the user of a resource; None for a resource about no user."""
    if resource["resourceType"] == "Patient":
        return parse_uuid(resource["id"])
    for name in ("subject", "patient"):
        if reference := resource.get(name, {}).get("reference"):
            return parse_uuid(reference.rpartition("/")[2])
    for participant in resource.get("participant", []):
        reference = participant["actor"].get("reference", "")
        if reference.startswith("Patient/"):
            return parse_uuid(reference.rpartition("/")[2])
    return None
