"""Delete and restore teams, and erase deleted ones after 7 days."""

from __future__ import annotations

import logging
from datetime import timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.apps import apps
from django.core.mail import send_mail
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError, RestrictedError
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.declarations.hooks import list_app_hooks
from accounts.models import (
    Invitation,
    ManagementKey,
    Membership,
    SignInRules,
    SingleSignOn,
    Team,
    Tenant,
)
from accounts.models.audit import AuditSeal
from accounts.operations.api_keys.api_keys import clear_api_key_cache
from accounts.operations.audit.entries import record_team_change
from accounts.operations.members.granting import find_roles_of_actor
from accounts.queries.languages import get_mail_language
from accounts.states import Area, Environment, ManagementRole, Role, roles_allow_access
from portal.lib.actor import ActorKind
from portal.lib.errors import DomainError, NotAllowed
from portal.lib.jobs import jobs
from portal.lib.table_rules import find_table_rules, list_table_rules
from portal.lib.tenancy import TenantOwned, across_tenants
from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model

    from portal.lib.actor import Actor

# As of users (contract 2.2); contract 9.1 names none.
UNDO_GRACE = timedelta(days=7)
ERASE_JOB = "accounts.erase_team"
_log = logging.getLogger(__name__)


@transaction.atomic
def delete_team(*, team: Team, actor: Actor) -> Team:
    """Close a team to members and keys; it is erased after UNDO_GRACE.

    What labs and sources still send of it is kept until then, so that an undo loses
    nothing. Raises: not_allowed (owners and org_admin keys alone), team_deleted.
    Source: Contract 9.1.
    """
    team = Team.objects.select_for_update().get(pk=team.pk)
    _check_may_delete(team, actor)
    if team.deleted_at is not None:
        raise DomainError("team_deleted", _("This team is already deleted."))
    team.deleted_at = timezone.now()
    team.save(update_fields=["deleted_at"])
    _record(team, actor, "delete_team")
    transaction.on_commit(clear_api_key_cache)
    return team


@transaction.atomic
def undo_delete_team(*, team: Team, actor: Actor) -> Team:
    """Restore a deleted team as it was. Raises: as delete_team; team_not_deleted,
    undo_grace_over. Source: Ours: as users can be brought back.
    """
    team = Team.objects.select_for_update().get(pk=team.pk)
    _check_may_delete(team, actor)
    if team.deleted_at is None:
        raise DomainError("team_not_deleted", _("This team is not deleted."))
    if timezone.now() >= compute_team_restore_deadline(team):
        raise DomainError(
            "undo_grace_over", _("The 7 days to restore this team are over.")
        )
    team.deleted_at = None
    team.save(update_fields=["deleted_at"])
    _record(team, actor, "undo_delete_team")
    return team


def compute_team_restore_deadline(team: Team) -> datetime:
    """Return until when a deleted team can be restored."""
    if team.deleted_at is None:
        raise ValueError("not deleted")
    return team.deleted_at + UNDO_GRACE


def mail_owners_how_to_restore_team(*, team: Team, actor: Actor) -> None:
    """Email a deleted team's owners how to restore it, after the transaction.

    Source: Ours: an owner whose account somebody else uses has to hear of it.
    """
    owners = Membership.objects.filter(
        team=team, roles__contains=[Role.OWNER], member__is_active=True
    )
    context = {
        "team": team.name,
        "who": actor.label,
        "ends_at": compute_team_restore_deadline(team),
        "link": build_absolute_url(reverse("deleted_teams")),
    }
    for owner in owners.select_related("member"):
        address = owner.member.email
        with translation.override(get_mail_language(owner.member)):
            subject = render_to_string(
                "accounts/email/team_deleted_subject.txt", context
            )
            body = render_to_string("accounts/email/team_deleted_message.txt", context)
        try:
            send_mail(" ".join(subject.split()), body, None, [address])
        except (OSError, SMTPException):
            _log.warning("mail of the deletion of team %s could not be sent", team.pk)


def enqueue_due_team_erasures() -> int:
    """Enqueue the erasure of teams past their deadline; return how many.

    A team is enqueued again until it is erased: a second time is harmless.
    """
    due = Tenant.objects.filter(
        team__deleted_at__lte=timezone.now() - UNDO_GRACE,
        team__erased_at=None,
        environment=Environment.PRODUCTION,
    )
    number = 0
    for tenant in due.select_related("team"):
        jobs.enqueue_job(ERASE_JOB, tenant=tenant, lock=f"{ERASE_JOB}:{tenant.pk}")
        number += 1
    return number


def erase_team(*, team: Team, actor: Actor) -> bool:
    """Erase a deleted team past its deadline; return whether it was erased.

    Each user by itself, then what is left of both environments. The names of the team,
    its settings and its audit stay, which name users by uuid alone; so does whose key
    did what. Not one transaction: a run that was cut off goes on with what is left.
    Source: Contract 9.1; Ours: the audit cannot be taken back.
    """
    if (
        team.deleted_at is None
        or team.erased_at is not None
        or timezone.now() < compute_team_restore_deadline(team)
    ):
        return False
    with across_tenants(why="erasing a team in both environments"):
        for tenant in team.tenants.select_related("team").order_by("pk"):
            for app in list_app_hooks():
                for erase in app.tenant_erasers:
                    erase(tenant, actor)
            _remove_rows(tenant)
        _remove_access(team, actor)
    return True


@transaction.atomic
def _remove_access(team: Team, actor: Actor) -> None:
    """Delete memberships, invitations and keys of a team and record the erasure."""
    Membership.objects.filter(team=team).delete()
    Invitation.objects.filter(team=team).delete()
    SingleSignOn.objects.filter(team=team).delete()
    SignInRules.objects.filter(team=team).delete()
    bound = ManagementKey.objects.filter(
        teams=team, role=ManagementRole.TEAM_ADMIN, revoked_at=None
    )
    for key in bound:
        key.teams.remove(team)
        if not key.teams.exists():
            key.revoked_at = timezone.now()
            key.save(update_fields=["revoked_at"])
    team.integration_team_id = None
    team.erased_at = timezone.now()
    team.save(update_fields=["integration_team_id", "erased_at"])
    _record(team, actor, "erase_team")


def _remove_rows(tenant: Tenant) -> None:
    """Delete the tenant's rows of every table, dependent tables first.

    Its own rows of tables that all share go last; what rows of the organization still
    name stays, such as a lab with an account.
    """
    left: list[type[Model]] = [
        model
        for model in apps.get_models()
        if issubclass(model, TenantOwned) and not _outlives_tenant(model)
    ]
    owned = {
        model: rules.owner_lookup
        for model, rules in list_table_rules()
        if rules.owner_lookup
    }
    _remove_dependent_first(left, tenant)
    while gone := [
        model
        for model, lookup in owned.items()
        if _try_delete_rows(model, tenant, lookup)
    ]:
        for model in gone:
            del owned[model]


def _remove_dependent_first(left: list[type[Model]], tenant: Tenant) -> None:
    while left:
        held = [model for model in left if not _try_delete_rows(model, tenant)]
        if len(held) == len(left):
            names = ", ".join(model._meta.label for model in held)
            raise RuntimeError(f"rows of these hold one another: {names}")
        left = held


def _outlives_tenant(model: type[Model]) -> bool:
    """Return whether the table outlives users too, or is the chain over the audit."""
    rules = find_table_rules(model)
    reason = rules and rules.erasure and rules.erasure.why
    return bool(reason) or model is AuditSeal


def _try_delete_rows(
    model: type[Model], tenant: Tenant, lookup: str = "tenant"
) -> bool:
    rows = model._base_manager.filter(**{lookup: tenant.pk})
    try:
        with transaction.atomic():
            rows.delete()
            connection.check_constraints()  # deferred ones would fail at the commit
    except (ProtectedError, RestrictedError, IntegrityError):
        return False
    return True


def _check_may_delete(team: Team, actor: Actor) -> None:
    if actor.kind == ActorKind.MANAGEMENT_KEY:
        live = ManagementKey.objects.filter(
            pk=actor.key,
            organisation=team.organisation_id,
            role=ManagementRole.ORG_ADMIN,
            revoked_at=None,
        )
        may = live.exists()
    else:
        may = roles_allow_access(
            roles=find_roles_of_actor(team=team, actor=actor),
            area=Area.DELETE_TEAM,
            write=True,
            environment=Environment.PRODUCTION,
        )
    if not may:
        raise NotAllowed(
            "not_allowed", _("Only owners can delete or restore the team.")
        )


def _record(team: Team, actor: Actor, verb: str) -> None:
    record_team_change(
        team=team, actor=actor, verb=verb, subject="team", subject_id=team.pk
    )
