from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    ClientRejected,
    Grant,
    ResourceRefused,
    SourceRefused,
    SourceUnavailable,
)
from users.gateways.sources import find_source_gateway
from users.models import User
from users.states import ConnectionFault

BACK = "https://assay.example/connect/back/withings/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SINCE = NOON - timedelta(days=5)
# Weight of 72.5 kg and fat of 21.4 %.
WEIGHED = {1: (72_500, -3), 6: (214, -1)}


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def gateway(credentials=None):
    return find_source_gateway("withings", credentials)


def signed_in(twin):
    return gateway().connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )


def pull(twin, resource, *, since=SINCE, position="", zone="", grant=None):
    """The pages of a pull."""
    return list(
        gateway().pull(
            User(fallback_time_zone=zone),
            resource,
            since,
            until=NOON,
            grant=grant or signed_in(twin),
            position=position,
        )
    )


def elements(pages):
    return [
        (batch.source_type, each)
        for page in pages
        for batch in page.batches
        for each in batch.elements
    ]


def at(text):
    return int(datetime.fromisoformat(text).timestamp())


def test_people_sign_in_with_a_state_a_challenge_and_scopes(withings):
    url = gateway().authorise_url(state="s-1", redirect_url=BACK, challenge="c-1")

    assert url.startswith(f"{withings.url}/oauth2_user/authorize2?")
    assert parse_qs(urlsplit(url).query) == {
        "response_type": ["code"],
        "client_id": ["twin-id"],
        "redirect_uri": [BACK],
        "scope": ["user.metrics,user.activity"],
        "state": ["s-1"],
        "code_challenge": ["c-1"],
        "code_challenge_method": ["S256"],
    }


def test_a_code_is_traded_once_by_a_signed_call(withings):
    code = withings.issue_code(BACK)
    grant = gateway().connect(code=code, redirect_url=BACK, verifier="v")

    assert grant.external_user_id == "363"
    assert grant.scopes == ("user.metrics", "user.activity")
    assert grant.expires_at == NOON + timedelta(hours=3)
    with pytest.raises(SourceRefused) as refused:
        gateway().connect(code=code, redirect_url=BACK, verifier="v")
    assert refused.value.fault == ConnectionFault.PROVIDER_CREDENTIAL_ERROR
    assert [(path, status) for path, _, status in withings.log] == [
        ("v2/signature", 0),
        ("v2/oauth2", 0),
        ("v2/signature", 0),
        ("v2/oauth2", 503),
    ]


def test_a_code_is_too_old_after_half_a_minute(withings, time_machine):
    code = withings.issue_code(BACK)
    time_machine.move_to(NOON + timedelta(seconds=31), tick=False)

    with pytest.raises(SourceRefused):
        gateway().connect(code=code, redirect_url=BACK, verifier="v")


def test_tokens_rotate_and_the_old_ones_work_until_the_new_are_used(withings):
    first = signed_in(withings)
    second = gateway().refresh_tokens(first)
    again = gateway().refresh_tokens(first)
    pull(withings, "weight", grant=again)

    assert second.access_token != first.access_token
    assert again.access_token != second.access_token
    assert again.external_user_id == "363"
    with pytest.raises(SourceRefused) as refused:
        gateway().refresh_tokens(first)
    assert refused.value.fault == ConnectionFault.TOKEN_REFRESH_FAILED


def test_a_wrong_secret_is_our_fault_and_breaks_nobody_s_connection(withings):
    grant = signed_in(withings)
    wrong = gateway(ClientCredentials("twin-id", "wrong"))

    with pytest.raises(ClientRejected):
        wrong.refresh_tokens(grant)

    assert not wrong.check_credentials(redirect_url=BACK)
    assert gateway().check_credentials(redirect_url=BACK)


def test_a_user_is_given_back_and_twice_does_no_harm(withings):
    grant = signed_in(withings)

    gateway().revoke(grant)
    gateway().revoke(grant)
    gateway().revoke(Grant("of a user whose id nobody knows"))

    assert withings.is_revoked
    with pytest.raises(SourceRefused):
        gateway().refresh_tokens(grant)


def test_weights_come_with_the_offset_of_where_they_were_measured(withings):
    # The night before 29 March clocks in Paris go forward.
    withings.add_measures(at("2026-03-08T07:00:00+01:00"), WEIGHED)
    withings.add_measures(at("2026-03-08T08:00:00+01:00"), WEIGHED, attrib=2)

    assert elements(pull(withings, "weight")) == [
        (
            "scale",
            {
                "timestamp": "2026-03-08T07:00:00+01:00",
                "timezone_offset": 3600,
                "value": 72.5,
            },
        ),
        (
            "app",
            {
                "timestamp": "2026-03-08T08:00:00+01:00",
                "timezone_offset": 3600,
                "value": 72.5,
            },
        ),
    ]
    assert [each["value"] for _, each in elements(pull(withings, "fat"))] == [21.4] * 2


@pytest.mark.parametrize(
    "more",
    [{"attrib": 1}, {"attrib": 4}, {"category": 2}, {"date": "soon"}],
    ids=["maybe somebody else's", "typed in at sign-up", "a goal", "no date"],
)
def test_what_may_not_be_a_measurement_of_the_user_is_left_out(withings, more):
    withings.add_measures(at("2026-03-08T07:00:00+01:00"), WEIGHED)
    withings.measures[0] |= {k: v for k, v in more.items() if k != "date"}
    if "date" in more:
        withings.measures[0]["measures"] = [{"type": 1, "value": "x", "unit": 0}]

    assert elements(pull(withings, "weight")) == []
    assert elements(pull(withings, "body")) == []


def test_a_blood_pressure_has_both_values(withings):
    moment = at("2026-03-08T07:00:00+01:00")
    withings.add_measures(moment, {9: (74, 0), 10: (118, 0), 11: (61, 0)})
    withings.add_measures(moment + 60, {10: (120, 0)})

    assert elements(pull(withings, "blood_pressure")) == [
        (
            "cuff",
            {
                "timestamp": "2026-03-08T07:00:00+01:00",
                "timezone_offset": 3600,
                "systolic": 118.0,
                "diastolic": 74.0,
            },
        )
    ]


def test_a_body_is_of_the_user_s_day_and_its_last_weighing(withings):
    withings.time_zone = "Pacific/Auckland"
    # The 8th there, the 7th in UTC.
    withings.add_measures(at("2026-03-08T07:00:00+13:00"), WEIGHED)
    withings.add_measures(
        at("2026-03-08T22:00:00+13:00"), {1: (73, 0), 5: (58, 0), 77: (3650, -2)}
    )

    assert elements(pull(withings, "body")) == [
        (
            "scale",
            {
                "calendar_date": "2026-03-08",
                "weight": 73.0,
                "fat": 21.4,
                "lean_body_mass_kilogram": 58.0,
                "water_percentage": 50.0,
            },
        )
    ]


def test_a_day_is_whole_where_two_windows_meet(withings):
    withings.time_zone = "America/Los_Angeles"
    first = NOON - timedelta(days=120)
    for hours in range(0, 120 * 24, 12):
        withings.add_measures(
            int((first + timedelta(hours=hours)).timestamp()), {1: (70 + hours % 24, 0)}
        )

    found = elements(pull(withings, "body", since=first))

    days = [each["calendar_date"] for _, each in found]
    assert len(days) == len(set(days)) == 120
    # 16:00 or 17:00 there is the later of a day's two.
    assert {each["weight"] for _, each in found} == {82.0}


def test_pages_and_windows_are_read_to_their_end_the_newest_window_first(withings):
    withings.page_size = 7
    for day in range(180):
        withings.add_measures(int((NOON - timedelta(days=day)).timestamp()), WEIGHED)

    pages = pull(withings, "weight", since=NOON - timedelta(days=179))

    assert [page.position for page in pages] == [
        "2026-01-09",
        "2025-11-10",
        "2025-09-11",
        "",
    ]
    moments = [each["timestamp"] for _, each in elements(pages)]
    assert len(set(moments)) == 180
    assert moments[0][:7] > moments[-1][:7]
    rest = pull(
        withings, "weight", since=NOON - timedelta(days=179), position="2025-11-10"
    )
    assert elements(rest) == elements(pages[2:])


def test_a_night_comes_with_its_stages_and_an_unfinished_one_does_not(withings):
    withings.add_night(
        at("2026-03-07T22:30:00+01:00"),
        at("2026-03-08T06:30:00+01:00"),
        "2026-03-08",
        total_timeinbed=28_800,
        total_sleep_time=26_100,
        deepsleepduration=6300,
        sleep_score=81,
        hr_min=48,
        a_field_that_appears=1,
    )
    withings.add_night(
        at("2026-03-09T00:00:00+01:00"), at("2026-03-09T06:00:00+01:00"), "2026-03-09"
    )
    withings.nights[1]["completed"] = False

    assert elements(pull(withings, "sleep")) == [
        (
            "unknown",
            {
                "external_id": "5000",
                "calendar_date": "2026-03-08",
                "bedtime_start": "2026-03-07T22:30:00+01:00",
                "bedtime_stop": "2026-03-08T06:30:00+01:00",
                "timezone_offset": 3600,
                "duration": 28_800,
                "total": 26_100,
                "deep": 6300,
                "score": 81,
                "hr_lowest": 48,
            },
        )
    ]


@pytest.mark.parametrize(
    ("fault", "error", "reason"),
    [
        (601, SourceUnavailable, "rate_limited"),
        (522, SourceUnavailable, "status_522"),
        (-500, SourceUnavailable, "http_500"),
        (-502, SourceUnavailable, "http_502"),
        (2555, ResourceRefused, "status_2555"),
        (503, ResourceRefused, "status_503"),
    ],
)
def test_a_fault_is_told_by_its_status(withings, fault, error, reason):
    grant = signed_in(withings)
    withings.faults.append(fault)

    with pytest.raises(error) as raised:
        pull(withings, "weight", grant=grant)

    assert raised.value.reason == reason


def test_an_access_token_that_ended_is_to_be_renewed(withings, time_machine):
    grant = signed_in(withings)
    time_machine.move_to(NOON + timedelta(hours=3, seconds=1), tick=False)

    with pytest.raises(AccessExpired):
        pull(withings, "weight", grant=grant)


def test_what_was_not_granted_is_not_available():
    granted = gateway(ClientCredentials("a", "b")).granted_resources(
        Grant("access", scopes=("user.activity",))
    )

    assert granted == {"sleep", "sleep_cycle", "activity", "workouts"}
