"""What a check of this server's health found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: one sentence, and what helps where it is not well.

    A warning `works_still`: the server does its work, but not for long or not safely.
    """

    ok: bool
    sentence: str
    remedy: str = ""
    works_still: bool = False

    @property
    def state(self) -> str:
        """ok, warn or fail."""
        if self.ok:
            return "ok"
        return "warn" if self.works_still else "fail"
