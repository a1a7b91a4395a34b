"""Phones, and batches as the apps on them send them; written here, of nobody's data."""

from __future__ import annotations

import gzip
import uuid
from typing import Any

import orjson
from django.test import Client

from tests.factories.accounts import ACTOR
from users.operations.phones.pairing import create_pairing_code
from users.operations.phones.tokens import PhoneDetails, create_phone
from users.operations.phones.uploads import store_next_upload
from users.states.phones import PhoneApp

WATCH = {
    "appId": "com.apple.health.0000",
    "deviceId": None,
    "deviceName": "Apple Watch",
    "deviceManufacturer": "Apple Inc.",
    "deviceModel": "Watch7,5",
    "deviceType": "watch",
    "recordingMethod": None,
    "deviceHardwareVersion": "Watch7,5",
    "operatingSystemVersion": {
        "majorVersion": 11,
        "minorVersion": 1,
        "patchVersion": 0,
    },
}
IPHONE = WATCH | {
    "deviceName": "iPhone",
    "deviceModel": "iPhone16,1",
    "deviceType": "phone",
}


def make_phone(user: Any, app: PhoneApp = PhoneApp.OPEN_WEARABLES) -> Any:
    """Return a phone of a user and its tokens."""
    return create_phone(user=user, actor=ACTOR, details=PhoneDetails(app, "iPhone"))


def make_code(user: Any) -> str:
    """Return a pairing code of a user."""
    return create_pairing_code(user=user, actor=ACTOR).code


def make_record(type_: str, value: Any, start: str, **more: Any) -> dict[str, Any]:
    """Return a record as the SDK for iOS writes it."""
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{type_}{start}")).upper(),
        "type": type_,
        "startDate": start,
        "endDate": start,
        "zoneOffset": None,
        "source": WATCH,
        "value": value,
        "unit": "count",
        "parentId": None,
        "metadata": None,
    } | more


def make_stage(stage: str, start: str, end: str, **more: Any) -> dict[str, Any]:
    """Return a stage of sleep as the SDK for iOS writes it."""
    return {
        "id": f"{stage}-{start}",
        "parentId": None,
        "stage": stage,
        "startDate": start,
        "endDate": end,
        "zoneOffset": None,
        "source": WATCH,
        "values": None,
        "metadata": None,
    } | more


def make_sync(provider: str = "apple", **lists: Any) -> dict[str, Any]:
    """Return a batch of the SDK with these lists."""
    return {
        "provider": provider,
        "sdkVersion": "0.9.0",
        "syncTimestamp": "2026-03-09T12:00:00Z",
        "data": {"records": [], "sleep": [], "workouts": [], **lists},
    }


def send(
    path: str, body: Any, token: str = "", *, packed: bool = False, **headers: str
) -> Any:
    """POST a body as an app does; bytes go as they are."""
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    if packed:
        content = gzip.compress(content)
        headers["content-encoding"] = "gzip"
    if token:
        headers["authorization"] = f"Bearer {token}"
    return Client().post(
        path, content, content_type="application/json", headers=headers
    )


def sync(user: Any, tokens: Any, **lists: Any) -> Any:
    """Send a batch to the user's own path."""
    path = f"/api/v1/sdk/users/{user.uuid}/sync"
    return send(path, make_sync(**lists), tokens.access)


def store_all(user: Any) -> int:
    """Store all that waits of a user, as the worker does; return how many batches."""
    number = 0
    while store_next_upload(tenant=user.tenant, user_pk=user.pk):
        number += 1
    return number
