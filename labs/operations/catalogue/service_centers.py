"""Parse, describe and store service centers: rows that ship, and imported ones."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import ServiceCenter
from labs.operations.catalogue.catalogue_cells import (
    clean_row,
    parse_choices,
    parse_flag,
)
from labs.operations.catalogue.catalogue_rows import COLUMNS, CellError
from labs.queries.appointments.zip_codes import find_zip_code_location
from labs.states.accounts import US_STATES, Billing
from labs.states.service_centers import (
    Capability,
    VisitConfirmation,
    deserialize_opening_hours,
    format_opening_hours,
    parse_opening_hours,
    serialize_opening_hours,
)
from portal.lib.periods import list_time_zones

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from labs.models import Lab

PLACES_MAX = 100
_WRITTEN_AT_ONCE = 1_000


def upsert_service_centers(centers: Iterable[ServiceCenter]) -> None:
    """Create or update centers by lab and site_code."""
    columns = [
        field.name for field in ServiceCenter._meta.fields if not field.primary_key
    ]
    ServiceCenter.objects.bulk_create(
        centers,
        batch_size=_WRITTEN_AT_ONCE,
        update_conflicts=True,
        unique_fields=["lab", "site_code"],
        update_fields=columns,
    )


def parse_service_center_rows(
    *, entries: Iterable[Mapping[str, str]], labs: Iterable[Lab]
) -> list[ServiceCenter]:
    """Return unsaved centers from rows that ship. Raises CellError at an error."""
    by_slug = {lab.slug: lab for lab in labs}
    needed, optional = COLUMNS["service_centers"]
    empty = dict.fromkeys((*needed, *optional), "")
    by_book = {"confirmed_by": str(VisitConfirmation.BOOK)}
    return [
        parse_service_center({**empty, **by_book, **entry}, by_slug.get(entry["lab"]))
        for entry in entries
    ]


def parse_service_center(entry: Mapping[str, str], lab: Lab | None) -> ServiceCenter:
    """Return the unsaved center of a row, whose needed values are there.

    Hours are written as labs.states.service_centers.parse_opening_hours reads them,
    coordinates are degrees. Without coordinates or time zone a center has those of its
    ZIP code; `retired` closes it. Raises: CellError.
    """
    if lab is None:
        raise CellError("lab", _("lab is not a lab of this catalog"))
    if entry["state"] not in US_STATES:
        raise CellError("state", _("state is not a two-letter US state code"))
    place = find_zip_code_location(entry["zip_code"])
    if place is None:
        raise CellError("zip_code", _("zip_code is not a known US ZIP code"))
    if bool(entry["latitude"]) != bool(entry["longitude"]):
        message = _("latitude and longitude must be given together")
        raise CellError("latitude", message)
    zone = entry["time_zone"] or place.time_zone
    if zone not in list_time_zones():
        raise CellError("time_zone", _("time_zone is not an IANA time zone"))
    center = ServiceCenter(
        lab=lab,
        site_code=entry["site_code"],
        name=entry["name"],
        first_line=entry["first_line"],
        second_line=entry["second_line"],
        city=entry["city"],
        state=entry["state"],
        zip_code=entry["zip_code"],
        phone_number=entry["phone_number"],
        fax_number=entry["fax_number"],
        website=entry["website"],
        latitude=_parse_degrees(entry, "latitude", place.latitude),
        longitude=_parse_degrees(entry, "longitude", place.longitude),
        time_zone=zone,
        hours=_parse_hours(entry["hours"]),
        capabilities=parse_choices(entry, "capabilities", Capability),
        bill_types=parse_choices(entry, "bill_types", Billing) or [Billing.CLIENT_BILL],
        places=_parse_places(entry["places"]),
        confirmed_by=_parse_confirmation(entry),
        email=entry["email"],
        is_active=not parse_flag(entry, "retired", otherwise=False),
    )
    clean_row(center, "lab")
    return center


def describe_service_center(center: ServiceCenter) -> dict[str, str]:
    """Return a center's row."""
    return {
        "lab": center.lab.slug,
        "site_code": center.site_code,
        "name": center.name,
        "first_line": center.first_line,
        "second_line": center.second_line,
        "city": center.city,
        "state": center.state,
        "zip_code": center.zip_code,
        "phone_number": center.phone_number,
        "fax_number": center.fax_number,
        "website": center.website,
        "latitude": repr(center.latitude),
        "longitude": repr(center.longitude),
        "time_zone": center.time_zone,
        "hours": format_opening_hours(deserialize_opening_hours(center.hours)),
        "capabilities": "|".join(center.capabilities),
        "bill_types": "|".join(center.bill_types),
        "places": str(center.places),
        "confirmed_by": center.confirmed_by,
        "email": center.email,
        "retired": "false" if center.is_active else "true",
    }


def _parse_hours(text: str) -> dict[str, list[list[str]]]:
    try:
        return serialize_opening_hours(parse_opening_hours(text))
    except ValueError as fault:
        raise CellError("hours", str(fault)) from None


def _parse_degrees(entry: Mapping[str, str], name: str, otherwise: float) -> float:
    if not entry[name]:
        return otherwise
    try:
        degrees = float(entry[name])
    except ValueError:
        degrees = float("nan")
    if not isfinite(degrees):
        raise CellError(name, _("%(name)s is not a number") % {"name": name})
    return degrees


def _parse_confirmation(entry: Mapping[str, str]) -> str:
    """Return who confirms visits; staff where the file doesn't say.

    That a site works by our book must be said: otherwise nobody there knows of a visit.
    """
    found = VisitConfirmation.known(entry["confirmed_by"] or VisitConfirmation.STAFF)
    if found is None:
        names = {"names": ", ".join(VisitConfirmation.values)}
        raise CellError("confirmed_by", _("confirmed_by is none of %(names)s") % names)
    if found is VisitConfirmation.MAIL and not entry["email"]:
        raise CellError("email", _("email is missing: the site is asked by mail"))
    return str(found)


def _parse_places(text: str) -> int:
    if not text:
        return 1
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= PLACES_MAX:
        message = _("places is not a whole number from 1 to %(most)d")
        raise CellError("places", message % {"most": PLACES_MAX})
    return int(text)
