from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.operations.pulling.refresh import RefreshOutcome
from users.operations.sources.devices import DeviceDetails, record_device_details
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.fixture
def user(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    return make_user(tenant=alice_tenant)


def test_a_user_whose_sources_only_push_is_refreshed_at_once(user, alice_api):
    connect_source(user=user, actor=ACTOR, provider="apple_health_kit")

    reply = alice_api.post(f"/v2/user/refresh/{user.uuid}")

    assert reply.status_code == 200
    assert reply.json() == {
        "success": True,
        "user_id": str(user.uuid),
        "refreshed_sources": [],
        "in_progress_sources": [],
        "failed_sources": [],
    }


def test_what_still_runs_when_the_time_is_over_is_202(user, alice_api, monkeypatch):
    waited = []

    def wait(*, tenant, started, timeout):
        waited.append(timeout.total_seconds())
        return RefreshOutcome(("fitbit",), ("oura",), ("withings",))

    monkeypatch.setattr("users.api.v2.views.refresh.wait_for_user_refresh", wait)

    reply = alice_api.post(f"/v2/user/refresh/{user.uuid}?timeout=7.5")

    assert reply.status_code == 202
    assert waited == [7.5]
    assert reply.json() == {
        "success": True,
        "user_id": str(user.uuid),
        "refreshed_sources": ["fitbit"],
        "in_progress_sources": ["oura"],
        "failed_sources": ["withings"],
    }


def test_the_ninth_refresh_is_429_and_says_when_to_come_back(user, alice_api):
    for _ in range(8):
        alice_api.post(f"/v2/user/refresh/{user.uuid}")

    reply = alice_api.post(f"/v2/user/refresh/{user.uuid}")

    assert reply.status_code == 429
    assert reply.json()["code"] == "too_many_refreshes"
    assert reply["Retry-After"] == "3600"


@pytest.mark.parametrize(
    ("timeout", "kind"),
    [
        ("4.9", "greater_than_equal"),
        ("61", "less_than_equal"),
        ("nan", "value_error"),
        ("soon", "value_error"),
    ],
)
def test_a_time_to_wait_out_of_bounds_is_422(
    user, alice_api, alice_tenant, timeout, kind
):
    before = stored_rows(alice_tenant)

    reply = alice_api.post(f"/v2/user/refresh/{user.uuid}?timeout={timeout}")

    assert reply.status_code == 422
    assert error_lines(reply) == [(["query", "timeout"], kind)]
    assert stored_rows(alice_tenant) == before


def test_a_users_devices_are_listed_and_read(user, alice_api, alice_tenant):
    details = DeviceDetails("oura", "ring-1", "ring", device_model="gen3")
    uuid = record_device_details(user=user, details=details)
    fields = {
        "id": str(uuid),
        "user_id": str(user.uuid),
        "provider": "oura",
        "source_type": "ring",
        "app_id": None,
        "device_manufacturer": None,
        "device_model": "gen3",
        "device_version": None,
        "device_id": "ring-1",
    }

    assert alice_api.get(f"/v2/user/{user.uuid}/device").json() == [fields]
    assert alice_api.get(f"/v2/user/{user.uuid}/device/{uuid}").json() == fields
    assert audited(alice_tenant)[-1] == ("read", "devices", str(user.uuid))


def test_a_device_of_somebody_else_is_404(user, alice_api, alice_tenant):
    other = make_user(tenant=alice_tenant)
    uuid = record_device_details(user=other, details=DeviceDetails("oura", "ring-1"))

    for device in (uuid, uuid4()):
        reply = alice_api.get(f"/v2/user/{user.uuid}/device/{device}")
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
