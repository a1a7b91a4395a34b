from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from users.states import Sex
from users.wearables.readings import Context, Field, ListOf, MapOf, Record, Refused
from users.wearables.values import (
    Choice,
    Day,
    Flag,
    FreeObject,
    Id,
    Moment,
    Number,
    Text,
    WholeNumber,
    Zone,
)

CONTEXT = Context(
    user_uuid=UUID("5b1f4c7e-54c8-4b36-9d2e-aa13c7b0f001"),
    provider="oura",
    time_zone="Europe/Berlin",
    zone=ZoneInfo("Europe/Berlin"),
    now=datetime(2026, 4, 1, 12, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (Text(), " x ", " x "),
        (Choice(Sex), "Female", "female"),
        (WholeNumber(0, 9), 9, 9),
        (WholeNumber(codes=(-1, 1)), -1, -1),
        (Number(0, 1), 1, 1),
        (Number(-1, 1), -0.5, -0.5),
        (Flag(), False, False),
        (Flag(only_true=True), False, None),
        (Day(), "2026-04-03", "2026-04-03"),
        (Day(), "1900-01-01", "1900-01-01"),
        (Moment(), "2026-03-01T10:00:00+01:00", "2026-03-01T09:00:00+00:00"),
        (Moment(), "2026-03-01T10:00:00.250Z", "2026-03-01T10:00:00.250000+00:00"),
        (Moment(), "2026-03-01 10:00", "2026-03-01T09:00:00+00:00"),
        (Moment(bare=True), "2026-03-01T10:00:00", "2026-03-01T10:00:00"),
        (Moment(bare=True), "2026-03-01T10:00:00+01:00", "2026-03-01T09:00:00"),
        (Zone(), "Asia/Kolkata", "Asia/Kolkata"),
        (
            Id(),
            "5B1F4C7E-54C8-4B36-9D2E-AA13C7B0F001",
            "5b1f4c7e-54c8-4b36-9d2e-aa13c7b0f001",
        ),
        (MapOf(Number()), {"iron": 1, "zinc": None}, {"iron": 1, "zinc": None}),
        (
            MapOf(FreeObject()),
            {"oats": {"any": ["thing"]}},
            {"oats": {"any": ["thing"]}},
        ),
        (ListOf(WholeNumber(), length=2), [1, 2], [1, 2]),
    ],
)
def test_a_good_value_is_read_as_the_wire_has_it(kind, value, read):
    assert kind.read(value, CONTEXT) == read


@pytest.mark.parametrize(
    ("kind", "value", "loc", "type_"),
    [
        (Text(), 5, (), "string_type"),
        (Text(max_length=2), "abc", (), "string_too_long"),
        (Choice(Sex), "robot", (), "enum"),
        (WholeNumber(), 3.0, (), "int_parsing"),
        (WholeNumber(), True, (), "int_parsing"),
        (WholeNumber(0, 9), 10, (), "less_than_equal"),
        (WholeNumber(), -1, (), "greater_than_equal"),
        (WholeNumber(codes=(1,)), 2, (), "enum"),
        (Number(), "1", (), "value_error"),
        (Number(), True, (), "value_error"),
        (Number(), float("inf"), (), "value_error"),
        (Number(-1, 1), -1.5, (), "greater_than_equal"),
        (Flag(), 1, (), "bool_parsing"),
        (Day(), "2026-04-04", (), "less_than_equal"),
        (Day(ahead=timedelta(0)), "2026-04-02", (), "less_than_equal"),
        (Day(), "20260401", (), "date_from_datetime_parsing"),
        (Moment(), "2026-04-03T12:00:01Z", (), "less_than_equal"),
        (Moment(), "1899-12-31T23:59:59Z", (), "greater_than_equal"),
        (Moment(), "2026-03-29T02:30:00", (), "value_error"),
        (Moment(), "2026-03-01T10:00:00+25:00", (), "datetime_parsing"),
        (Moment(), "20260301T100000Z", (), "datetime_parsing"),
        (Zone(), "europe/berlin", (), "value_error"),
        (Id(), "{5b1f4c7e}", (), "uuid_parsing"),
        (MapOf(Number()), [], (), "value_error"),
        (MapOf(Number()), {"iron": "1"}, ("iron",), "value_error"),
        (MapOf(Number(), max_length=1), {"a": 1, "b": 2}, (), "value_error"),
        (MapOf(FreeObject()), {"oats": 1}, ("oats",), "value_error"),
        (ListOf(WholeNumber()), 7, (), "value_error"),
        (ListOf(WholeNumber(), length=2), [1], (), "value_error"),
        (ListOf(WholeNumber(), max_length=2), [1, 2, 3], (), "value_error"),
        (ListOf(WholeNumber()), [1, "2"], (1,), "int_parsing"),
        (
            Record(
                (Field("inner", Record((Field("a", WholeNumber(), required=True),))),)
            ),
            {"inner": {}},
            ("inner", "a"),
            "missing",
        ),
        (Record(()), [], (), "value_error"),
    ],
)
def test_a_bad_value_is_refused_where_it_stands(kind, value, loc, type_):
    with pytest.raises(Refused) as refused:
        kind.read(value, CONTEXT)

    assert [(each.loc, each.type) for each in refused.value.faults] == [(loc, type_)]


def test_a_record_tells_every_fault_and_ignores_what_it_does_not_name():
    record = Record((Field("a", WholeNumber()), Field("b", Text()), Field("c", Text())))

    with pytest.raises(Refused) as refused:
        record.read({"a": "x", "b": 1, "d": object()}, CONTEXT)

    assert [each.loc for each in refused.value.faults] == [("a",), ("b",)]


def test_what_is_ours_is_not_taken_from_a_source():
    record = Record(
        (Field("rank", WholeNumber(), ours=True), Field("a", WholeNumber(), default=3))
    )

    assert record.read({"rank": 7}, CONTEXT) == {"a": 3}
    assert set(record.input_schema["properties"]) == {"a"}
    assert record.schema["required"] == ["rank", "a"]
