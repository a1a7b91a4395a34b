"""Situation of an endpoint, and the diagnosis that it leads to.

Plain values, below the models, so that queries can build a situation and pages can
show a diagnosis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


Family = Literal["ok", "warn", "bad", "info", "mute"]


@dataclass(frozen=True, slots=True)
class Try:
    """The parts of an attempt that a diagnosis reads; `size` is in bytes.

    `answer` is the same for equal answers; `location` is where a redirect leads.
    """

    at: datetime
    succeeded: bool
    code: int | None
    fault: str
    event_type: str
    size: int
    answer: str = ""
    location: str = ""
    retry_after_s: int | None = None

    @property
    def cause(self) -> tuple[int | None, str]:
        """Return what failures of the same kind share: code and fault."""
        return self.code, self.fault


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of an endpoint; `tries` are its last attempts, the newest first.

    `missed` counts what waits for a replay; `first_failed_at` is the first failure
    since the last success, `secret_made_at` is when its secret began.
    """

    tries: Sequence[Try]
    disabled_by: str = ""
    missed: int = 0
    first_failed_at: datetime | None = None
    secret_made_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is the matter: a headline, what the attempts say, what to do about it.

    `kind` names the case; `since` is when it began, if it goes on.
    """

    kind: str
    family: Family
    title: str
    says: str
    advice: str = ""
    since: datetime | None = None
