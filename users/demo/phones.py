"""Demo phones: pair them, and have them send a few days as real apps do."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import orjson
from django.utils import timezone

from users.models import Phone, User
from users.operations.phones.health import record_phone_report
from users.operations.phones.reading import OPEN_WEARABLES
from users.operations.phones.tokens import (
    PhoneDetails,
    create_phone,
    record_phone_seen,
)
from users.operations.phones.uploads import receive_upload
from users.states.phones import PhoneApp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accounts.declarations.demo_data import DemoScene

# By a source of a demo person: the phone, its provider in the app's words, and the
# series that the source's made-up data does not have.
_PHONES = {
    "apple_health_kit": (
        PhoneDetails(PhoneApp.OPEN_WEARABLES, "iPhone 15", "0.9.0"),
        "apple",
        ("HKQuantityTypeIdentifierDietaryWater", "mL"),
        {"deviceManufacturer": "Apple Inc.", "deviceModel": "iPhone15,4"},
    ),
    "health_connect": (
        PhoneDetails(PhoneApp.OPEN_WEARABLES, "Pixel 9", "0.9.0"),
        "google",
        ("HYDRATION", "mL"),
        {"deviceManufacturer": "Google", "deviceModel": "Pixel 9"},
    ),
}
_DAYS = 3
_HOURS = (8, 11, 13, 16, 19)
_GLASS_ML = (200, 250, 330, 250, 300)


def load_demo_phones(scene: DemoScene) -> None:
    """Pair a phone with each demo person whose source is one, and let it send.

    Repeating it changes nothing: a person who has a phone, or had one, is left alone.
    Source: Ours (a newcomer sees every screen with something on it).
    """
    uuids = [person.user_uuid for person in scene.people]
    live = User.objects.for_tenant(scene.tenant).live().filter(uuid__in=uuids)
    users = {user.uuid: user for user in live.select_related("tenant__team")}
    known = set(
        Phone.objects.for_tenant(scene.tenant)
        .filter(user__in=users.values())
        .values_list("user_id", flat=True)
    )
    for person in scene.people:
        user = users.get(person.user_uuid)
        source = next((each for each in person.sources if each in _PHONES), None)
        if user is None or source is None or user.pk in known:
            continue
        details, provider, kind, device = _PHONES[source]
        phone, _tokens = create_phone(user=user, actor=scene.actor, details=details)
        record_phone_seen(phone)
        records = list(_glasses(kind, device, ZoneInfo(person.time_zone or "UTC")))
        body = {
            "provider": provider,
            "sdkVersion": details.app_version,
            "syncTimestamp": timezone.now().isoformat(),
            "data": {"records": records, "sleep": [], "workouts": []},
        }
        receive_upload(phone=phone, form=OPEN_WEARABLES, content=orjson.dumps(body))
        # One type that the app may not read: a permission that its owner did not give.
        record_phone_report(
            phone=phone,
            app_version=details.app_version,
            events=[
                {
                    "eventType": "historical_data_type_sync_end",
                    "dataType": "sleep",
                    "success": False,
                }
            ],
        )


def _glasses(
    kind: tuple[str, str], device: dict[str, str], zone: ZoneInfo
) -> Iterator[dict[str, Any]]:
    today = timezone.now().astimezone(zone).date()
    for back in range(_DAYS, 0, -1):
        day = today - timedelta(days=back)
        for hour, amount in zip(_HOURS, _GLASS_ML, strict=True):
            at = datetime.combine(day, time(hour), zone).astimezone(UTC).isoformat()
            yield {
                "id": f"demo-{at}",
                "type": kind[0],
                "startDate": at,
                "endDate": at,
                "zoneOffset": None,
                "source": {**device, "deviceType": "phone"},
                "value": amount,
                "unit": kind[1],
            }
