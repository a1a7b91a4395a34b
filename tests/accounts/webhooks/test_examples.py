from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.examples import USER_ID, build_example_event


def test_each_example_fits_its_schema():
    faults = {
        name: fault.message
        for name, kind in load_event_types().items()
        for fault in Draft202012Validator(
            kind.schema, format_checker=FormatChecker()
        ).iter_errors(build_example_event(name)["data"])
    }

    assert faults == {}


def test_an_example_is_an_envelope_with_every_key_of_its_data():
    example = build_example_event("daily.data.glucose.created")

    assert list(example) == [
        "event_type",
        "data",
        "team_id",
        "user_id",
        "client_user_id",
    ]
    assert example["data"]["user_id"] == example["user_id"] == USER_ID
    assert example["data"]["data"] == [
        {
            "timestamp": "2026-03-02T07:10:00+00:00",
            "timezone_offset": 3600,
            "type": None,
            "unit": "mmol/L",
            "value": 5.4,
        }
    ]


def test_a_type_that_is_not_in_the_catalogue_has_none():
    with pytest.raises(KeyError):
        build_example_event("no.such.type")
