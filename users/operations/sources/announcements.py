"""Announcements of sources: record them, and turn them into pulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from portal.lib.database import rows
from portal.lib.jobs import jobs
from users.models import Announcement, Pull, PushedContent

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from users.models import Connection

# One that waits is widened: however often a source repeats itself, it is read once.
_ANNOUNCE = """
    INSERT INTO users_announcement AS kept
        (tenant_id, connection_id, resource, first_at, last_at, at, times)
    VALUES (%s, %s, %s, %s, %s, %s, 1)
    ON CONFLICT (connection_id, resource) WHERE pull_id IS NULL DO UPDATE SET
        first_at = LEAST(kept.first_at, excluded.first_at),
        last_at = GREATEST(kept.last_at, excluded.last_at),
        at = GREATEST(kept.at, excluded.at),
        times = kept.times + 1
"""


@transaction.atomic
def record_announcement(
    *,
    connection: Connection,
    resources: Iterable[str],
    first: datetime,
    last: datetime,
    at: datetime,
) -> None:
    """Record what a source announced at a time, and enqueue the job that reads it.

    Locks no user, so that a source is answered while a large batch is stored. Source:
    Ours: sources end subscriptions that are answered late.
    """
    for resource in sorted(set(resources)):
        _announce(connection.tenant_id, connection.pk, resource, first, last, at)
    jobs.enqueue_job(
        "users.pull",
        tenant=connection.tenant,
        lock=f"users.pull:{connection.pk}",
        connection_pk=connection.pk,
    )


def announce_kept_content(*, connection: Connection) -> None:
    """Announce what a source pushed while its connection was paused, if anything.

    In the transaction that resumes it. Source: Ours: a push-only source sends it once.
    """
    mine = PushedContent.objects.for_tenant(connection.tenant)
    kept = list(mine.filter(connection=connection).values_list("waiting", "at"))
    if kept:
        record_announcement(
            connection=connection,
            resources={resource for waiting, _at in kept for resource in waiting},
            first=min(at for _waiting, at in kept),
            last=max(at for _waiting, at in kept),
            at=timezone.now(),
        )


@transaction.atomic
def open_announced_pulls(*, connection: Connection) -> None:
    """Make a pull of each announcement that waits, unless one of its resource is open.

    Called by the job of the connection, which runs alone. Source: Ours.
    """
    mine = Announcement.objects.for_tenant(connection.tenant)
    waiting = mine.pending().filter(connection=connection).select_for_update()
    running = Pull.objects.for_tenant(connection.tenant).open()
    is_open = set(
        running.filter(connection=connection, is_announced=True).values_list(
            "resource", flat=True
        )
    )
    for each in waiting.order_by("resource"):
        if each.resource in is_open:
            continue
        each.pull = Pull(
            tenant=connection.tenant,
            connection=connection,
            user_id=connection.user_id,
            provider=connection.provider,
            resource=each.resource,
            is_history=False,
            is_announced=True,
            range_start=each.first_at,
            range_end=each.last_at,
        )
        each.pull.save(force_insert=True)
        each.save(update_fields=["pull"])


def has_announcements_since(*, connection: Connection, since: datetime) -> bool:
    """Return whether something was announced since a time and waits to be read."""
    mine = Announcement.objects.for_tenant(connection.tenant).pending()
    return bool(mine.filter(connection=connection, at__gt=since).exists())


def give_back_announcements(*, pulls: Iterable[Pull]) -> None:
    """Let announcements wait again whose pulls failed; in their transaction.

    The next job of the connection reads them. Source: Ours.
    """
    for pull in pulls:
        for each in pull.announcements.all():
            each.delete()
            _announce(
                each.tenant_id,
                each.connection_id,
                each.resource,
                each.first_at,
                each.last_at,
                each.at,
            )


def _announce(*values: object) -> None:
    with rows.open_database_cursor() as opened:
        opened.execute(_ANNOUNCE.encode(), values)
