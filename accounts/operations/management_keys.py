"""Management keys: make, find, revoke. The text is shown once and never stored.

Must not be here: keys that read or write health data (accounts.operations.api_keys).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.models import ManagementKey, Organisation, Team, Tenant
from accounts.models.api_key import LABEL_MAX_LENGTH
from accounts.operations.api_keys import LAST_USED_STEP, digest_of
from accounts.operations.audit import record_team_change
from accounts.states import ManagementRole
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, NotAllowed, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet

PREFIX = "mg"  # Contract 1.2


@dataclass(frozen=True, slots=True)
class ManagementGrant:
    """What a valid management key gives: an organisation's teams, and an actor.

    `team_ids` None: every team of the organisation.
    """

    organisation_id: UUID
    team_ids: frozenset[UUID] | None
    actor: Actor

    def at(self, address: str | None) -> ManagementGrant:
        """The same grant for a call from this IP address."""
        return replace(self, actor=replace(self.actor, address=address))

    @property
    def is_whole(self) -> bool:
        """Whether it manages the organisation itself, not some of its teams alone."""
        return self.team_ids is None

    def check_whole(self) -> None:
        """Refuse a team_admin what is about all teams. Raises: not_allowed."""
        if not self.is_whole:
            raise NotAllowed("not_allowed", "Only an org_admin key may do this.")

    def find_organisation(self, organisation_id: UUID) -> Organisation:
        """The organisation of this key. Raises: not_found for any other."""
        if organisation_id != self.organisation_id:
            raise NotFound("not_found", "Organisation not found.")
        return Organisation.objects.get(pk=organisation_id)

    def teams(self) -> QuerySet[Team]:
        """The teams it manages, in the order they were made."""
        found = Team.objects.filter(organisation=self.organisation_id)
        if self.team_ids is not None:
            found = found.filter(pk__in=self.team_ids)
        return found.order_by("created_at", "pk")

    def find_team(self, team_id: UUID) -> Team:
        """A team it manages. Raises: not_found, also for what is another's."""
        found = self.teams().filter(pk=team_id).first()
        if found is None:
            raise NotFound("not_found", "Team not found.")
        return found

    def find_teams(self, team_ids: Iterable[UUID]) -> list[Team]:
        """Teams it manages, each once. Raises: team_unknown."""
        wanted = set(team_ids)
        found = list(self.teams().filter(pk__in=wanted))
        if len(found) < len(wanted):
            raise DomainError(
                "team_unknown", "This key manages no such team.", "team_role_bindings"
            )
        return found

    def find_tenant(
        self, *, organisation_id: UUID, team_id: UUID, environment: str
    ) -> Tenant:
        """The team's environment, if this key manages it.

        Raises: not_found, also for what exists and is another's.
        """
        allowed = self.team_ids is None or team_id in self.team_ids
        found = (
            Tenant.objects.select_related("team")
            .filter(
                team__organisation_id=organisation_id,
                team_id=team_id,
                environment=environment,
            )
            .first()
        )
        if found is None or organisation_id != self.organisation_id or not allowed:
            raise NotFound("not_found", "Team not found.")
        return found


@transaction.atomic
def create_management_key(
    *,
    team: Team,
    actor: Actor,
    label: str,
    role: ManagementRole = ManagementRole.TEAM_ADMIN,
) -> tuple[ManagementKey, str]:
    """Make a key and return it with its text, the only time it is known.

    A team_admin manages this team alone, an org_admin every team of its organisation.
    Raises: label_missing, label_too_long. Source: Contract 1.2 (key shape), 9.1.
    """
    label = label.strip()
    if not label:
        raise DomainError("label_missing", "A key needs a label.", "label")
    if len(label) > LABEL_MAX_LENGTH:
        raise DomainError("label_too_long", "The label is too long.", "label")
    secret = secrets.token_urlsafe(32)
    text = f"{PREFIX}_{team.region}_{secret}"
    key = ManagementKey(
        organisation_id=team.organisation_id,
        role=role,
        label=label,
        prefix=text[: len(text) - len(secret) + 4],
        last_four=text[-4:],
        digest=digest_of(text),
        created_by_id=actor.key if actor.kind == ActorKind.MEMBER else None,
    )
    key.save(force_insert=True)
    if role == ManagementRole.TEAM_ADMIN:
        key.teams.add(team)
    record_team_change(
        team=team,
        actor=actor,
        verb="create_management_key",
        subject="management_key",
        subject_id=key.id,
        changes={"label": [None, label], "role": [None, str(role)]},
    )
    return key, text


@transaction.atomic
def revoke_management_key(
    *, key: ManagementKey, team: Team, actor: Actor
) -> ManagementKey:
    """End a key at once, everywhere; `team` is the one whose audit says so.

    Raises: management_key_revoked.
    """
    now = timezone.now()
    live = ManagementKey.objects.filter(pk=key.pk, revoked_at=None)
    if not live.update(revoked_at=now):
        raise DomainError("management_key_revoked", "This key is revoked already.")
    key.revoked_at = now
    record_team_change(
        team=team,
        actor=actor,
        verb="revoke_management_key",
        subject="management_key",
        subject_id=key.id,
    )
    return key


def find_management_grant(text: str) -> ManagementGrant | None:
    """The grant of a live key, noting its use; None for any other text.

    The look-up is by digest: its time tells nothing of a key's text.
    """
    key = ManagementKey.objects.filter(digest=digest_of(text), revoked_at=None).first()
    if key is None:
        return None
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at >= LAST_USED_STEP:
        ManagementKey.objects.filter(pk=key.pk).update(last_used_at=now)
    bound = None
    if key.role != ManagementRole.ORG_ADMIN:
        bound = frozenset(key.teams.values_list("pk", flat=True))
    return ManagementGrant(
        organisation_id=key.organisation_id,
        team_ids=bound,
        actor=Actor(ActorKind.MANAGEMENT_KEY, str(key.id), key.label),
    )
