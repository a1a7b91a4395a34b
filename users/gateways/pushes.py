"""Pushes of sources: how they announce that data changed.

An announcement is a hint: what it names is then read from the source. So a forged one
can cost a call, and never writes anything. Only of a source that is never asked it
carries the data: what proves such a push is the secret in our address.
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

    `resources` are names of contract 3.4. `content` is what the source sent of them, in
    the gateway's own words, for a source that is push-only.
    """

    external_user_id: str
    resources: tuple[str, ...]
    first: datetime
    last: datetime
    content: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class ConsentChanged:
    """The user of an account changed or withdrew at the source what may be read.

    A hint too: the source is asked what is still granted.
    """

    external_user_id: str


Notice = Announced | ConsentChanged


class PushRejected(Exception):
    """The request is not from the source, or not understood."""
