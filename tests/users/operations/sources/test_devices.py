from __future__ import annotations

from uuid import uuid4

import pytest
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from portal.lib.errors import NotFound
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.users.holdings import stored_rows
from users.models import Device
from users.operations.sources.devices import (
    DeviceDetails,
    record_device_details,
    record_device_seen,
)
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
RING = DeviceDetails(
    provider="oura",
    device_id="ring-1",
    source_type="ring",
    device_manufacturer="Oura",
    device_model="gen3",
    device_version="3.2",
)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def test_a_device_that_data_names_is_known_from_then_on(user, alice_tenant):
    uuid = uuid4()

    for _ in range(2):
        record_device_seen(
            user=user,
            provider="oura",
            source_type="ring",
            app_id=None,
            device_id=uuid,
        )

    (envelope,) = emitted(alice_tenant)
    assert Device.objects.for_tenant(alice_tenant).get().uuid == uuid
    assert envelope["event_type"] == "provider.device.created"
    assert envelope["data"] == {
        "id": str(uuid),
        "user_id": str(user.uuid),
        "provider": "oura",
        "source_type": "ring",
        "app_id": None,
        "device_manufacturer": None,
        "device_model": None,
        "device_version": None,
        "device_id": None,
    }
    validate(envelope["data"], load_event_types()["provider.device.created"].schema)


def test_a_device_that_its_source_tells_of_keeps_its_id(user, alice_tenant):
    first = record_device_details(user=user, details=RING)
    before = stored_rows(alice_tenant)

    again = record_device_details(user=user, details=RING)

    assert again == first
    assert stored_rows(alice_tenant) == before


def test_what_a_source_tells_anew_is_told_and_the_rest_stays(user, alice_tenant):
    record_device_details(user=user, details=RING)

    record_device_details(
        user=user,
        details=DeviceDetails("oura", "ring-1", "ring", device_version="3.3"),
    )

    device = Device.objects.for_tenant(alice_tenant).get()
    envelope = emitted(alice_tenant)[-1]
    assert (device.device_model, device.device_version) == ("gen3", "3.3")
    assert envelope["event_type"] == "provider.device.updated"
    assert envelope["data"]["device_version"] == "3.3"


def test_a_deleted_user_gets_no_device(user, alice_tenant):
    delete_user(user=user, actor=ACTOR)
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        record_device_details(user=user, details=RING)

    assert stored_rows(alice_tenant) == before
