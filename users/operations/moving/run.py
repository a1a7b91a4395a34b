"""Import of a platform's users, with their sources and data; each step can repeat."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from django.db import transaction
from django.utils import timezone

from portal.lib.errors import DomainError
from users.gateways.moving.base import PlatformUnavailable, join_parts
from users.models import MovedUser, User
from users.operations.moving.storing import (
    end_held_sources,
    find_moved_range,
    name_event_resource,
    store_moved_connections,
    store_moved_part,
)
from users.operations.sources.pulls import record_completed_backfill
from users.operations.users.users import UserRequest, create_user
from users.queries import list_live_user_connections, lock_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.gateways.moving.base import MovedPage, Platform
    from users.gateways.moving.base import MovedUser as TheirUser

T = TypeVar("T")
# Stored in one transaction: few enough not to hold a user's lock for long.
STORED_AT_ONCE = 5000
# Ours: a platform that fails for so many users one after another is down.
FAILED_IN_A_ROW = 3
_ENDS_ALL = {"status_401", "status_402", "status_403"}
SHARED_ID = "client_user_id_shared"


@dataclass(slots=True)
class MoveCounts:
    """What an import did; `skipped` by rule.

    Users that were `refused` by code stay out, those `unread` by reason are read by the
    next import. `changed` elements are those `stored` that were new here, or differed.
    """

    users: int = 0
    done_before: int = 0
    read: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


def import_platform(
    *,
    tenant: Tenant,
    actor: Actor,
    platform: Platform,
    is_dry: bool = False,
    emits: bool = False,
    again_before: datetime | None = None,
    report: Callable[[MoveCounts], None] = lambda _counts: None,
) -> MoveCounts:
    """Import all users of a platform; return what was done.

    Who is whole is left alone, but for those who were whole before `again_before`: they
    are read again, for what arrived there since. A connection becomes one whose user
    has to consent: tokens stay with the platform's application. What is stored already
    changes nothing, so that it can be repeated. A dry run reads everything and writes
    nothing. No event is emitted; with `emits` one historical event of each resource of
    a source that brought anything, once a user is whole. A user whom the platform does
    not answer for is left for the next import; it ends where that goes on. Raises:
    PlatformUnavailable. Never call it inside a transaction. Source: Ours.
    """
    counts = MoveCounts()
    in_a_row = 0
    for theirs in _translate(platform.list_users()):
        counts.users += 1
        try:
            if is_dry:
                _read_user(platform, theirs, counts)
            else:
                _import_user(
                    tenant, actor, platform, theirs, counts, emits, again_before
                )
            in_a_row = 0
        except DomainError as refusal:
            counts.refused[refusal.code] += 1
        except PlatformUnavailable as error:
            counts.unread[error.reason] += 1
            is_gone = error.reason == "status_404"
            in_a_row += not is_gone
            if error.reason in _ENDS_ALL or in_a_row == FAILED_IN_A_ROW:
                raise
        report(counts)
    return counts


def _translate(pages: Iterator[T]) -> Iterator[T]:
    """Yield what a platform gives; an answer of another shape is no answer."""
    try:
        yield from pages
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise PlatformUnavailable("unexpected_answer") from None


def _read_user(platform: Platform, theirs: TheirUser, counts: MoveCounts) -> None:
    [connections] = _translate(iter([platform.list_connections(theirs)]))
    counts.read["connections"] += len(connections)
    for feed in platform.feeds:
        for page in _translate(platform.read_pages(theirs, feed, "")):
            counts.read[feed] += page.read
            counts.skipped += page.skipped
            for part in page.parts:
                counts.stored[part.resource] += len(part.elements)


def _import_user(
    tenant: Tenant,
    actor: Actor,
    platform: Platform,
    theirs: TheirUser,
    counts: MoveCounts,
    emits: bool,
    again_before: datetime | None,
) -> None:
    moved = _open_user(tenant, actor, platform, theirs)
    if moved.finished_at is not None:
        if again_before is None or moved.finished_at >= again_before:
            counts.done_before += 1
            return
        _begin_again(moved)
    [connections] = _translate(iter([platform.list_connections(theirs)]))
    store_moved_connections(moved=moved, actor=actor, connections=connections)
    for feed in platform.feeds:
        _import_feed(moved, actor, platform, theirs, feed, counts)
    _finish_user(moved, actor, emits)


def _begin_again(moved: MovedUser) -> None:
    """Read each feed again, from where its last page said."""
    moved.feeds = {
        feed: {"cursor": state["cursor"]} for feed, state in moved.feeds.items()
    }
    moved.finished_at = None
    moved.save(update_fields=["feeds", "finished_at"])


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
    for batch in _gather(_translate(pages)):
        counts.read[feed] += sum(page.read for page in batch)
        _store_batch(moved, actor, feed, batch, counts)


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
    moved: MovedUser,
    actor: Actor,
    feed: str,
    batch: list[MovedPage],
    counts: MoveCounts,
) -> None:
    """Store pages with the cursor behind them, and count them."""
    moved.user = lock_user(moved.user)
    state, last = moved.feeds.get(feed, {}), batch[-1]
    skipped = Counter[str]()
    for page in batch:
        skipped += page.skipped
    stored, changed = 0, set(state.get("changed", ()))
    for part in join_parts(part for page in batch for part in page.parts):
        found = store_moved_part(moved=moved, actor=actor, part=part)
        stored += found.stored
        skipped += found.skipped
        counts.stored[part.resource] += found.stored
        counts.changed[part.resource] += found.changed
        if found.changed:
            changed.add(f"{part.provider} {name_event_resource(part.resource)}")
    counts.skipped += skipped
    skipped += Counter(state.get("skipped", {}))
    moved.feeds = moved.feeds | {
        feed: {
            # What was left out may find its place next time.
            "cursor": "" if last.is_last and skipped else last.cursor,
            "is_done": last.is_last,
            "read": state.get("read", 0) + sum(page.read for page in batch),
            "stored": state.get("stored", 0) + stored,
            "skipped": dict(skipped),
            "changed": sorted(changed),
        }
    }
    moved.save(update_fields=["feeds", "held_sources"])


@transaction.atomic
def _finish_user(moved: MovedUser, actor: Actor, emits: bool) -> None:
    user = moved.user = lock_user(moved.user)
    changed = {
        each for state in moved.feeds.values() for each in state.get("changed", ())
    }
    if emits:
        for connection in list_live_user_connections(user=user):
            connection.user, connection.tenant = user, user.tenant
            for resource, first, last in find_moved_range(connection=connection):
                if f"{connection.provider} {resource}" in changed:
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
