"""Response shapes of service centers and areas. Contract 6.17."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from labs.states.accounts import Billing
from labs.states.service_centers import Capability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labs.models import Lab, LabAccount
    from labs.queries.appointments.areas import AreaCoverage, LabInArea
    from labs.queries.appointments.service_centers import NearCenter


class LngLat(TypedDict):
    """A point in degrees."""

    lng: float
    lat: float


class CenterMetadata(TypedDict):
    """Address and opening hours of a service center, in its local time."""

    name: str
    state: str
    city: str
    zip_code: str
    first_line: str
    second_line: str | None
    phone_number: str | None
    fax_number: str | None
    hours: dict[str, list[list[str]]] | None
    website: str | None


class CenterAnswer(TypedDict):
    """A service center; `distance` in miles."""

    metadata: CenterMetadata
    distance: int
    site_code: str
    supported_bill_types: list[Annotated[str, Billing]]
    location: LngLat
    capabilities: list[Annotated[str, Capability]]


class PscInfo(TypedDict):
    """A lab's centers, nearest first."""

    lab_id: int
    slug: str
    patient_service_centers: list[CenterAnswer]


class PhlebotomyProviderAnswer(TypedDict):
    """A provider of at-home visits, with appointments or on request."""

    name: str
    service_types: list[str]


class PhlebotomyAnswer(TypedDict):
    """Whether at-home visits are available in the ZIP code."""

    is_served: bool
    providers: list[PhlebotomyProviderAnswer]


class CentersInReach(TypedDict):
    """The number of service centers within the radius, and their capabilities."""

    appointment_with_vital: bool
    within_radius: int
    radius: str
    capabilities: list[Annotated[str, Capability]] | None


class CentralLabAnswer(TypedDict):
    """A lab in the area."""

    lab_id: int
    supported_bill_types: list[Annotated[str, Billing]]
    patient_service_centers: CentersInReach


class AreaInfo(TypedDict):
    """Collection options of an area; labs by slug."""

    zip_code: str
    phlebotomy: PhlebotomyAnswer
    central_labs: dict[str, CentralLabAnswer]


def build_service_center_info(
    lab: Lab, found: Iterable[NearCenter], account: LabAccount | None
) -> PscInfo:
    """Build PscInfo; an account limits bill types to those both accept."""
    return {
        "lab_id": lab.pk,
        "slug": lab.slug,
        "patient_service_centers": [_build_center(near, account) for near in found],
    }


def build_area_coverage_info(
    area: AreaCoverage, miles: int, account: LabAccount | None
) -> AreaInfo:
    """Build AreaInfo; an account limits bill types at its own lab."""
    return {
        "zip_code": area.zip_code,
        "phlebotomy": {
            "is_served": bool(area.phlebotomy),
            "providers": [
                {"name": name, "service_types": kinds}
                for name, kinds in area.phlebotomy.items()
            ],
        },
        "central_labs": {
            one.lab.slug: _build_central_lab(one, miles, account) for one in area.labs
        },
    }


def _build_center(near: NearCenter, account: LabAccount | None) -> CenterAnswer:
    center = near.center
    return {
        "metadata": {
            "name": center.name,
            "state": center.state,
            "city": center.city,
            "zip_code": center.zip_code,
            "first_line": center.first_line,
            "second_line": center.second_line or None,
            "phone_number": center.phone_number or None,
            "fax_number": center.fax_number or None,
            "hours": center.hours or None,
            "website": center.website or None,
        },
        "distance": round(near.miles),
        "site_code": center.site_code,
        "supported_bill_types": _shared_bill_types(center.bill_types, account),
        "location": {"lng": center.longitude, "lat": center.latitude},
        "capabilities": list(center.capabilities),
    }


def _build_central_lab(
    one: LabInArea, miles: int, account: LabAccount | None
) -> CentralLabAnswer:
    narrows = account if account and account.lab_id == one.lab.pk else None
    return {
        "lab_id": one.lab.pk,
        "supported_bill_types": _shared_bill_types(one.bill_types, narrows),
        "patient_service_centers": {
            "appointment_with_vital": one.is_booked_here,
            "within_radius": len(one.centers),
            "radius": str(miles),
            "capabilities": one.capabilities or None,
        },
    }


def _shared_bill_types(
    bill_types: Iterable[str], account: LabAccount | None
) -> list[str]:
    return [
        one for one in bill_types if account is None or one in account.allowed_billing
    ]
