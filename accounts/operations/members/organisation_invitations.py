"""Invite an address to several teams of an organization by one link.

Each team keeps its own, which it may withdraw; who accepts joins all that are still
open.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Membership
from accounts.operations.members.invitations import (
    create_or_renew_invitation,
    normalize_email_address,
    revoke_invitation,
)
from accounts.states import InviteStatus, Role
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Invitation, Team
    from portal.lib.actor import Actor


@transaction.atomic
def invite_administrator_to_teams(
    *, teams: Sequence[Team], among: Sequence[Team], actor: Actor, email: str
) -> tuple[InviteStatus, Invitation | None, str]:
    """Invite an address to administer these teams; return the result.

    Gives the first team's invitation and the token of the one link, known now only. Who
    is a member of a team of `among` already is not invited. An address that has been
    invited into one of the teams gets a new link, and the old one ends there. Raises:
    teams_missing, and as invite_member. Source: Contract 9.1.
    """
    if not teams:
        raise DomainError(
            "teams_missing", _("Enter at least one team ID."), "team_role_bindings"
        )
    email = normalize_email_address(email)
    if Membership.objects.filter(team__in=among, member__email=email).exists():
        return InviteStatus.ALREADY_IN_ORG, None, ""
    token = secrets.token_urlsafe(32)
    batch = uuid4() if len(teams) > 1 else None
    put = [
        create_or_renew_invitation(
            team=team,
            actor=actor,
            email=email,
            roles=[Role.ADMIN],
            token=token,
            batch=batch,
        )
        for team in sorted(teams, key=lambda each: each.pk)
    ]
    was_open = any(known for _, known in put)
    status = InviteStatus.RESENT if was_open else InviteStatus.CREATED
    return status, put[0][0], token


@transaction.atomic
def revoke_invitation_to_teams(
    *, invitations: Sequence[Invitation], actor: Actor
) -> None:
    """Withdraw all invitations of one link. Raises: as revoke_invitation."""
    for invitation in sorted(invitations, key=lambda each: each.team_id):
        revoke_invitation(invitation=invitation, actor=actor)
