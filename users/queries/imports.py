"""Reads of a user's imports of files.

Must not be here: starting or running one (users.operations.imports).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portal.lib.errors import NotFound
from users.models import ImportJob

if TYPE_CHECKING:
    from uuid import UUID

    from users.models import User


def import_of(*, user: User, import_id: UUID) -> ImportJob:
    """An import of this user. Raises: not_found."""
    mine = ImportJob.objects.for_tenant(user.tenant).filter(user=user)
    job: ImportJob | None = mine.filter(id=import_id).first()
    if job is None:
        raise NotFound("not_found", "Import not found.")
    job.tenant, job.user = user.tenant, user
    return job
