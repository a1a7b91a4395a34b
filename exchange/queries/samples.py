"""A resource of each type of a tenant, for sweeps that call each path with its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exchange.resources.base import Query
from exchange.resources.registry import RESOURCE_TYPES

if TYPE_CHECKING:
    from accounts.models import Tenant

_BINARY = "fhir_binary_id"
_COMPOSITION = "fhir_composition_id"
# Files are described by these, and have their ids.
_DESCRIBED_BY = "DocumentReference"
# Documents are made of these, and have their ids.
_REPORTED_BY = "DiagnosticReport"


def find_resource_parameter(name: str) -> str:
    """Return the route parameter of a resource type's ids."""
    return f"fhir_{name.lower()}_id"


def list_resource_parameters() -> list[str]:
    """List the route parameters of all types."""
    return [*map(find_resource_parameter, RESOURCE_TYPES), _BINARY, _COMPOSITION]


def find_sample_resource_ids(tenant: Tenant) -> dict[str, str]:
    """Return an id of each type that the tenant has any of, by route parameter."""
    samples: dict[str, str] = {}
    for name, resource in RESOURCE_TYPES.items():
        for source in resource.sources:
            found, _ = source.list_after(Query(tenant=tenant), "", 1)
            if found:
                samples[find_resource_parameter(name)] = found[0].resource["id"]
                break
    if described := samples.get(find_resource_parameter(_DESCRIBED_BY)):
        samples[_BINARY] = described
    if reported := samples.get(find_resource_parameter(_REPORTED_BY)):
        samples[_COMPOSITION] = reported
    return samples
