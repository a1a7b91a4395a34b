"""Erasure and the lake: what a receipt says, and what is made again.

Files are rewritten without the user. A key for each user, destroyed with them, was the
other way: then no reader of Parquet could open a file without this server's keys.
"""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from exchange.models import LakeFile, LakeRun
from exchange.operations.lake.exporting import remove_lake

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from portal.lib.actor import Actor

# A promise; the export looks each hour for files that an erasure made stale.
REMOVED_WITHIN = timedelta(days=1)
# What was deleted just before a run may have been committed after it began to read.
_MARGIN = timedelta(minutes=10)


def erase_user_from_lake(
    tenant: Tenant, user_uuid: UUID, deleted_at: datetime
) -> dict[str, object]:
    """Have the files that may hold an erased user made again; say what becomes of them.

    In the caller's transaction. Nothing to say where no file may hold the user. `state`
    is `removed` if a whole run since the deletion left the user out (so it usually is
    after seven days), `pending` until `due_at` if the next has yet to, and
    `not_removed` if the lake was turned off with its files left.
    """
    files = _list_files(tenant.pk, user_uuid)
    number = files.count()
    if not number:
        return {}
    described: dict[str, object] = {"files": number}
    if run := _find_run_after(deleted_at):
        described |= {"state": "removed", "at": _moment(run.started_at)}
    else:
        files.update(mark="")
        due_at = _moment(timezone.now() + REMOVED_WITHIN)
        is_on = is_lake_on()
        described |= (
            {"state": "pending", "due_at": due_at}
            if is_on
            else {"state": "not_removed"}
        )
    return {"lake": described}


def remove_lake_of_tenant(tenant: Tenant, _actor: Actor) -> None:
    """Delete a tenant's files, which hold nothing but its rows."""
    remove_lake(only=tenant)


def mark_lake_stale() -> None:
    """Have every file made again: what is stored may be older than they are."""
    LakeFile.unscoped.update(mark="", sha256="")


def is_lake_on() -> bool:
    """Return whether files are exported."""
    return bool(settings.LAKE_URL or settings.LAKE_DIR)


def _find_run_after(deleted_at: datetime) -> LakeRun | None:
    whole = LakeRun.objects.filter(finished_at__isnull=False, failed=0)
    return whole.filter(started_at__gt=deleted_at + _MARGIN).order_by("-pk").first()


def _list_files(tenant_pk: int, user_uuid: UUID) -> QuerySet[LakeFile]:
    parts = [user_uuid.hex[:length] for length in range(3)]
    found: QuerySet[LakeFile] = LakeFile.unscoped.filter(
        tenant_id=tenant_pk, part__in=parts
    )
    return found


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
