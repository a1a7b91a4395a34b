"""What an app says of its own reading: which types it could read, and how many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from users.models import Phone
from users.wearables.phones.records import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable

# Ours: HealthKit has some two hundred types.
_TYPES_MAX = 300
_VERSION_MAX = 50


@transaction.atomic
def record_phone_report(
    *, phone: Phone, app_version: str, events: Iterable[object]
) -> None:
    """Keep by type of record when it was read, whether that worked, and how many.

    What is not understood is ignored; battery and memory are nobody's business here.
    Source: Open Wearables' SDK log events.
    """
    held = Phone.objects.for_tenant(phone.tenant).select_for_update()
    row = held.filter(pk=phone.pk).first()
    if row is None:
        return
    now = timezone.now().isoformat()
    reported: dict[str, Any] = dict(row.reported)
    for event in events:
        given = event if isinstance(event, dict) else {}
        if given.get("eventType") == "historical_data_sync_start":
            for each in given.get("dataTypeCounts") or ():
                name = clean_text(each.get("type")) if isinstance(each, dict) else ""
                if name:
                    _keep(reported, name, at=now, count=_whole(each.get("count")))
        elif given.get("eventType") == "historical_data_type_sync_end":
            name = clean_text(given.get("dataType"))
            if name:
                is_read = given.get("success") is True
                count = _whole(given.get("recordCount"))
                _keep(reported, name, at=now, ok=is_read, count=count)
    row.reported = reported
    row.app_version = clean_text(app_version, _VERSION_MAX) or row.app_version
    row.save(update_fields=["reported", "app_version"])


def _keep(reported: dict[str, Any], name: str, **told: Any) -> None:
    if name in reported or len(reported) < _TYPES_MAX:
        known = {key: value for key, value in told.items() if value is not None}
        reported[name] = {**reported.get(name, {}), **known}


def _whole(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 10**9 else None
