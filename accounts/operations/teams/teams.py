"""Create teams, add members, and change names and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils.text import slugify
from django.utils.translation import gettext as _

from accounts.declarations.hooks import list_app_hooks
from accounts.models import Member, Membership, Organisation, Team, Tenant
from accounts.models.team import (
    INTEGRATION_ID_MAX_LENGTH,
    NAME_MAX_LENGTH,
)
from accounts.operations.api_keys.api_keys import clear_api_key_cache
from accounts.operations.audit.entries import record_change, record_team_change
from accounts.states import Environment, Region, Role
from portal.lib.errors import Conflict, DomainError
from portal.lib.periods import list_time_zones
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portal.lib.actor import Actor

# Of a slug's 80 characters, those that leave room for a part of the team's id.
SLUG_ROOM = 71
# Settings that are on in the sandbox and off in production (contract 9.2).
_ON_IN_SANDBOX = (
    "lab_report_parsing_enabled",
    "lab_report_human_review_enabled",
    "early_psc_booking_enabled",
)
# What may be changed through change_team_settings: every setting of contract 9.2.
SETTINGS = frozenset(
    field.name
    for field in Tenant._meta.get_fields()
    if field.name not in {"id", "team", "environment", "created_at"}
    and getattr(field, "concrete", False)
)


@transaction.atomic
def create_team(
    *,
    name: str,
    actor: Actor,
    slug: str | None = None,
    region: str = Region.US,
    organisation: Organisation | None = None,
    team_id: UUID | None = None,
) -> Team:
    """Create a team with its two environments, and an organization if none is given.

    The slug comes from the name unless given. Who owns every team of the organisation
    owns its new one. Raises: name_missing, name_too_long, slug_taken, slug_invalid,
    team_id_taken (409). Source: Contract 1.8, 9.1, 9.2; Ours: the owners, as a team
    without one has nobody who may make one.
    """
    name = name.strip()
    if not name:
        raise DomainError("name_missing", _("Enter a name for the team."), "name")
    if len(name) > NAME_MAX_LENGTH:
        raise DomainError("name_too_long", _("Enter at most 80 characters."), "name")
    slug = slugify(slug or name)
    if not slug:
        raise DomainError(
            "slug_invalid", _("Enter a slug of letters, digits and hyphens."), "slug"
        )
    owners: list[UUID] = []
    if organisation is None:
        organisation = Organisation(name=name)
        organisation.save(force_insert=True)
    else:
        owners = _find_owners_of_all_teams(organisation)
    team = Team(
        id=team_id or uuid4(),
        organisation=organisation,
        name=name,
        slug=slug,
        region=region,
    )
    if Team.objects.filter(pk=team.pk).exists():
        raise Conflict("team_id_taken", _("Another team has this ID."), "id")
    try:
        with transaction.atomic():
            team.save(force_insert=True)
    except IntegrityError:
        raise DomainError(
            "slug_taken", _("Another team has this slug."), "slug"
        ) from None
    tenants = []
    for environment in Environment:
        sandbox = environment == Environment.SANDBOX
        tenant = Tenant(team=team, environment=environment)
        for setting in _ON_IN_SANDBOX:
            setattr(tenant, setting, sandbox)
        tenant.save(force_insert=True)
        tenants.append(tenant)
        with acting_for(tenant):
            record_change(
                tenant=tenant,
                actor=actor,
                verb="create_team",
                subject="team",
                subject_id=team.id,
                changes={"name": [None, name]},
            )
    for app in list_app_hooks():
        for set_up in app.tenant_setups:
            set_up(tenants)
    for owner in owners:
        _add_membership(team=team, actor=actor, member_id=owner, roles=[Role.OWNER])
    return team


@transaction.atomic
def create_organisation_team(
    *,
    organisation: Organisation,
    name: str,
    actor: Actor,
    region: str,
    team_id: UUID | None = None,
    integration_team_id: str | None = None,
    settings: Mapping[str, object] | None = None,
) -> Team:
    """Create a team of an organization with these settings.

    Its slug is free whatever its name. Raises: as create_team,
    set_team_integration_id and change_team_settings. Source: Contract 9.1.
    """
    team_id = team_id or uuid4()
    slug = slugify(name)[:SLUG_ROOM] or "team"
    if Team.objects.filter(slug=slug).exists():
        slug = f"{slug}-{team_id.hex[:8]}"
    team = create_team(
        name=name,
        actor=actor,
        slug=slug,
        region=region,
        organisation=organisation,
        team_id=team_id,
    )
    for tenant in team.tenants.order_by("pk"):
        change_team_settings(tenant=tenant, actor=actor, settings=dict(settings or {}))
    if integration_team_id is not None:
        team = set_team_integration_id(
            team=team, actor=actor, integration_team_id=integration_team_id
        )
    return team


@transaction.atomic
def set_team_integration_id(
    *, team: Team, actor: Actor, integration_team_id: str | None
) -> Team:
    """Set or clear the ID of a team in the customer's own system.

    Raises: integration_id_empty, integration_id_too_long; integration_id_taken (409) by
    another team of the organisation, a deleted one too while it can come back. Source:
    Contract 9.1.
    """
    field = "integration_team_id"
    if integration_team_id == "":
        raise DomainError("integration_id_empty", _("Enter an ID or null."), field)
    if integration_team_id and len(integration_team_id) > INTEGRATION_ID_MAX_LENGTH:
        raise DomainError(
            "integration_id_too_long",
            _("Enter at most %(most)d characters.")
            % {"most": INTEGRATION_ID_MAX_LENGTH},
            field,
        )
    team = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    before, team.integration_team_id = team.integration_team_id, integration_team_id
    if before == integration_team_id:
        return team
    try:
        with transaction.atomic():
            team.save(update_fields=[field])
    except IntegrityError:
        raise Conflict(
            "integration_id_taken", _("Another team has this ID."), field
        ) from None
    record_team_change(
        team=team,
        actor=actor,
        verb="change_team",
        subject="team",
        subject_id=team.pk,
        changes={field: [before, integration_team_id]},
    )
    return team


@transaction.atomic
def rename_organisation(
    *, organisation: Organisation, actor: Actor, name: str
) -> Organisation:
    """Rename an organization and record it in its teams' audits.

    Raises: name_missing, name_too_long. Source: Contract 9.1.
    """
    name = name.strip()
    if not name:
        raise DomainError(
            "name_missing", _("Enter a name for the organization."), "name"
        )
    if len(name) > NAME_MAX_LENGTH:
        raise DomainError("name_too_long", _("Enter at most 80 characters."), "name")
    organisation = Organisation.objects.select_for_update().get(pk=organisation.pk)
    before, organisation.name = organisation.name, name
    if before == name:
        return organisation
    organisation.save(update_fields=["name"])
    for team in organisation.teams.order_by("pk"):
        record_team_change(
            team=team,
            actor=actor,
            verb="rename_organisation",
            subject="organisation",
            subject_id=organisation.pk,
            changes={"name": [before, name]},
        )
    return organisation


@transaction.atomic
def add_team_member(
    *, team: Team, actor: Actor, email: str, roles: Sequence[Role], name: str = ""
) -> Membership:
    """Add a person to a team, creating an account if they have none.

    A new account has no password and can't sign in until one is set by a link.
    Raises: already_member, roles_missing.
    """
    if not roles:
        raise DomainError("roles_missing", _("Select at least one role."), "roles")
    email = email.strip().lower()
    member = Member.objects.filter(email=email).first()
    if member is None:
        member = Member.objects.create_user(email=email, name=name)
    if Membership.objects.filter(member=member, team=team).exists():
        raise DomainError("already_member", _("This person is already a member."))
    return _add_membership(team=team, actor=actor, member_id=member.pk, roles=roles)


@transaction.atomic
def change_team(*, team: Team, actor: Actor, name: str, time_zone: str) -> Team:
    """Change a team's name or time zone; its slug and URLs stay.

    Raises: name_missing, name_too_long, time_zone_unknown.
    """
    name = name.strip()
    if not name:
        raise DomainError("name_missing", _("Enter a name for the team."), "name")
    if len(name) > NAME_MAX_LENGTH:
        raise DomainError("name_too_long", _("Enter at most 80 characters."), "name")
    if time_zone not in list_time_zones():
        raise DomainError(
            "time_zone_unknown",
            _("Select a time zone, for example America/Chicago."),
            "time_zone",
        )
    team = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    new_values: dict[str, object] = {"name": name, "time_zone": time_zone}
    changes = {
        field: [getattr(team, field), value]
        for field, value in new_values.items()
        if getattr(team, field) != value
    }
    if changes:
        for field in changes:
            setattr(team, field, new_values[field])
        team.save(update_fields=sorted(changes))
        record_team_change(
            team=team,
            actor=actor,
            verb="change_team",
            subject="team",
            subject_id=team.pk,
            changes=changes,
        )
    return team


@transaction.atomic
def change_team_settings(
    *, tenant: Tenant, actor: Actor, settings: dict[str, object]
) -> Tenant:
    """Change settings of contract 9.2 by name. Raises: setting_unknown."""
    if unknown := settings.keys() - SETTINGS:
        raise DomainError(
            "setting_unknown", _("Unknown setting: %(name)s.") % {"name": min(unknown)}
        )
    tenant = Tenant.objects.select_for_update().get(pk=tenant.pk)
    changes = {
        name: [getattr(tenant, name), value]
        for name, value in settings.items()
        if getattr(tenant, name) != value
    }
    for name in changes:
        setattr(tenant, name, settings[name])
    if changes:
        tenant.save(update_fields=sorted(changes))
        record_change(
            tenant=tenant,
            actor=actor,
            verb="change_settings",
            subject="tenant",
            subject_id=tenant.pk,
            changes=changes,
        )
        transaction.on_commit(clear_api_key_cache)
    return tenant


def _add_membership(
    *, team: Team, actor: Actor, member_id: UUID, roles: Sequence[Role]
) -> Membership:
    membership = Membership(member_id=member_id, team=team, roles=sorted(set(roles)))
    membership.save(force_insert=True)
    record_team_change(
        team=team,
        actor=actor,
        verb="add_member",
        subject="member",
        subject_id=member_id,
        changes={"roles": [None, membership.roles]},
    )
    return membership


def _find_owners_of_all_teams(organisation: Organisation) -> list[UUID]:
    """Return the members who own every live team of an organization."""
    teams = Team.objects.live().filter(organisation=organisation).count()
    owned = Membership.objects.filter(
        team__organisation=organisation,
        team__deleted_at=None,
        roles__contains=[Role.OWNER],
    )
    counted = owned.values("member_id").annotate(count=Count("pk"))
    return [row["member_id"] for row in counted.order_by() if row["count"] == teams]
