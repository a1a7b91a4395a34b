"""Nights, blood pressures and cycles, made of pieces that phones send one by one."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.db import transaction

from accounts.operations.audit.entries import record_change
from users.models import PhonePiece, Summary
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.operations.phones.cycles import store_cycles
from users.queries import lock_user
from users.states.phones import PieceKind
from users.wearables.formats.apple.sleep import Nights
from users.wearables.formats.rows import Origin, SummaryRow
from users.wearables.readings import ElementsInvalid
from users.wearables.summaries import SLEEP, SLEEP_CYCLE, SUMMARIES
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portal.lib.actor import Actor
    from users.models import User
    from users.operations.phones.devices import Counts, DeviceIds
    from users.wearables.phones.records import ReadBatch

# Beyond a pause of this a new night begins (formats.apple.sleep); pieces are looked
# for as far as a night can reach.
_APART = timedelta(minutes=90)
_REACH = timedelta(hours=36)
_PIECES_MAX = 20_000
# Nights that were made here are named, so that those made before can be found again.
_NAME = "phone:"


class _Key(NamedTuple):
    source_type: str
    app_id: str
    device_id: UUID | None


def store_pieces(
    *, user: User, actor: Actor, batch: ReadBatch, devices: DeviceIds, counts: Counts
) -> None:
    """Keep a batch's pieces, and make the nights and pressures that they touch again.

    The result is the same in any order, however the pieces are spread over batches and
    however often they come: a night that grew keeps its ID, and nights that turn out to
    be one leave one. Raises: not_found. Source: Ours: HealthKit names stages alone.
    """
    if not batch.pieces:
        return
    with transaction.atomic():
        user = lock_user(user)
        now = batch.context.now
        made = [
            PhonePiece(
                tenant=user.tenant,
                user=user,
                provider=batch.provider,
                kind=each.kind,
                source_type=each.origin.source_type,
                app_id=each.origin.app_id or "",
                device_id=devices.find(each.origin),
                starts_at=each.starts_at,
                ends_at=each.ends_at,
                word=each.word,
                value=each.value,
                zone=each.zone,
                at=now,
            )
            for each in batch.pieces
        ]
        PhonePiece.objects.for_tenant(user.tenant).bulk_create(
            made, ignore_conflicts=True, batch_size=1000
        )
        of_sleep: dict[_Key, list[PhonePiece]] = defaultdict(list)
        of_pressure: dict[_Key, set[datetime]] = defaultdict(set)
        for piece in made:
            key = _Key(piece.source_type, piece.app_id, piece.device_id)
            if piece.kind == PieceKind.SLEEP:
                of_sleep[key].append(piece)
            elif piece.kind != PieceKind.CYCLE:
                of_pressure[key].add(piece.starts_at)
        for key, pieces in of_sleep.items():
            _make_nights(user, actor, batch, key, pieces, counts)
        for key, moments in of_pressure.items():
            _make_pressures(user, actor, batch, key, moments, counts)
        store_cycles(user=user, actor=actor, batch=batch, counts=counts)


def _make_pressures(
    user: User,
    actor: Actor,
    batch: ReadBatch,
    key: _Key,
    moments: set[datetime],
    counts: Counts,
) -> None:
    """Store the pressures whose halves are both there."""
    found: dict[datetime, dict[str, float | None]] = defaultdict(dict)
    for piece in _pieces(user, batch.provider, key).filter(
        kind__in=(PieceKind.SYSTOLIC, PieceKind.DIASTOLIC), starts_at__in=moments
    ):
        found[piece.starts_at][piece.kind] = piece.value
    elements = [
        {"timestamp": at.isoformat(), **halves}
        for at, halves in sorted(found.items())
        if len(halves) == 2
    ]
    for first in range(0, len(elements), 1000):
        part = elements[first : first + 1000]
        try:
            recorded = record_samples(
                user=user,
                actor=actor,
                resource=TIMESERIES["blood_pressure"],
                batch=SampleBatch(
                    batch.provider,
                    part,
                    key.source_type,
                    key.app_id or None,
                    key.device_id,
                ),
            )
        except ElementsInvalid:
            continue
        _add(counts, "blood_pressure", len(part), recorded)


def _make_nights(
    user: User,
    actor: Actor,
    batch: ReadBatch,
    key: _Key,
    pieces: list[PhonePiece],
    counts: Counts,
) -> None:
    for first, last in _spans(pieces):
        known = list(
            _pieces(user, batch.provider, key)
            .filter(
                kind=PieceKind.SLEEP,
                starts_at__lt=last + _REACH,
                ends_at__gt=first - _REACH,
            )
            .order_by("starts_at", "ends_at", "id")[:_PIECES_MAX]
        )
        nights = Nights()
        origin = Origin(key.source_type, key.app_id or None, key.device_id)
        for each in known:
            zone = each.zone or batch.context.time_zone
            nights.add(origin, each.starts_at, each.ends_at, each.word, zone)
        made = [row for row in nights.rows() if isinstance(row, SummaryRow)]
        touched = []
        for sleep, cycle in zip(made[::2], made[1::2], strict=True):
            start = datetime.fromisoformat(sleep.element["bedtime_start"])
            end = datetime.fromisoformat(sleep.element["bedtime_stop"])
            if start <= last + _APART and end >= first - _APART:
                touched.append((start, end, sleep, cycle))
        for start, end, sleep, cycle in touched:
            _store_night(user, actor, batch, key, (start, end), (sleep, cycle), counts)


def _store_night(
    user: User,
    actor: Actor,
    batch: ReadBatch,
    key: _Key,
    span: tuple[datetime, datetime],
    rows: tuple[SummaryRow, SummaryRow],
    counts: Counts,
) -> None:
    """Store a night under the name of the first one that it covers; remove the rest."""
    start, end = span
    before = list(
        Summary.objects.for_tenant(user.tenant)
        .filter(
            user=user,
            provider=batch.provider,
            kind=SLEEP.slug,
            source_type=key.source_type,
            device_id=key.device_id,
            app_id=key.app_id or None,
            starts_at__lt=end,
            ends_at__gt=start,
            raw__external_id__startswith=_NAME,
        )
        .order_by("created_at", "starts_at", "id")
    )
    name = (
        before[0].raw["external_id"]
        if before
        else f"{_NAME}{key.source_type}:{key.device_id}:{start.isoformat()}"
    )
    gone = [each.raw["external_id"] for each in before[1:]]
    if gone:
        removed, _by_model = (
            Summary.objects.for_tenant(user.tenant)
            .filter(
                user=user,
                provider=batch.provider,
                kind__in=(SLEEP.slug, SLEEP_CYCLE.slug),
                raw__external_id__in=gone,
            )
            .delete()
        )
        record_change(
            tenant=user.tenant,
            actor=actor,
            verb="remove_source_data",
            subject=SLEEP.slug,
            subject_id=batch.provider,
            user_uuid=user.uuid,
            changes={"removed": int(removed)},
        )
    for row in rows:
        element: dict[str, Any] = {**row.element, "external_id": name}
        try:
            recorded = record_summaries(
                user=user,
                actor=actor,
                resource=SUMMARIES[row.resource],
                batch=SummaryBatch(
                    batch.provider,
                    [element],
                    key.source_type,
                    key.app_id or None,
                    key.device_id,
                ),
            )
        except ElementsInvalid:
            continue
        _add(counts, row.resource, 1, recorded)


def _spans(pieces: Iterable[PhonePiece]) -> list[tuple[datetime, datetime]]:
    """Return the spans that pieces cover, those within a reach of another joined."""
    spans: list[tuple[datetime, datetime]] = []
    for piece in sorted(pieces, key=lambda each: (each.starts_at, each.ends_at)):
        if spans and piece.starts_at - spans[-1][1] <= _REACH:
            spans[-1] = (spans[-1][0], max(spans[-1][1], piece.ends_at))
        else:
            spans.append((piece.starts_at, piece.ends_at))
    return spans


def _pieces(user: User, provider: str, key: _Key) -> Any:
    return PhonePiece.objects.for_tenant(user.tenant).filter(
        user=user,
        provider=provider,
        source_type=key.source_type,
        app_id=key.app_id,
        device_id=key.device_id,
    )


def _add(counts: Counts, resource: str, given: int, recorded: Any) -> None:
    each = counts[resource]
    each["created"] += recorded.created
    each["updated"] += recorded.updated
    each["dropped"] += recorded.dropped
    each["unchanged"] += given - recorded.created - recorded.updated - recorded.dropped
