"""Locations of US ZIP codes, from bundled data."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from math import asin, cos, radians, sin, sqrt

import zipcodes

# Miles; the mean radius of the earth.
_EARTH = 3958.8
# Where the package is wrong: these towns of Arizona keep no summer time, though the
# Navajo Nation around them does; and a town's name stands for a zone.
_ZONES = {
    "86003": "America/Phoenix",
    "86040": "America/Phoenix",
    "99634": "America/Anchorage",
}
_ZIP = re.compile(r"(\d{5})(?:-?\d{4})?")


@dataclass(frozen=True, slots=True)
class ZipPlace:
    """The location of a ZIP code: degrees and time zone (empty: unknown)."""

    zip_code: str
    city: str
    state: str
    latitude: float
    longitude: float
    time_zone: str


@lru_cache(maxsize=4096)
def find_zip_code_location(zip_code: str) -> ZipPlace | None:
    """Return the location of a US ZIP or ZIP+4 code.

    None for what is no zip code in use, and for those of the military, which lie
    nowhere. Source: the zipcodes package.
    """
    written = _ZIP.fullmatch(zip_code.strip())
    if written is None:
        return None
    found = zipcodes.matching(written[1])  # type: ignore[no-untyped-call]
    if not found:
        return None
    entry = found[0]
    latitude, longitude = float(entry["lat"]), float(entry["long"])
    if not latitude and not longitude:
        return None
    return ZipPlace(
        zip_code=written[1],
        city=entry["city"],
        state=entry["state"],
        latitude=latitude,
        longitude=longitude,
        time_zone=_ZONES.get(written[1], entry["timezone"]),
    )


def compute_miles_between(
    latitude: float, longitude: float, other_latitude: float, other_longitude: float
) -> float:
    """Return the distance between two points in degrees (haversine)."""
    north, other_north = radians(latitude), radians(other_latitude)
    half_up = sin((other_north - north) / 2)
    half_over = sin(radians(other_longitude - longitude) / 2)
    chord = half_up**2 + cos(north) * cos(other_north) * half_over**2
    return 2 * _EARTH * asin(sqrt(min(1.0, chord)))


@dataclass(frozen=True, slots=True)
class Town:
    """A town by its name, at the middle of its ZIP codes (degrees)."""

    name: str
    latitude: float
    longitude: float


@lru_cache(maxsize=256)
def list_towns_near(zip_code: str, miles: int) -> tuple[Town, ...]:
    """List the towns within some miles of a ZIP code, most ZIP codes first.

    None where the ZIP code is unknown. Source: the zipcodes package; post office boxes
    and single recipients are no towns.
    """
    here = find_zip_code_location(zip_code)
    if here is None:
        return ()
    spots: dict[str, list[tuple[float, float]]] = defaultdict(list)
    near = zipcodes.filter_by_coordinates(  # type: ignore[no-untyped-call]
        here.latitude, here.longitude, miles
    )
    for entry in near:
        if entry["zip_code_type"] == "STANDARD" and entry["active"]:
            spots[entry["city"]].append((float(entry["lat"]), float(entry["long"])))
    towns = [
        Town(
            city,
            sum(latitude for latitude, _longitude in found) / len(found),
            sum(longitude for _latitude, longitude in found) / len(found),
        )
        for city, found in spots.items()
    ]
    return tuple(sorted(towns, key=lambda town: (-len(spots[town.name]), town.name)))


def compute_offset(
    place: ZipPlace, latitude: float, longitude: float
) -> tuple[float, float]:
    """Return how far a point lies east and north of a place, in miles.

    On a plane that touches the earth there: over 100 miles it is off by less than one.
    """
    north = radians(latitude - place.latitude) * _EARTH
    over = (longitude - place.longitude + 180) % 360 - 180
    return radians(over) * _EARTH * cos(radians(place.latitude)), north
