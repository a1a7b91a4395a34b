"""Reads of a team's physicians."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from django.utils import timezone

from accounts.queries import find_team_membership
from accounts.states import Role
from labs.models import Physician

if TYPE_CHECKING:
    from datetime import date
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant


def practising_physicians(tenant: Tenant) -> QuerySet[Physician]:
    """Return the physicians who may approve: active members with that role now."""
    found: QuerySet[Physician] = Physician.objects.for_tenant(tenant).filter(
        member__is_active=True,
        member__memberships__team=tenant.team_id,
        member__memberships__roles__contains=[Role.PHYSICIAN],
    )
    return found.order_by("last_name", "first_name", "pk")


def is_member_physician(*, tenant: Tenant, member_id: UUID) -> bool:
    """Return whether a member has the role Physician in the tenant's team."""
    membership = find_team_membership(team=tenant.team, member_id=member_id)
    return membership is not None and Role.PHYSICIAN in membership.roles


def list_physicians(tenant: Tenant) -> list[Physician]:
    """List the physicians of a tenant who may approve, with their stand-ins."""
    found = practising_physicians(tenant).select_related("stand_in", "member")
    return list(found)


def find_physician_profile(*, tenant: Tenant, member_id: UUID) -> Physician | None:
    """Return the profile of a member, whatever their role is now."""
    found: Physician | None = (
        Physician.objects.for_tenant(tenant).filter(member_id=member_id).first()
    )
    return found


def find_physician_of_member(*, tenant: Tenant, member_id: UUID) -> Physician | None:
    """Return the profile of a member who may approve orders; None without one."""
    found = practising_physicians(tenant).select_related("stand_in")
    return found.filter(member_id=member_id).first()


def get_today_of_team(tenant: Tenant, *, at: datetime | None = None) -> date:
    """Return the day on the team's clock, by which absences are counted."""
    return (at or timezone.now()).astimezone(ZoneInfo(tenant.team.time_zone)).date()


def list_represented_physicians(
    *, tenant: Tenant, physician: Physician, today: date
) -> list[Physician]:
    """List the absent physicians that one stands in for on a day."""
    away = Physician.objects.for_tenant(tenant).filter(
        stand_in=physician, away_from__lte=today, away_until__gte=today
    )
    return list(away.order_by("last_name", "first_name", "pk"))


def is_away(physician: Physician, today: date) -> bool:
    """Return whether a physician is absent on a day."""
    return (
        physician.away_from is not None
        and physician.away_until is not None
        and physician.away_from <= today <= physician.away_until
    )
