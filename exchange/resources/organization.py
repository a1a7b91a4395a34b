"""Organization: the team and the labs of its orders. Source: US Core Organization."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.queries.tenants import own_team
from accounts.states import Area
from exchange.resources.base import Json, ResourceType, TableSource, list_uuids
from exchange.resources.datatypes import (
    US_CORE,
    build_concept,
    build_meta,
    build_reference,
    drop_empty,
)
from exchange.resources.matching import Kind, Param
from labs.queries.population import labs_of_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Team, Tenant
    from labs.models import Lab

_LAB = "lab-"
_PROFILE = f"{US_CORE}organization"


def build_lab_reference(lab: Lab) -> Json:
    """Return a Reference to a lab."""
    return build_reference("Organization", f"{_LAB}{lab.pk}", lab.name)


def _build_teams(tenant: Tenant, teams: Sequence[Team]) -> list[list[Json]]:
    return [
        [
            {
                "resourceType": "Organization",
                "id": str(team.pk),
                "meta": build_meta(team.created_at, None, _PROFILE),
                "active": True,
                "name": team.name,
            }
        ]
        for team in teams
    ]


def _build_labs(tenant: Tenant, labs: Sequence[Lab]) -> list[list[Json]]:
    return [
        [
            drop_empty(
                {
                    "resourceType": "Organization",
                    "id": f"{_LAB}{lab.pk}",
                    "meta": {"profile": [_PROFILE]},
                    "active": True,
                    "type": [build_concept("Laboratory")],
                    "name": lab.name,
                    "address": [
                        drop_empty(
                            {
                                "line": [lab.first_line_address]
                                if lab.first_line_address
                                else [],
                                "city": lab.city,
                                "postalCode": lab.zipcode,
                            }
                        )
                    ]
                    if lab.city
                    else None,
                }
            )
        ]
        for lab in labs
    ]


ORGANIZATION = ResourceType(
    name="Organization",
    sources=(
        TableSource(
            area=Area.ORDERS,
            rows=labs_of_orders,
            build=_build_labs,
            by_ids=lambda rows, ids: rows.filter(
                pk__in=[
                    int(number)
                    for one in ids
                    if one.startswith(_LAB)
                    and (number := one.removeprefix(_LAB)).isdecimal()
                    and len(number) < 10
                ]
            ),
        ),
        TableSource(
            area=Area.ORDERS,
            rows=own_team,
            build=_build_teams,
            by_ids=lambda rows, ids: rows.filter(pk__in=list_uuids(ids)),
        ),
    ),
    params=(
        Param("name", Kind.STRING, ("name",)),
        Param(
            "address",
            Kind.STRING,
            tuple(
                f"address.{part}"
                for part in ("line", "city", "state", "postalCode", "country")
            ),
        ),
    ),
    profiles=(_PROFILE,),
)
