"""The sleep that a sleep cycle belongs to: `sleep_id` names one that is stored.

A cycle that comes before its sleep names the ID that a sleep of the same start gets.
Once the sleep is stored, under whichever ID, the cycle names it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import F, Q

from users.models import Summary
from users.queries import SummaryRow
from users.wearables.readings import FAULTS_MAX, ElementsInvalid, Fault
from users.wearables.resources import derive_summary_id
from users.wearables.summaries import SLEEP, SLEEP_CYCLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime

    from users.models import User
    from users.wearables.resources import SummaryReading

    Span = tuple[datetime, datetime | None]

_DAY = timedelta(days=1)
# Ours: a sleep that covers less of a session is another one, such as a nap beside it.
_LEAST_SHARE = 0.5


def link_cycles_to_sleeps(
    *,
    user: User,
    provider: str,
    read: Sequence[SummaryReading],
    readings: Mapping[UUID, SummaryReading],
) -> dict[UUID, SummaryReading]:
    """Return readings of cycles that name a stored sleep where there is one.

    The sleep named in the element counts; without one, the sleep of the same source
    that covers most of the session, at least half. Raises: ElementsInvalid where an
    element of `read` names a sleep that is not stored. Source: Contract 4.3; Ours: the
    refusal, and what is related.
    """
    named = {id_ for each in read if (id_ := _find_named_sleep(user, provider, each))}
    days = _list_days(each.place.calendar_date for each in readings.values())
    sleeps = list(
        Summary.objects.for_tenant(user.tenant)
        .filter(
            Q(pk__in=named) | Q(provider=provider, calendar_date__in=days),
            user=user,
            kind=SLEEP.slug,
        )
        .order_by("pk")
    )
    stored = {row.pk for row in sleeps}
    faults = [
        Fault((at, "sleep_id"), "This user has no sleep with this ID.", "value_error")
        for at, each in enumerate(read)
        if (id_ := _find_named_sleep(user, provider, each)) and id_ not in stored
    ]
    if faults:
        raise ElementsInvalid(faults[:FAULTS_MAX])
    mine = [row for row in sleeps if row.provider == provider]
    linked = {}
    for id_, reading in readings.items():
        sleep_id = UUID(reading.body["sleep_id"])
        if sleep_id not in stored:
            session = (reading.place.starts_at, reading.place.ends_at)
            sleep_id = _find_sleep(session, mine) or sleep_id
        body = {**reading.body, "sleep_id": str(sleep_id)}
        linked[id_] = replace(reading, body=body)
    return linked


def relink_cycles(
    *,
    user: User,
    provider: str,
    sleeps: Iterable[SummaryReading],
    now: datetime,
) -> list[SummaryRow]:
    """Let cycles without a stored sleep name the one that was stored just now.

    Returns the cycles that changed, by start. With the user locked.
    """
    days = _list_days(each.place.calendar_date for each in sleeps)
    rows = Summary.objects.for_tenant(user.tenant).filter(
        user=user,
        provider=provider,
        calendar_date__in=days,
        kind__in=(SLEEP.slug, SLEEP_CYCLE.slug),
    )
    found = list(rows.order_by("starts_at", "pk"))
    stored = [row for row in found if row.kind == SLEEP.slug]
    by_id = {str(row.pk) for row in stored}
    changed = []
    for row in found:
        if row.kind == SLEEP.slug or row.body["sleep_id"] in by_id:
            continue
        sleep_id = _find_sleep((row.starts_at, row.ends_at), stored)
        if sleep_id is None or _is_stored(user, row.body["sleep_id"]):
            continue
        row.body = {**row.body, "sleep_id": str(sleep_id)}
        rows.filter(pk=row.pk).update(
            body=row.body, version=F("version") + 1, updated_at=now
        )
        changed.append(
            SummaryRow(
                *(row.pk, row.provider, row.source_type, row.app_id, row.device_id),
                *(row.body, row.created_at, now),
            )
        )
    return changed


def _find_named_sleep(
    user: User, provider: str, reading: SummaryReading
) -> UUID | None:
    """Return the sleep that an element names, but for one of the same name as it.

    That one may come later, as a source gives sleeps and their cycles apart.
    """
    if reading.raw.get("sleep_id") in {None, ""}:
        return None
    sleep_id = UUID(reading.body["sleep_id"])
    key = f"external_id:{reading.raw.get('external_id')}"
    same = derive_summary_id(user.uuid, provider, SLEEP.slug, key)
    return None if sleep_id == same else sleep_id


def _is_stored(user: User, sleep_id: str) -> bool:
    """Return whether a sleep of another day or source has this ID."""
    rows = Summary.objects.for_tenant(user.tenant)
    named = rows.filter(user=user, kind=SLEEP.slug, pk=sleep_id)
    return bool(named.exists())


def _find_sleep(session: Span, sleeps: Iterable[Summary]) -> UUID | None:
    """Return the sleep that covers most of a session, at least half of it."""
    shares = [(_share(session, (row.starts_at, row.ends_at)), row) for row in sleeps]
    share, row = max(shares, key=lambda each: each[0], default=(0.0, None))
    return row.pk if row is not None and share >= _LEAST_SHARE else None


def _share(session: Span, sleep: Span) -> float:
    """Return how much of a session a sleep covers, from 0 to 1.

    The last thousandth is for the same times, so that these win.
    """
    (start, end), (slept, woke) = session, sleep
    if end is None or woke is None:
        return 0.0
    both = (min(end, woke) - max(start, slept)) / (end - start)
    apart = abs(slept - start) + abs(woke - end)
    return both * 0.999 + 0.001 / (1 + apart.total_seconds())


def _list_days(days: Iterable[date]) -> set[date]:
    return {day + step * _DAY for day in set(days) for step in (-1, 0, 1)}
