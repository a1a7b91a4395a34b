"""Pausing and resuming sources, by a member or when ingestion ends."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError, NotFound
from portal.lib.jobs import jobs
from users.models import Connection, User
from users.operations.sources.announcements import announce_kept_content
from users.operations.sources.cloud_sources import schedule_cloud_source_refresh
from users.operations.sources.connections import (
    add_connection_timeline_entry,
    change_connection_status,
)
from users.queries import lock_user
from users.states import ConnectionStatus, EntryKind, PauseCause

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor

# Connections pause this long after the last day of ingestion (contract 2.3).
INGESTION_END_GRACE = timedelta(days=7)


@transaction.atomic
def pause_source(*, user: User, actor: Actor, provider: str) -> Connection:
    """Pause a source until a member resumes it.

    What it pushes by itself is still taken. One that is paused stays so. Raises:
    source_not_connected (404); not_found. Source: Ours (workflows D4): paused by hand,
    it does not resume when ingestion does.
    """
    user, connection = _lock_source(user, provider)
    if connection.status != ConnectionStatus.PAUSED:
        _pause(connection, user, actor, PauseCause.BY_HAND)
    return connection


@transaction.atomic
def resume_source(*, user: User, actor: Actor, provider: str) -> Connection:
    """Resume a paused source and fetch the data recorded since.

    One that is not paused stays as it is.
    Raises: ingestion_over, where it would pause again by itself; source_not_connected
    (404); not_found. Source: Ours (workflows D4).
    """
    user, connection = _lock_source(user, provider)
    if connection.status == ConnectionStatus.PAUSED:
        if is_ingestion_over(user):
            raise DomainError(
                "ingestion_over",
                _("Ingestion has ended. Set ingestion_end to a later date."),
            )
        _resume(connection, user, actor)
    return connection


def resume_sources_paused_by_ingestion_end(*, user: User, actor: Actor) -> None:
    """Resume sources that the end of ingestion paused; the caller locked `user`.

    Source: Ours (contract silent on resuming): what the end of ingestion paused, a
    later end resumes.
    """
    if is_ingestion_over(user):
        return
    live = Connection.objects.for_tenant(user.tenant).live()
    paused = live.filter(
        user=user,
        status=ConnectionStatus.PAUSED,
        pause_cause__in=[PauseCause.INGESTION_ENDED, ""],
    )
    for connection in paused.order_by("id"):
        _resume(connection, user, actor)


@transaction.atomic
def pause_sources_past_ingestion_end(
    *, tenant: Tenant, actor: Actor, user_uuid: UUID
) -> int:
    """Pause a user's connections if ingestion is over; return how many.

    Source: Contract 2.3.
    """
    user = (
        User.objects.for_tenant(tenant)
        .live()
        .select_for_update()
        .filter(uuid=user_uuid)
        .first()
    )
    if user is None or not is_ingestion_over(user):
        return 0
    user.tenant = tenant
    live = Connection.objects.for_tenant(tenant).live()
    running = live.filter(user=user).exclude(status=ConnectionStatus.PAUSED)
    paused = list(running.order_by("id"))
    for connection in paused:
        _pause(connection, user, actor, PauseCause.INGESTION_ENDED)
    return len(paused)


def enqueue_due_source_pauses() -> int:
    """Enqueue pausing for each user whose ingestion is over; return how many.

    Over all tenants.
    """
    last = timezone.now().date() - INGESTION_END_GRACE
    running = Connection.unscoped.filter(
        disconnected_at=None, user__deleted_at=None, user__ingestion_end__lt=last
    ).exclude(status=ConnectionStatus.PAUSED)
    due = User.unscoped.filter(pk__in=running.values("user")).select_related("tenant")
    for user in due:
        jobs.enqueue_job("users.pause", tenant=user.tenant, user_id=str(user.uuid))
    return len(due)


def is_ingestion_over(user: User) -> bool:
    """Return whether the grace after the last day of ingestion is over, in UTC."""
    end = user.ingestion_end
    return end is not None and end + INGESTION_END_GRACE < timezone.now().date()


def _lock_source(user: User, provider: str) -> tuple[User, Connection]:
    user = lock_user(user)
    live = Connection.objects.for_tenant(user.tenant).live()
    connection: Connection | None = live.filter(user=user, provider=provider).first()
    if connection is None:
        raise NotFound("source_not_connected", _("This source is not connected."))
    return user, connection


def _pause(connection: Connection, user: User, actor: Actor, cause: PauseCause) -> None:
    change_connection_status(
        connection=connection,
        user=user,
        actor=actor,
        to=ConnectionStatus.PAUSED,
        pause_cause=cause,
    )
    add_connection_timeline_entry(
        connection=connection, actor=actor, kind=EntryKind.PAUSED, detail=cause
    )


def _resume(connection: Connection, user: User, actor: Actor) -> None:
    change_connection_status(
        connection=connection, user=user, actor=actor, to=ConnectionStatus.CONNECTED
    )
    add_connection_timeline_entry(
        connection=connection, actor=actor, kind=EntryKind.RESUMED
    )
    connection.user = user
    schedule_cloud_source_refresh(connection=connection)
    announce_kept_content(connection=connection)
