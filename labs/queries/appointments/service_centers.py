"""Reads of service centers by distance."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import Lab, ServiceCenter
from labs.queries.appointments.zip_codes import (
    compute_miles_between,
    find_zip_code_location,
)
from labs.queries.catalogue import find_lab_by_slug
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from accounts.models import Tenant
    from labs.queries.appointments.zip_codes import ZipPlace
    from labs.states.service_centers import Capability

# Contract 6.17.
CENTERS_MAX = 30
_MILES_PER_DEGREE = 69.0


@dataclass(frozen=True, slots=True)
class NearCenter:
    """A service center and its distance in miles."""

    center: ServiceCenter
    miles: float


def get_zip_code_location(zip_code: str) -> ZipPlace:
    """Return the location of a ZIP code. Raises: zip_code_unknown."""
    place = find_zip_code_location(zip_code)
    if place is None:
        raise DomainError(
            "zip_code_unknown", _("Enter a 5-digit US ZIP code that is in use.")
        )
    return place


def list_service_centers_near(
    *,
    place: ZipPlace,
    labs: Iterable[Lab],
    miles: int,
    capabilities: Sequence[Capability] = (),
    limit: int = CENTERS_MAX,
) -> list[NearCenter]:
    """Return active centers of these labs within `miles`, nearest first.

    With `capabilities` those that have all of them. One query: an index bounds it by
    latitude, the rest is reckoned here. Source: Contract 6.17.
    """
    up = miles / _MILES_PER_DEGREE
    # Degrees of longitude shrink towards the poles; no US zip code is near one.
    over = up / max(0.1, cos(radians(abs(place.latitude) + up)))
    found = ServiceCenter.objects.filter(
        is_active=True,
        lab__in=list(labs),
        latitude__range=(place.latitude - up, place.latitude + up),
        longitude__range=(place.longitude - over, place.longitude + over),
    )
    if capabilities:
        found = found.filter(capabilities__contains=list(capabilities))
    near = [
        NearCenter(
            center,
            compute_miles_between(
                *(place.latitude, place.longitude, center.latitude, center.longitude)
            ),
        )
        for center in found
    ]
    near = [one for one in near if one.miles <= miles]
    near.sort(key=lambda one: (one.miles, one.center.site_code))
    return near[:limit]


def find_service_center_by_code(
    *, tenant: Tenant, lab_slug: str, site_code: str
) -> ServiceCenter | None:
    """Return a center by lab and site code, active or not; None without one."""
    lab = find_lab_by_slug(tenant=tenant, slug=lab_slug)
    if lab is None:
        return None
    return ServiceCenter.objects.filter(lab=lab, site_code=site_code).first()
