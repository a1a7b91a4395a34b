"""Compare what a source has of a day with what it had, and remove what it removed."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from accounts.operations.audit.entries import record_change
from users.models import SourceDay, Summary, WorkoutStream
from users.store.dictionaries import get_or_create_feed_number
from users.store.samples import get_sample_store
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from portal.lib.actor import Actor
    from users.gateways.base import PulledBatch, PulledPage
    from users.models import Connection, User

# Keys of elements by day.
DayKeys = dict[date, set[str]]
_DAY = timedelta(days=1)
_BY_EVENT_RESOURCE = {each.event_resource: each for each in TIMESERIES.values()}


def read_sample_keys(batch: PulledBatch) -> DayKeys:
    """Return the keys of samples by the day of their own offset."""
    found: DayKeys = defaultdict(set)
    for each in batch.elements:
        moment = datetime.fromisoformat(each.get("start") or each["timestamp"])
        at = moment.astimezone(UTC).isoformat()
        key = f"{batch.source_type}|{each.get('type') or ''}|{at}"
        found[moment.date()].add(key)
    return found


def find_summary_keys(user: User, ids: Iterable[UUID]) -> DayKeys:
    """Return the keys of stored summaries by their calendar date."""
    found: DayKeys = defaultdict(set)
    mine = Summary.objects.for_tenant(user.tenant).filter(user=user, pk__in=list(ids))
    for key, day in mine.values_list("pk", "calendar_date"):
        found[day].add(str(key))
    return found


def reconcile_source_days(
    *,
    connection: Connection,
    user: User,
    actor: Actor,
    resource: str,
    page: PulledPage,
    found: Mapping[date, set[str]],
    confirmed: frozenset[str],
) -> frozenset[str]:
    """Record what a page holds by day, and remove what the source no longer has.

    Returns the keys that it had and this page lacks: they are removed only once another
    read `confirmed` it, as an answer may be cut short. Of the first and last day of a
    page nothing is removed: other zones share them. In the transaction that stores the
    page, with the user locked. Source: Ours: what the user deleted there is not kept
    here; the contract has no event for it.
    """
    if page.first is None or page.last is None:
        return frozenset()
    rows = {
        row.day: row
        for row in SourceDay.objects.for_tenant(user.tenant).filter(
            connection=connection,
            resource=resource,
            day__range=(page.first, page.last),
        )
    }
    present = set().union(*found.values())
    suspected: set[str] = set()
    removed: set[str] = set()
    changed = []
    for day in sorted({*rows, *found}):
        if not page.first <= day <= page.last:
            continue
        row, new = rows.get(day), found.get(day, set())
        number = len(new)
        old = set(row.keys) if row else set()
        if not page.is_complete:
            new = set()
        gone = old - new - present
        if page.is_complete and page.first < day < page.last:
            removed |= gone & confirmed
            gone -= confirmed
            suspected |= gone
        kept = new | gone if page.is_complete else old
        number = len(kept) if page.is_complete else number
        if row is None or (kept, number) != (old, row.number):
            changed.append(
                SourceDay(
                    tenant=user.tenant,
                    connection=connection,
                    resource=resource,
                    day=day,
                    keys=sorted(kept),
                    number=number,
                    read_at=timezone.now(),
                )
            )
    SourceDay.objects.for_tenant(user.tenant).bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["connection", "resource", "day"],
        update_fields=["keys", "number", "read_at"],
    )
    if removed:
        _remove(user, actor, connection.provider, resource, removed, page)
    return frozenset(suspected)


def _remove(
    user: User,
    actor: Actor,
    provider: str,
    resource: str,
    keys: set[str],
    page: PulledPage,
) -> None:
    if resource in SUMMARIES:
        number = _remove_summaries(user, keys, page)
    else:
        number = _remove_samples(user, provider, resource, keys)
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb="remove_source_data",
        subject=resource,
        subject_id=provider,
        user_uuid=user.uuid,
        changes={"removed": number},
    )


def _remove_summaries(user: User, keys: set[str], page: PulledPage) -> int:
    """Delete summaries, unless one has since moved to a day outside of the page."""
    mine = Summary.objects.for_tenant(user.tenant).filter(
        user=user, pk__in=keys, calendar_date__range=(page.first, page.last)
    )
    WorkoutStream.objects.for_tenant(user.tenant).filter(
        workout_id__in=mine.values("pk")
    ).delete()
    number, _by_model = mine.delete()
    return int(number)


def _remove_samples(user: User, provider: str, resource: str, keys: set[str]) -> int:
    series = {
        word or "": number
        for number, word in _BY_EVENT_RESOURCE[resource].series.items()
    }
    by_feed: dict[str, list[tuple[int, datetime]]] = defaultdict(list)
    for key in keys:
        source_type, word, at = key.split("|")
        by_feed[source_type].append((series[word], datetime.fromisoformat(at)))
    return sum(
        get_sample_store().delete_samples(
            user_id=user.pk,
            feed=get_or_create_feed_number(
                tenant=user.tenant, provider=provider, source_type=source_type
            ),
            keys=each,
        )
        for source_type, each in by_feed.items()
    )
