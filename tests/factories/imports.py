"""Imports of files for tests, without a file."""

from __future__ import annotations

from typing import Any

from users.models import ImportJob, User
from users.states.imports import ImportFormat


def make_import(*, user: User, **wanted: Any) -> ImportJob:
    wanted.setdefault("file_name", "mine.csv")
    wanted.setdefault("format", ImportFormat.CSV)
    wanted.setdefault("provider", "manual")
    job = ImportJob(tenant=user.tenant, user=user, size=1, sha256="0" * 64, **wanted)
    job.save(force_insert=True)
    return job
