"""Nightscout: glucose entries and treatments, as its API or mongoexport writes them.

Entries are mg/dL whatever the site shows; times are milliseconds in `date`, or ISO 8601
with a zone. What a pump gave as a bolus acts fast: Ours. Fields of entries and
treatments: nightscout/cgm-remote-monitor, swagger.yaml, Entry and Treatment (read
2026-11-24), besides `sysTime` (xDrip's entries), `display_time` (openaps's) and `mills`
(the server's own name of `date`). Nightscout is no source of its own: its rows are of
the sender's source, by the app nightscout.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from users.states import SourceType
from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.rows import Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Form,
    iterate_items,
    make_note,
    make_sample,
)
from users.wearables.formats.uploads.values import (
    add_seconds,
    parse_number,
    write_unix_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_APP = "nightscout"
_SENSOR = Origin(str(SourceType.AUTOMATIC), _APP)
_METER = Origin(str(SourceType.FINGERPRICK), _APP)
_BY_HAND = Origin(str(SourceType.APP), _APP)
# Sensor values below are Dexcom's codes of errors, 1 to 12 (cgm-remote-monitor,
# lib/plugins/errorcodes.js, read 2026-11-24).
_CODES_BELOW = 13


def _at(item: Mapping[str, Any], *names: str) -> str | None:
    """Return the time of an item; one without a zone is nobody's to guess."""
    number = parse_number(item.get("date") or item.get("mills"))
    if number is not None:
        return write_unix_time(number / 1000)
    for name in names:
        text = item.get(name)
        if isinstance(text, str):
            try:
                at = datetime.fromisoformat(text)
            except ValueError:
                continue
            if at.tzinfo is not None:
                return at.isoformat()
    return None


def _entry(item: Mapping[str, Any]) -> Iterator[Row]:
    at = _at(item, "dateString", "sysTime", "display_time")
    kind = item.get("type") or ("sgv" if "sgv" in item else "")
    if kind == "sgv":
        value = parse_number(item.get("sgv") or item.get("glucose"))
        if value is not None and value < _CODES_BELOW:
            yield SkippedRows(DropReason.NO_VALUE, "sensor error")
            return
        yield make_sample("glucose", _SENSOR, value, at, unit="mg/dL")
    elif kind == "mbg":
        value = parse_number(item.get("mbg"))
        yield make_sample("glucose", _METER, value, at, unit="mg/dL")
    else:
        yield SkippedRows(DropReason.CALIBRATION, str(kind)[:60])


def _separate(
    slug: str, value: float, at: str | None, given: dict[tuple[str, str], list[float]]
) -> str | None:
    """Return the time of an amount, a millisecond later for each other one before it.

    An equal amount at the same time is one that two uploaders sent, and keeps it.
    Source: Ours: a sample is known by its time, and two doses in one second are two.
    """
    if at is None:
        return None
    amounts = given.setdefault((slug, at), [])
    if value not in amounts:
        amounts.append(value)
    later = timedelta(milliseconds=amounts.index(value))
    return (datetime.fromisoformat(at) + later).isoformat() if later else at


def _treatment(item: Mapping[str, Any], reading: Reading) -> Iterator[Row]:
    at = _at(item, "created_at", "timestamp")
    given = reading.kept.setdefault("nightscout", {})
    found = 0
    insulin, carbs = (parse_number(item.get(name)) for name in ("insulin", "carbs"))
    if insulin:
        found += 1
        keys = {"type": "rapid_acting", "delivery_mode": "bolus"}
        apart = _separate("insulin_injection", insulin, at, given)
        yield make_sample("insulin_injection", _BY_HAND, insulin, apart, **keys)
    if carbs:
        found += 1
        apart = _separate("carbohydrates", carbs, at, given)
        yield make_sample("carbohydrates", _BY_HAND, carbs, apart)
    glucose = parse_number(item.get("glucose"))
    if glucose and item.get("glucoseType") == "Finger":
        found += 1
        unit = (
            "mmol/L" if str(item.get("units")).lower().startswith("mmol") else "mg/dL"
        )
        yield make_sample("glucose", _METER, glucose, at, unit=unit)
    notes = item.get("notes")
    if isinstance(notes, str) and notes.strip():
        found += 1
        yield make_note(notes, _BY_HAND, add_seconds(at, 0))
    if not found:
        yield SkippedRows(DropReason.UNKNOWN_KIND, str(item.get("eventType"))[:60])


def _reader(prefix: str) -> Any:
    """Return a reader of a list, or of one object a line."""

    def read(member: Member, _head: Head, reading: Reading) -> Iterator[Row]:
        for item in iterate_items(member, prefix):
            if not isinstance(item, dict):
                yield SkippedRows(DropReason.BAD_ROW, "item")
            elif "eventType" in item or "created_at" in item:
                yield from _treatment(item, reading)
            else:
                yield from _entry(item)

    return read


_FORMAT = ImportFormat.NIGHTSCOUT
FORMS = tuple(
    Form("Nightscout", _FORMAT, _reader(prefix), "json", keys=((prefix, names),))
    for prefix in ("item", "")
    for names in (("sgv", "date"), ("sgv", "dateString"), ("eventType", "created_at"))
)
PROVIDER = ""
