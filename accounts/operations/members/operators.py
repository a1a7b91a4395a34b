"""Change organization names, member sign-in and operator access from the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Member, Organisation, Tenant
from accounts.models.team import NAME_MAX_LENGTH
from accounts.operations.audit.entries import record_change
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portal.lib.actor import Actor


@transaction.atomic
def rename_organisation(
    *, organisation: Organisation, actor: Actor, name: str
) -> Organisation:
    """Rename an organization and record it in its teams' audits.

    Raises: name_missing, name_too_long.
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
    if before != name:
        organisation.save(update_fields=["name"])
        _record_in_tenants(
            Tenant.objects.filter(team__organisation=organisation),
            actor,
            "rename_organisation",
            "organisation",
            organisation.pk,
            {"name": [before, name]},
        )
    return organisation


@transaction.atomic
def set_sign_in_allowed(*, member: Member, actor: Actor, allowed: bool) -> Member:
    """Enable sign-in for a person, or disable it and end their sessions.

    Raises: own_account (nobody locks themselves out). Source: Ours: memberships stay,
    so that letting them in again restores what they had.
    """
    return _set_flag(member, actor, "is_active", allowed, "allow_sign_in")


@transaction.atomic
def set_operator_access(*, member: Member, actor: Actor, operator: bool) -> Member:
    """Grant or revoke operator access. Raises: own_account."""
    return _set_flag(member, actor, "is_staff", operator, "make_operator")


def _set_flag(
    member: Member, actor: Actor, field: str, value: bool, verb: str
) -> Member:
    if str(member.pk) == actor.key:
        raise DomainError(
            "own_account", _("You cannot change your own access. Ask another operator.")
        )
    member = Member.objects.select_for_update().get(pk=member.pk)
    before = getattr(member, field)
    if before != value:
        setattr(member, field, value)
        member.save(update_fields=[field])
        _record_in_tenants(
            Tenant.objects.filter(team__memberships__member=member),
            actor,
            verb,
            "member",
            member.pk,
            {field: [before, value]},
        )
    return member


def _record_in_tenants(
    tenants: Iterable[Tenant],
    actor: Actor,
    verb: str,
    subject: str,
    subject_id: object,
    changes: dict[str, object],
) -> None:
    for tenant in tenants:
        record_change(
            tenant=tenant,
            actor=actor,
            verb=verb,
            subject=subject,
            subject_id=subject_id,
            changes=changes,
        )
