"""Ids as people type and paste them: whole, or only how they begin."""

from __future__ import annotations

import re
from uuid import UUID

# As many as lists show of an id; fewer would fit too many rows.
LEAST_LETTERS = 8
_LETTERS = 32
_HEX = re.compile(r"[0-9a-f]+")


def find_uuid_range_of_prefix(text: str) -> tuple[UUID, UUID] | None:
    """Return the lowest and highest UUID that begin with `text`; None if invalid.

    A range is what an index on the id can serve. A whole UUID gives it twice. Hyphens
    may stand anywhere; any case.
    """
    letters = text.replace("-", "").lower()
    if not LEAST_LETTERS <= len(letters) <= _LETTERS or not _HEX.fullmatch(letters):
        return None
    return UUID(letters.ljust(_LETTERS, "0")), UUID(letters.ljust(_LETTERS, "f"))


def is_complete_uuid(text: str, uuid: UUID) -> bool:
    """Return whether `text` is all of this UUID, in any case, hyphens or not."""
    return text.replace("-", "").lower() == uuid.hex
