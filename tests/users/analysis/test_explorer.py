from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories.samples import put_samples
from tests.factories.users import make_user
from users.analysis import explorer
from users.analysis.explorer import (
    Form,
    Resolution,
    SampleRequest,
    find_samples_at_time,
    get_sample_table_page,
    iterate_samples_by_time,
    read_chart_points,
)
from users.wearables.timeseries import TIMESERIES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("both_ways")]


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def sample_request(slug="heartrate", **given):
    return SampleRequest(
        **{
            "resource": TIMESERIES[slug],
            "start": at("2026-02-01"),
            "end": at("2026-02-08"),
            "zone": UTC,
            **given,
        }
    )


def minutes(number, value=60.0):
    first = at("2026-02-01")
    return [
        ((first + timedelta(minutes=n)).replace(tzinfo=None).isoformat(), 0, value)
        for n in range(number)
    ]


def test_few_samples_are_shown_as_they_are_by_source(user):
    put_samples(user, "heartrate", ("2026-02-01T10:00", 0, 60))
    put_samples(
        user,
        "heartrate",
        ("2026-02-01T10:00", 0, 70),
        ("2026-02-02T10:00", 0, 71),
        provider="garmin",
    )

    view = read_chart_points(user=user, request=sample_request())

    assert view.form == Form.SAMPLES
    assert [
        (line.provider, [point.value for point in line.points]) for line in view.lines
    ] == [("garmin", [70, 71]), ("oura", [60])]
    assert (view.samples, view.is_thinned) == (3, False)


def test_a_long_range_is_thinned_and_keeps_its_peaks(user, monkeypatch):
    monkeypatch.setattr(explorer, "RAW_POINTS_MAX", 100)
    put_samples(user, "heartrate", *minutes(500))
    put_samples(user, "heartrate", ("2026-02-01T05:00:30", 0, 190))
    put_samples(user, "heartrate", ("2026-02-01T05:01:30", 0, 31))

    view = read_chart_points(user=user, request=sample_request())

    (line,) = view.lines
    assert view.form == Form.STRETCHES
    assert view.samples == 502 == sum(point.count for point in line.points)
    assert view.is_thinned
    assert len(line.points) <= explorer.STRETCHES
    assert max(point.high for point in line.points) == 190
    assert min(point.low for point in line.points) == 31


def test_what_is_too_much_to_show_raw_says_that_it_was_thinned(user, monkeypatch):
    put_samples(user, "heartrate", *minutes(20))
    raw = sample_request(resolution=Resolution.RAW)
    whole = read_chart_points(user=user, request=raw)
    monkeypatch.setattr(explorer, "RAW_POINTS_MAX", 10)

    thinned = read_chart_points(user=user, request=raw)

    assert (whole.form, whole.is_thinned) == (Form.SAMPLES, False)
    assert (thinned.form, thinned.is_thinned) == (Form.STRETCHES, True)


def test_five_minutes_are_those_of_the_clock(user):
    put_samples(user, "heartrate", *minutes(12))
    asked = sample_request(
        start=at("2026-02-01T00:02"),
        end=at("2026-02-01T00:12"),
        resolution=Resolution.FIVE_MINUTES,
    )

    (line,) = read_chart_points(user=user, request=asked).lines

    assert [(point.start, point.count) for point in line.points] == [
        (at("2026-02-01T00:02"), 3),
        (at("2026-02-01T00:05"), 5),
        (at("2026-02-01T00:10"), 2),
    ]


def test_what_adds_up_is_added_up_once(user):
    put_samples(user, "steps", ("2026-02-01T10:00", 10, 500))
    put_samples(
        user,
        "steps",
        ("2026-02-01T10:00", 10, 600),
        provider="apple_health_kit",
        source_type="phone",
    )

    view = read_chart_points(user=user, request=sample_request("steps"))

    (line,) = view.lines
    assert view.form == Form.BUCKETS
    assert view.resolution == Resolution.DAY
    assert [point.value for point in line.points] == [500]


@pytest.mark.parametrize(
    ("days", "asked", "shown", "is_thinned"),
    [
        (2, Resolution.AUTO, Resolution.HOUR, False),
        (30, Resolution.AUTO, Resolution.DAY, False),
        (200, Resolution.AUTO, Resolution.WEEK, False),
        (30, Resolution.HOUR, Resolution.HOUR, False),
        (60, Resolution.HOUR, Resolution.DAY, True),
        (400, Resolution.DAY, Resolution.WEEK, True),
    ],
)
def test_a_range_too_long_for_its_resolution_gets_the_next(
    user, days, asked, shown, is_thinned
):
    end = at("2026-02-08")
    view = read_chart_points(
        user=user,
        request=sample_request(
            "steps", start=end - timedelta(days=days), end=end, resolution=asked
        ),
    )

    assert (view.resolution, view.is_thinned) == (shown, is_thinned)
    assert view.is_empty


def test_an_hour_without_a_sample_is_no_point(user):
    put_samples(user, "steps", ("2026-02-01T10:00", 5, 9), ("2026-02-01T13:00", 5, 0))

    (line,) = read_chart_points(
        user=user, request=sample_request("steps", resolution=Resolution.HOUR)
    ).lines

    assert [(point.start.hour, point.value) for point in line.points] == [
        (10, 9),
        (13, 0),
    ]


def test_one_source_and_one_type_can_be_asked_for(user):
    put_samples(user, "cholesterol", ("2026-02-01T10:00", 0, 2), type_="ldl")
    put_samples(user, "cholesterol", ("2026-02-01T10:00", 0, 1), type_="hdl")
    put_samples(
        user, "cholesterol", ("2026-02-02", 0, 3), type_="ldl", provider="garmin"
    )

    view = read_chart_points(
        user=user, request=sample_request("cholesterol", type="ldl", provider="oura")
    )

    assert [
        (line.type, line.provider, line.points[0].value) for line in view.lines
    ] == [("ldl", "oura", 2)]


def test_a_page_of_samples_ends_with_where_the_next_begins(user):
    put_samples(user, "heartrate", *minutes(5))

    first, key = get_sample_table_page(
        user=user, request=sample_request(), after=None, limit=3
    )
    rest, end = get_sample_table_page(
        user=user, request=sample_request(), after=key, limit=3
    )

    assert [each.body["timestamp"].minute for each in first + rest] == [0, 1, 2, 3, 4]
    assert first[0].source["provider"] == "oura"
    assert end is None


def test_every_sample_is_read_in_parts(user, monkeypatch):
    monkeypatch.setattr(explorer, "_PAGE", 3)
    put_samples(user, "heartrate", *minutes(7))

    found = list(iterate_samples_by_time(user=user, request=sample_request()))

    assert [each.body["timestamp"].minute for each in found] == list(range(7))


def test_samples_of_a_moment_are_found_with_all_their_sources(user):
    put_samples(user, "heartrate", *minutes(3))
    put_samples(user, "heartrate", *minutes(3, 70.0), provider="garmin")

    found = find_samples_at_time(
        user=user, resource=TIMESERIES["heartrate"], at=at("2026-02-01T00:01")
    )

    assert [(each.source["provider"], each.body["value"]) for each in found] == [
        ("oura", 60),
        ("garmin", 70),
    ]
