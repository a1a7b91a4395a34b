"""Teams: make one, put a person into it, change its name and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.models import Member, Membership, Organisation, Team, Tenant
from accounts.models.team import EVENT_RETENTION_DAYS_MAX, NAME_MAX_LENGTH
from accounts.operations.api_keys import forget_keys
from accounts.operations.audit import record_change, record_team_change
from accounts.states import Environment, Region, Role
from portal.lib.errors import DomainError
from portal.lib.periods import time_zones
from portal.lib.registry import tenant_layers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portal.lib.actor import Actor

# Settings that are on in the sandbox and off in production (contract 9.2).
_ON_IN_SANDBOX = (
    "lab_report_parsing_enabled",
    "lab_report_human_review_enabled",
    "early_psc_booking_enabled",
)
# What may be changed through change_settings: every setting of contract 9.2.
SETTINGS = frozenset(
    field.name
    for field in Tenant._meta.get_fields()
    if field.name not in {"id", "team", "environment", "created_at"}
    and getattr(field, "concrete", False)
)


@transaction.atomic
def create_team(
    *, name: str, actor: Actor, slug: str | None = None, region: str = Region.US
) -> Team:
    """Make a team of a new organisation, with its two environments.

    The slug comes from the name unless given. Raises: name_missing, name_too_long,
    slug_taken, slug_invalid. Source: Contract 1.8, 9.1, 9.2.
    """
    name = name.strip()
    if not name:
        raise DomainError("name_missing", "A team needs a name.", "name")
    if len(name) > NAME_MAX_LENGTH:
        raise DomainError("name_too_long", "A name has at most 80 characters.", "name")
    slug = slugify(slug or name)
    if not slug:
        raise DomainError("slug_invalid", "Give a slug of letters and digits.", "slug")
    organisation = Organisation(name=name)
    organisation.save(force_insert=True)
    team = Team(organisation=organisation, name=name, slug=slug, region=region)
    try:
        with transaction.atomic():
            team.save(force_insert=True)
    except IntegrityError:
        raise DomainError("slug_taken", "Another team has this slug.", "slug") from None
    tenants = []
    for environment in Environment:
        sandbox = environment == Environment.SANDBOX
        tenant = Tenant(team=team, environment=environment)
        for setting in _ON_IN_SANDBOX:
            setattr(tenant, setting, sandbox)
        tenant.save(force_insert=True)
        tenants.append(tenant)
        record_change(
            tenant=tenant,
            actor=actor,
            verb="create_team",
            subject="team",
            subject_id=team.id,
            changes={"name": [None, name]},
        )
    for _, lay in tenant_layers:
        lay(tenants)
    return team


@transaction.atomic
def add_member(
    *, team: Team, actor: Actor, email: str, roles: Sequence[Role], name: str = ""
) -> Membership:
    """Put a person into a team, making their account if they have none.

    A new account has no password and can't sign in until one is set by a link.
    Raises: already_member, roles_missing.
    """
    if not roles:
        raise DomainError("roles_missing", "A member needs a role.", "roles")
    email = email.strip().lower()
    member = Member.objects.filter(email=email).first()
    if member is None:
        member = Member.objects.create_user(email=email, name=name)
    if Membership.objects.filter(member=member, team=team).exists():
        raise DomainError("already_member", "This person is a member already.")
    membership = Membership(member=member, team=team, roles=sorted(set(roles)))
    membership.save(force_insert=True)
    record_team_change(
        team=team,
        actor=actor,
        verb="add_member",
        subject="member",
        subject_id=member.pk,
        changes={"roles": [None, membership.roles]},
    )
    return membership


@transaction.atomic
def change_team(
    *,
    team: Team,
    actor: Actor,
    name: str,
    time_zone: str,
    event_retention_days: int | None = None,
) -> Team:
    """Rename a team, move it to another time zone, keep its events for so many days.

    Its slug and addresses stay; None leaves the days as they are. Raises: name_missing,
    name_too_long, time_zone_unknown, retention_invalid.
    """
    name = name.strip()
    if not name:
        raise DomainError("name_missing", "A team needs a name.", "name")
    if len(name) > NAME_MAX_LENGTH:
        raise DomainError("name_too_long", "A name has at most 80 characters.", "name")
    if time_zone not in time_zones():
        raise DomainError("time_zone_unknown", "Not a time zone.", "time_zone")
    days = event_retention_days
    if days is not None and not 1 <= days <= EVENT_RETENTION_DAYS_MAX:
        raise DomainError(
            "retention_invalid",
            f"Events are kept for 1 to {EVENT_RETENTION_DAYS_MAX} days.",
            "event_retention_days",
        )
    team = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    wanted: dict[str, object] = {"name": name, "time_zone": time_zone}
    if days is not None:
        wanted["event_retention_days"] = days
    changes = {
        field: [getattr(team, field), value]
        for field, value in wanted.items()
        if getattr(team, field) != value
    }
    if changes:
        for field in changes:
            setattr(team, field, wanted[field])
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
def change_settings(
    *, tenant: Tenant, actor: Actor, settings: dict[str, object]
) -> Tenant:
    """Change settings of contract 9.2, by name. Raises: setting_unknown."""
    if unknown := settings.keys() - SETTINGS:
        raise DomainError("setting_unknown", f"No such setting: {min(unknown)}.")
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
        transaction.on_commit(forget_keys)
    return tenant
