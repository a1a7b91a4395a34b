"""Device: a thing that measured a user's data, as sources name it."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User


class Device(TenantOwned):
    """A device of a user (contract 2.4).

    `uuid` is the wire's id, which samples and summaries name as `device_id`; the
    column `device_id` is the id that the source itself gives it. What a source does
    not tell is null.
    """

    rules = TableRules(
        without_fence="a name of a device; read with every batch of samples",
        retention="with its user",
        route_parameters={"device_id": "uuid"},
    )

    uuid = models.UUIDField(default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="devices", db_index=False
    )
    provider = models.CharField(max_length=50)
    source_type = models.CharField(max_length=50)
    app_id = models.CharField(max_length=255, null=True)  # noqa: DJ001 - the wire's null
    device_manufacturer = models.CharField(max_length=255, null=True)  # noqa: DJ001 - as above
    device_model = models.CharField(max_length=255, null=True)  # noqa: DJ001 - as above
    device_version = models.CharField(max_length=255, null=True)  # noqa: DJ001 - as above
    device_id = models.CharField(max_length=255, null=True)  # noqa: DJ001 - as above
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    # What a source may tell of it.
    TOLD = (
        *("provider", "source_type", "app_id", "device_manufacturer"),
        *("device_model", "device_version", "device_id"),
    )

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["user", "uuid"], name="device_once"),
        ]

    def __str__(self) -> str:
        return self.device_model or str(self.uuid)
