"""Tenants that a process keeps between calls, each with the version of its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models.expressions import RawSQL

from accounts.models import Team, Tenant

if TYPE_CHECKING:
    from django.db.models import QuerySet

# By key: the version (portal.lib.tenancy.acting_for_with_version), and the tenant.
known_tenants: dict[int, tuple[str, Tenant]] = {}


def find_tenant_of_version(tenant_pk: int, version: str) -> Tenant | None:
    """Return a tenant with its team, as the database had it at this version or later.

    None where it was removed. One query for each version and process. Source: Ours: a
    call is judged by the settings of its moment, whichever process changed them.
    """
    known = known_tenants.get(tenant_pk)
    if known is not None and known[0] == version:
        return known[1]
    tenant = (
        Tenant.objects.select_related("team")
        .annotate(
            version=RawSQL(
                "accounts_tenant.xmin::text || ' ' || accounts_team.xmin::text", ()
            )
        )
        .filter(pk=tenant_pk)
        .first()
    )
    if tenant is None:
        return None
    # Another change may have come between: the version belongs to what was read.
    known_tenants[tenant_pk] = (tenant.version, tenant)
    return tenant


def own_team(tenant: Tenant) -> QuerySet[Team]:
    """Return the one team of a tenant, for readers that page."""
    return Team.objects.filter(pk=tenant.team_id)
