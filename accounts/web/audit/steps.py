"""Group the steps of a history as the audit's entries: who did what, in plain words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils.text import capfirst

from accounts.queries.audit import find_team_members_by_email, list_changes_of_object
from accounts.states import Area, Role
from accounts.web.audit.descriptions import ACTOR_WORDS, describe_audited_action
from accounts.web.audit.groups import PAUSE
from portal.lib.actor import ActorKind
from portal.ui.parts import Happening

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from accounts.models import AuditEntry
    from accounts.web.requests import TenantRequest

# A step and the entry of what caused it are written by one transaction.
_TOGETHER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class StepGroup:
    """Steps of one actor, newest first; those of the system however long they took.

    `who` is the member's name, or what a key or job is called, `kind` what they are.
    """

    steps: Sequence[Happening]
    who: str
    kind: str
    roles: Sequence[str]

    @property
    def last(self) -> Happening:
        """Return the newest step."""
        return self.steps[0]


def add_audited_changes(
    request: TenantRequest,
    steps: Sequence[Happening],
    *,
    user_uuid: UUID,
    subject: str,
    subject_id: UUID,
) -> list[Happening]:
    """Return steps, newest first, with their requests and what else was changed.

    For members who may read the audit; one query. The steps as they are for others.
    """
    if not request.rights.allow(Area.AUDIT):
        return list(steps)
    entries = list_changes_of_object(
        tenant=request.tenant,
        user_uuid=user_uuid,
        subject=subject,
        subject_id=str(subject_id),
    )
    causing: set[int] = set()
    all_steps = []
    for step in steps:
        causes = [entry for entry in entries if _is_cause(entry, step)]
        causing |= {entry.pk for entry in causes}
        requests = [entry.request_id for entry in causes if entry.request_id]
        all_steps.append(replace(step, request=requests[0] if requests else ""))
    all_steps += [_build_step(entry) for entry in entries if entry.pk not in causing]
    return sorted(all_steps, key=lambda step: step.at, reverse=True)


def group_steps(request: TenantRequest, steps: Iterable[Happening]) -> list[StepGroup]:
    """Return steps, newest first, in groups, with names and roles; one query."""
    groups: list[list[Happening]] = []
    for step in steps:
        before = groups[-1][-1] if groups else None
        if before is None or not _belong_together(before, step):
            groups.append([])
        groups[-1].append(step)
    members = find_team_members_by_email(
        tenant=request.tenant,
        emails={
            group[0].actor_label
            for group in groups
            if group[0].actor_kind == ActorKind.MEMBER
        },
    )
    rows = []
    for group in groups:
        first = group[0]
        member = members.get(first.actor_label)
        kind = str(ACTOR_WORDS.get(first.actor_kind, first.actor_kind))
        name = (member.name if member else "") or first.actor_label or kind
        if first.actor_kind == ActorKind.SYSTEM:
            # Jobs have names that nobody outside the code knows.
            name = first.actor_name or kind
        rows.append(
            StepGroup(
                steps=group,
                who=name,
                kind="" if kind == name or member else kind,
                roles=[str(Role(each).label) for each in member.roles]
                if member
                else [],
            )
        )
    return rows


def _is_cause(entry: AuditEntry, step: Happening) -> bool:
    return (
        entry.actor_label == step.actor_label and abs(entry.at - step.at) <= _TOGETHER
    )


def _build_step(entry: AuditEntry) -> Happening:
    return Happening(
        label=capfirst(describe_audited_action(entry.verb, entry.subject)),
        at=entry.at,
        icon="edit",
        raw=f"{entry.verb} {entry.subject}",
        actor_kind=entry.actor_kind,
        actor_label=entry.actor_label,
        request=entry.request_id,
    )


def _belong_together(later: Happening, earlier: Happening) -> bool:
    if later.actor_kind == earlier.actor_kind == ActorKind.SYSTEM:
        return later.actor_name == earlier.actor_name
    return (later.actor_kind, later.actor_label) == (
        earlier.actor_kind,
        earlier.actor_label,
    ) and later.at - earlier.at <= PAUSE
