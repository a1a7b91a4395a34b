"""The directory of service centers: reference data and imported files."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from labs.models import Lab, ServiceCenter
from labs.queries.appointments.zip_codes import find_zip_code_location
from labs.states.accounts import US_STATES, Billing
from labs.states.service_centers import (
    Capability,
    VisitConfirmation,
    parse_opening_hours,
    serialize_opening_hours,
)
from portal.lib.errors import DomainError
from portal.lib.periods import list_time_zones

if TYPE_CHECKING:
    from collections.abc import Iterable

# Columns that a file must have; the others of COLUMNS may be missing or empty.
NEEDED = (
    "lab",
    "site_code",
    "name",
    "first_line",
    "city",
    "state",
    "zip_code",
    "hours",
)
COLUMNS = (
    *NEEDED,
    *("second_line", "phone_number", "fax_number", "website"),
    *("latitude", "longitude", "time_zone", "capabilities", "bill_types", "places"),
    *("confirmed_by", "email"),
)
ROWS_MAX = 100_000
PLACES_MAX = 100
_WRITTEN_AT_ONCE = 1_000
_FAULTS_TOLD = 20


class ImportedCenters(NamedTuple):
    """How many centers an import stored and deactivated."""

    written: int
    closed: int


def import_service_centers(
    *, lines: Iterable[str], closes_others: bool = False
) -> ImportedCenters:
    """Import production's directory of centers; nothing if any line has an error.

    The header names COLUMNS. Lists are parted by `|`, hours are written as
    labs.states.service_centers.read_hours tells, coordinates are degrees. Without
    coordinates or time zone a center has those of its zip code. A center is known by
    lab and site_code. With `closes_others` centers of the file's labs that it lacks
    become inactive. Raises: service_centers_invalid (the lines and their faults).
    """
    reader = csv.DictReader(lines, restkey="more")
    missing = [name for name in NEEDED if name not in (reader.fieldnames or ())]
    if missing:
        raise _import_refusal(
            [
                _("Add the missing columns to the header: %(columns)s.")
                % {"columns": ", ".join(missing)}
            ]
        )
    production = Lab.objects.in_catalogue_of(None)
    labs = {lab.slug: lab for lab in production}
    centers: dict[tuple[int, str], ServiceCenter] = {}
    faults = []
    for entry in reader:
        if len(centers) == ROWS_MAX:
            raise _import_refusal(
                [
                    _("The file has more than %(most)d centers. Split it.")
                    % {"most": ROWS_MAX}
                ]
            )
        try:
            center = _parse_center(entry, labs)
        except ValueError as fault:
            faults.append(
                _("Line %(line)d: %(fault)s.")
                % {"line": reader.line_num, "fault": fault}
            )
            continue
        if (center.lab_id, center.site_code) in centers:
            faults.append(
                _("Line %(line)d: site_code is listed twice.")
                % {"line": reader.line_num}
            )
        centers[center.lab_id, center.site_code] = center
    if not centers and not faults:
        faults = [_("The file has no centers.")]
    if faults:
        raise _import_refusal(faults)
    with transaction.atomic():
        upsert_service_centers(centers.values())
        closed = 0
        if closes_others:
            others = ServiceCenter.objects.filter(
                is_active=True, lab__in={center.lab_id for center in centers.values()}
            ).exclude(
                pk__in=[center.pk for center in _find_stored_centers(centers)],
            )
            closed = others.update(is_active=False)
    return ImportedCenters(written=len(centers), closed=closed)


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
    *, entries: Iterable[dict[str, str]], labs: Iterable[Lab]
) -> list[ServiceCenter]:
    """Return unsaved centers from rows. Raises ValueError at an error."""
    by_slug = {lab.slug: lab for lab in labs}
    by_book = {"confirmed_by": str(VisitConfirmation.BOOK)}
    return [_parse_center({**by_book, **entry}, by_slug) for entry in entries]


def _find_stored_centers(
    centers: dict[tuple[int, str], ServiceCenter],
) -> list[ServiceCenter]:
    return [
        center
        for center in ServiceCenter.objects.filter(
            lab__in={lab_id for lab_id, _code in centers}
        ).only("lab_id", "site_code")
        if (center.lab_id, center.site_code) in centers
    ]


def _parse_center(entry: dict[str, str], labs: dict[str, Lab]) -> ServiceCenter:
    if entry.get("more"):
        raise ValueError(_("more values than columns"))
    values = {name: (entry.get(name) or "").strip() for name in COLUMNS}
    for name in NEEDED:
        if not values[name]:
            raise ValueError(_("%(name)s is missing") % {"name": name})
    lab = labs.get(values["lab"])
    if lab is None:
        raise ValueError(_("lab is not a lab of production"))
    if values["state"] not in US_STATES:
        raise ValueError(_("state is not a two-letter US state code"))
    place = find_zip_code_location(values["zip_code"])
    if place is None:
        raise ValueError(_("zip_code is not a known US ZIP code"))
    if bool(values["latitude"]) != bool(values["longitude"]):
        raise ValueError(_("latitude and longitude must be given together"))
    zone = values["time_zone"] or place.time_zone
    if zone not in list_time_zones():
        raise ValueError(_("time_zone is not an IANA time zone"))
    center = ServiceCenter(
        lab=lab,
        site_code=values["site_code"],
        name=values["name"],
        first_line=values["first_line"],
        second_line=values["second_line"],
        city=values["city"],
        state=values["state"],
        zip_code=values["zip_code"],
        phone_number=values["phone_number"],
        fax_number=values["fax_number"],
        website=values["website"],
        latitude=_parse_number(values, "latitude", place.latitude),
        longitude=_parse_number(values, "longitude", place.longitude),
        time_zone=zone,
        hours=serialize_opening_hours(parse_opening_hours(values["hours"])),
        capabilities=_parse_choices(values, "capabilities", Capability),
        bill_types=_parse_choices(values, "bill_types", Billing)
        or [Billing.CLIENT_BILL],
        places=_parse_places(values["places"]),
        confirmed_by=_parse_confirmation(values),
        email=values["email"],
    )
    try:
        center.clean_fields(exclude=["lab"])
    except ValidationError as fault:
        raise ValueError(
            _("not valid: %(names)s") % {"names": ", ".join(sorted(fault.error_dict))}
        ) from None
    return center


def _parse_number(values: dict[str, str], name: str, otherwise: float) -> float:
    if not values[name]:
        return otherwise
    try:
        return float(values[name])
    except ValueError:
        raise ValueError(_("%(name)s is not a number") % {"name": name}) from None


def _parse_confirmation(values: dict[str, str]) -> str:
    """Return who confirms visits; staff where the file doesn't say.

    That a site works by our book must be said: otherwise nobody there knows of a visit.
    """
    found = VisitConfirmation.known(values["confirmed_by"] or VisitConfirmation.STAFF)
    if found is None:
        raise ValueError(
            _("confirmed_by is none of %(names)s")
            % {"names": ", ".join(VisitConfirmation.values)}
        )
    if found is VisitConfirmation.MAIL and not values["email"]:
        raise ValueError(_("email is missing: the site is asked by mail"))
    return str(found)


def _parse_places(text: str) -> int:
    if not text:
        return 1
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= PLACES_MAX:
        raise ValueError(
            _("places is not a whole number from 1 to %(most)d") % {"most": PLACES_MAX}
        )
    return int(text)


def _parse_choices(
    values: dict[str, str], name: str, choices: type[Capability | Billing]
) -> list[str]:
    parts = [part.strip() for part in values[name].split("|") if part.strip()]
    if any(choices.known(part) is None for part in parts):
        raise ValueError(_("%(name)s has an unknown value") % {"name": name})
    return parts


def _import_refusal(faults: list[str]) -> DomainError:
    shown = faults[:_FAULTS_TOLD]
    if len(faults) > len(shown):
        shown.append(_("And %(number)d more.") % {"number": len(faults) - len(shown)})
    return DomainError("service_centers_invalid", " ".join(shown))
