"""Find the teams and environments a member can open, and record visits."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from accounts.models import Membership, Team, Tenant
from accounts.models.sign_in import format_provider_version
from accounts.web.requests import Rights
from accounts.web.sign_in.proofs import (
    is_single_sign_on_session,
    list_teams_proven_by_provider,
)
from accounts.web.sign_in.requirements import EntryRules
from portal.lib.database.instances import Columns, keep_related
from portal.lib.database.rows import fetch_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from django.contrib.sessions.backends.base import SessionBase

    from accounts.models import Member

_LAST_VISITED = "last_visited"
# A menu longer than this is no menu; a member of more teams comes by links.
SWITCHER_LENGTH = 100
# How far behind `last_seen_at` may lag, so that a page seldom costs a write.
LAST_SEEN_STEP = timedelta(minutes=5)
_TENANT = Columns(Tenant, "place")
_TEAM = Columns(Team, "team")
# By hand: every page asks for both.
_FIND = f"""
SELECT {_TENANT.sql}, {_TEAM.sql}, membership.roles, membership.last_seen_at,
    rules.requires_second_factor, rules.requires_single_sign_on,
    provider.id, provider.round
FROM accounts_team team
JOIN accounts_tenant place ON place.team_id = team.id
JOIN accounts_membership membership ON membership.team_id = team.id
LEFT JOIN accounts_signinrules rules ON rules.team_id = team.id
LEFT JOIN accounts_singlesignon provider ON provider.team_id = team.id
WHERE membership.member_id = %(member)s AND team.slug = %(team)s
    AND place.environment = %(environment)s AND team.deleted_at IS NULL
"""  # noqa: S608 - columns are ours
_LIST = f"""
SELECT {_TENANT.sql}, {_TEAM.sql} FROM accounts_membership membership
JOIN accounts_team team ON team.id = membership.team_id
JOIN accounts_tenant place ON place.team_id = team.id
WHERE membership.member_id = %(member)s AND team.deleted_at IS NULL
    AND (%(proven)s::uuid[] IS NULL OR team.id = ANY(%(proven)s))
ORDER BY team.name, team.id, place.environment DESC LIMIT %(most)s
"""  # noqa: S608 - columns are ours


def find_member_environment(
    *, member: Member, team_slug: str, environment: str
) -> tuple[Tenant, Rights, EntryRules] | None:
    """Return a team's environment and the member's rights, if they belong to it.

    With what they may do there, and what the team requires of them to come in. Notes
    the visit.
    """
    inputs = {"member": member.pk, "team": team_slug, "environment": environment}
    # PostgreSQL takes no text with a NUL.
    found = [] if "\0" in team_slug + environment else fetch_rows(_FIND, inputs)
    if not found:
        return None
    *columns, roles, last, factor, needs_provider, provider, of_round = found[0]
    tenant = _build_environment(columns)
    _record_visit(member=member, tenant=tenant, last=last)
    rules = EntryRules(
        needs_second_factor=bool(factor),
        needs_provider=bool(needs_provider),
        mark=format_provider_version(provider, of_round),
    )
    return tenant, Rights(frozenset(roles), environment), rules


def list_member_environments(*, member: Member, session: SessionBase) -> list[Tenant]:
    """Return the environments a member can switch to, by name, sandbox first.

    A confined session knows those alone whose providers vouched in it.
    """
    proven = (
        list_teams_proven_by_provider(session)
        if is_single_sign_on_session(session)
        else None
    )
    inputs = {"member": member.pk, "proven": proven, "most": SWITCHER_LENGTH}
    return [_build_environment(row) for row in fetch_rows(_LIST, inputs)]


def _build_environment(columns: Sequence[Any]) -> Tenant:
    tenant = _TENANT.build(columns[: len(_TENANT)])
    keep_related(tenant, "team", _TEAM.build(columns[len(_TENANT) :]))
    return tenant


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
