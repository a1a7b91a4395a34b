"""Phones over the API: how they are, and how they are disconnected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import AuditEntry
from tests.factories.phones import make_phone, make_record, send, store_all, sync
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Phone, PhoneUpload
from users.states.phones import PhoneApp

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
STEPS = "HKQuantityTypeIdentifierStepCount"


def test_phones_are_listed_with_their_health_and_disconnected(
    alice_api, charlie_api, alice_tenant, time_machine
):
    time_machine.move_to(NOW, tick=False)
    user = make_user(tenant=alice_tenant)
    path = f"/v2/user/{user.uuid}/phone"
    assert alice_api.get(path).json() == []
    phone, tokens = make_phone(user)
    good = make_record(STEPS, 5, "2026-03-08T10:00:00Z")
    bad = make_record(STEPS, None, "2026-03-08T10:01:00Z")
    assert sync(user, tokens, records=[good, bad]).status_code == 202
    assert store_all(user) == 1
    event = {
        "eventType": "historical_data_type_sync_end",
        "dataType": "sleep",
        "success": False,
    }
    logs = f"/api/v1/sdk/users/{user.uuid}/logs"
    send(logs, {"sdkVersion": "1.2", "events": [event]}, tokens.access)
    assert sync(user, tokens, records=[good]).status_code == 202
    time_machine.shift(timedelta(days=3))

    (listed,) = alice_api.get(path).json()

    assert listed == {
        "id": str(phone.uuid),
        "app": "open_wearables",
        "name": "iPhone",
        "app_version": "1.2",
        "provider": "apple_health_kit",
        "paired_at": "2026-03-09T12:00:00+00:00",
        "last_upload_at": "2026-03-09T12:00:00+00:00",
        "disconnected_at": None,
        "is_silent": True,
        "uploads": {"waiting": 1, "failed": 0, "records": 2, "refused": 1},
        "missing_types": ["sleep"],
        "gaps": [],
        "also_sent_by": [],
    }
    before = stored_rows(alice_tenant)
    assert charlie_api.get(path).status_code == 404
    assert charlie_api.delete(f"{path}/{phone.uuid}").status_code == 404
    assert alice_api.delete(f"{path}/{user.uuid}").status_code == 404
    assert alice_api.delete(f"{path}/none").status_code == 422
    assert stored_rows(alice_tenant) == before

    reply = alice_api.delete(f"{path}/{phone.uuid}")

    assert (reply.status_code, reply.json()) == (200, {"success": True})
    assert alice_api.delete(f"{path}/{phone.uuid}").status_code == 404
    (listed,) = alice_api.get(path).json()
    assert listed["disconnected_at"] == "2026-03-12T12:00:00+00:00"
    assert listed["is_silent"] is False
    # The phone hears it from its next call, renewed or not; what waited is stored.
    assert sync(user, tokens, records=[good]).status_code == 401
    renewed = send("/api/v1/token/refresh", {"refresh_token": tokens.refresh})
    assert renewed.status_code == 401
    assert store_all(user) == 1
    assert PhoneUpload.objects.for_tenant(alice_tenant).count() == 2
    audit = AuditEntry.objects.for_tenant(alice_tenant).filter(user_uuid=user.uuid)
    assert audit.filter(verb="revoke_phone", actor_kind="api_key").count() == 1
    assert audit.filter(verb="read", subject="phones").count() == 3


def test_two_apps_that_send_one_source_name_each_other(
    alice_api, alice_web, alice_tenant, time_machine
):
    time_machine.move_to(NOW, tick=False)
    user = make_user(tenant=alice_tenant)
    make_phone(user)
    make_phone(user, app=PhoneApp.HEALTH_AUTO_EXPORT)
    path = f"/v2/user/{user.uuid}/phone"
    page = f"/t/alice-health/sandbox/users/{user.uuid}/"

    def others():
        return sorted(each["also_sent_by"] for each in alice_api.get(path).json())

    # A phone has a source from its first upload on.
    assert others() == [[], []]
    Phone.objects.for_tenant(alice_tenant).update(provider="apple_health_kit")
    assert others() == [["health_auto_export"], ["open_wearables"]]
    shown = alice_web.get(page).content.decode()
    assert "Health Auto Export sends this source too" in shown

    Phone.objects.for_tenant(alice_tenant).filter(app="open_wearables").update(
        revoked_at=NOW
    )
    assert others() == [[], []]
    assert "sends this source too" not in alice_web.get(page).content.decode()
