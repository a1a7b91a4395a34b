"""The check of production environments: what their teams still need to go live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import ProgrammingError
from django.utils import timezone

from accounts.models import Tenant
from accounts.queries import list_live_api_keys
from accounts.queries.go_live import build_go_live_report
from accounts.states import Environment
from portal.lib.tenancy import acting_for
from portal.ops.health.findings import Finding
from users.queries import count_live_users

if TYPE_CHECKING:
    from collections.abc import Iterator

# Teams that the sentence names.
NAMED_TEAMS = 20


def check_production_teams() -> Finding:
    """Check that teams that use production lack nothing of the page Go live.

    Teams are named by slug, checks by their names.
    """
    try:
        reports = list(_list_open_checks())
    except ProgrammingError:  # no such tables before the first migrate
        return Finding(
            False, "Teams can't be read.", "Run `manage.py migrate`.", works_still=True
        )
    lacking = [f"{slug} ({', '.join(lacks)})" for slug, lacks in reports if lacks]
    if not lacking:
        return Finding(True, f"Teams that use production: {len(reports)}.")
    others = len(lacking) - NAMED_TEAMS
    named = "; ".join(lacking[:NAMED_TEAMS])
    more = f"; and {others} more" if others > 0 else ""
    return Finding(
        False,
        f"Of {len(reports)} teams that use production, {len(lacking)} lack something:"
        f" {named}{more}.",
        "Open the page Go live in the production environment of the team.",
        works_still=True,
    )


def _list_open_checks() -> Iterator[tuple[str, list[str]]]:
    """List the teams that use production with their open checks, by slug."""
    tenants = Tenant.objects.select_related("team").filter(
        environment=Environment.PRODUCTION, team__deleted_at=None
    )
    for tenant in tenants.order_by("team__slug"):
        with acting_for(tenant):
            if _is_in_use(tenant):
                yield (
                    tenant.team.slug,
                    [
                        f"{point.check.name} {point.state.replace('_', ' ')}"
                        for point in build_go_live_report(tenant).open
                    ],
                )


def _is_in_use(tenant: Tenant) -> bool:
    """Return whether a production environment has a user, or a key to create one."""
    keys = list_live_api_keys(tenant=tenant, at=timezone.now())
    return count_live_users(tenant=tenant) > 0 or keys.exists()
