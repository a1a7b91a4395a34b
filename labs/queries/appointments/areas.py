"""Collection options near a ZIP code: phlebotomists and labs with centers.

Areas with phlebotomists are in labs/data/phlebotomy_areas.csv, made up for the sandbox.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from labs.queries.appointments.service_centers import (
    get_zip_code_location,
    list_service_centers_near,
)
from labs.queries.catalogue import list_labs
from labs.queries.production import offers_home_visits
from labs.states.catalogue import COMMENT_LABS
from labs.states.service_centers import Capability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models import Lab
    from labs.queries.appointments.service_centers import NearCenter

_FILE = Path(__file__).parents[2] / "data" / "phlebotomy_areas.csv"
# Contract 6.1: these answer lookups of service centers.
CENTRAL_LABS = COMMENT_LABS
_COUNTED_MAX = 10_000


@dataclass(frozen=True, slots=True)
class LabInArea:
    """A lab with its centers near a ZIP code, nearest first."""

    lab: Lab
    centers: list[NearCenter]

    @property
    def is_booked_here(self) -> bool:
        """Return whether an appointment can be booked at one of the centers."""
        return any(
            Capability.BOOKABLE_HERE in near.center.capabilities
            for near in self.centers
        )

    @property
    def capabilities(self) -> list[str]:
        """Return the capabilities of any center, sorted."""
        return sorted(
            {one for near in self.centers for one in near.center.capabilities}
        )

    @property
    def bill_types(self) -> list[str]:
        """Return the bill types of any center, sorted."""
        return sorted({one for near in self.centers for one in near.center.bill_types})


@dataclass(frozen=True, slots=True)
class AreaCoverage:
    """The collection options of an area; service types by at-home provider."""

    zip_code: str
    phlebotomy: dict[str, list[str]]
    labs: list[LabInArea]


def find_zip_code_lab_coverage(
    *, tenant: Tenant, zip_code: str, miles: int, lab_slugs: Iterable[str] = ()
) -> AreaCoverage:
    """Return the collection options near a ZIP code at these labs (empty: all).

    One query for the labs and one for each of them. Raises: zip_code_unknown.
    Source: Contract 6.17.
    """
    place = get_zip_code_location(zip_code)
    labs = list_labs_with_centers(tenant=tenant, lab_slugs=lab_slugs)
    return AreaCoverage(
        zip_code=place.zip_code,
        phlebotomy=list_home_visit_providers_of_zip_code(tenant, place.zip_code),
        labs=[
            LabInArea(
                lab,
                list_service_centers_near(
                    place=place, labs=[lab], miles=miles, limit=_COUNTED_MAX
                ),
            )
            for lab in labs.order_by("pk")
        ],
    )


def list_labs_with_centers(
    *, tenant: Tenant, lab_slugs: Iterable[str] = ()
) -> QuerySet[Lab]:
    """Return those of these labs (empty: all) that may have service centers.

    In the sandbox the four of the contract; in production each that was imported.
    Source: Contract 6.1, 6.17, D23.
    """
    slugs = frozenset(lab_slugs)
    if tenant.is_sandbox:
        slugs = (slugs or CENTRAL_LABS) & CENTRAL_LABS
    labs = list_labs(tenant=tenant)
    return labs.filter(slug__in=slugs) if slugs or tenant.is_sandbox else labs


def list_home_visit_providers_of_zip_code(
    tenant: Tenant, zip_code: str
) -> dict[str, list[str]]:
    """Return the at-home providers of a 5-digit ZIP code and how each is booked.

    None in production, where nobody set one up. Source: Contract 6.17, D23.
    """
    found: dict[str, list[str]] = {}
    if not offers_home_visits(tenant):
        return found
    for provider, service_type, prefix in _read_phlebotomy_areas():
        if zip_code.startswith(prefix):
            found.setdefault(provider, []).append(service_type)
    return found


@cache
def _read_phlebotomy_areas() -> tuple[tuple[str, str, str], ...]:
    with _FILE.open(encoding="utf-8", newline="") as lines:
        return tuple(
            (entry["provider"], entry["service_type"], entry["zip_prefix"])
            for entry in csv.DictReader(lines)
        )
