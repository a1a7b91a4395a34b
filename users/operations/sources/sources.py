"""Sources of a user's data: connect, disconnect, record their arrivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.webhooks.operations import emit_event
from portal.lib.database import rows
from portal.lib.database.prepared import PreparedStatement
from portal.lib.errors import DomainError, NotFound
from users.models import Connection
from users.operations.sources.connections import (
    add_connection_timeline_entry,
    change_connection_status,
    record_source_audit_entry,
)
from users.operations.sources.gaps import close_gaps_of_ended_source
from users.operations.sources.grants import enqueue_grant_revocation
from users.operations.sources.pulls import abandon_connection_pulls
from users.queries import get_connection_status, lock_user
from users.states import ConnectionStatus, EntryKind
from users.wearables.payloads import (
    ConnectionCreated,
    build_resource_availability,
    build_source_badge,
)
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from datetime import datetime

    from portal.lib.actor import Actor
    from users.models import User

# By hand and in one statement: it is part of every push.
_ARRIVE = PreparedStatement(
    "record_data_arrival",
    """
    WITH arrived AS (
        INSERT INTO users_arrival (tenant_id, user_id, provider, resource, at, received,
            created, updated, dropped)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    )
    INSERT INTO users_supply AS kept (tenant_id, user_id, provider, resource,
        oldest_data, newest_data, sent_count, received_at, attempted_at, attempt_failed)
    VALUES ($1, $2, $3, $4, $10, $11, $7::integer + $8::integer, $5, $5, false)
    ON CONFLICT (user_id, provider, resource) DO UPDATE SET
        oldest_data = LEAST(kept.oldest_data, excluded.oldest_data),
        newest_data = GREATEST(kept.newest_data, excluded.newest_data),
        sent_count = kept.sent_count + excluded.sent_count,
        received_at = GREATEST(kept.received_at, excluded.received_at),
        attempted_at = GREATEST(kept.attempted_at, excluded.attempted_at),
        attempt_failed = false
    """,
)
_LOCK_ACCOUNT = (
    b"SELECT pg_advisory_xact_lock(hashtext('users source account'), hashtext(%s))"
)


@transaction.atomic
def connect_source(
    *,
    user: User,
    actor: Actor,
    provider: str,
    external_user_id: str = "",
    is_demo: bool = False,
) -> Connection:
    """Connect a source to a live user and emit its event, once per source.

    A live connection is returned as it is, a broken or paused one mended: no second
    event. All that the source gives is available until it says otherwise. `is_demo`
    says that its data is made up. Raises: provider_unknown; not_found;
    duplicate_connection (of an account that another user has, where the team refuses
    such). Source: Contract 2.4, 3.5, 8.2, 9.2 (reject_duplicate_connection).
    """
    if provider not in PROVIDERS:
        raise DomainError("provider_unknown", _("Unknown source."), "provider")
    user = lock_user(user)
    live = Connection.objects.for_tenant(user.tenant).live()
    connection: Connection | None = live.filter(user=user, provider=provider).first()
    if (
        user.tenant.reject_duplicate_connection
        and external_user_id
        and (connection is None or connection.external_user_id != external_user_id)
    ):
        refuse_account_of_another_user(
            user=user, provider=provider, external_user_id=external_user_id
        )
    if connection is not None:
        if connection.status != ConnectionStatus.CONNECTED:
            was_paused = connection.status == ConnectionStatus.PAUSED
            change_connection_status(
                connection=connection,
                user=user,
                actor=actor,
                to=ConnectionStatus.CONNECTED,
            )
            add_connection_timeline_entry(
                connection=connection,
                actor=actor,
                kind=EntryKind.RESUMED if was_paused else EntryKind.MENDED,
            )
        return connection
    connection = Connection(
        tenant=user.tenant,
        user=user,
        provider=provider,
        external_user_id=external_user_id,
        is_demo=is_demo,
        resource_availability={
            resource: {"status": "available"}
            for resource in PROVIDERS[provider].resources
        },
    )
    connection.save(force_insert=True)
    record_source_audit_entry(
        user=user, actor=actor, verb="connect_source", provider=provider
    )
    event = emit_event(
        tenant=user.tenant,
        user=user.ref,
        event_type="provider.connection.created",
        data=_created_payload(user, connection),
    )
    add_connection_timeline_entry(
        connection=connection,
        actor=actor,
        kind=EntryKind.CONNECTED,
        message_id=event.message_id,
    )
    return connection


def ensure_source_connected(
    *, user: User, actor: Actor, provider: str, is_history: bool = False
) -> None:
    """Connect a source that sent data, or restore its failed connection.

    A paused one stays so: what is pushed is taken, and nothing is fetched. Past data
    (`is_history`) restores none: it says nothing of whether the source works now. The
    caller holds the user's lock. Raises: provider_unknown. Source: Contract 5.4.
    """
    status = get_connection_status(user=user, provider=provider)
    is_broken = status == ConnectionStatus.ERROR
    if status is None or (is_broken and not is_history):
        connect_source(user=user, actor=actor, provider=provider)


def record_data_arrival(
    *,
    user: User,
    provider: str,
    resource: str,
    at: datetime,
    received: int,
    created: int,
    updated: int,
    dropped: int,
    oldest: datetime | None = None,
    newest: datetime | None = None,
) -> None:
    """Record a batch of `received` elements and the newest data of its source.

    `resource` is a name of contract 3.4; elements that are counted nowhere else were
    stored already. `oldest` and `newest` are the first and last start of what was not
    dropped. Source: Contract 5.5; Ours: how well data arrives is told by every batch.
    """
    _ARRIVE.execute(
        (
            str(user.tenant_id),
            str(user.pk),
            provider,
            resource,
            at.isoformat(),
            str(received),
            str(created),
            str(updated),
            str(dropped),
            oldest.isoformat() if oldest else None,
            newest.isoformat() if newest else None,
        )
    )


@transaction.atomic
def disconnect_source(*, user: User, actor: Actor, provider: str) -> Connection:
    """Disconnect a source of a user; its data is kept.

    Raises: source_not_connected (404); not_found. Source: Contract 2.2.
    """
    user = lock_user(user)
    live = Connection.objects.for_tenant(user.tenant).live()
    connection: Connection | None = live.filter(user=user, provider=provider).first()
    if connection is None:
        raise NotFound("source_not_connected", _("This source is not connected."))
    _disconnect(connection, user, actor)
    close_gaps_of_ended_source(connection=connection, user=user)
    return connection


def disconnect_all_user_sources(*, user: User, actor: Actor) -> None:
    """End all connections of a user locked by the caller (`delete_user`)."""
    live = Connection.objects.for_tenant(user.tenant).live().filter(user=user)
    for connection in live.order_by("id"):
        _disconnect(connection, user, actor)


def refuse_account_of_another_user(
    *, user: User, provider: str, external_user_id: str
) -> None:
    """Refuse an account at a source that another live user of the tenant has.

    Two users who connect it at the same time wait for one another here, until the
    caller's transaction ends. Raises: duplicate_connection.
    """
    account = f"{user.tenant_id}:{provider}:{external_user_id}"
    with rows.open_database_cursor() as opened:
        opened.execute(_LOCK_ACCOUNT, (account,))
    others = Connection.objects.for_tenant(user.tenant).live().exclude(user=user)
    if others.filter(
        provider=provider,
        external_user_id=external_user_id,
        user__deleted_at=None,
    ).exists():
        raise DomainError(
            "duplicate_connection",
            _("This account is already connected to another user."),
        )


def _disconnect(connection: Connection, user: User, actor: Actor) -> None:
    connection.disconnected_at = timezone.now()
    connection.save(update_fields=["disconnected_at"])
    abandon_connection_pulls(connection=connection)
    enqueue_grant_revocation(connection=connection)
    record_source_audit_entry(
        user=user, actor=actor, verb="disconnect_source", provider=connection.provider
    )
    add_connection_timeline_entry(
        connection=connection, actor=actor, kind=EntryKind.DISCONNECTED
    )


def _created_payload(user: User, connection: Connection) -> ConnectionCreated:
    badge = build_source_badge(connection.provider)
    return {
        "user_id": str(user.uuid),
        "provider": badge,
        "source": badge,
        "resource_availability": build_resource_availability(
            connection.resource_availability
        ),
        "external_user_id": connection.external_user_id or None,
    }
