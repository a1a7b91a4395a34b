"""A file that was found in a store. Must not be here: finding it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portal.lib.errors import Unavailable

if TYPE_CHECKING:
    from datetime import datetime

UNAVAILABLE = "storage_unavailable"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file by its name, and since when it is as it is."""

    name: str
    modified_at: datetime


def unavailable() -> Unavailable:
    """The refusal where files can't be read or written; the same may be tried again."""
    return Unavailable(
        UNAVAILABLE, "Files can't be kept or read at the moment. Try again later."
    )
