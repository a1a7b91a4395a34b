"""Records of pulls: scheduling, status, and the event when past data is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.webhooks.operations import emit_event
from portal.lib.database import rows
from portal.lib.database.transitions import move_status, move_status_of_all
from portal.lib.jobs import jobs
from users.models import Announcement, Pull
from users.models.sources.arrival import ARRIVAL_RETENTION
from users.operations.sources.announcements import give_back_announcements
from users.operations.sources.connections import add_connection_timeline_entry
from users.queries import lock_user
from users.states import PULL_MOVES, EntryKind, PullStatus

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from portal.lib.actor import Actor
    from users.models import Connection, User

_ATTEMPT = (
    "INSERT INTO users_supply AS kept (tenant_id, user_id, provider, resource,"
    " sent_count, attempted_at, attempt_failed) VALUES (%s, %s, %s, %s, 0, %s, %s)"
    " ON CONFLICT (user_id, provider, resource) DO UPDATE SET"
    " attempted_at = excluded.attempted_at, attempt_failed = excluded.attempt_failed"
)


@transaction.atomic
def schedule_source_pulls(
    *,
    connection: Connection,
    resources: Iterable[str],
    is_history: bool,
    range_start: datetime | None = None,
    range_end: datetime | None = None,
) -> list[Pull]:
    """Schedule a pull for each resource of a source and enqueue one job.

    A pull that is open already is returned instead of a second one. The job
    `users.pull` gets `connection_pk`; the pulls of one connection run one after
    another. Raises: not_found. Source: Contract 5.5.
    """
    user = lock_user(connection.user)
    mine = Pull.objects.for_tenant(user.tenant).open().filter(connection=connection)
    alike = mine.filter(is_history=is_history, is_announced=False)
    running = {pull.resource: pull for pull in alike.order_by("id")}
    pulls = []
    for resource in resources:
        pull = running.get(resource) or Pull(
            tenant=user.tenant,
            connection=connection,
            user=user,
            provider=connection.provider,
            resource=resource,
            is_history=is_history,
            range_start=range_start,
            range_end=range_end,
        )
        if pull.pk is None:
            pull.save(force_insert=True)
        pulls.append(pull)
    if pulls:
        jobs.enqueue_job(
            "users.pull",
            tenant=user.tenant,
            lock=f"users.pull:{connection.pk}",
            connection_pk=connection.pk,
        )
    return pulls


@transaction.atomic
def start_data_pull(*, pull: Pull) -> None:
    """Mark a pull as running; after a crash it continues at its position.

    Raises: transition_not_allowed, when it has ended. Source: Ours.
    """
    if pull.status != PullStatus.STARTED:
        started = pull.started_at or timezone.now()
        move_status(pull, moves=PULL_MOVES, to=PullStatus.STARTED, started_at=started)
    pull.attempts += 1
    pull.save(update_fields=["attempts"])


def store_pull_position(*, pull: Pull, position: str) -> None:
    """Store the position at which a pull continues, in the storing transaction.

    Source: Ours: nothing is fetched twice for a cut connection.
    """
    pull.position = position
    pull.save(update_fields=["position"])


def postpone_data_pull(*, pull: Pull, reason: str) -> None:
    """Reschedule a running pull that the source asked to delay.

    `reason` is a short code. Raises: transition_not_allowed. Source: Ours.
    """
    move_status(pull, moves=PULL_MOVES, to=PullStatus.SCHEDULED, error_type=reason)


@transaction.atomic
def end_data_pull(
    *, pull: Pull, actor: Actor, error_type: str = "", days_with_data: int | None = None
) -> None:
    """End a pull, with an error code if it failed; emit the event of past data.

    A backfill that ended well emits historical.data.{resource}.created, also when
    nothing came: its receiver waits for it. Raises: transition_not_allowed; not_found.
    Source: Contract 5.5, 8.2.
    """
    user = lock_user(pull.user)
    now = timezone.now()
    failed = bool(error_type)
    move_status(
        pull,
        moves=PULL_MOVES,
        to=PullStatus.FAILURE if failed else PullStatus.SUCCESS,
        ended_at=now,
        error_type=error_type,
        position="",
        days_with_data=days_with_data,
    )
    record_pull_attempt(
        user=user,
        provider=pull.provider,
        resource=pull.resource,
        at=now,
        failed=failed,
    )
    if failed:
        give_back_announcements(pulls=[pull])
    elif pull.is_history:
        _record_history_event(pull, user, actor)


@transaction.atomic
def record_completed_backfill(
    *,
    connection: Connection,
    actor: Actor,
    resource: str,
    range_start: datetime,
    range_end: datetime,
    days_with_data: int | None = None,
) -> Pull:
    """Record a backfill done at once (file, demo data), and emit its event.

    Raises: not_found. Source: Contract 3.5, 5.5, 8.2.
    """
    user = lock_user(connection.user)
    now = timezone.now()
    pull = Pull(
        tenant=user.tenant,
        connection=connection,
        user=user,
        provider=connection.provider,
        resource=resource,
        is_history=True,
        status=PullStatus.SUCCESS,
        range_start=range_start,
        range_end=range_end,
        attempts=1,
        scheduled_at=now,
        started_at=now,
        ended_at=now,
        days_with_data=days_with_data,
    )
    pull.save(force_insert=True)
    _record_history_event(pull, user, actor)
    return pull


def abandon_connection_pulls(*, connection: Connection) -> None:
    """End all open pulls of an ended connection; a running one stops by itself.

    The caller holds the user's lock. Source: Ours.
    """
    Announcement.objects.for_tenant(connection.tenant).pending().filter(
        connection=connection
    ).delete()
    mine = Pull.objects.for_tenant(connection.tenant).open()
    move_status_of_all(
        mine.filter(connection=connection),
        moves=PULL_MOVES,
        to=PullStatus.FAILURE,
        ended_at=timezone.now(),
        error_type="disconnected",
    )


def delete_old_pulls() -> int:
    """Delete pulls that ended ARRIVAL_RETENTION ago; return how many.

    The latest backfill of a resource stays, as the one that went well last does: the
    next pull starts from it. Over all tenants.
    """
    old = Pull.unscoped.filter(ended_at__lt=timezone.now() - ARRIVAL_RETENTION)
    later = Pull.unscoped.filter(
        connection=OuterRef("connection"),
        resource=OuterRef("resource"),
        pk__gt=OuterRef("pk"),
    )
    is_outdone = Exists(later.filter(status=PullStatus.SUCCESS)) & (
        Q(is_history=False) | Exists(later.filter(is_history=True))
    )
    removed, _ = old.filter(is_outdone).delete()
    return removed


def record_pull_attempt(
    *, user: User, provider: str, resource: str, at: datetime, failed: bool
) -> None:
    """Record the last attempt to pull a resource, and whether it failed.

    Source: Contract 5.5 (last_attempt).
    """
    with rows.open_database_cursor() as opened:
        opened.execute(
            _ATTEMPT.encode(),
            (user.tenant_id, user.pk, provider, resource, at, failed),
        )


def _record_history_event(pull: Pull, user: User, actor: Actor) -> None:
    start = pull.range_start or user.created_on
    event = emit_event(
        tenant=user.tenant,
        user=user.ref,
        event_type=f"historical.data.{pull.resource}.created",
        data={
            "user_id": str(user.uuid),
            "start_date": start.isoformat(),
            "end_date": (pull.range_end or timezone.now()).isoformat(),
            "provider": pull.provider,
        },
    )
    add_connection_timeline_entry(
        connection=pull.connection,
        actor=actor,
        kind=EntryKind.HISTORY,
        detail=pull.resource,
        message_id=event.message_id,
    )
