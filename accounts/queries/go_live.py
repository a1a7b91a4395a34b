"""Read what a production environment still needs, check by check."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from accounts.declarations.go_live import (
    NOT_TRIED,
    GoLiveResult,
    GoLiveState,
    list_go_live_checks,
)
from accounts.models import GoLiveTry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.declarations.go_live import GoLiveCheck, GoLiveFinding
    from accounts.models import Tenant


@dataclass(frozen=True, slots=True)
class CheckedPoint:
    """A check and what it found; `last_try` where that is the result of a try."""

    check: GoLiveCheck
    result: GoLiveResult
    last_try: GoLiveTry | None = None

    @property
    def finding(self) -> GoLiveFinding:
        """Return the finding that the result names."""
        return self.check.get_finding(self.result.code)

    @property
    def state(self) -> GoLiveState:
        """Return the state of the check."""
        return self.finding.state

    @property
    def can_be_tried(self) -> bool:
        """Return whether somebody can try the check again."""
        return self.check.attempt is not None

    @property
    def says(self) -> str:
        """Return the finding's sentence with its figures."""
        return str(self.finding.says) % self.result.figures


@dataclass(frozen=True)
class GoLiveReport:
    """All checks of a production environment, in order."""

    points: tuple[CheckedPoint, ...]

    @cached_property
    def open(self) -> tuple[CheckedPoint, ...]:
        """The checks with something left to do; those that refuse calls come first."""
        return tuple(
            sorted(
                (point for point in self.points if point.state.is_open),
                key=lambda point: not point.finding.refuses,
            )
        )

    @cached_property
    def refusing(self) -> tuple[CheckedPoint, ...]:
        """The open checks for which calls are refused."""
        return tuple(point for point in self.open if point.finding.refuses)


def build_go_live_report(tenant: Tenant) -> GoLiveReport:
    """Check what a production environment needs before its team goes live.

    What a check reads itself is as of now, all else as of its last try. Source: Ours;
    what is refused meanwhile is contract D23.
    """
    rows = GoLiveTry.objects.for_tenant(tenant).select_related("member")
    tries = {row.name: row for row in rows}
    return GoLiveReport(
        tuple(_read_check(check, tenant, tries) for check in list_go_live_checks())
    )


def _read_check(
    check: GoLiveCheck, tenant: Tenant, tries: Mapping[str, GoLiveTry]
) -> CheckedPoint:
    if check.read and (result := check.read(tenant)):
        return CheckedPoint(check, result)
    kept = tries.get(check.name)
    if kept is None or kept.code not in check.findings:
        return CheckedPoint(check, GoLiveResult(NOT_TRIED))
    return CheckedPoint(check, GoLiveResult(kept.code, kept.figures), kept)
