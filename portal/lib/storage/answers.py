"""What a store answers: a file that was found, or that it is away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import Unavailable

if TYPE_CHECKING:
    from datetime import datetime


class StorageAway(Unavailable):
    """Files can't be read or written; the same may be tried again."""

    def __init__(self) -> None:
        super().__init__(
            "storage_unavailable",
            _("File storage is not available. Try again later."),
        )


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file by its name, and since when it is as it is."""

    name: str
    modified_at: datetime
