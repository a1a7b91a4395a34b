"""Fields of FIT messages: numbers, times, and sports.

Source: Garmin FIT SDK, Profile.xlsx 21.141 (through the library fitdecode 0.11).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# FIT's numbers of sports, by the decoder's words for them.
_SPORTS = {
    "running": 1,
    "cycling": 2,
    "transition": 3,
    "fitness_equipment": 4,
    "swimming": 5,
    "basketball": 6,
    "soccer": 7,
    "tennis": 8,
    "american_football": 9,
    "training": 10,
    "walking": 11,
    "cross_country_skiing": 12,
    "alpine_skiing": 13,
    "snowboarding": 14,
    "rowing": 15,
    "mountaineering": 16,
    "hiking": 17,
    "multisport": 18,
    "paddling": 19,
    "e_biking": 21,
}
_LONGEST_SECONDS = 3 * 24 * 3600


def get_field(frame: Any, name: str) -> Any:
    """Return the value of a field; None where the message lacks it."""
    return frame.get_value(name, fallback=None)


def find_first_number(frame: Any, fields: tuple[str, ...]) -> float | None:
    """Return the first number that these fields hold."""
    for name in fields:
        value = get_field(frame, name)
        if type(value) in (int, float):
            return value  # type: ignore[no-any-return]  # one of the two
    return None


def find_timestamp(frame: Any) -> str | None:
    """Return a message's time in ISO 8601, UTC."""
    at = get_field(frame, "timestamp")
    return at.isoformat() if isinstance(at, datetime) else None


def find_session_span(session: Any) -> tuple[Any, datetime, datetime] | None:
    """Return a session with its start and end; None for one that states none."""
    start = get_field(session, "start_time")
    times = (
        find_first_number(session, (name,))
        for name in ("total_elapsed_time", "total_timer_time")
    )
    # A clock that was set while it recorded makes one of them too long.
    lasted = next((each for each in times if each and each <= _LONGEST_SECONDS), None)
    if not isinstance(start, datetime) or lasted is None:
        return None
    return session, start, start + timedelta(seconds=lasted)


def read_sport(session: Any) -> dict[str, Any]:
    """Return FIT's sport by name, or by number if unknown."""
    return build_sport(get_field(session, "sport"), get_field(session, "sub_sport"))


def build_sport(sport: Any, sub_sport: Any) -> dict[str, Any]:
    """Return a sport; its kind (trail, lap swimming) is its name where it has one."""
    if isinstance(sport, int):
        return {"id": sport, "name": f"Sport {sport}", "slug": f"sport_{sport}"}
    slug = (
        sport if isinstance(sport, str) and sport not in ("all", "generic") else "other"
    )
    number = _SPORTS.get(slug, 0)
    if isinstance(sub_sport, str) and sub_sport not in ("all", "generic", slug):
        slug = sub_sport if slug in sub_sport else f"{sub_sport}_{slug}"
    name = slug.replace("_", " ").capitalize()
    return {"id": number, "name": name, "slug": slug}


def find_clock_offset(activity: Any) -> int | None:
    """Return the UTC offset of the device's clock, if the file has it."""
    at, local = get_field(activity, "timestamp"), get_field(activity, "local_timestamp")
    if not isinstance(at, datetime) or not isinstance(local, datetime):
        return None
    # The decoder calls the wall clock UTC. Clocks of the world differ by quarters.
    quarters = round((local - at).total_seconds() / 900)
    return quarters * 900 if abs(quarters) <= 14 * 4 else None


def unpack_12_bits(packed: tuple[int, ...]) -> Iterator[int]:
    """Yield the numbers of 12 bits of bytes, the lower bits first."""
    for at in range(0, len(packed) - 2, 3):
        low, middle, high = (each or 0 for each in packed[at : at + 3])
        yield low | (middle & 0xF) << 8
        yield middle >> 4 | high << 4
