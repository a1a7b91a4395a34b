"""Dexcom's records read as samples, against its twin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    PulledDevice,
    SourceRefused,
)
from users.gateways.dexcom.gateway import REGIONS
from users.gateways.dexcom.records import (
    convert_dexcom_carbohydrates,
    convert_dexcom_glucose,
    convert_dexcom_insulin,
)
from users.gateways.sources import find_source_gateway
from users.models import Sample, User
from users.operations.pulling.pulling import enqueue_due_source_pulls
from users.operations.sources.cloud_sources import connect_cloud_source

BACK = "https://assay.example/connect/back/dexcom_v3/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def gateway():
    return find_source_gateway("dexcom_v3")


def signed_in(twin):
    return gateway().connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )


def pull(twin, resource="glucose", *, days=2, grant=None):
    """The batches of a pull of the last days, by what measured them."""
    pages = gateway().pull(
        User(),
        resource,
        NOON - timedelta(days=days),
        until=NOON,
        grant=grant or signed_in(twin),
    )
    return [batch for page in pages for batch in page.batches]


def values(batches):
    return [
        (element.get("timestamp") or element["start"], round(element["value"], 3))
        for batch in batches
        for element in batch.elements
    ]


def test_people_sign_in_for_offline_access(dexcom):
    url = gateway().authorise_url(state="s-1", redirect_url=BACK, challenge="c-1")

    assert url.startswith(f"{dexcom.url}/v2/oauth2/login?")
    assert parse_qs(urlsplit(url).query)["scope"] == ["offline_access"]


def test_tokens_are_had_with_the_users_id_and_rotate(dexcom, time_machine):
    first = signed_in(dexcom)
    time_machine.move_to(NOON + 2 * HOUR + timedelta(seconds=1), tick=False)
    with pytest.raises(AccessExpired):
        pull(dexcom, grant=first)
    second = gateway().refresh_tokens(first)
    pull(dexcom, grant=second)
    with pytest.raises(SourceRefused):
        gateway().refresh_tokens(first)

    assert first.external_user_id == second.external_user_id == f"{10_129:064x}"
    assert first.expires_at == NOON + 2 * HOUR
    assert dexcom.replays == 1


def test_glucose_is_read_in_our_unit_with_the_offset_that_was_shown(dexcom):
    dexcom.add_glucose(NOON - 3 * HOUR, 100, offset=-8)
    dexcom.add_glucose(NOON - 4 * HOUR, 39, status="low")
    dexcom.add_glucose(NOON - 5 * HOUR, 401, status="high")
    dexcom.add_calibration(NOON - 6 * HOUR, 110)

    sensor, meter = pull(dexcom)

    assert (sensor.source_type, meter.source_type) == ("automatic", "fingerprick")
    assert sensor.device == PulledDevice("c" * 64, "Dexcom", "G7")
    assert meter.device is None
    assert values([sensor]) == [("2026-03-09T01:00:00-08:00", 5.551)]
    assert values([meter]) == [("2026-03-09T06:00:00+00:00", 6.106)]


def test_in_mmol_the_number_stays(dexcom):
    dexcom.unit = "mmol/L"
    dexcom.add_glucose(NOON - 3 * HOUR, 5.6)

    assert values(pull(dexcom)) == [("2026-03-09T09:00:00+00:00", 5.6)]


def test_entries_of_the_user_are_read_where_their_kind_is_known(dexcom):
    at = NOON - 3 * HOUR
    dose = {"eventType": "insulin", "unit": "units", "value": "4.5"}
    dexcom.add_event(at)
    dexcom.add_event(at - HOUR, eventStatus="deleted")
    dexcom.add_event(at, **dose, eventSubType="fastActing")
    dexcom.add_event(at, **dose, eventSubType=None)

    (insulin,) = pull(dexcom, "insulin_injection")
    (carbohydrates,) = pull(dexcom, "carbohydrates")

    assert insulin.elements == [
        {
            "start": "2026-03-09T09:00:00+00:00",
            "end": "2026-03-09T09:00:01+00:00",
            "value": 4.5,
            "type": "rapid_acting",
        }
    ]
    assert values([carbohydrates]) == [("2026-03-09T09:00:00+00:00", 42.0)]


def test_half_a_year_is_asked_for_in_windows_that_dexcom_allows(dexcom):
    for day in range(180):
        dexcom.add_glucose(NOON - timedelta(days=day, hours=3), 100)

    found = values(pull(dexcom, days=180))

    assert len({at for at, _ in found}) == 180
    asked = [status for _, _, path, status in dexcom.log if path.endswith("/egvs")]
    assert asked == [200] * 7


@pytest.mark.parametrize(
    "changes",
    [
        {"systemTime": "soon"},
        {"systemTime": None},
        {"unit": "unknown"},
        {"value": None},
        {"value": "100"},
        {"value": True},
    ],
)
def test_what_is_no_measurement_is_not_read(changes):
    record = {"systemTime": "2026-03-09T09:00:00Z", "value": 100, "unit": "mg/dL"}
    (whole,) = convert_dexcom_glucose([record])

    assert convert_dexcom_glucose([record | changes]) == []
    assert whole["timestamp"] == "2026-03-09T09:00:00+00:00"


@pytest.mark.parametrize(
    ("display", "wanted"),
    [
        ("2026-03-09T10:00:00", "2026-03-09T10:00:00+01:00"),
        ("2026-03-09T14:45:00", "2026-03-09T14:45:00+05:45"),
        ("2026-03-09T10:07:00", "2026-03-09T09:00:00+00:00"),
        ("2025-03-09T10:00:00", "2026-03-09T09:00:00+00:00"),
        ("late", "2026-03-09T09:00:00+00:00"),
    ],
)
def test_a_receivers_clock_is_an_offset_where_a_zone_can_have_it(display, wanted):
    record = {"systemTime": "2026-03-09T09:00:00", "displayTime": display}

    (found,) = convert_dexcom_glucose([record | {"value": 5, "unit": "mmol/L"}])

    assert found["timestamp"] == wanted


@pytest.mark.parametrize("value", ["", "nan", "0", "-1", "inf", None, []])
def test_an_entry_without_an_amount_is_not_read(value):
    entry = {"systemTime": "2026-03-09T09:00:00Z", "value": value}
    carbs = {"eventType": "carbs", "unit": "grams"}
    dose = {"eventType": "insulin", "unit": "units", "eventSubType": "longActing"}

    assert convert_dexcom_carbohydrates([entry | carbs]) == []
    assert convert_dexcom_insulin([entry | dose]) == []


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_asked_every_hour_a_day_is_whole_for_all_the_delay(
    dexcom, alice_tenant, time_machine, run_jobs
):
    dexcom.delay = timedelta(hours=3)
    for minutes in range(0, 24 * 60, 5):
        dexcom.add_glucose(NOON + timedelta(minutes=minutes), 90 + minutes % 50)
    user = make_user(tenant=alice_tenant)
    connect_cloud_source(
        user=user, actor=ACTOR, provider="dexcom_v3", grant=signed_in(dexcom)
    )
    for hour in range(28):
        time_machine.move_to(NOON + hour * HOUR + timedelta(minutes=1), tick=False)
        enqueue_due_source_pulls()
        run_jobs()

    assert Sample.objects.filter(user_id=user.pk).count() == 288


def test_a_team_chooses_the_region_that_is_asked(dexcom, monkeypatch):
    monkeypatch.setitem(REGIONS, "jp", dexcom.url)

    def found(**more):
        credentials = ClientCredentials("twin-id", "twin-secret", more)
        return find_source_gateway("dexcom_v3", credentials)

    japan = found(region="jp")
    grant = japan.connect(
        code=dexcom.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )
    assert grant.external_user_id == f"{10_129:064x}"
    signs_in = {
        name: urlsplit(
            found(region=name).authorise_url(state="s", redirect_url=BACK, challenge="")
        ).netloc
        for name in ("us", "eu", "sandbox")
    }
    assert signs_in == {
        "us": "api.dexcom.com",
        "eu": "api.dexcom.eu",
        "sandbox": "sandbox-api.dexcom.com",
    }
    assert found().api_url == dexcom.url
