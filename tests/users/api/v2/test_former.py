from __future__ import annotations

import pytest

from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.summaries import record
from tests.factories.timeseries import minute, push_samples, sample
from tests.factories.users import make_user
from users.api.v2.views import former
from users.api.v2.views.former import RAW_RESOURCES
from users.operations.sources.devices import DeviceDetails, record_device_details

pytestmark = pytest.mark.django_db
RANGE = {"start_date": "2026-01-01", "end_date": "2026-12-31"}


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def test_samples_of_all_sources_are_one_list_by_time(alice_api, user):
    for provider, place in (("oura", 1), ("fitbit", 0), ("oura", 2)):
        push_samples(
            user,
            "heartrate",
            sample("heartrate", timestamp=minute(place), value=60 + place),
            provider=provider,
        )
    path = f"/v2/timeseries/{user.uuid}/heartrate"

    reply = alice_api.get(path, RANGE)
    of_one = alice_api.get(path, {**RANGE, "provider": "Oura"})

    check_answer(reply, "get", "/v2/timeseries/{user_id}/{resource}")
    assert [each["value"] for each in reply.json()] == [60, 61, 62]
    assert [each["value"] for each in of_one.json()] == [61, 62]
    assert reply["Deprecation"].startswith("@")
    assert reply["Link"] == f'<{path}/grouped>; rel="successor-version"'
    assert error_lines(alice_api.get(path)) == [(["query", "start_date"], "missing")]


def test_more_samples_than_one_answer_holds_are_refused(alice_api, user, monkeypatch):
    monkeypatch.setattr(former, "SAMPLES_AT_MOST", 1)
    for place in range(2):
        push_samples(user, "hrv", sample("hrv", timestamp=minute(place)))

    reply = alice_api.get(f"/v2/timeseries/{user.uuid}/hrv", RANGE)

    assert (reply.status_code, reply.json()["code"]) == (400, "too_many_samples")


def test_cholesterol_of_one_type_has_a_path_of_its_own(alice_api, user):
    for kind in ("ldl", "hdl"):
        push_samples(user, "cholesterol", sample("cholesterol", type=kind, value=2))

    reply = alice_api.get(f"/v2/timeseries/{user.uuid}/cholesterol/ldl", RANGE)

    check_answer(reply, "get", "/v2/timeseries/{user_id}/cholesterol/ldl")
    assert [each["type"] for each in reply.json()] == ["ldl"]


@pytest.mark.parametrize("slug", RAW_RESOURCES)
def test_a_raw_summary_is_the_element_as_it_came(alice_api, user, slug):
    (summary_id,) = record(user, slug).ids
    path = f"/v2/summary/{slug}/{user.uuid}/raw"

    reply = alice_api.get(path, RANGE)

    check_answer(reply, "get", f"/v2/summary/{slug}/{{user_id}}/raw")
    found = reply.json()[slug]
    one = found if slug == "profile" else found[0]
    assert one["id"] == str(summary_id)
    assert one["source"]["slug"] == "oura"
    assert isinstance(one["data"], dict)
    assert "sport" in one or slug != "workouts"
    nobody = alice_api.get(path, {**RANGE, "provider": "fitbit"})
    assert (
        nobody.status_code == 404 if slug == "profile" else nobody.json() == {slug: []}
    )


def test_raw_devices_are_the_user_s_devices(alice_api, user):
    record_device_details(user=user, details=DeviceDetails("oura", "ring-1"))

    reply = alice_api.get(f"/v2/summary/devices/{user.uuid}/raw")

    check_answer(reply, "get", "/v2/summary/devices/{user_id}/raw")
    (device,) = reply.json()["devices"]
    assert (device["source"]["slug"], device["data"]["provider"]) == ("oura", "oura")
