"""Find the teams and environments a member can open, and record visits."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import F
from django.utils import timezone

from accounts.models import Membership, Tenant
from accounts.models.sign_in import format_provider_version
from accounts.web.requests import Rights
from accounts.web.sign_in.proofs import (
    is_single_sign_on_session,
    list_teams_proven_by_provider,
)
from accounts.web.sign_in.requirements import EntryRules

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.sessions.backends.base import SessionBase

    from accounts.models import Member

_LAST_VISITED = "last_visited"
# A menu longer than this is no menu; a member of more teams comes by links.
SWITCHER_LENGTH = 100
# How far behind `last_seen_at` may lag, so that a page seldom costs a write.
LAST_SEEN_STEP = timedelta(minutes=5)


def find_member_environment(
    *, member: Member, team_slug: str, environment: str
) -> tuple[Tenant, Rights, EntryRules] | None:
    """Return a team's environment and the member's rights, if they belong to it.

    With what they may do there, and what the team requires of them to come in. Notes
    the visit.
    """
    tenant = (
        Tenant.objects.filter(
            team__slug=team_slug,
            environment=environment,
            team__deleted_at=None,
            team__memberships__member=member,
        )
        .select_related("team")
        .annotate(
            roles=F("team__memberships__roles"),
            last_seen_at=F("team__memberships__last_seen_at"),
            needs_second_factor=F("team__sign_in_rules__requires_second_factor"),
            needs_provider=F("team__sign_in_rules__requires_single_sign_on"),
            provider=F("team__single_sign_on__id"),
            provider_round=F("team__single_sign_on__round"),
        )
        .first()
    )
    if tenant is None:
        return None
    _record_visit(member=member, tenant=tenant, last=tenant.last_seen_at)
    rules = EntryRules(
        needs_second_factor=bool(tenant.needs_second_factor),
        needs_provider=bool(tenant.needs_provider),
        mark=format_provider_version(tenant.provider, tenant.provider_round),
    )
    return tenant, Rights(frozenset(tenant.roles), environment), rules


def list_member_environments(*, member: Member, session: SessionBase) -> list[Tenant]:
    """Return the environments a member can switch to, by name, sandbox first.

    A confined session knows those alone whose providers vouched in it.
    """
    places = (
        Tenant.objects.filter(team__memberships__member=member, team__deleted_at=None)
        .select_related("team")
        .order_by("team__name", "team_id", "-environment")
    )
    if is_single_sign_on_session(session):
        places = places.filter(team__in=list_teams_proven_by_provider(session))
    return list(places[:SWITCHER_LENGTH])


def remember_last_environment(session: SessionBase, tenant: Tenant) -> None:
    """Store the last visited environment in the session."""
    place = [tenant.team.slug, tenant.environment]
    if session.get(_LAST_VISITED) != place:
        session[_LAST_VISITED] = place


def _record_visit(*, member: Member, tenant: Tenant, last: datetime | None) -> None:
    now = timezone.now()
    if last is None or now - last >= LAST_SEEN_STEP:
        Membership.objects.filter(member=member, team=tenant.team_id).update(
            last_seen_at=now
        )


def find_landing_environment(session: SessionBase, *, member: Member) -> Tenant | None:
    """Return the last visited environment, else the first one, else None."""
    places = list_member_environments(member=member, session=session)
    last = session.get(_LAST_VISITED)
    for tenant in places:
        if [tenant.team.slug, tenant.environment] == last:
            return tenant
    return places[0] if places else None
