"""Import of a platform's users, with their sources and data; each step can repeat."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from portal.lib.errors import DomainError
from users.gateways.moving.base import join_parts
from users.models import MovedUser, User
from users.operations.moving.storing import (
    end_held_sources,
    find_moved_range,
    store_moved_connections,
    store_moved_part,
)
from users.operations.sources.pulls import record_completed_backfill
from users.operations.users.users import UserRequest, create_user
from users.queries import list_live_user_connections, lock_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.gateways.moving.base import MovedPage, Platform
    from users.gateways.moving.base import MovedUser as TheirUser

# Stored in one transaction: few enough not to hold a user's lock for long.
STORED_AT_ONCE = 5000
SHARED_ID = "client_user_id_shared"


@dataclass(slots=True)
class MoveCounts:
    """What an import did; `skipped` by rule, `refused` users by code."""

    users: int = 0
    done_before: int = 0
    read: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


def import_platform(
    *,
    tenant: Tenant,
    actor: Actor,
    platform: Platform,
    is_dry: bool = False,
    emits: bool = False,
    report: Callable[[MoveCounts], None] = lambda _counts: None,
) -> MoveCounts:
    """Import all users of a platform that are not imported yet; return what was done.

    A connection becomes one whose user has to consent: tokens stay with the platform's
    application. What is stored already changes nothing, so that it can be repeated. A
    dry run reads everything and writes nothing. No event is emitted; with `emits` one
    historical event of each resource of a source, once a user is whole. Raises:
    PlatformUnavailable. Never call it inside a transaction. Source: Ours.
    """
    counts = MoveCounts()
    for theirs in platform.list_users():
        counts.users += 1
        try:
            _import_user(tenant, actor, platform, theirs, counts, is_dry, emits)
        except DomainError as refusal:
            counts.refused[refusal.code] += 1
        report(counts)
    return counts


def _import_user(
    tenant: Tenant,
    actor: Actor,
    platform: Platform,
    theirs: TheirUser,
    counts: MoveCounts,
    is_dry: bool,
    emits: bool,
) -> None:
    if is_dry:
        for feed in platform.feeds:
            for page in platform.read_pages(theirs, feed, ""):
                counts.read[feed] += page.read
                counts.skipped += page.skipped
                for part in page.parts:
                    counts.stored[part.resource] += len(part.elements)
        return
    moved = _open_user(tenant, actor, platform, theirs)
    if moved.finished_at is not None:
        counts.done_before += 1
        return
    store_moved_connections(
        user=moved.user,
        actor=actor,
        platform=platform.name,
        connections=platform.list_connections(theirs),
    )
    for feed in platform.feeds:
        _import_feed(moved, actor, platform, theirs, feed, counts)
    _finish_user(moved, actor, emits)


@transaction.atomic
def _open_user(
    tenant: Tenant, actor: Actor, platform: Platform, theirs: TheirUser
) -> MovedUser:
    """Return the record of a user, who is created or found by the team's own ID.

    Raises: client_user_id_shared: another user there has the same ID; what create_user
    raises.
    """
    mine = MovedUser.objects.for_tenant(tenant).filter(platform=platform.name)
    known: MovedUser | None = (
        mine.select_related("user").filter(external_id=theirs.id).first()
    )
    if known is not None:
        known.user.tenant = tenant
        lock_user(known.user)
        return known
    live = User.objects.for_tenant(tenant).live()
    user = live.filter(client_user_id=theirs.client_user_id).first()
    if user is None:
        user = create_user(
            tenant=tenant,
            actor=actor,
            request=UserRequest(
                client_user_id=theirs.client_user_id,
                fallback_time_zone=theirs.fallback_time_zone,
            ),
        )
    elif mine.filter(user=user).exists():
        raise DomainError(SHARED_ID, "Another user there has the same ID.")
    user.tenant = tenant
    moved = MovedUser(
        tenant=tenant, user=user, platform=platform.name, external_id=theirs.id
    )
    moved.save(force_insert=True)
    return moved


def _import_feed(
    moved: MovedUser,
    actor: Actor,
    platform: Platform,
    theirs: TheirUser,
    feed: str,
    counts: MoveCounts,
) -> None:
    state = moved.feeds.get(feed, {})
    if state.get("is_done"):
        return
    pages = platform.read_pages(theirs, feed, state.get("cursor", ""))
    for batch in _gather(pages):
        counts.read[feed] += sum(page.read for page in batch)
        stored, skipped = _store_batch(moved, actor, feed, batch)
        counts.stored.update(stored)
        counts.skipped.update(skipped)


def _gather(pages: Iterator[MovedPage]) -> Iterator[list[MovedPage]]:
    """Yield pages together, up to STORED_AT_ONCE elements."""
    batch: list[MovedPage] = []
    for page in pages:
        batch.append(page)
        if sum(each.read for each in batch) >= STORED_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


@transaction.atomic
def _store_batch(
    moved: MovedUser, actor: Actor, feed: str, batch: list[MovedPage]
) -> tuple[Counter[str], Counter[str]]:
    """Store pages with the cursor behind them; return stored by resource, and skips."""
    moved.user = lock_user(moved.user)
    stored: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for page in batch:
        skipped += page.skipped
    for part in join_parts(part for page in batch for part in page.parts):
        kept, refused = store_moved_part(moved=moved, actor=actor, part=part)
        stored[part.resource] += kept
        skipped += refused
    state = moved.feeds.get(feed, {})
    moved.feeds = moved.feeds | {
        feed: {
            "cursor": batch[-1].cursor,
            "is_done": batch[-1].is_last,
            "read": state.get("read", 0) + sum(page.read for page in batch),
            "stored": state.get("stored", 0) + stored.total(),
            "skipped": dict(Counter(state.get("skipped", {})) + skipped),
        }
    }
    moved.save(update_fields=["feeds", "held_sources"])
    return stored, skipped


@transaction.atomic
def _finish_user(moved: MovedUser, actor: Actor, emits: bool) -> None:
    user = moved.user = lock_user(moved.user)
    if emits:
        for connection in list_live_user_connections(user=user):
            connection.user, connection.tenant = user, user.tenant
            for resource, first, last in find_moved_range(connection=connection):
                record_completed_backfill(
                    connection=connection,
                    actor=actor,
                    resource=resource,
                    range_start=first,
                    range_end=last,
                )
    end_held_sources(moved=moved, actor=actor)
    moved.finished_at = timezone.now()
    moved.save(update_fields=["finished_at"])
