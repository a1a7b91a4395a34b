"""Recordings of workouts: FIT files of sources, read by the reader of imports."""

from __future__ import annotations

import tempfile
from datetime import UTC
from pathlib import Path
from typing import Any
from uuid import UUID

from django.utils import timezone

from users.wearables.formats.fit import FitFile
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import StreamRow
from users.wearables.readings import Context

_NOBODY = UUID(int=0)


def read_fit_recordings(content: bytes, *, provider: str) -> list[dict[str, Any]]:
    """Return the workouts of a FIT file, each with its stream; [] if unreadable.

    Elements are `workout` (contract 4.7) and `stream` (5.3).
    """
    now = timezone.now()
    context = Context(_NOBODY, provider, "UTC", UTC, now)
    with tempfile.NamedTemporaryFile(suffix=".fit") as file:
        file.write(content)
        file.flush()
        try:
            rows = list(FitFile(Path(file.name), context).rows())
        except FileRefused:
            return []
    return [
        {"workout": row.workout, "stream": row.body}
        for row in rows
        if isinstance(row, StreamRow)
    ]
