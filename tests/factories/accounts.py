"""Teams, members and keys for tests."""

from __future__ import annotations

from itertools import count

from django.utils import timezone

from accounts.models import Member, Team, Tenant
from accounts.operations.api_keys.api_keys import create_api_key
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.operations.teams.teams import add_team_member, create_team
from accounts.states import Environment, Role
from portal.lib.actor import Actor

ACTOR = Actor.system("tests")
PASSWORD = "correct horse battery staple"
_numbers = count(1)


def make_team(name: str | None = None) -> Team:
    return create_team(name=name or f"Team {next(_numbers)}", actor=ACTOR)


def make_tenant(
    *, environment: str = Environment.SANDBOX, team: Team | None = None
) -> Tenant:
    team = team or make_team()
    return team.tenants.select_related("team").get(environment=environment)


def make_member(
    *,
    team: Team | None = None,
    email: str | None = None,
    roles: tuple[Role, ...] = (Role.OWNER,),
) -> Member:
    """A member who can sign in with PASSWORD; in no team unless one is given."""
    email = email or f"member{next(_numbers)}@assay.example"
    if team is None:
        member = Member.objects.create_user(email=email)
    else:
        member = add_team_member(
            team=team, actor=ACTOR, email=email, roles=roles
        ).member
    member.set_password(PASSWORD)
    member.email_confirmed_at = timezone.now()
    member.save(update_fields=["password", "email_confirmed_at"])
    return member


def make_api_key(*, tenant: Tenant, label: str = "tests") -> str:
    """The key's text."""
    return create_api_key(tenant=tenant, actor=ACTOR, label=label)[1]


def make_management_key(*, team: Team, label: str = "tests") -> str:
    """The text of a key that manages this team."""
    return create_management_key(team=team, actor=ACTOR, label=label)[1]
