"""Build an example of each event type from its schema, with plausible values.

For documents and test events: the ids are those of nobody.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from accounts.webhooks.catalogue import load_event_types

if TYPE_CHECKING:
    from collections.abc import Mapping

USER_ID = "00000000-0000-4000-8000-000000000001"
TEAM_ID = "00000000-0000-4000-8000-000000000002"
CLIENT_USER_ID = "example-user"
_ID = "00000000-0000-4000-8000-000000000003"
_MOMENT = "2026-03-02T07:10:00+00:00"
_EVENT = {
    "id": 1,
    "created_at": _MOMENT,
    "status": "received.walk_in_test.ordered",
    "status_detail": None,
}
_LOGO = "https://assay.example/logos/oura.svg"
_SOURCE = {
    "name": "Oura",
    "slug": "oura",
    "logo": _LOGO,
    "provider": "oura",
    "type": "ring",
    "app_id": None,
    "device_id": None,
}
_LAB_TEST = {
    "id": _ID,
    "slug": "lipid-panel",
    "name": "Lipid panel",
    "sample_type": "serum",
    "method": "walk_in_test",
    "price": 29.0,
    "is_active": True,
    "status": "active",
    "fasting": True,
    "lab": None,
    "markers": None,
    "is_delegated": False,
    "auto_generated": False,
    "has_collection_instructions": False,
    "common_tat_days": 2,
    "worst_case_tat_days": 4,
}
_PATIENT = {
    "first_name": "Example",
    "last_name": "Person",
    "dob": "1990-05-17T00:00:00+00:00",
    "gender": "female",
    "phone_number": "+15550142",
    "email": "person@example.com",
    "medical_proxy": None,
    "race": None,
    "ethnicity": None,
    "sexual_orientation": None,
    "gender_identity": None,
}
_ADDRESS = {
    "receiver_name": "Example Person",
    "first_line": "1 Sample Street",
    "second_line": None,
    "city": "Phoenix",
    "state": "AZ",
    "zip": "85004",
    "country": "US",
    "access_notes": None,
    "phone_number": None,
}
# What a schema does not say: by key, where the value is of the key's type.
_BY_NAME: dict[str, tuple[Any, ...]] = {
    "user_id": (USER_ID,),
    "team_id": (TEAM_ID,),
    "source_id": (1,),
    "slug": ("oura",),
    "provider": ("oura",),
    "source_provider": ("oura",),
    "name": ("Oura", "Lipid panel"),
    "logo": (_LOGO,),
    "source_type": ("ring",),
    "period_start": ("2026-03-02",),
    "period_end": ("2026-03-06",),
    "cycle_end": ("2026-03-29",),
    "bedtime_start": ("2026-03-01T22:40:00+00:00",),
    "bedtime_stop": (_MOMENT,),
    "session_start": ("2026-03-01T22:40:00",),
    "session_end": ("2026-03-02T07:10:00",),
    "start": ("2026-03-02T07:00:00+00:00",),
    "start_date": ("2026-02-01T00:00:00+00:00",),
    "end_date": (_MOMENT,),
    "time_start": ("2026-03-02T06:30:00+00:00",),
    "time_end": (_MOMENT,),
    "time_zone": ("Europe/Lisbon",),
    "timezone_offset": (3600,),
    "duration": (30_600,),
    "total": (27_600,),
    "awake": (3_000,),
    "light": (14_400,),
    "deep": (6_000,),
    "rem": (7_200,),
    "latency": (540,),
    "efficiency": (90.2,),
    "score": (84,),
    "hr_lowest": (48,),
    "hr_average": (55,),
    "hr_resting": (52,),
    "average_hrv": (61.5,),
    "respiratory_rate": (14.6,),
    "steps": (8_412,),
    "floors_climbed": (9,),
    "height": (172,),
    "weight": (68.4,),
    "systolic": (118,),
    "diastolic": (76,),
    "title": ("Morning run",),
    "msg_id": ("msg_VhTGrv3ZF5mK0o1iBkjUp9wUqeY",),
    "number": (8,),
    "response_status_code": (503,),
    "fault": ("status",),
    "sample_id": ("A1020418",),
    "interpretation": (None, "critical"),
    "device_manufacturer": ("Oura",),
    "device_model": ("Ring",),
    "device_version": ("3.2.1",),
    "message": ("The stream of this workout can be read.",),
    "provider_id": ("workout-81",),
    "failure_reason": (None,),
    "status": (_EVENT["status"],),
    "created_at": (_MOMENT,),
    "updated_at": (_MOMENT,),
    "sport": ({"id": 108, "name": "Running", "slug": "running"},),
    "temperature_delta": (0.2,),
    "skin_temperature": (34.1,),
    "hr_dip": (12.5,),
    "source": (_SOURCE,),
    "billing_type": ("client_bill",),
    "events": ([_EVENT],),
    "last_event": (_EVENT,),
    "details": ({"type": "walk_in_test", "data": None},),
    "lab_test": (_LAB_TEST,),
    "order_transaction": ({"id": _ID, "status": "active", "orders": []},),
    "method": ("walk_in_test",),
    "origin": ("initial",),
    "priority": (False,),
    "has_abn": (False,),
    "has_missing_results": (None,),
    "patient_details": (_PATIENT,),
    "patient_address": (_ADDRESS,),
    "test_name": ("Sodium",),
}
# By unit, where a value has one of its own.
_BY_UNIT: dict[str, float] = {
    "%": 97.0,
    "bpm": 61.0,
    "beats per minute": 61.0,
    "°C": 36.6,
    "degree Celsius": 36.6,
    "kg": 68.4,
    "kcal": 412.0,
    "mmol/L": 5.4,
    "mmHg": 118.0,
    "rmssd": 61.5,
    "m": 1_240.0,
    "cm": 82.0,
    "L": 4.1,
    "L/min": 480.0,
    "mL/kg/min": 44.0,
    "mV": 0.4,
    "percent": 21.0,
    "seconds": 1_800.0,
    "minutes": 32.0,
    "Hz": 512.0,
}
_BY_FORMAT = {"uuid": _ID, "date": "2026-03-02", "date-time": _MOMENT}
_FIRST_OF = re.compile(r"Known values: ([^,.]+)")
_PLAIN: dict[str, Any] = {
    "string": "example",
    "integer": 12,
    "number": 12.0,
    "boolean": False,
    "null": None,
}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "array": list,
}


def build_example_event(event_type: str) -> dict[str, Any]:
    """Build an example event of this type; it matches the type's schema.

    Raises KeyError for a type the catalogue lacks. Source: Contract 8.1.
    """
    kind = load_event_types()[event_type]
    data: dict[str, Any] = _value("data", kind.schema)
    return {
        "event_type": event_type,
        "data": data | _more_of(event_type),
        "team_id": TEAM_ID,
        "user_id": USER_ID,
        "client_user_id": CLIENT_USER_ID,
    }


def _more_of(event_type: str) -> dict[str, Any]:
    """What of the data hangs together, so that no key's value says it alone."""
    match event_type:
        case "lab_report.parsing_job.created":
            return {"status": "started", "data": None}
        case "lab_report.parsing_job.updated":
            row = {
                "test_name": "Sodium",
                "value": "140",
                "units": "mmol/L",
                "is_reviewed": False,
            }
            data = {"metadata": {}, "hold_reasons": [], "results": [row]}
            return {"status": "completed", "data": data}
        case "provider.connection.error":
            return {
                "message": "The source no longer accepts the permission that the user"
                " gave.",
                "error_type": "token_refresh_failed",
                "error_details": "The token endpoint answered 400.",
            }
        case "provider.gap.opened" | "provider.gap.closed":
            is_open = event_type == "provider.gap.opened"
            day = {
                "resource": "sleep",
                "date": "2026-03-09",
                "state": "missing" if is_open else "filled_later",
                "error_type": "token_refresh_failed" if is_open else None,
            }
            return {"provider": "oura", "time_zone": "Europe/Berlin", "days": [day]}
        case "labtest.order.updated":
            done = {**_EVENT, "id": 2, "status": "completed.walk_in_test.completed"}
            return {
                "status": done["status"],
                "events": [_EVENT, done],
                "last_event": done,
                "interpretation": "normal",
            }
        case "labtest.order_tracking.updated":
            due = {"original_estimate": _MOMENT, "current_estimate": _MOMENT}
            return {
                "markers": [
                    {
                        "id": 12,
                        "name": "Sodium",
                        "slug": "sodium",
                        "provider_id": "002-1",
                        "status": "pending",
                        "expected_at": due,
                        "results": [],
                    }
                ],
                "updates": [],
            }
        case "labtest.appointment.created" | "labtest.appointment.updated":
            booked = {
                "created_at": _MOMENT,
                "status": "scheduled",
                "data": {"origin": "booking"},
            }
            return {
                "type": "patient_service_center",
                "provider": "quest",
                "provider_id": "AZ101",
                "address": {
                    "first_line": "8577 Garden Road",
                    "second_line": None,
                    "city": "Phoenix",
                    "state": "AZ",
                    "zip_code": "85004",
                    "unit": None,
                    "access_notes": None,
                },
                "location": {"lng": -112.0664, "lat": 33.46},
                "start_at": "2026-03-04T15:20:00+00:00",
                "end_at": "2026-03-04T15:40:00+00:00",
                "iana_timezone": "America/Phoenix",
                "status": "confirmed",
                "event_status": "scheduled",
                "event_data": booked["data"],
                "events": [booked],
            }
    return {}


def _value(name: str, schema: Mapping[str, Any]) -> Any:
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    types = schema.get("type", "null")
    kinds = [types] if isinstance(types, str) else list(types)
    for known in _BY_NAME.get(name, ()):
        if "type" not in schema or any(_is(known, kind) for kind in kinds):
            if isinstance(known, dict) and "properties" in schema:
                names = {*schema["properties"], *schema.get("required", ())}
                return {key: known[key] for key in known if key in names}
            return known
    if kinds[0] == "object":
        return _object(schema, may_be_null="null" in kinds)
    if kinds[0] == "array":
        return [_value(name, schema["items"])] if "items" in schema else []
    return _scalar(kinds, schema)


def _object(schema: Mapping[str, Any], *, may_be_null: bool) -> dict[str, Any] | None:
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    if may_be_null and not properties:
        return None
    names = dict.fromkeys((*properties, *schema.get("required", ())))
    found = {name: _value(name, properties.get(name, {})) for name in names}
    unit = found.get("unit")
    if isinstance(found.get("value"), float) and unit in _BY_UNIT:
        found["value"] = _BY_UNIT[unit]
    return found


def _scalar(kinds: list[str], schema: Mapping[str, Any]) -> Any:
    description = schema.get("description", "")
    first = _FIRST_OF.match(description)
    if kinds[0] == "string" and first:
        return first[1]
    if kinds[0] in {"integer", "number"} and description in _BY_UNIT:
        number = _BY_UNIT[description]
        return int(number) if kinds[0] == "integer" else number
    if "null" in kinds:
        return None
    if kinds[0] == "string" and "format" in schema:
        return _BY_FORMAT[schema["format"]]
    return _PLAIN[kinds[0]]


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])
