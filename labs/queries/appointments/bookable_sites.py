"""Bookable sites: service centers, and homes that phlebotomists visit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.models import ServiceCenter
from labs.queries.appointments.areas import list_home_visit_providers_of_zip_code
from labs.queries.appointments.service_centers import list_service_centers_near
from labs.queries.appointments.zip_codes import find_zip_code_location
from labs.queries.catalogue import list_labs
from labs.states.appointments import AppointmentProvider, AppointmentType
from labs.states.service_centers import (
    Capability,
    Hours,
    VisitConfirmation,
    deserialize_opening_hours,
    parse_opening_hours,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accounts.models import Tenant
    from labs.queries.appointments.zip_codes import ZipPlace

# Contract 6.18: how many sites one lookup may name.
SITE_CODES_MAX = 3
_READY, _REQUEST = "appointment-ready", "appointment-request"
# Ours: what home-visit providers offer (contract 6.17 only names the providers).
_HOME_HOURS = parse_opening_hours("mon-sat 07:00-19:00")
_HOME_PLACES = 2
_HOME_PRICE = 7_900


@dataclass(frozen=True, slots=True)
class Site:
    """A bookable site: a service center, or the area of a home.

    `address` has the wire's shape of an address (contract 6.18), of a home where the
    patient is. Degrees; `miles` from where was asked, None where from nowhere; `price`
    of a visit in minor units. `places` is how many visits fit one slot. `confirmed_by`
    is who confirms a visit there.
    """

    kind: AppointmentType
    provider: str
    code: str
    name: str
    address: Mapping[str, Any]
    latitude: float
    longitude: float
    time_zone: str
    hours: Hours
    places: int
    price: int = 0
    miles: float | None = None
    phone: str = ""
    confirmed_by: str = VisitConfirmation.BOOK


def list_bookable_center_sites(
    *,
    tenant: Tenant,
    lab_slug: str,
    place: ZipPlace | None = None,
    miles: int = 0,
    codes: Sequence[str] = (),
) -> list[Site]:
    """List a lab's bookable centers near a place or with these codes.

    Nearest first, at most 30; with both, those of the codes that are in reach. Codes
    of no such center are left out. Two queries. Source: Contract 6.17, 6.18.
    """
    labs = list(list_labs(tenant=tenant).filter(slug=lab_slug))
    if place is not None:
        near = list_service_centers_near(
            place=place,
            labs=labs,
            miles=miles,
            capabilities=[Capability.BOOKABLE_HERE],
        )
        return [
            build_bookable_center_site(one.center, lab_slug, one.miles)
            for one in near
            if not codes or one.center.site_code in codes
        ]
    found = ServiceCenter.objects.filter(
        lab__in=labs,
        is_active=True,
        capabilities__contains=[Capability.BOOKABLE_HERE],
        site_code__in=list(codes),
    ).order_by("site_code")
    return [build_bookable_center_site(center, lab_slug) for center in found]


def build_bookable_center_site(
    center: ServiceCenter, lab_slug: str, miles: float | None = None
) -> Site:
    """Build the site of a service center."""
    return Site(
        kind=AppointmentType.SERVICE_CENTER,
        provider=lab_slug,
        code=center.site_code,
        name=center.name,
        address={
            "first_line": center.first_line,
            "second_line": center.second_line or None,
            "city": center.city,
            "state": center.state,
            "zip_code": center.zip_code,
            "unit": None,
            "access_notes": None,
        },
        latitude=center.latitude,
        longitude=center.longitude,
        time_zone=center.time_zone,
        hours=deserialize_opening_hours(center.hours),
        places=center.places,
        miles=miles,
        phone=center.phone_number,
        confirmed_by=center.confirmed_by,
    )


def list_bookable_home_visit_providers(
    tenant: Tenant, address: Mapping[str, Any]
) -> list[Site]:
    """List the providers with bookable times at a home. Source: Contract 6.18."""
    return [
        site
        for provider, kinds in list_home_visit_providers_of_zip_code(
            tenant, str(address["zip_code"])[:5]
        ).items()
        if _READY in kinds
        and (site := build_home_visit_site(provider, address)) is not None
    ]


def build_home_visit_site(provider: str, address: Mapping[str, Any]) -> Site | None:
    """Build a provider's site of a home; None for an unknown ZIP code."""
    place = find_zip_code_location(str(address["zip_code"]))
    if place is None:
        return None
    known = AppointmentProvider.known(provider)
    return Site(
        kind=AppointmentType.PHLEBOTOMY,
        provider=provider,
        code=place.zip_code,
        name=str(known.label) if known else provider,
        address={
            name: address.get(name) or None
            for name in (
                *("first_line", "second_line", "city", "state", "zip_code"),
                *("unit", "access_notes"),
            )
        },
        latitude=place.latitude,
        longitude=place.longitude,
        time_zone=place.time_zone,
        hours=_HOME_HOURS,
        places=_HOME_PLACES,
        price=_HOME_PRICE,
    )


def accepts_home_visit_requests(tenant: Tenant, provider: str, zip_code: str) -> bool:
    """Return whether a provider accepts requests whose time it sets itself."""
    found = list_home_visit_providers_of_zip_code(tenant, zip_code[:5])
    return _REQUEST in found.get(provider, [])
