"""Create, find and revoke management keys. Their text is shown once, never stored."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import ManagementKey, Organisation, Team, Tenant
from accounts.models.api_key import LABEL_MAX_LENGTH
from accounts.operations.api_keys.api_keys import LAST_USED_STEP, hash_api_key
from accounts.operations.audit.entries import record_team_change
from accounts.states import ManagementRole, Region
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, NotAllowed, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from django.db.models import QuerySet

PREFIX = "mg"  # Contract 1.2


@dataclass(frozen=True, slots=True)
class ManagementGrant:
    """The access of a valid management key: an organization's teams, an actor.

    `team_ids` None: every team of the organisation.
    """

    organisation_id: UUID
    team_ids: frozenset[UUID] | None
    actor: Actor

    def at(self, address: str | None) -> ManagementGrant:
        """Return the same grant for a call from this IP address."""
        return replace(self, actor=replace(self.actor, address=address))

    @property
    def is_whole(self) -> bool:
        """Return whether the key manages the whole organization."""
        return self.team_ids is None

    def check_whole(self) -> None:
        """Refuse a team_admin key. Raises: not_allowed."""
        if not self.is_whole:
            raise NotAllowed("not_allowed", _("This call requires an org_admin key."))

    def find_organisation(self, organisation_id: UUID) -> Organisation:
        """Return the key's organization. Raises: not_found for any other."""
        if organisation_id != self.organisation_id:
            raise NotFound("not_found", _("Organization not found."))
        return Organisation.objects.get(pk=organisation_id)

    def teams(self) -> QuerySet[Team]:
        """Return the teams it manages, in order of creation."""
        found = Team.objects.live().filter(organisation=self.organisation_id)
        if self.team_ids is not None:
            found = found.filter(pk__in=self.team_ids)
        return found.order_by("created_at", "pk")

    def find_team(self, team_id: UUID) -> Team:
        """Return a team it manages. Raises: not_found for any other."""
        found = self.teams().filter(pk=team_id).first()
        if found is None:
            raise NotFound("not_found", _("Team not found."))
        return found

    def find_teams(self, team_ids: Iterable[UUID]) -> list[Team]:
        """Return teams it manages, each once. Raises: team_unknown."""
        unique_ids = set(team_ids)
        found = list(self.teams().filter(pk__in=unique_ids))
        if len(found) < len(unique_ids):
            raise DomainError(
                "team_unknown",
                _("This key does not manage a team with this ID."),
                "team_role_bindings",
            )
        return found

    def find_tenant(
        self, *, organisation_id: UUID, team_id: UUID, environment: str
    ) -> Tenant:
        """Return the team's environment, if this key manages it.

        Raises: not_found, also for what exists and is another's.
        """
        allowed = self.team_ids is None or team_id in self.team_ids
        found = (
            Tenant.objects.select_related("team")
            .filter(
                team__organisation_id=organisation_id,
                team__deleted_at=None,
                team_id=team_id,
                environment=environment,
            )
            .first()
        )
        if found is None or organisation_id != self.organisation_id or not allowed:
            raise NotFound("not_found", _("Team not found."))
        return found


@transaction.atomic
def create_management_key(
    *,
    team: Team,
    actor: Actor,
    label: str,
    role: ManagementRole = ManagementRole.TEAM_ADMIN,
) -> tuple[ManagementKey, str]:
    """Create a key of a team; return it with its text, known only now.

    A team_admin manages this team alone, an org_admin every team of its organisation.
    Raises: label_missing, label_too_long. Source: Contract 1.2 (key shape), 9.1.
    """
    bound = [team] if role == ManagementRole.TEAM_ADMIN else []
    return _make_key(
        organisation_id=team.organisation_id,
        actor=actor,
        label=label,
        role=role,
        bound=bound,
        audited_teams=[team],
    )


@transaction.atomic
def create_organisation_management_key(
    *,
    organisation: Organisation,
    actor: Actor,
    label: str,
    role: ManagementRole,
    teams: Sequence[Team] = (),
) -> tuple[ManagementKey, str]:
    """Create a key of an organization, for these teams if team_admin.

    The audits of all teams it manages say so. Raises: label_missing, label_too_long,
    teams_missing, teams_unwanted (an org_admin manages all). Source: Contract 9.1.
    """
    _check_teams_of_role(role, teams)
    return _make_key(
        organisation_id=organisation.pk,
        actor=actor,
        label=label,
        role=role,
        bound=teams,
        audited_teams=teams or list(organisation.teams.order_by("created_at", "pk")),
    )


@transaction.atomic
def change_management_key(
    *,
    key: ManagementKey,
    actor: Actor,
    label: str | None = None,
    teams: Sequence[Team] | None = None,
) -> ManagementKey:
    """Change a live key's name or a team_admin's teams.

    The audits of the teams it manages, and of those it did, say so. Raises:
    management_key_revoked, label_missing, label_too_long, teams_missing,
    teams_unwanted. Source: Contract 9.1.
    """
    live = ManagementKey.objects.select_for_update().filter(revoked_at=None)
    key = _lock_active_key(live.filter(pk=key.pk).first())
    audited_teams = _list_managed_teams(key)
    changes: dict[str, object] = {}
    if label is not None and key.label != (label := _check_label(label)):
        changes["label"] = [key.label, label]
        key.label = label
        key.save(update_fields=["label"])
    if teams is not None:
        _check_teams_of_role(ManagementRole(key.role), teams)
        before = sorted(str(team.pk) for team in audited_teams)
        after = sorted(str(team.pk) for team in teams)
        if before != after:
            changes["teams"] = [before, after]
            key.teams.set(teams)
            audited_teams = list(
                {team.pk: team for team in (*audited_teams, *teams)}.values()
            )
    if changes:
        _record(audited_teams, key, actor, "change_management_key", changes)
    return key


@transaction.atomic
def revoke_management_key(
    *, key: ManagementKey, actor: Actor, team: Team | None = None
) -> ManagementKey:
    """Revoke a key immediately, in all processes.

    `team` is the one whose audit says so, None: all that it manages. Raises:
    management_key_revoked.
    """
    now = timezone.now()
    live = ManagementKey.objects.filter(pk=key.pk, revoked_at=None)
    if not live.update(revoked_at=now):
        raise _revoked_key_error()
    key.revoked_at = now
    audited_teams = [team] if team is not None else _list_managed_teams(key)
    _record(audited_teams, key, actor, "revoke_management_key", {})
    return key


def find_management_key_grant(text: str) -> ManagementGrant | None:
    """Return a live key's grant and record its use; None for other text.

    The look-up is by digest: its time tells nothing of a key's text.
    """
    key = ManagementKey.objects.filter(
        digest=hash_api_key(text), revoked_at=None
    ).first()
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


def _make_key(
    *,
    organisation_id: UUID,
    actor: Actor,
    label: str,
    role: ManagementRole,
    bound: Sequence[Team],
    audited_teams: Sequence[Team],
) -> tuple[ManagementKey, str]:
    label = _check_label(label)
    region = audited_teams[0].region if audited_teams else Region.US
    secret = secrets.token_urlsafe(32)
    text = f"{PREFIX}_{region}_{secret}"
    key = ManagementKey(
        organisation_id=organisation_id,
        role=role,
        label=label,
        prefix=text[: len(text) - len(secret) + 4],
        last_four=text[-4:],
        digest=hash_api_key(text),
        created_by_id=actor.key if actor.kind == ActorKind.MEMBER else None,
    )
    key.save(force_insert=True)
    key.teams.set(bound)
    changes = {"label": [None, label], "role": [None, str(role)]}
    _record(audited_teams, key, actor, "create_management_key", changes)
    return key, text


def _check_label(label: str) -> str:
    label = label.strip()
    if not label:
        raise DomainError("label_missing", _("Enter a name for the key."), "label")
    if len(label) > LABEL_MAX_LENGTH:
        raise DomainError(
            "label_too_long",
            _("Enter at most %(most)d characters.") % {"most": LABEL_MAX_LENGTH},
            "label",
        )
    return label


def _check_teams_of_role(role: ManagementRole, teams: Sequence[Team]) -> None:
    field = "team_role_bindings"
    if role == ManagementRole.TEAM_ADMIN and not teams:
        raise DomainError(
            "teams_missing", _("A team_admin key needs at least one team."), field
        )
    if role == ManagementRole.ORG_ADMIN and teams:
        raise DomainError(
            "teams_unwanted",
            _("An org_admin key manages all teams. Leave teams empty."),
            field,
        )


def _lock_active_key(key: ManagementKey | None) -> ManagementKey:
    if key is None:
        raise _revoked_key_error()
    return key


def _revoked_key_error() -> DomainError:
    return DomainError("management_key_revoked", _("This key is already revoked."))


def _list_managed_teams(key: ManagementKey) -> list[Team]:
    teams = Team.objects.filter(organisation=key.organisation_id)
    if key.role != ManagementRole.ORG_ADMIN:
        teams = key.teams.all()
    return list(teams.order_by("created_at", "pk"))


def _record(
    teams: Iterable[Team],
    key: ManagementKey,
    actor: Actor,
    verb: str,
    changes: Mapping[str, object],
) -> None:
    for team in teams:
        record_team_change(
            team=team,
            actor=actor,
            verb=verb,
            subject="management_key",
            subject_id=key.id,
            changes=changes,
        )
