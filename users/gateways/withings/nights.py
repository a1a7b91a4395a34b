"""Convert Withings' summaries of nights to sleeps (Sleep v2 - Getsummary)."""

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
DATA_FIELDS = tuple(_FIELDS.values())
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
        start, end, data = (
            night.get("startdate"),
            night.get("enddate"),
            night.get("data"),
        )
        if (
            type(start) is not int
            or type(end) is not int
            or end <= start
            or not isinstance(data, dict)
            or night.get("completed") is False
        ):
            continue
        name = night.get("timezone")
        zone = find_time_zone_by_name(name) if isinstance(name, str) else fallback
        begins = datetime.fromtimestamp(start, UTC).astimezone(zone)
        offset = begins.utcoffset()
        source = (
            SourceType.WATCH if night.get("model") == _WATCH else SourceType.UNKNOWN
        )
        numbers = {
            key: data[field]
            for key, field in _FIELDS.items()
            if type(data.get(field)) in (int, float)
        }
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
