"""What production needs before a team goes live: the checks of the page Go live.

Each app declares its own as `GO_LIVE_CHECKS` in its module `go_live`, which is imported
when the checks are first asked for. Copy a neighbour to add one: `labs/go_live.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from django.db.models import TextChoices

from portal.lib.app_modules import import_declarations
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from accounts.models import Tenant
    from accounts.states import Area
    from portal.lib.actor import Actor


class GoLiveGroup(TextChoices):
    """The groups of checks, from top to bottom."""

    LABS = "labs", gettext_lazy("Labs")
    MESSAGES = "messages", gettext_lazy("Messages")
    SAFETY = "safety", gettext_lazy("Safety")


class GoLiveState(TextChoices):
    """The state of a check; the values are keys of PILLS."""

    READY = "ready", gettext_lazy("Ready")
    FAILED = "failed", gettext_lazy("Failed")
    MISSING = "missing", gettext_lazy("Missing")
    LOW = "low", gettext_lazy("Low")
    NOT_TRIED = "not_tried", gettext_lazy("Not tried")
    NOT_NEEDED = "not_needed", gettext_lazy("Not needed")

    @property
    def is_open(self) -> bool:
        """Return whether something is left to do."""
        return self not in {GoLiveState.READY, GoLiveState.NOT_NEEDED}


@dataclass(frozen=True, slots=True)
class GoLiveFinding:
    """What a check may find.

    `says` is a sentence with placeholders for figures, `helps` what to do about it.
    `refuses` says which calls are refused meanwhile; empty: none, it is a warning.
    """

    state: GoLiveState
    says: str
    helps: str = ""
    refuses: str = ""


@dataclass(frozen=True, slots=True)
class GoLiveResult:
    """What a check found: the code of a finding, and figures for its sentence.

    Figures are counts and names of labs, panels and hosts, never a secret or a person.
    """

    code: str
    figures: Mapping[str, int | str] = field(default_factory=dict)


# The code of a check without a result.
NOT_TRIED = "not_tried"
_NEVER_TRIED = GoLiveFinding(
    GoLiveState.NOT_TRIED,
    gettext_lazy("It was not tried yet."),
    gettext_lazy("Select Check all again."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoLiveCheck:
    """One check of a production environment.

    `findings` are all that it may find, by code. `read` looks at the database and the
    settings each time a page shows the check; what it returns None for is decided by
    the last result of `attempt`, which may call others, runs on request and is kept.
    An attempt without a result started something that `read` will see. Each bounds
    its own time. `path_name` names the page where it is done, for members who may read
    `area`; empty: an operator does it, as the guide `guide` describes.
    """

    name: str
    group: GoLiveGroup
    rank: int
    title: str
    icon: str
    findings: Mapping[str, GoLiveFinding]
    read: Callable[[Tenant], GoLiveResult | None] | None = None
    attempt: Callable[[Tenant, Actor], GoLiveResult | None] | None = None
    path_name: str = ""
    path_words: str = ""
    area: Area | None = None
    guide: str = ""

    def get_finding(self, code: str) -> GoLiveFinding:
        """Return the finding of a code; of an unknown one that it was not tried."""
        return self.findings.get(code, _NEVER_TRIED)


@cache
def list_go_live_checks() -> tuple[GoLiveCheck, ...]:
    """Return the checks of all apps, in the order of groups and ranks.

    Raises: ValueError if two of them have one name.
    """
    groups = list(GoLiveGroup)
    checks = sorted(
        (
            check
            for declared in import_declarations("go_live", "GO_LIVE_CHECKS").values()
            for check in declared
        ),
        key=lambda check: (groups.index(check.group), check.rank),
    )
    if len({check.name for check in checks}) < len(checks):
        raise ValueError("two checks have one name")
    return tuple(checks)
