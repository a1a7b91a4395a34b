"""Polar's documents read as resources, against its twin."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from urllib.parse import parse_qs, urlsplit

import pytest

from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    ResourceRefused,
    SourceRefused,
)
from users.gateways.polar.documents import parse_iso_duration
from users.gateways.sources import find_source_gateway
from users.models import User
from users.states import ConnectionFault

BACK = "https://assay.example/connect/back/polar/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
PLUS_3 = timezone(timedelta(hours=3))
NIGHT = datetime(2026, 3, 8, 22, 39, 7, tzinfo=PLUS_3)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def gateway(credentials=None):
    return find_source_gateway("polar", credentials)


def signed_in(twin):
    return gateway().connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )


def pull(twin, resource, *, days=5, zone="", grant=None):
    """The pages of a pull of the last days."""
    return list(
        gateway().pull(
            User(fallback_time_zone=zone),
            resource,
            NOON - timedelta(days=days),
            until=NOON,
            grant=grant or signed_in(twin),
        )
    )


def elements(pages):
    return [each for page in pages for batch in page.batches for each in batch.elements]


def asked(twin):
    return [(method, path, status) for _, method, path, status in twin.log]


def test_people_sign_in_and_are_registered_once(polar):
    url = gateway().authorise_url(state="s-1", redirect_url=BACK, challenge="c-1")
    first, second = signed_in(polar), signed_in(polar)

    assert url.startswith(f"{polar.url}/oauth2/authorization?")
    assert parse_qs(urlsplit(url).query)["scope"] == ["accesslink.read_all"]
    assert first.external_user_id == second.external_user_id == "10129"
    assert (first.refresh_token, first.expires_at) == (
        "",
        NOON + timedelta(seconds=31_535_999),
    )
    assert [each for each in asked(polar) if each[1] == "/v3/users"] == [
        ("POST", "/v3/users", 200),
        ("POST", "/v3/users", 409),
    ]


def test_who_accepted_not_all_consents_has_to_do_so_first(polar):
    polar.has_consented = False

    with pytest.raises(SourceRefused) as caught:
        signed_in(polar)

    assert caught.value.fault == ConnectionFault.REQUIRED_SCOPES_NOT_GRANTED


def test_consents_that_are_withdrawn_refuse_each_resource(polar):
    grant = signed_in(polar)
    polar.has_consented = False

    with pytest.raises(ResourceRefused) as caught:
        pull(polar, "sleep", grant=grant)

    assert caught.value.reason == "http_403"


def test_a_night_is_read_with_its_recharge(polar):
    polar.add_night(NIGHT, NIGHT + 8 * HOUR)

    (page,) = pull(polar, "sleep")

    assert elements([page]) == [
        {
            "external_id": "2026-03-09",
            "calendar_date": "2026-03-09",
            "bedtime_start": "2026-03-08T22:39:07+03:00",
            "bedtime_stop": "2026-03-09T06:39:07+03:00",
            "timezone_offset": 10_800,
            "type": "long_sleep",
            "duration": 28_800,
            "total": 25_920,
            "awake": 2880,
            "light": 14_400,
            "rem": 5760,
            "deep": 5760,
            "score": 80,
            "hr_average": 58,
            "average_hrv": 44,
            "respiratory_rate": 14.1,
        }
    ]


def test_stages_go_on_over_midnight_until_the_next(polar):
    hypnogram = {"22:39": 0, "22:50": 3, "00:10": 4, "06:00": 5, "06:30": 1}
    polar.add_night(NIGHT, NIGHT + 8 * HOUR, hypnogram=hypnogram)

    (cycle,) = elements(pull(polar, "sleep_cycle"))

    assert cycle["stage_type"] == [4, 2, 1, -1, 3]
    assert cycle["stage_start_offset_second"] == [0, 653, 5453, 26_453, 28_253]
    assert cycle["stage_end_offset_second"] == [653, 5453, 26_453, 28_253, 28_800]


def test_variability_has_the_clock_of_its_night(polar):
    polar.add_night(NIGHT, NIGHT + 8 * HOUR)
    polar.add_night(NIGHT - DAY, NIGHT - 16 * HOUR)
    polar.nights.pop()

    found = elements(pull(polar, "hrv"))

    # Of the other recharge nothing says when it was.
    assert found == [
        {"timestamp": "2026-03-08T22:39:00+03:00", "value": 41},
        {"timestamp": "2026-03-09T02:39:00+03:00", "value": 47},
    ]


def test_days_of_half_a_year_are_asked_for_by_28(polar):
    for back in range(180):
        polar.add_day(NOON.date() - back * DAY)

    pages = pull(polar, "activity", days=178)

    found = elements(pages)
    assert len({each["calendar_date"] for each in found}) == 180
    assert {each["steps"] for each in found} == {8823}
    assert len(pages) == 7
    assert 400 not in {status for _, _, status in asked(polar)}


def test_lists_of_28_days_say_nothing_of_what_is_older(polar):
    polar.add_night(NIGHT, NIGHT + 8 * HOUR)

    (page,) = pull(polar, "sleep", days=180)

    assert (page.first, page.last, page.is_complete) == (
        date(2026, 2, 11),
        date(2026, 3, 10),
        True,
    )


def test_an_exercise_is_read_with_its_offset(polar):
    exercise_id = polar.add_exercise(
        datetime(2026, 3, 8, 18, tzinfo=PLUS_3), detailed_sport_info="TRAIL_RUNNING"
    )

    (page,) = pull(polar, "workouts")

    assert elements([page]) == [
        {
            "external_id": exercise_id,
            "provider_id": exercise_id,
            "calendar_date": "2026-03-08",
            "time_start": "2026-03-08T18:00:00+03:00",
            "time_end": "2026-03-08T18:45:00+03:00",
            "timezone_offset": 10_800,
            "calories": 530,
            "distance": 8600.0,
            "average_hr": 129,
            "max_hr": 147,
            "sport": {"id": 0, "name": "Trail running", "slug": "trail_running"},
        }
    ]
    # It is left out a month after its upload, which is no word that it was removed.
    assert not page.is_complete


def test_heart_rates_are_by_the_users_clock_also_when_it_jumps(polar):
    polar.add_heart_rates(
        date(2026, 3, 8),
        {"01:55:00": 60, "02:30:00": 61, "03:00:00": 62, "23:59:00": 0},
    )

    found = elements(pull(polar, "heartrate", zone="America/New_York"))

    assert found == [
        {"timestamp": "2026-03-08T01:55:00-05:00", "value": 60},
        {"timestamp": "2026-03-08T03:00:00-04:00", "value": 62},
    ]


def test_who_is_taken_back_gives_nothing_any_more(polar):
    grant = signed_in(polar)

    gateway().revoke(grant)
    gateway().revoke(grant)

    with pytest.raises(AccessExpired):
        pull(polar, "sleep", grant=grant)
    assert not polar.is_registered


def test_credentials_are_tried_by_a_code_of_nobody(polar):
    def works(secret):
        credentials = ClientCredentials("twin-id", secret)
        return gateway(credentials).check_credentials(redirect_url=BACK)

    assert works("twin-secret")
    assert not works("another")


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("PT2H44M", 164), ("PT45M", 45), ("P1DT1M", 1441), ("PT90S", 1.5), ("2h", 0)],
)
def test_durations_are_of_iso_8601(text, minutes):
    assert parse_iso_duration(text) == timedelta(minutes=minutes)
