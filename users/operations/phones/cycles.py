"""Menstrual cycles, made of the entries that phones send day by day."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from accounts.operations.audit.entries import record_change
from users.models import PhonePiece, Summary
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.states import SourceType
from users.states.phones import PieceKind
from users.wearables.formats.apple.cycles import Cycles
from users.wearables.formats.rows import SummaryRow
from users.wearables.readings import ElementsInvalid
from users.wearables.summaries import MENSTRUAL_CYCLE

if TYPE_CHECKING:
    from portal.lib.actor import Actor
    from users.models import User
    from users.operations.phones.devices import Counts
    from users.wearables.phones.records import ReadBatch

# Ours: cycles beside the days of a batch may begin or end otherwise for it.
_REACH = timedelta(days=100)
_ENTRIES_MAX = 20_000
_NAME = "phone-cycle:"
_UNSAID = "MenstrualFlow=Unspecified"
_FLOW = "MenstrualFlow="


def store_cycles(*, user: User, actor: Actor, batch: ReadBatch, counts: Counts) -> None:
    """Make the cycles that a batch's entries touch again; within a transaction.

    A cycle is known by its first day: one that turns out to begin on another day leaves
    and comes again. The result is the same in any order of batches.
    """
    days = [
        each.starts_at.date() for each in batch.pieces if each.kind == PieceKind.CYCLE
    ]
    if not days:
        return
    first, last = min(days) - _REACH, max(days) + _REACH
    made = {
        row.element["period_start"]: row.element
        for row in _cycles(user, batch.provider).rows()
        if isinstance(row, SummaryRow)
        and date.fromisoformat(row.element["period_start"]) <= last
        and date.fromisoformat(row.element["cycle_end"]) >= first
    }
    gone = (
        Summary.objects.for_tenant(user.tenant)
        .filter(
            user=user,
            provider=batch.provider,
            kind=MENSTRUAL_CYCLE.slug,
            raw__external_id__startswith=_NAME,
            calendar_date__range=(first, last),
        )
        .exclude(raw__external_id__in=[_NAME + start for start in made])
    )
    removed, _by_model = gone.delete()
    if removed:
        record_change(
            tenant=user.tenant,
            actor=actor,
            verb="remove_source_data",
            subject=MENSTRUAL_CYCLE.slug,
            subject_id=batch.provider,
            user_uuid=user.uuid,
            changes={"removed": int(removed)},
        )
    for start, element in made.items():
        named: dict[str, Any] = {**element, "external_id": _NAME + start}
        try:
            recorded = record_summaries(
                user=user,
                actor=actor,
                resource=MENSTRUAL_CYCLE,
                batch=SummaryBatch(
                    batch.provider, [named], str(SourceType.APP), None, None
                ),
            )
        except ElementsInvalid:
            continue
        of_cycles = counts[MENSTRUAL_CYCLE.slug]
        of_cycles["created"] += recorded.created
        of_cycles["updated"] += recorded.updated
        of_cycles["dropped"] += recorded.dropped
        of_cycles["unchanged"] += (
            1 - recorded.created - recorded.updated - recorded.dropped
        )


def _cycles(user: User, provider: str) -> Cycles:
    entries = list(
        PhonePiece.objects.for_tenant(user.tenant)
        .filter(user=user, provider=provider, kind=PieceKind.CYCLE)
        .order_by("-starts_at", "word")
        .values_list("starts_at", "word")[:_ENTRIES_MAX]
    )
    # A period tells the days, and a flow of one of them how strong it was.
    told = {at for at, word in entries if word.startswith(_FLOW) and word != _UNSAID}
    cycles = Cycles()
    for at, word in entries:
        if word == _UNSAID and at in told:
            continue
        entry, _bar, mark = word.partition("|")
        name, _equals, value = entry.partition("=")
        cycles.add(
            name,
            at.date().isoformat(),
            value,
            {
                "HKMenstrualCycleStart": "1" if mark else "0",
                "HKSexualActivityProtectionUsed": value,
            },
        )
    return cycles
