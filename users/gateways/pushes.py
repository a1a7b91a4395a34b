"""Pushes of sources: how they announce that data changed.

An announcement is a hint, never data: what it names is then read from the source. So a
forged one can cost a call, and never writes anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class PushRequest:
    """A request to our address of a source, as it came; header names in small letters.

    `token` is the secret part of the address, which only the source knows.
    """

    token: str = field(repr=False)
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Announced:
    """Data of one account at a source that changed between two times, inclusive.

    `resources` are names of contract 3.4.
    """

    external_user_id: str
    resources: tuple[str, ...]
    first: datetime
    last: datetime


class PushRejected(Exception):
    """The request is not from the source, or not understood."""
