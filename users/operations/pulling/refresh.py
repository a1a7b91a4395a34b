"""Refresh of a user: pull new data from all connected sources, and wait."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import TooMany
from users.models import Pull, Refresh
from users.operations.demo_sources import DEMO_SOURCES, add_demo_source_data
from users.operations.sources.cloud_sources import (
    is_data_pulled_from_source,
    schedule_cloud_source_refresh,
)
from users.operations.sources.connections import (
    add_refresh_timeline_entry,
    restore_failed_connection,
)
from users.queries import list_live_user_connections, lock_user
from users.states import ConnectionStatus, PullStatus, explain_connection_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.models import Connection, User

# Contract 1.7.
REFRESHES_MAX = 8
REFRESHES_WITHIN = timedelta(hours=1)
# How often the pulls of a refresh are looked at while somebody waits.
_LOOK_EVERY_SECONDS = 0.25
# Ours: a process has few threads, and a wait takes one for up to a minute. Who finds
# no place is answered at once with what is still running.
_waiting = BoundedSemaphore(2)


@dataclass(frozen=True, slots=True)
class StartedRefresh:
    """Sources of a refresh by slug: done, running (keys of pulls), or failed."""

    refreshed: tuple[str, ...]
    running: dict[str, tuple[int, ...]]
    failed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RefreshOutcome:
    """Status of a refresh by slug, each list in the order of connecting."""

    refreshed: tuple[str, ...]
    in_progress: tuple[str, ...]
    failed: tuple[str, ...]


@transaction.atomic
def refresh_all_user_sources(*, user: User, actor: Actor) -> StartedRefresh:
    """Schedule pulls of new data from each connected source of a live user.

    Sources that only push (phones, this API) can't be asked and are in no list, nor are
    paused ones. A demo source brings its data at once. One in error is asked again
    unless its user has to act first, which makes it failed. Raises: too_many_refreshes
    (429) after REFRESHES_MAX within REFRESHES_WITHIN; not_found. Source: Contract 1.7,
    2.2; Ours: what is not asked is not listed.
    """
    user = lock_user(user)
    _count(user)
    refreshed: list[str] = []
    running: dict[str, tuple[int, ...]] = {}
    failed: list[str] = []
    for connection in list_live_user_connections(user=user):
        connection.user, connection.tenant = user, user.tenant
        provider = connection.provider
        if not _can_refresh(connection):
            continue
        if _needs_user(connection):
            failed.append(provider)
            continue
        add_refresh_timeline_entry(connection=connection, actor=actor)
        if connection.status == ConnectionStatus.ERROR:
            restore_failed_connection(connection=connection, actor=actor)
        if connection.is_demo:
            add_demo_source_data(
                user=user,
                actor=actor,
                provider=provider,
                resources=DEMO_SOURCES[provider],
            )
            refreshed.append(provider)
            continue
        pulls = schedule_cloud_source_refresh(connection=connection)
        if pulls:
            running[provider] = tuple(pull.pk for pull in pulls)
        else:
            refreshed.append(provider)
    return StartedRefresh(tuple(refreshed), running, tuple(failed))


def wait_for_user_refresh(
    *,
    tenant: Tenant,
    started: StartedRefresh,
    timeout: timedelta,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> RefreshOutcome:
    """Wait until all pulls of a refresh have ended, or `timeout` has passed.

    A source of which one resource came is refreshed. Never call it inside a
    transaction. Source: Contract 2.2; Ours: at most two wait in a process.
    """
    outcome = _outcome(tenant, started)
    if outcome.in_progress and _waiting.acquire(blocking=False):
        try:
            ends = clock() + timeout.total_seconds()
            while outcome.in_progress and clock() < ends:
                pause(_LOOK_EVERY_SECONDS)
                outcome = _outcome(tenant, started)
        finally:
            _waiting.release()
    return outcome


def delete_old_refreshes() -> int:
    """Delete refreshes past the limit's window, of all tenants; return how many."""
    old = Refresh.unscoped.filter(at__lte=timezone.now() - REFRESHES_WITHIN)
    removed, _ = old.delete()
    return removed


def _count(user: User) -> None:
    now = timezone.now()
    mine = Refresh.objects.for_tenant(user.tenant).filter(
        user=user, at__gt=now - REFRESHES_WITHIN
    )
    taken = list(mine.order_by("at").values_list("at", flat=True))
    if len(taken) >= REFRESHES_MAX:
        raise TooMany(
            "too_many_refreshes",
            _("Limit reached: %(limit)d refreshes per user per hour.")
            % {"limit": REFRESHES_MAX},
            wait=taken[-REFRESHES_MAX] + REFRESHES_WITHIN - now,
        )
    Refresh(tenant=user.tenant, user=user, at=now).save(force_insert=True)


def _can_refresh(connection: Connection) -> bool:
    if connection.status == ConnectionStatus.PAUSED:
        return False
    if connection.is_demo:
        return connection.provider in DEMO_SOURCES
    return is_data_pulled_from_source(connection)


def _needs_user(connection: Connection) -> bool:
    return explain_connection_status(
        connection.status, error_type=connection.error_type
    ).needs_user


def _outcome(tenant: Tenant, started: StartedRefresh) -> RefreshOutcome:
    keys = [key for pulls in started.running.values() for key in pulls]
    found = Pull.objects.for_tenant(tenant).filter(pk__in=keys) if keys else ()
    status = {pull.pk: pull.status for pull in found}
    refreshed, in_progress, failed = [*started.refreshed], [], [*started.failed]
    for provider, pulls in started.running.items():
        states = {status.get(key, PullStatus.FAILURE) for key in pulls}
        if states & {PullStatus.SCHEDULED, PullStatus.STARTED}:
            in_progress.append(provider)
        elif PullStatus.SUCCESS in states:
            refreshed.append(provider)
        else:
            failed.append(provider)
    return RefreshOutcome(tuple(refreshed), tuple(in_progress), tuple(failed))
