"""What members chose to be told of, and what happened, for tests."""

from __future__ import annotations

from datetime import time
from typing import TYPE_CHECKING

from accounts.models import Membership, Notice, NoticeChoices
from accounts.operations.notices import (
    NoticeEvent,
    change_notice_preferences,
    post_notice,
)
from accounts.queries.notices import NoticePreferences, get_default_notice_levels
from accounts.states import NoticeKind, NoticeLevel
from tests.factories.accounts import ACTOR

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import Member, Tenant


def choose(
    tenant: Tenant,
    member: Member,
    *,
    quiet: tuple[int, int] | None = None,
    digest_hour: int = 8,
    **levels: str,
) -> NoticeChoices:
    """Let a member choose these levels by kind; quiet hours are whole ones."""
    membership = Membership.objects.get(team=tenant.team, member=member)
    usual = get_default_notice_levels(
        roles=membership.roles, environment=tenant.environment
    )
    chosen = {NoticeKind(kind): NoticeLevel(level) for kind, level in levels.items()}
    hours = (time(quiet[0]), time(quiet[1])) if quiet else None
    return change_notice_preferences(
        tenant=tenant,
        actor=ACTOR,
        membership=membership,
        preferences=NoticePreferences({**usual, **chosen}, hours, digest_hour),
    )


def make_notice_event(
    kind: NoticeKind = NoticeKind.SILENT_SOURCE, key: str = "oura:1", **changes: bool
) -> NoticeEvent:
    return NoticeEvent(
        kind=kind,
        key=key,
        words="Oura has gone silent for 3 users.",
        path="/t/alice-health/sandbox/users/?source=oura",
        **changes,
    )


def make_notice(tenant: Tenant, at: datetime, **given: object) -> Notice:
    return post_notice(tenant=tenant, event=make_notice_event(**given), at=at)
