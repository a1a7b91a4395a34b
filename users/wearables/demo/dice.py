"""What all of the made-up data is made with: chance that always falls the same."""

from __future__ import annotations

from datetime import UTC
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

# An element or a sample, as a source sends it (contract 5.4).
Element = dict[str, Any]


def seeded_random(*seed: object) -> Random:
    """A generator of its own for what `seed` names."""
    return Random("/".join(map(str, seed)))  # noqa: S311 - made-up data, no secret


def wire_moment(moment: datetime) -> str:
    """UTC without a place, so that its offset is that of where the person lives."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
