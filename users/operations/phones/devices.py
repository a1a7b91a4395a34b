"""Devices that a batch names, and what is counted of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.operations.sources.devices import DeviceDetails, record_device_details

if TYPE_CHECKING:
    from uuid import UUID

    from users.models import User
    from users.wearables.formats.rows import Origin

# By resource: created, updated, unchanged and dropped.
Counts = dict[str, dict[str, int]]


class DeviceIds:
    """IDs of the devices that a batch names, each recorded once."""

    def __init__(self, user: User, provider: str) -> None:
        self._user = user
        self._provider = provider
        self._ids: dict[Origin, UUID | None] = {}

    def find(self, origin: Origin) -> UUID | None:
        """Return the ID of the device of an origin, if it names one."""
        if origin not in self._ids:
            device = origin.device
            self._ids[origin] = device and record_device_details(
                user=self._user,
                details=DeviceDetails(
                    provider=self._provider,
                    device_id=device.id,
                    source_type=origin.source_type,
                    device_manufacturer=device.manufacturer,
                    device_model=device.model,
                ),
            )
        return self._ids[origin]
