"""Devices of a user: record those that data or sources name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from django.db import transaction
from django.utils import timezone

from accounts.webhooks.operations import emit_event
from users.models import Device
from users.queries import lock_user
from users.states import SourceType
from users.wearables.payloads import build_device_payload

if TYPE_CHECKING:
    from users.models import User

# Never changed: ids of stored devices come from it.
_NAMESPACE = UUID("0f6d3c52-7a1e-5d0b-8c34-5b9e2f7a6d18")


@dataclass(frozen=True, slots=True)
class DeviceDetails:
    """Details of a device as its source sends them; None where absent.

    `device_id` is the source's own id of it.
    """

    provider: str
    device_id: str
    source_type: str = SourceType.UNKNOWN
    app_id: str | None = None
    device_manufacturer: str | None = None
    device_model: str | None = None
    device_version: str | None = None


def record_device_seen(
    *,
    user: User,
    provider: str,
    source_type: str,
    app_id: str | None,
    device_id: UUID | None,
) -> None:
    """Create a device when data first names it; the caller locked `user`.

    What is known of it already stays: data says less than its source.
    Source: Contract 2.4, 8.2 (provider.device.created).
    """
    if device_id is None:
        return
    mine = Device.objects.for_tenant(user.tenant).filter(user=user, uuid=device_id)
    if mine.exists():
        return
    device = Device(
        tenant=user.tenant,
        user=user,
        uuid=device_id,
        provider=provider,
        source_type=source_type,
        app_id=app_id,
    )
    device.save(force_insert=True)
    _emit_device_event(user, device, is_new=True)


@transaction.atomic
def record_device_details(*, user: User, details: DeviceDetails) -> UUID:
    """Store a source's details of a device and return the ID that data names.

    The same device of a user has the same id every time. What is new or changed makes
    one event; what is not told leaves what was. Raises: not_found.
    Source: Contract 2.4, 8.2 (provider.device.created, updated).
    """
    user = lock_user(user)
    uuid = uuid5(_NAMESPACE, f"{user.uuid}/{details.provider}/{details.device_id}")
    fields = {
        name: value
        for name in Device.TOLD
        if (value := getattr(details, name)) is not None
    }
    device: Device | None = (
        Device.objects.for_tenant(user.tenant).filter(user=user, uuid=uuid).first()
    )
    if device is None:
        device = Device(tenant=user.tenant, user=user, uuid=uuid, **fields)
        device.save(force_insert=True)
        _emit_device_event(user, device, is_new=True)
        return uuid
    changed = [name for name, value in fields.items() if getattr(device, name) != value]
    if changed:
        for name in changed:
            setattr(device, name, fields[name])
        device.updated_at = timezone.now()
        device.save(update_fields=[*changed, "updated_at"])
        _emit_device_event(user, device, is_new=False)
    return uuid


def _emit_device_event(user: User, device: Device, *, is_new: bool) -> None:
    emit_event(
        tenant=user.tenant,
        user=user.ref,
        event_type=f"provider.device.{'created' if is_new else 'updated'}",
        data=build_device_payload(user.uuid, device),
    )
