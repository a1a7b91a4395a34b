"""Queries about service centers and areas (contract 6.17)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.validators import MaxValueValidator, MinValueValidator
from rest_framework import serializers

from labs.queries.appointments.areas import CENTRAL_LABS
from labs.states.service_centers import (
    DEFAULT_RADIUS,
    RADII,
    parse_service_center_capability,
)
from portal.lib.api.fields import (
    Inputs,
    QueryInt,
    QueryText,
    QueryUuid,
    Str,
    build_pattern_validator,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.states.service_centers import Capability

_zip_code = build_pattern_validator(
    r"\d{5}(?:-\d{4})?", "a ZIP code such as 60618 or 60618-1234"
)
_radius = build_pattern_validator(
    "|".join(map(str, RADII)), f"one of: {', '.join(map(str, RADII))}"
)
_central_lab = build_pattern_validator(
    "|".join(sorted(CENTRAL_LABS)), f"one of: {', '.join(sorted(CENTRAL_LABS))}"
)
_LIST_MAX = 20


class Radius(Str):
    """A distance in miles as text: one of RADII."""

    closed = True

    def __init__(self) -> None:
        super().__init__(required=False, validators=[_radius])


class CentralLab(Str):
    """The slug of a central lab."""

    closed = True

    def __init__(self, **options: Any) -> None:
        super().__init__(validators=[_central_lab], **options)


class NearOrderQuery(Inputs):
    """Radius in miles and filters of service centers near an order's patient."""

    radius = Radius()
    capabilities = serializers.ListField(
        child=QueryText(max_length=100), max_length=_LIST_MAX, required=False
    )


class CentersQuery(NearOrderQuery):
    """A lab, ZIP code, radius in miles and filters of service centers."""

    zip_code = Str(validators=[_zip_code])
    lab_id = QueryInt(validators=[MinValueValidator(0), MaxValueValidator(2**31 - 1)])
    lab_account_id = QueryUuid(required=False)


class AreaQuery(Inputs):
    """A ZIP code and lab; `lab` is the deprecated name of the lab."""

    zip_code = Str(validators=[_zip_code])
    radius = Radius()
    lab = CentralLab(required=False)
    labs = serializers.ListField(
        child=CentralLab(), max_length=_LIST_MAX, required=False
    )
    lab_account_id = QueryUuid(required=False)


def parse_search_radius_miles(query: Mapping[str, Any]) -> int:
    """Return the requested radius, or the default."""
    return int(query.get("radius", DEFAULT_RADIUS))


def parse_known_capabilities(query: Mapping[str, Any]) -> list[Capability]:
    """Return the known capabilities of a query; unknown ones filter nothing."""
    read = [
        parse_service_center_capability(text) for text in query.get("capabilities", [])
    ]
    return [one for one in read if one is not None]
