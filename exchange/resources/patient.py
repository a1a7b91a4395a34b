"""Patient: a user with the latest demographics. Source: US Core Patient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accounts.states import Area
from exchange.resources.base import Json, ResourceType, TableSource, list_uuids
from exchange.resources.datatypes import (
    ABSENT_EXTENSION,
    US_CORE,
    build_meta,
    build_own_url,
    drop_empty,
)
from exchange.resources.matching import Kind, Param
from portal.lib.english import in_english
from users.queries.population import users_with_info
from users.states import Ethnicity, Race

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from users.models import User, UserInfo

OMB = "urn:oid:2.16.840.1.113883.6.238"
# The groups of the US Office of Management and Budget; other answers go as text.
_RACES = {
    Race.AFRICAN_AMERICAN_OR_BLACK: ("2054-5", "Black or African American"),
    Race.ASIAN: ("2028-9", "Asian"),
    Race.INDIGENOUS: ("1002-5", "American Indian or Alaska Native"),
    Race.PACIFIC_ISLANDER: ("2076-8", "Native Hawaiian or Other Pacific Islander"),
    Race.WHITE: ("2106-3", "White"),
}
_ETHNICITIES = {
    Ethnicity.HISPANIC: ("2135-2", "Hispanic or Latino"),
    Ethnicity.NON_HISPANIC: ("2186-5", "Not Hispanic or Latino"),
}
_GENDERS = {"female", "male", "other", "unknown"}


@in_english
def build_patients(tenant: Tenant, users: Sequence[User]) -> list[list[Json]]:
    """Build the Patient of each user."""
    return [[_build_patient(user)] for user in users]


def _build_patient(user: User) -> Json:
    info: UserInfo | None = getattr(user, "info", None)
    updated = max(user.created_on, info.updated_at) if info else user.created_on
    born = info.dob if info else user.fallback_birth_date
    return drop_empty(
        {
            "resourceType": "Patient",
            "id": str(user.uuid),
            "meta": build_meta(updated, None, f"{US_CORE}patient"),
            "extension": _build_extensions(info) if info else None,
            "identifier": [
                {
                    "system": build_own_url("client-user-id"),
                    "value": user.client_user_id,
                }
            ],
            "active": True,
            "name": [_build_name(info)],
            "telecom": _build_telecom(info) if info else None,
            "gender": _find_gender(info),
            "birthDate": str(born) if born else None,
            "address": [_build_address(info.address)]
            if info and info.address
            else None,
        }
    )


def _build_name(info: UserInfo | None) -> Json:
    given = [info.first_name] if info and info.first_name else []
    name = drop_empty({"family": info.last_name if info else "", "given": given})
    if name:
        return name
    return {"extension": [{"url": ABSENT_EXTENSION, "valueCode": "unknown"}]}


def _find_gender(info: UserInfo | None) -> str:
    if info is None:
        return "unknown"
    return info.gender if info.gender in _GENDERS else "other"


def _build_telecom(info: UserInfo) -> list[Json]:
    return [
        {"system": system, "value": value}
        for system, value in (("phone", info.phone_number), ("email", info.email))
        if value
    ]


def _build_address(address: dict[str, Any]) -> Json:
    lines = [address.get("first_line"), address.get("second_line")]
    return drop_empty(
        {
            "line": [line for line in lines if line],
            "city": address.get("city"),
            "state": address.get("state"),
            "postalCode": address.get("zip"),
            "country": address.get("country"),
        }
    )


def _build_extensions(info: UserInfo) -> list[Json]:
    return [
        _build_group(f"{US_CORE}{name}", omb, text)
        for name, omb, text in (
            ("race", _RACES.get(Race(info.race)), str(Race(info.race).label))
            if info.race in Race.values
            else ("race", None, info.race),
            (
                "ethnicity",
                _ETHNICITIES.get(Ethnicity(info.ethnicity)),
                str(Ethnicity(info.ethnicity).label),
            )
            if info.ethnicity in Ethnicity.values
            else ("ethnicity", None, info.ethnicity),
        )
        if text
    ]


def _build_group(url: str, omb: tuple[str, str] | None, text: str) -> Json:
    parts: list[Json] = []
    if omb:
        coding = {"system": OMB, "code": omb[0], "display": omb[1]}
        parts.append({"url": "ombCategory", "valueCoding": coding})
    return {"url": url, "extension": [*parts, {"url": "text", "valueString": text}]}


PATIENT = ResourceType(
    name="Patient",
    sources=(
        TableSource(
            area=Area.USERS,
            rows=users_with_info,
            build=build_patients,
            by_ids=lambda rows, ids: rows.filter(uuid__in=list_uuids(ids)),
            patient="uuid",
        ),
    ),
    params=(
        Param("identifier", Kind.TOKEN, ("identifier",)),
        Param("name", Kind.STRING, ("name.family", "name.given")),
        Param("family", Kind.STRING, ("name.family",)),
        Param("given", Kind.STRING, ("name.given",)),
        Param("gender", Kind.TOKEN, ("gender",)),
        Param("birthdate", Kind.DATE, ("birthDate",)),
    ),
    also_reads=(Area.PATIENT_DETAILS,),
    profiles=(f"{US_CORE}patient",),
)
