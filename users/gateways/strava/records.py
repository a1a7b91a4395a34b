"""Convert Strava's activities to workouts.

Verified in public references on 2026-11-26 (developers.strava.com, SummaryActivity):
`start_date` is UTC, `utc_offset` seconds, distances meters, speeds meters a second. A
summary has no calories; `kilojoules` are the work of a ride and no energy spent.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from users.gateways.strava.client import Record

_NUMBERS = {
    "distance": "distance",
    "total_elevation_gain": "total_elevation_gain",
    "elev_high": "elev_high",
    "elev_low": "elev_low",
    "average_speed": "average_speed",
    "max_speed": "max_speed",
    "average_watts": "average_watts",
    "max_watts": "max_watts",
    "weighted_average_watts": "weighted_average_watts",
}
_WHOLE = {
    "average_hr": "average_heartrate",
    "max_hr": "max_heartrate",
    "moving_time": "moving_time",
}
_TITLE_MAX = 1000
_OFFSET_MAX = 14 * 3600
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def convert_strava_activities(activities: Iterable[Record]) -> list[dict[str, Any]]:
    """Convert activities that have a start and an end."""
    found = []
    for each in activities:
        start = _parse(each.get("start_date"))
        lasted, id_ = each.get("elapsed_time"), each.get("id")
        if start is None or type(id_) is not int or type(lasted) is not int:
            continue
        if lasted <= 0:
            continue
        offset = _offset(each)
        start = start.astimezone(timezone(timedelta(seconds=offset)))
        title = each.get("name")
        found.append(
            {
                "external_id": str(id_),
                "provider_id": str(id_),
                "time_start": start.isoformat(),
                "time_end": (start + timedelta(seconds=lasted)).isoformat(),
                "timezone_offset": offset,
                "title": title[:_TITLE_MAX] if isinstance(title, str) else None,
                "sport": _sport(each.get("sport_type") or each.get("type")),
                **{name: _number(each.get(key)) for name, key in _NUMBERS.items()},
                **{
                    name: None if value is None else round(value)
                    for name, key in _WHOLE.items()
                    for value in (_number(each.get(key)),)
                },
            }
        )
    return [
        {name: value for name, value in each.items() if value is not None}
        for each in found
    ]


def _sport(name: object) -> dict[str, Any] | None:
    """Return Strava's name of a sport: "TrailRun" is trail run."""
    if not isinstance(name, str) or not name:
        return None
    words = _CAPITAL.sub(" ", name).lower()
    return {"id": 0, "name": words.capitalize(), "slug": words.replace(" ", "_")}


def _offset(each: Record) -> int:
    offset = _number(each.get("utc_offset"))
    return round(offset) if offset is not None and abs(offset) <= _OFFSET_MAX else 0


def _number(value: object) -> float | None:
    return value if type(value) in (int, float) else None  # type: ignore[return-value]  # one of the two


def _parse(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo else None
