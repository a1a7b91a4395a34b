"""The registry against the table of contract 5.2."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from users.wearables.timeseries import TIMESERIES

CONTRACT = Path(settings.BASE_DIR) / "docs" / "contract.md"
ROW = re.compile(r"\| (\w+) \| (\S+) \| (yes|-) \| (yes|-) \| .* \| C \|")
TABLE = [match.groups() for match in ROW.finditer(CONTRACT.read_text())]


def test_each_resource_is_as_the_contract_has_it():
    fields = {True: "yes", False: "-"}

    registered = sorted(TIMESERIES.values(), key=lambda each: each.number)

    assert [
        (each.slug, each.unit, fields[each.is_unit_fixed], fields[each.is_interval])
        for each in registered
    ] == TABLE


def test_numbers_are_those_of_stored_rows():
    # Their places in the contract's table when they were given; they never change.
    assert {each.slug: each.number for each in TIMESERIES.values()} == {
        row[0]: place for place, row in enumerate(TABLE, 1)
    }


def test_each_series_has_one_number():
    assert {
        slug: each.series
        for slug, each in TIMESERIES.items()
        if each.series != {each.number * 100: None}
    } == {
        "cholesterol": {1401: "ldl", 1402: "hdl", 1403: "total", 1404: "triglycerides"},
        "heart_rate_alert": {
            2401: "low_heart_rate",
            2402: "high_heart_rate",
            2403: "irregular_rhythm",
        },
        "insulin_injection": {3101: "rapid_acting", 3102: "long_acting"},
        "stand_hour": {4001: "stood", 4002: "idle"},
        "electrocardiogram_voltage": {},
        "ige": {},
        "igg": {},
    }


def test_extra_keys_are_the_contracts():
    assert {
        slug: [field.name for field in each.extras]
        for slug, each in TIMESERIES.items()
        if each.extras
    } == {
        "blood_pressure": ["diastolic"],
        "body_temperature": ["sensor_location"],
        "body_temperature_delta": ["sensor_location"],
        "insulin_injection": ["delivery_mode", "delivery_form", "bolus_purpose"],
        "note": ["value", "tags"],
        "sleep_breathing_disturbance": ["type"],
        "workout_duration": ["intensity"],
    }


def test_events_name_weight_and_fat_otherwise():
    assert {
        slug: each.event_resource
        for slug, each in TIMESERIES.items()
        if each.event_resource != slug
    } == {"body_fat": "fat", "body_weight": "weight"}
