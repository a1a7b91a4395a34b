"""Chance that always falls the same: what all of the made-up data is thrown with."""

from __future__ import annotations

from random import Random
from typing import Any

# An element or a sample, as a source sends it (contract 5.4).
Element = dict[str, Any]


def roll(*seed: object) -> Random:
    """A generator of its own for what `seed` names."""
    return Random("/".join(map(str, seed)))  # noqa: S311 - made-up data, no secret
