"""Convert Withings' nights and their stages (Sleep v2 - Getsummary and Get)."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

from portal.lib.periods import find_time_zone_by_name
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Iterable

# By key of contract 4.3, the field of `data`; durations in seconds.
_FIELDS = {
    "duration": "total_timeinbed",
    "total": "total_sleep_time",
    "awake": "wakeupduration",
    "light": "lightsleepduration",
    "rem": "remsleepduration",
    "deep": "deepsleepduration",
    "latency": "sleep_latency",
    "score": "sleep_score",
    "hr_lowest": "hr_min",
    "hr_average": "hr_average",
    "respiratory_rate": "rr_average",
}
DATA_FIELDS = (*_FIELDS.values(), "sleep_efficiency")
# By `state` of a part of a night, the code of contract 4.3; 15 is out of bed.
_STAGES = {0: 4, 1: 2, 2: 1, 3: 3, 4: 5}
_UNCLASSIFIED = -1
# `model` of a night: 16 is a watch, 32 a mat below the mattress.
_WATCH = 16


def convert_withings_nights(
    documents: Iterable[tuple[dict[str, Any], dict[str, Any]]], *, fallback: tzinfo
) -> dict[SourceType, list[dict[str, Any]]]:
    """Convert nights by what measured them, in the zone where each was slept.

    A night that goes on (`completed` is false) is left until it has ended.
    """
    found = defaultdict(list)
    for night, _body in documents:
        data = night.get("data")
        if not is_withings_night(night) or not isinstance(data, dict):
            continue
        start, end = night["startdate"], night["enddate"]
        name = night.get("timezone")
        zone = find_time_zone_by_name(name) if isinstance(name, str) else fallback
        begins = datetime.fromtimestamp(start, UTC).astimezone(zone)
        offset = begins.utcoffset()
        source = get_withings_night_source(night)
        numbers = {
            key: data[field]
            for key, field in _FIELDS.items()
            if type(data.get(field)) in (int, float)
        }
        efficiency = data.get("sleep_efficiency")
        if isinstance(efficiency, int | float):
            # A ratio there, a percentage here (contract 4.5).
            numbers["efficiency"] = round(100 * efficiency, 1)
        found[source].append(
            {
                "external_id": str(night["id"]) if night.get("id") else None,
                "calendar_date": night.get("date"),
                "bedtime_start": begins.isoformat(),
                "bedtime_stop": datetime.fromtimestamp(end, UTC)
                .astimezone(zone)
                .isoformat(),
                "timezone_offset": int(offset.total_seconds()) if offset else 0,
                **numbers,
            }
        )
    return dict(found)


def convert_withings_stages(
    night: dict[str, Any], parts: Iterable[dict[str, Any]]
) -> dict[str, Any] | None:
    """Convert the stages of a night to a sleep cycle; None without any.

    Parts that overlap, as of two devices, are cut where the later one begins. Its
    external_id is its sleep's.
    """
    stages: list[list[int]] = []
    first, last = night["startdate"], night["enddate"]
    usable = [each for each in parts if _has_times(each)]
    for part in sorted(usable, key=lambda each: (each["startdate"], each["enddate"])):
        start, end = max(part["startdate"], first), min(part["enddate"], last)
        if stages and stages[-1][1] > start - first:
            stages[-1][1] = start - first
            if stages[-1][0] == stages[-1][1]:
                stages.pop()
        if start < end:
            code = _STAGES.get(part.get("state", -1), _UNCLASSIFIED)
            stages.append([start - first, end - first, code])
    if not stages:
        return None
    zone = night.get("timezone")
    return {
        "external_id": str(night["id"]) if night.get("id") else None,
        "session_start": _utc(first),
        "session_end": _utc(last),
        "stage_type": [code for _, _, code in stages],
        "stage_start_offset_second": [start for start, _, _ in stages],
        "stage_end_offset_second": [end for _, end, _ in stages],
        "time_zone": zone if isinstance(zone, str) and zone else None,
    }


def get_withings_night_source(night: dict[str, Any]) -> SourceType:
    """Return what measured a night."""
    return SourceType.WATCH if night.get("model") == _WATCH else SourceType.UNKNOWN


def is_withings_night(night: dict[str, Any]) -> bool:
    """Return whether a night has ended and has its times."""
    return _has_times(night) and night.get("completed") is not False


def _has_times(document: dict[str, Any]) -> bool:
    start, end = document.get("startdate"), document.get("enddate")
    return type(start) is int and type(end) is int and start < end


def _utc(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat()
