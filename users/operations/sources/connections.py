"""Status and timeline of a connection; the only writer of its status."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import emit_event
from portal.lib.actor import ActorKind
from portal.lib.database.transitions import move_status
from portal.lib.jobs import jobs
from users.models import Connection, ConnectionEntry
from users.queries import lock_user
from users.states import (
    CONNECTION_MOVES,
    ConnectionFault,
    ConnectionStatus,
    EntryKind,
    explain_connection_status,
)

if TYPE_CHECKING:
    from portal.lib.actor import Actor
    from users.models import User
    from users.states import PauseCause

_WELL = {"error_type": "", "error_message": "", "errored_at": None}
_MESSAGE_MAX = 500
RECONNECT_MAIL_JOB = "users.mail_broken_source"
# Ours: whoever revoked access by mistake may have signed in again by then.
_MAILED_AFTER = timedelta(minutes=15)


def change_connection_status(
    *,
    connection: Connection,
    user: User,
    actor: Actor,
    to: ConnectionStatus,
    pause_cause: PauseCause | None = None,
    error_type: str = "",
    error_message: str = "",
) -> None:
    """Change the status of a live connection and record it; the caller locked its user.

    A fault stands while it is broken and through a pause, and goes when it works again.
    Raises: transition_not_allowed. Source: Ours (architecture 2.5): one writer.
    """
    old = connection.status
    changes: dict[str, object] = {"pause_cause": pause_cause or ""}
    match to:
        case ConnectionStatus.CONNECTED:
            changes |= _WELL
        case ConnectionStatus.ERROR:
            changes |= {
                "error_type": error_type,
                "error_message": error_message,
                "errored_at": timezone.now(),
            }
        case _:
            pass
    move_status(connection, moves=CONNECTION_MOVES, to=to, **changes)
    record_source_audit_entry(
        user=user,
        actor=actor,
        verb="move_source",
        provider=connection.provider,
        status=[old, str(to)],
    )


def add_connection_timeline_entry(
    *,
    connection: Connection,
    actor: Actor,
    kind: EntryKind,
    detail: str = "",
    message_id: str = "",
) -> None:
    """Add an entry to a connection's timeline; `message_id` is of its event.

    Source: Ours (workflows D4): why a connection is as it is, and who was told.
    """
    ConnectionEntry(
        tenant_id=connection.tenant_id,
        connection=connection,
        kind=kind,
        detail=detail,
        actor_kind=actor.kind,
        actor_label=_label_of(actor),
        message_id=message_id,
    ).save(force_insert=True)


def add_refresh_timeline_entry(*, connection: Connection, actor: Actor) -> None:
    """Add a refresh to the timeline; several in a row are one entry with a count.

    The caller holds the user's lock. Source: Ours: an hourly refresh would push all
    else out of sight, and grow for ever.
    """
    mine = ConnectionEntry.objects.for_tenant(connection.tenant)
    last: ConnectionEntry | None = (
        mine.filter(connection=connection).order_by("-id").first()
    )
    if last is None or last.kind != EntryKind.REFRESHED:
        add_connection_timeline_entry(
            connection=connection, actor=actor, kind=EntryKind.REFRESHED, detail="1"
        )
        return
    last.at, last.detail = timezone.now(), str(int(last.detail or 1) + 1)
    last.actor_kind, last.actor_label = actor.kind, _label_of(actor)
    last.save(update_fields=["at", "detail", "actor_kind", "actor_label"])


@transaction.atomic
def mark_connection_failed(
    *,
    connection: Connection,
    actor: Actor,
    fault: ConnectionFault,
    details: str = "",
) -> bool:
    """Mark a connection as failed and emit its event, once per failure.

    `details` is one sentence for developers without health data or tokens, by default
    what the fault means. Returns whether it broke now: one that was disconnected, is
    paused, or had broken already stays as it is. Raises: not_found (the user is
    deleted). Source: Contract 2.4, 8.2 (provider.connection.error).
    """
    user = lock_user(connection.user)
    live = Connection.objects.for_tenant(user.tenant).live()
    kept: Connection | None = live.filter(pk=connection.pk).first()
    if kept is None or kept.status != ConnectionStatus.CONNECTED:
        return False
    condition = explain_connection_status(ConnectionStatus.ERROR, error_type=fault)
    message = (details or str(condition.sentence))[:_MESSAGE_MAX]
    change_connection_status(
        connection=kept,
        user=user,
        actor=actor,
        to=ConnectionStatus.ERROR,
        error_type=fault,
        error_message=message,
    )
    event = emit_event(
        tenant=user.tenant,
        user=user.ref,
        event_type="provider.connection.error",
        data={
            "user_id": str(user.uuid),
            "provider": kept.provider,
            "message": str(condition.sentence),
            "error_type": str(fault),
            "error_details": message,
        },
    )
    add_connection_timeline_entry(
        connection=kept,
        actor=actor,
        kind=EntryKind.FAILED,
        detail=fault,
        message_id=event.message_id,
    )
    if condition.needs_user and user.tenant.source_reconnect_mails_enabled:
        jobs.enqueue_job(
            RECONNECT_MAIL_JOB,
            tenant=user.tenant,
            after=_MAILED_AFTER,
            connection_pk=kept.pk,
        )
    return True


@transaction.atomic
def restore_failed_connection(*, connection: Connection, actor: Actor) -> bool:
    """Mark a failed connection as connected; return whether it had failed.

    Raises: not_found. Source: Ours (contract silent): what works is not in error.
    """
    user = lock_user(connection.user)
    live = Connection.objects.for_tenant(user.tenant).live()
    kept: Connection | None = live.filter(pk=connection.pk).first()
    if kept is None or kept.status != ConnectionStatus.ERROR:
        return False
    change_connection_status(
        connection=kept, user=user, actor=actor, to=ConnectionStatus.CONNECTED
    )
    add_connection_timeline_entry(connection=kept, actor=actor, kind=EntryKind.MENDED)
    return True


def _label_of(actor: Actor) -> str:
    return "" if actor.kind == ActorKind.SYSTEM else actor.label


def record_source_audit_entry(
    *, user: User, actor: Actor, verb: str, provider: str, **changes: object
) -> None:
    """Record in the audit log what was done to a source."""
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb=verb,
        subject="source",
        subject_id=provider,
        user_uuid=user.uuid,
        changes=changes,
    )
