"""Convert Withings' measures to weights, fat, blood pressure and bodies of a day.

Pure: groups of measures in, elements of contract 4 and 5.2 out. A value is `value`
times ten to the power of `unit`, in SI units (Measure - Getmeas).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from portal.lib.periods import find_time_zone_by_name
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date


class Kind(IntEnum):
    """A type of measure that we have a place for (Measure - Getmeas)."""

    WEIGHT = 1
    FAT_FREE_MASS = 5
    FAT_RATIO = 6
    DIASTOLIC = 9
    SYSTOLIC = 10
    PULSE = 11
    TEMPERATURE = 12
    BLOOD_OXYGEN = 54
    BODY_TEMPERATURE = 71
    MUSCLE_MASS = 76
    HYDRATION = 77
    BONE_MASS = 88
    VO2_MAX = 123
    VISCERAL_FAT = 170


# What is measured at one moment, where the contract wants an interval (5.2).
_MOMENT = timedelta(seconds=1)
# How a group was attributed to the user: by the device, confirmed, or by hand. Not 1,
# which may be somebody else's in the same home, and not 4, typed in at sign-up.
BY_HAND = 2
OURS = frozenset({0, BY_HAND, 5, 7, 8, 15, 17})
_REAL = 1


@dataclass(frozen=True, slots=True)
class MeasureGroup:
    """What was measured at one moment, by type, in kg, %, mmHg and bpm."""

    at: datetime
    is_by_hand: bool
    values: dict[Kind, float]


def read_withings_measure_groups(
    documents: Iterable[tuple[dict[str, Any], dict[str, Any]]], *, fallback: tzinfo
) -> list[MeasureGroup]:
    """Return the groups that are surely the user's, oldest first.

    Their zone is the one that the answer names.
    """
    groups = []
    for each, body in documents:
        moment = each.get("date")
        if (
            type(moment) is not int
            or each.get("attrib") not in OURS
            or each.get("category") != _REAL
        ):
            continue
        values = _read_values(each.get("measures"))
        if values:
            at = datetime.fromtimestamp(moment, UTC).astimezone(_zone(body, fallback))
            groups.append(MeasureGroup(at, each["attrib"] == BY_HAND, values))
    return sorted(groups, key=lambda group: group.at)


def convert_withings_samples(
    groups: Iterable[MeasureGroup], kind: Kind, device: SourceType
) -> dict[SourceType, list[dict[str, Any]]]:
    """Convert one type of measure to samples, by what measured them."""
    found = defaultdict(list)
    for group in groups:
        if kind in group.values:
            found[_source(group, device)].append(
                {**_moment(group), "value": group.values[kind]}
            )
    return dict(found)


def convert_withings_intervals(
    groups: Iterable[MeasureGroup], kinds: tuple[Kind, ...], device: SourceType
) -> dict[SourceType, list[dict[str, Any]]]:
    """Convert the first of these types that a group has to samples of a second."""
    found = defaultdict(list)
    for group in groups:
        values = [group.values[kind] for kind in kinds if kind in group.values]
        if values:
            moment = _moment(group)
            found[_source(group, device)].append(
                {
                    "start": moment["timestamp"],
                    "end": (group.at + _MOMENT).isoformat(),
                    "timezone_offset": moment["timezone_offset"],
                    "value": values[0],
                }
            )
    return dict(found)


def convert_withings_pulses(
    groups: Iterable[MeasureGroup],
) -> dict[SourceType, list[dict[str, Any]]]:
    """Convert pulses: of a cuff beside a pressure, else of a scale."""
    found = defaultdict(list)
    for group in groups:
        if Kind.PULSE in group.values:
            is_cuff = Kind.SYSTOLIC in group.values
            device = SourceType.CUFF if is_cuff else SourceType.SCALE
            found[_source(group, device)].append(
                {**_moment(group), "value": group.values[Kind.PULSE]}
            )
    return dict(found)


def convert_withings_blood_pressure(
    groups: Iterable[MeasureGroup],
) -> dict[SourceType, list[dict[str, Any]]]:
    """Convert measurements that have both pressures."""
    found = defaultdict(list)
    for group in groups:
        if Kind.SYSTOLIC in group.values and Kind.DIASTOLIC in group.values:
            found[_source(group, SourceType.CUFF)].append(
                {
                    **_moment(group),
                    "systolic": group.values[Kind.SYSTOLIC],
                    "diastolic": group.values[Kind.DIASTOLIC],
                }
            )
    return dict(found)


def convert_withings_bodies(
    groups: Iterable[MeasureGroup], *, first: date, last: date
) -> dict[SourceType, list[dict[str, Any]]]:
    """Convert the last values of each of the user's days between two of them.

    Shares are of the weight of the same weighing.
    """
    days: dict[str, dict[str, Any]] = {}
    for group in groups:
        day = group.at.date()
        weight = group.values.get(Kind.WEIGHT)
        if first <= day <= last and weight:
            body = days.setdefault(day.isoformat(), {"calendar_date": day.isoformat()})
            body["weight"] = weight
            for key, kind, factor in _BODY:
                if kind in group.values:
                    share = 100 / weight if factor is None else factor
                    body[key] = round(group.values[kind] * share, 3)
    return {SourceType.SCALE: list(days.values())}


# Key of contract 4.6, type and factor, None for a share of the weight.
_BODY = (
    ("fat", Kind.FAT_RATIO, 1.0),
    ("lean_body_mass_kilogram", Kind.FAT_FREE_MASS, 1.0),
    ("muscle_mass_percentage", Kind.MUSCLE_MASS, None),
    ("water_percentage", Kind.HYDRATION, None),
    ("bone_mass_percentage", Kind.BONE_MASS, None),
    ("visceral_fat_index", Kind.VISCERAL_FAT, 1.0),
)


def _read_values(measures: object) -> dict[Kind, float]:
    values = {}
    for each in measures if isinstance(measures, list) else ():
        value, unit, kind = each.get("value"), each.get("unit"), each.get("type")
        if type(value) is int and type(unit) is int and kind in set(Kind):
            # Divided where the power is negative: 72.5 and not 72.50000000000001.
            values[Kind(kind)] = value / 10**-unit if unit < 0 else value * 10.0**unit
    return values


def _zone(body: dict[str, Any], fallback: tzinfo) -> tzinfo:
    name = body.get("timezone")
    return find_time_zone_by_name(name) if isinstance(name, str) and name else fallback


def _moment(group: MeasureGroup) -> dict[str, Any]:
    offset = group.at.utcoffset()
    return {
        "timestamp": group.at.isoformat(),
        "timezone_offset": int(offset.total_seconds()) if offset else 0,
    }


def _source(group: MeasureGroup, device: SourceType) -> SourceType:
    return SourceType.APP if group.is_by_hand else device
