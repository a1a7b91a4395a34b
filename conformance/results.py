"""Results of checks, as lines for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class Failed(Exception):
    """A check found something else than it must; the text says what."""


class Skipped(Exception):
    """A check could not be made; the text says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one check, its name as the documentation lists it."""

    name: str
    title: str
    outcome: str
    detail: str = ""


@dataclass(slots=True)
class Results:
    """The outcomes of a run, and what no check of it can judge."""

    results: list[Result] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)

    def count(self, outcome: str) -> int:
        """Return how many checks had an outcome."""
        return sum(each.outcome == outcome for each in self.results)

    def list_lines(self) -> list[str]:
        """Return a line for each check, then the sums and what is not judged."""
        lines = [
            f"{each.outcome:7} {each.name}: {each.title}"
            + (f" ({each.detail})" if each.detail else "")
            for each in self.results
        ]
        lines.append(
            ", ".join(
                f"{self.count(each)} {each}" for each in (PASSED, FAILED, SKIPPED)
            )
        )
        return [*lines, *(f"not judged: {each}" for each in self.not_judged)]

    def build_payload(self) -> dict[str, Any]:
        """Return the run as JSON data."""
        return {
            "passed": self.count(PASSED),
            "failed": self.count(FAILED),
            "skipped": self.count(SKIPPED),
            **asdict(self),
        }


def expect(condition: bool, found: str) -> None:
    """Raise Failed with what was found instead, where a condition does not hold."""
    if not condition:
        raise Failed(found)
