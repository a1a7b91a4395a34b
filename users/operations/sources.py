"""Sources of a user's data: connect, disconnect, pause and resume.

Must not be here: the data itself.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.operations.audit import record_change
from accounts.webhooks.operations import emit_event
from portal.lib import jobs, rows
from portal.lib.errors import DomainError, NotFound
from portal.lib.transitions import move_status
from users.models import Connection, User
from users.queries import connection_status, lock_user
from users.states import CONNECTION_MOVES, ConnectionStatus
from users.wearables.payloads import (
    ConnectionCreated,
    availability_answer,
    source_badge,
)
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor

# Connections pause this long after the last day of ingestion (contract 2.3).
INGESTION_END_GRACE = timedelta(days=7)
# By hand: it is part of every push.
_ARRIVE = (
    b"INSERT INTO users_arrival (tenant_id, user_id, provider, resource, at, received,"
    b" created, updated, dropped) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
)


@transaction.atomic
def connect_source(
    *, user: User, actor: Actor, provider: str, external_user_id: str = ""
) -> Connection:
    """Connect a source to a live user and tell of it; once per source.

    A live connection is returned as it is, a broken or paused one mended: no second
    event. All that the source gives is available until it says otherwise. Raises:
    provider_unknown; not_found. Source: Contract 2.4, 8.2.
    """
    if provider not in PROVIDERS:
        raise DomainError("provider_unknown", "No such source.", "provider")
    user = lock_user(user)
    live = Connection.objects.for_tenant(user.tenant).live()
    connection: Connection | None = live.filter(user=user, provider=provider).first()
    if connection is not None:
        if connection.status != ConnectionStatus.CONNECTED:
            _advance(connection, user, actor, to=ConnectionStatus.CONNECTED)
        return connection
    connection = Connection(
        tenant=user.tenant,
        user=user,
        provider=provider,
        external_user_id=external_user_id,
        resource_availability={
            resource: {"status": "available"}
            for resource in PROVIDERS[provider].resources
        },
    )
    connection.save(force_insert=True)
    _record(user, actor, "connect_source", provider)
    emit_event(
        tenant=user.tenant,
        user=user.ref,
        event_type="provider.connection.created",
        data=_created_payload(user, connection),
    )
    return connection


def hear_from_source(*, user: User, actor: Actor, provider: str) -> None:
    """Connect a source whose data came, or mend it if it was broken.

    A paused one stays so: its user's ingestion has ended, and the data is history. The
    caller holds the user's lock. Raises: provider_unknown. Source: Contract 5.4.
    """
    status = connection_status(user=user, provider=provider)
    if status is None or status == ConnectionStatus.ERROR:
        connect_source(user=user, actor=actor, provider=provider)


def record_arrival(
    *,
    user: User,
    provider: str,
    resource: str,
    at: datetime,
    received: int,
    created: int,
    updated: int,
    dropped: int,
) -> None:
    """Note that a batch of `received` elements was taken in.

    `resource` is a name of contract 3.4; elements that are counted nowhere else were
    stored already. Source: Ours: how well data arrives is told by every batch.
    """
    with rows.cursor() as opened:
        opened.execute(
            _ARRIVE,
            (
                user.tenant_id,
                user.pk,
                provider,
                resource,
                at,
                received,
                created,
                updated,
                dropped,
            ),
        )


@transaction.atomic
def disconnect_source(*, user: User, actor: Actor, provider: str) -> Connection:
    """End a user's connection; data that came through it stays.

    Raises: source_not_connected (404); not_found. Source: Contract 2.2.
    """
    user = lock_user(user)
    live = Connection.objects.for_tenant(user.tenant).live()
    connection: Connection | None = live.filter(user=user, provider=provider).first()
    if connection is None:
        raise NotFound("source_not_connected", "This source is not connected.")
    connection.disconnected_at = timezone.now()
    connection.save(update_fields=["disconnected_at"])
    _record(user, actor, "disconnect_source", provider)
    return connection


def disconnect_all(*, user: User, actor: Actor) -> None:
    """End all connections of a user locked by the caller (`delete_user`)."""
    live = Connection.objects.for_tenant(user.tenant).live().filter(user=user)
    providers = list(live.order_by("id").values_list("provider", flat=True))
    live.update(disconnected_at=timezone.now())
    for provider in providers:
        _record(user, actor, "disconnect_source", provider)


def resume_sources(*, user: User, actor: Actor) -> None:
    """Let paused connections of a user locked by the caller go on, if ingestion may.

    Source: Ours (contract silent on resuming): what the end of ingestion paused, a
    later end resumes.
    """
    if _is_over(user):
        return
    live = Connection.objects.for_tenant(user.tenant).live()
    paused = live.filter(user=user, status=ConnectionStatus.PAUSED)
    for connection in paused.order_by("id"):
        _advance(connection, user, actor, to=ConnectionStatus.CONNECTED)


@transaction.atomic
def pause_sources(*, tenant: Tenant, actor: Actor, user_uuid: UUID) -> int:
    """Pause a user's connections if ingestion ended long enough ago; returns how many.

    Source: Contract 2.3.
    """
    user = (
        User.objects.for_tenant(tenant)
        .live()
        .select_for_update()
        .filter(uuid=user_uuid)
        .first()
    )
    if user is None or not _is_over(user):
        return 0
    user.tenant = tenant
    live = Connection.objects.for_tenant(tenant).live()
    running = live.filter(user=user).exclude(status=ConnectionStatus.PAUSED)
    paused = list(running.order_by("id"))
    for connection in paused:
        _advance(connection, user, actor, to=ConnectionStatus.PAUSED)
    return len(paused)


def enqueue_due_pauses() -> int:
    """Enqueue pausing for each user whose ingestion is over; returns how many.

    Over all tenants.
    """
    last = timezone.now().date() - INGESTION_END_GRACE
    running = Connection.unscoped.filter(
        disconnected_at=None, user__deleted_at=None, user__ingestion_end__lt=last
    ).exclude(status=ConnectionStatus.PAUSED)
    due = User.unscoped.filter(pk__in=running.values("user")).select_related("tenant")
    for user in due:
        jobs.enqueue("users.pause", tenant=user.tenant, user_id=str(user.uuid))
    return len(due)


def _is_over(user: User) -> bool:
    """Whether the grace after the last day of ingestion is over; days are UTC."""
    end = user.ingestion_end
    return end is not None and end + INGESTION_END_GRACE < timezone.now().date()


def _advance(connection: Connection, user: User, actor: Actor, *, to: str) -> None:
    old = connection.status
    mended = to == ConnectionStatus.CONNECTED
    cleared = {"error_type": "", "error_message": "", "errored_at": None}
    move_status(
        connection, moves=CONNECTION_MOVES, to=to, **(cleared if mended else {})
    )
    _record(user, actor, "move_source", connection.provider, status=[old, str(to)])


def _record(
    user: User, actor: Actor, verb: str, provider: str, **changes: object
) -> None:
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb=verb,
        subject="source",
        subject_id=provider,
        user_uuid=user.uuid,
        changes=changes,
    )


def _created_payload(user: User, connection: Connection) -> ConnectionCreated:
    badge = source_badge(connection.provider)
    return {
        "user_id": str(user.uuid),
        "provider": badge,
        "source": badge,
        "resource_availability": availability_answer(connection.resource_availability),
        "external_user_id": connection.external_user_id or None,
    }
