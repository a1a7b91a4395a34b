"""Reproducible random numbers for demo data."""

from __future__ import annotations

from datetime import UTC
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

# An element or a sample, as a source sends it (contract 5.4).
Element = dict[str, Any]


def create_seeded_random(*seed: object) -> Random:
    """Return a random generator for a seed."""
    return Random("/".join(map(str, seed)))  # noqa: S311 - made-up data, no secret


def format_utc_time_with_z(moment: datetime) -> str:
    """Write a time in UTC with `Z`, so that the user's own offset applies."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
