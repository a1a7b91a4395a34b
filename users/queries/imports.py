"""Reads of a user's imports of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import NotFound
from users.models import ImportJob
from users.states.imports import ImportStatus

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from users.models import User


def get_health_data_import(*, user: User, import_id: UUID) -> ImportJob:
    """Return an import of this user. Raises: not_found."""
    mine = ImportJob.objects.for_tenant(user.tenant).filter(user=user)
    job: ImportJob | None = mine.filter(id=import_id).first()
    if job is None:
        raise NotFound("not_found", _("Import not found."))
    job.tenant, job.user = user.tenant, user
    return job


def list_health_data_imports(*, user: User, limit: int) -> list[ImportJob]:
    """Return the user's latest imports, newest first."""
    mine = ImportJob.objects.for_tenant(user.tenant).filter(user=user)
    return list(mine.order_by("-created_at", "-id")[:limit])


def imports_of_user(tenant: Tenant, user_key: int) -> QuerySet[ImportJob]:
    """Return a user's imports."""
    rows: QuerySet[ImportJob] = ImportJob.objects.for_tenant(tenant)
    return rows.filter(user_id=user_key)


def find_earlier_import_of_same_file(job: ImportJob) -> ImportJob | None:
    """Return the last completed import of the same file before this one."""
    mine = ImportJob.objects.for_tenant(job.tenant).filter(
        user_id=job.user_id,
        sha256=job.sha256,
        status=ImportStatus.COMPLETED,
        created_at__lt=job.created_at,
    )
    found: ImportJob | None = mine.order_by("-created_at").first()
    return found
