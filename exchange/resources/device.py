"""Device: a thing that measured a user's data, as sources name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.resources.base import Json, ResourceType, TableSource, list_uuids
from exchange.resources.datatypes import (
    build_concept,
    build_meta,
    build_patient_reference,
    drop_empty,
)
from exchange.resources.matching import Kind, Param
from portal.lib.english import in_english
from users.queries.population import devices
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from users.models import Device


@in_english
def build_devices(tenant: Tenant, rows: Sequence[Device]) -> list[list[Json]]:
    """Build the Device of each row."""
    return [[_build_device(row)] for row in rows]


def _build_device(row: Device) -> Json:
    kind = row.source_type
    label = str(SourceType(kind).label) if kind in SourceType.values else kind
    names = [{"name": row.device_model, "type": "model-name"}]
    return drop_empty(
        {
            "resourceType": "Device",
            "id": str(row.uuid),
            "meta": build_meta(row.updated_at),
            "manufacturer": row.device_manufacturer,
            "deviceName": names if row.device_model else None,
            "modelNumber": row.device_model,
            "type": build_concept(label) if kind != SourceType.UNKNOWN else None,
            "version": [{"value": row.device_version}] if row.device_version else None,
            "patient": build_patient_reference(row.user.uuid),
        }
    )


DEVICE = ResourceType(
    name="Device",
    sources=(
        TableSource(
            area=Area.USERS,
            rows=devices,
            build=build_devices,
            by_ids=lambda rows, ids: rows.filter(uuid__in=list_uuids(ids)),
            patient="user__uuid",
            updated="updated_at",
        ),
    ),
    params=(
        Param("patient", Kind.REFERENCE, ("patient",)),
        Param("type", Kind.TOKEN, ("type",)),
    ),
    references={"patient": "patient"},
)
