"""Storing one part of an imported file through the operations of a push."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from accounts.declarations.hooks import list_app_hooks
from users.models import Summary
from users.operations.data.completing import find_same_time
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.streams import record_workout_stream
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.operations.sources.devices import DeviceDetails, record_device_details
from users.wearables.formats.parts import PartKind
from users.wearables.summaries import SUMMARIES, WORKOUTS
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from portal.lib.actor import Actor
    from users.models import User
    from users.wearables.formats.parts import Part


@dataclass(frozen=True, slots=True)
class StoredPart:
    """Result of storing a part; `resource` is the contract's name (3.4).

    `provider` is empty where it is the import's own.
    """

    resource: str
    created: int
    updated: int
    unchanged: int
    dropped: int
    first: str
    last: str
    provider: str = ""

    def added_to(self, counts: dict[str, Any]) -> dict[str, Any]:
        """Return an import's counts with this part added, see ImportJob.counts."""
        stored = self.created + self.updated + self.unchanged
        if not stored:
            return counts
        old = counts.get(self.resource)
        new = {
            "created": self.created,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "first": self.first,
            "last": self.last,
        }
        if self.provider:
            new["providers"] = [self.provider]
        if old is not None:
            known = {*old.get("providers", [""]), self.provider}
            if known != {""}:
                new["providers"] = sorted(known)
            for name in ("created", "updated", "unchanged"):
                new[name] += old[name]
            # Both are UTC and of one form, so that they sort as texts.
            new["first"] = min(old["first"], self.first)
            new["last"] = max(old["last"], self.last)
        return {**counts, self.resource: new}


def store_import_part(
    *, user: User, actor: Actor, provider: str, part: Part
) -> StoredPart:
    """Store a part of a live user's file; records stored before are unchanged.

    No event tells of single elements: the import tells of the whole. Raises: what
    record_samples, record_summaries and record_workout_stream raise. Source: Ours.
    """
    provider = part.origin.provider or provider
    origin = _origin(user, provider, part)
    given = len(part.elements)
    name = part.resource
    if part.kind == PartKind.SAMPLES:
        series = TIMESERIES[part.resource]
        name = series.event_resource
        samples = record_samples(
            user=user,
            actor=actor,
            resource=series,
            batch=SampleBatch(provider=provider, elements=part.elements, **origin),
            is_history=True,
        )
        new, changed, dropped = samples.created, samples.updated, samples.dropped
    elif part.kind == PartKind.SUMMARIES:
        summaries = record_summaries(
            user=user,
            actor=actor,
            resource=SUMMARIES[part.resource],
            batch=SummaryBatch(provider=provider, elements=part.elements, **origin),
            is_history=True,
            is_file=True,
        )
        new, changed, dropped = (
            summaries.created,
            summaries.updated,
            summaries.dropped,
        )
    elif part.kind == PartKind.LAB_REPORTS:
        new, changed, dropped = _store_lab_reports(user, provider, part)
    else:
        new, changed, dropped = _store_stream(user, actor, provider, part)
    return StoredPart(
        resource=name,
        provider=part.origin.provider,
        created=new,
        updated=changed,
        unchanged=given - new - changed - dropped,
        dropped=dropped,
        first=part.first,
        last=part.last,
    )


def _store_lab_reports(user: User, provider: str, part: Part) -> tuple[int, int, int]:
    """Let the app of reports keep what other laboratories reported."""
    stored = [
        keep(user.tenant, user.uuid, provider, part.elements)
        for app in list_app_hooks()
        for keep in app.lab_report_keepers
    ]
    return sum(one.created for one in stored), sum(one.updated for one in stored), 0


def _origin(user: User, provider: str, part: Part) -> dict[str, Any]:
    """Return the source of a part, as a push names it."""
    source_type, app_id, device_id, device, _provider = part.origin
    if device is not None:
        # Neither app nor version are told: those of one device would take turns.
        device_id = record_device_details(
            user=user,
            details=DeviceDetails(
                provider=provider,
                device_id=device.id,
                source_type=source_type,
                device_manufacturer=device.manufacturer,
                device_model=device.model,
            ),
        )
    return {"source_type": source_type, "app_id": app_id, "device_id": device_id}


def _store_stream(
    user: User, actor: Actor, provider: str, part: Part
) -> tuple[int, int, int]:
    """Store the stream of a workout; see store_import_part."""
    found = Summary.objects.for_tenant(user.tenant).filter(
        id=part.workout_id, user=user
    )
    # The workout may have been stored under the ID that its cloud gave it.
    workout: Summary | None = found.first() or find_same_time(
        user=user,
        resource=WORKOUTS,
        provider=provider,
        start=datetime.fromisoformat(part.first),
        end=datetime.fromisoformat(part.last),
    )
    if workout is None:  # outside of the user's ingestion dates
        return 0, 0, 1
    workout.user = user
    is_new = record_workout_stream(
        workout=workout, actor=actor, body=part.elements[0], is_history=True
    )
    return int(is_new is True), int(is_new is False), 0
