"""Our own push for anybody's app: elements as the API takes them (contract 5.4).

{provider, batches: [{resource, source_type?, app_id?, device?, data: [element]}]}:
`device` is {id, manufacturer?, model?}, `resource` a name of a summary or timeseries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from users.states import SourceType
from users.states.imports import DropReason
from users.wearables.formats.rows import Origin, ReportedDevice
from users.wearables.phones.records import ReadBatch, Where, clean_text, read_list
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from users.wearables.readings import Context

_SERIES = {each.event_resource: slug for slug, each in TIMESERIES.items()} | {
    slug: slug for slug in TIMESERIES
}


def read_own_batch(body: dict[str, Any], context: Context, provider: str) -> ReadBatch:
    """Read a push of a known provider; elements are checked when they are stored."""
    batch = ReadBatch(provider, context)
    for given in read_list(body, "batches"):
        if not isinstance(given, dict):
            batch.records += 1
            batch.refuse(Where("batches", 0), "batch", DropReason.BAD_ROW)
            continue
        resource = clean_text(given.get("resource"))
        origin = _read_origin(given)
        if not isinstance(given.get("data"), list):
            # A misspelled name must not pass for a batch of nothing.
            batch.records += 1
            batch.refuse(Where(resource, 0), resource or "batch", DropReason.BAD_ROW)
            continue
        for index, element in enumerate(read_list(given, "data")):
            batch.records += 1
            named = element.get("external_id") if isinstance(element, dict) else ""
            where = Where(resource, index, clean_text(named))
            if resource in _SERIES:
                slug = _SERIES[resource]
                batch.add_sample(where, resource, slug, origin, element)
            elif resource in SUMMARIES:
                batch.add_summary(where, resource, resource, origin, element)
            else:
                batch.add_unknown(resource)
    return batch


def _read_origin(given: dict[str, Any]) -> Origin:
    kind = clean_text(given.get("source_type")).lower()
    device = given.get("device")
    told = None
    if isinstance(device, dict) and (own := clean_text(device.get("id"))):
        told = ReportedDevice(
            own,
            clean_text(device.get("manufacturer")) or None,
            clean_text(device.get("model")) or None,
        )
    return Origin(
        kind if kind in SourceType.values else str(SourceType.UNKNOWN),
        clean_text(given.get("app_id"), 255) or None,
        device=told,
    )
