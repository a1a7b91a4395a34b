from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from tests.factories.summaries import cycle_element, night_element
from users.wearables.readings import FAULTS_MAX, Context, ElementsInvalid
from users.wearables.summaries import MENSTRUAL_CYCLE, SLEEP_CYCLE

CONTEXT = Context(
    user_uuid=UUID("5b1f4c7e-54c8-4b36-9d2e-aa13c7b0f001"),
    provider="oura",
    time_zone="Europe/Berlin",
    zone=ZoneInfo("Europe/Berlin"),
    now=datetime(2026, 3, 1, 12, tzinfo=UTC),
)


def faults(resource, element):
    with pytest.raises(ElementsInvalid) as refused:
        resource.read([element], CONTEXT)
    return [(fault.loc[1:], fault.type) for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"session_start": None}, [(("session_start",), "missing")]),
        ({"session_start": 7}, [(("session_start",), "datetime_parsing")]),
        ({"session_start": "2026-02-28"}, [(("session_start",), "datetime_parsing")]),
        (
            {"session_start": "7026-02-28T22:00:00"},
            [(("session_start",), "less_than_equal")],
        ),
        (
            {"session_end": "2026-03-04T12:00:00"},
            [(("session_end",), "less_than_equal")],
        ),
        (
            {"session_start": "0001-01-01T00:00:00+14:00"},
            [(("session_start",), "datetime_parsing")],
        ),
        (
            {"session_end": "2026-02-28T22:00:00"},
            [(("session_end",), "value_error")],
        ),
        (
            {"session_start": "2026-02-25T23:59:59"},
            [(("session_end",), "less_than_equal")],
        ),
        ({"time_zone": "Berlin"}, [(("time_zone",), "value_error")]),
        ({"sleep_id": "night"}, [(("sleep_id",), "uuid_parsing")]),
        ({"stage_type": [2, 1]}, [(("stage_type",), "value_error")]),
        (
            {"stage_end_offset_second": [1800, 5400]},
            [(("stage_type",), "value_error")],
        ),
        (
            {"stage_start_offset_second": [0, 1799, 5400]},
            [(("stage_start_offset_second", 1), "value_error")],
        ),
        (
            {"stage_start_offset_second": [0, 1800, 1800]},
            [(("stage_start_offset_second", 2), "value_error")],
        ),
        (
            {"stage_end_offset_second": [0, 5400, 7200]},
            [(("stage_end_offset_second", 0), "value_error")],
        ),
        (
            {"stage_end_offset_second": [1800, 5400, 7201]},
            [(("stage_end_offset_second", 2), "value_error")],
        ),
        (
            {"stage_start_offset_second": [-1, 1800, 5400]},
            [(("stage_start_offset_second", 0), "greater_than_equal")],
        ),
        (
            {"stage_start_offset_second": [0, 1800.5, 5400]},
            [(("stage_start_offset_second", 1), "int_parsing")],
        ),
        (
            {"stage_type": [True, 1, 3]},
            [(("stage_type", 0), "int_parsing")],
        ),
        ({"external_id": 7}, [(("external_id",), "string_type")]),
        ({"external_id": "x" * 256}, [(("external_id",), "string_too_long")]),
        ({"note": "a\0b"}, [((), "value_error")]),
    ],
)
def test_a_night_that_can_not_be_is_refused(wrong, expected):
    assert faults(SLEEP_CYCLE, night_element(**wrong)) == expected


def test_a_night_may_have_holes_and_no_stages():
    holes = night_element(
        stage_type=[2, 1],
        stage_start_offset_second=[60, 4000],
        stage_end_offset_second=[1800, 7000],
    )
    none = night_element(
        stage_type=[], stage_start_offset_second=[], stage_end_offset_second=[]
    )

    read = SLEEP_CYCLE.read([holes, none], CONTEXT)

    assert [each.body["stage_type"] for each in read] == [[2, 1], []]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"period_start": None}, [(("period_start",), "missing")]),
        (
            {"period_start": "2026-2-2"},
            [(("period_start",), "date_from_datetime_parsing")],
        ),
        (
            {"period_start": "2026-02-31"},
            [(("period_start",), "date_from_datetime_parsing")],
        ),
        ({"period_start": "1899-12-31"}, [(("period_start",), "greater_than_equal")]),
        ({"cycle_end": "7026-01-01"}, [(("cycle_end",), "less_than_equal")]),
        ({"period_end": "2026-02-01"}, [(("period_end",), "value_error")]),
        ({"cycle_end": "2026-02-05"}, [(("cycle_end",), "value_error")]),
        ({"period_start": "2024-02-28"}, [(("cycle_end",), "less_than_equal")]),
        ({"is_predicted": "yes"}, [(("is_predicted",), "bool_parsing")]),
        (
            {"menstrual_flow": [{"date": "2026-02-02"}]},
            [(("menstrual_flow", 0, "flow"), "missing")],
        ),
        (
            {"menstrual_flow": [{"date": "2026-02-02", "flow": "gushing"}]},
            [(("menstrual_flow", 0, "flow"), "enum")],
        ),
        (
            {"sexual_activity": [{"date": "2026-02-02"}]},
            [(("sexual_activity", 0, "protection_used"), "missing")],
        ),
        (
            {"basal_body_temperature": [{"date": "2026-02-02", "value": 98.1}]},
            [(("basal_body_temperature", 0, "value"), "less_than_equal")],
        ),
        (
            {"basal_body_temperature": [{"date": "2026-02-02", "value": float("nan")}]},
            [(("basal_body_temperature", 0, "value"), "value_error")],
        ),
        ({"ovulation_test": {}}, [(("ovulation_test",), "value_error")]),
        ({"cervical_mucus": [7]}, [(("cervical_mucus", 0), "value_error")]),
        (
            {"period_start": None, "cycle_end": 7},
            [
                (("period_start",), "missing"),
                (("cycle_end",), "date_from_datetime_parsing"),
            ],
        ),
    ],
)
def test_a_cycle_that_can_not_be_is_refused(wrong, expected):
    assert faults(MENSTRUAL_CYCLE, cycle_element(**wrong)) == expected


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ({}, ("2026-02-02", "2026-02-02")),
        (
            {
                "menstrual_flow": [
                    {"date": "2026-02-04", "flow": "heavy"},
                    {"date": "2026-02-03", "flow": "light"},
                    {"date": "2026-02-05", "flow": "none"},
                ],
                "ovulation_test": [{"date": "2026-02-14", "test_result": "positive"}],
            },
            ("2026-02-04", "2026-02-14"),
        ),
        ({"period_end": "2026-02-06"}, ("2026-02-06", "2026-02-06")),
        ({"cycle_end": "2026-03-01"}, ("2026-02-02", "2026-03-01")),
    ],
)
def test_a_cycle_that_has_not_ended_ends_on_its_last_known_day(given, ends):
    open_cycle = {"period_start": "2026-02-02", "cycle_end": None} | given

    (read,) = MENSTRUAL_CYCLE.read([open_cycle], CONTEXT)

    assert (read.body["period_end"], read.body["cycle_end"]) == ends
    assert str(read.place.last_date) == ends[1]


def test_a_null_list_is_an_empty_one():
    (read,) = MENSTRUAL_CYCLE.read([cycle_element(menstrual_flow=None)], CONTEXT)

    assert list(read.body["menstrual_flow"]) == []


def test_faults_are_told_up_to_a_number():
    stages = ["x"] * 90
    bad = night_element(
        stage_type=stages,
        stage_start_offset_second=stages,
        stage_end_offset_second=stages,
    )

    with pytest.raises(ElementsInvalid) as refused:
        SLEEP_CYCLE.read([bad] * 500, CONTEXT)

    assert len(refused.value.faults) == FAULTS_MAX
    assert {fault.loc[0] for fault in refused.value.faults} == {0}


def test_what_nests_too_deep_is_refused():
    deep: object = "end"
    for _ in range(900):
        deep = [deep]

    assert faults(SLEEP_CYCLE, night_element(note=deep)) == [((), "value_error")]
