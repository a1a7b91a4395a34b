"""Check what a team's production needs: accounts, tests, gateway, physician, places.

Which of these refuse orders is contract D23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from accounts.declarations.go_live import GoLiveResult
from accounts.queries import list_team_members
from accounts.states import Area, roles_allow_access
from labs.gateways.base import LabUnavailable
from labs.models import LabAccount, LabTest, ServiceCenter
from labs.operations.gateways import GATEWAYS, get_lab_gateway
from labs.queries.catalogue import list_labs
from labs.queries.connections import has_silent_mllp
from labs.queries.kit_stock import list_kit_levels
from labs.queries.physicians import practising_physicians
from labs.queries.production import offers_home_visits
from labs.states.accounts import DelegatedFlow, LabAccountStatus
from labs.states.catalogue import CollectionMethod, LabTestStatus
from portal.lib.jobs.liveness import is_worker_alive
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accounts.models import Tenant
    from portal.lib.actor import Actor

# Accounts that one try connects to.
TRIED_ACCOUNTS = 20


def read_lab_accounts(tenant: Tenant) -> GoLiveResult:
    """Find the labs that the team can order from and those it has no account of."""
    statuses = list(
        LabAccount.objects.linked_to(tenant).values_list("lab__name", "status")
    )
    active = {name for name, status in statuses if status == LabAccountStatus.ACTIVE}
    if not active:
        others = {name for name, _status in statuses}
        return GoLiveResult(
            "inactive" if others else "missing", {"labs": _join(others)}
        )
    wanted = set(
        LabTest.objects.for_tenant(tenant)
        .orderable()
        .values_list("lab__name", flat=True)
        .distinct()
    )
    if without := wanted - active:
        return GoLiveResult("some_missing", {"labs": _join(without)})
    return GoLiveResult("active", {"labs": _join(active)})


def read_lab_tests(tenant: Tenant) -> GoLiveResult:
    """Count the panels that can be ordered, or say what there is in their place."""
    panels = LabTest.objects.for_tenant(tenant).exclude(status=LabTestStatus.INACTIVE)
    if count := panels.orderable().count():
        return GoLiveResult("orderable", {"count": format_number(count)})
    if not list_labs(tenant=tenant):
        return GoLiveResult("no_catalogue")
    if names := _join(panels.values_list("name", flat=True)):
        return GoLiveResult("unapproved", {"panels": names})
    return GoLiveResult("missing")


def read_gateway(tenant: Tenant) -> GoLiveResult | None:
    """Report a gateway that was never set up; else the last try decides.

    Labs that report by document need none.
    """
    if settings.LAB_GATEWAY in GATEWAYS:
        return None
    accounts = _list_active_accounts(tenant)
    if accounts and all(account.reports_by_document for account in accounts):
        return None
    return GoLiveResult("missing")


def try_gateway(tenant: Tenant, actor: Actor) -> GoLiveResult | None:
    """Try the connection of each active account, and whether a worker reads answers."""
    del actor
    if read_gateway(tenant):
        return None
    accounts = _list_active_accounts(tenant)[:TRIED_ACCOUNTS]
    if not accounts:
        return GoLiveResult("no_account")
    for account in accounts:
        gateway = get_lab_gateway(tenant, account)
        try:
            gateway.check_connection(tenant=tenant, account=account)
        except LabUnavailable:
            return GoLiveResult("unavailable", {"lab": account.lab.name})
        if has_silent_mllp(tenant=tenant, account=account):
            return GoLiveResult("no_mllp", {"lab": account.lab.name})
    if not is_worker_alive():
        return GoLiveResult("no_worker")
    return GoLiveResult("connected", {"labs": _join(a.lab.name for a in accounts)})


def read_physician(tenant: Tenant) -> GoLiveResult:
    """Say what orders must carry: production has no platform physicians."""
    if tenant.order_approval_enabled:
        able = [one for one in practising_physicians(tenant) if one.signature]
        if not able:
            return GoLiveResult("no_approver")
        states = {state for one in able for state in one.licensed_states}
        return GoLiveResult("approves", {"states": _join(states)})
    accounts = _list_active_accounts(tenant)
    if not accounts:
        return GoLiveResult("no_account")
    left_to_platform = {
        account.lab.name
        for account in accounts
        if not _team_orders(account.delegated_flow)
    }
    if left_to_platform:
        return GoLiveResult("platform", {"labs": _join(left_to_platform)})
    return GoLiveResult("delegated")


def read_service_centers(tenant: Tenant) -> GoLiveResult:
    """Count the service centers of the labs whose walk-in tests the team orders."""
    walk_in = (
        LabTest.objects.for_tenant(tenant)
        .orderable()
        .filter(method=CollectionMethod.WALK_IN_TEST)
    )
    if not walk_in.exists():
        return GoLiveResult("no_walk_in")
    labs = {account.lab_id for account in _list_active_accounts(tenant)}
    count = ServiceCenter.objects.filter(lab__in=labs, is_active=True).count()
    return GoLiveResult(
        "imported" if count else "missing", {"count": format_number(count)}
    )


def read_home_visits(tenant: Tenant) -> GoLiveResult:
    """Find tests that are collected at home where nobody offers home visits."""
    at_home = (
        LabTest.objects.for_tenant(tenant)
        .orderable()
        .filter(method=CollectionMethod.AT_HOME_PHLEBOTOMY)
        .values_list("name", flat=True)
    )
    if offers_home_visits(tenant) or not (names := _join(at_home)):
        return GoLiveResult("no_home_visits")
    return GoLiveResult("missing", {"panels": names})


def read_kit_stock(tenant: Tenant) -> GoLiveResult:
    """Find kit panels that run out, or whose stock was never entered."""
    levels = list_kit_levels(tenant)
    if not levels:
        return GoLiveResult("no_kits")
    if unknown := [each.panel.name for each in levels if each.stock is None]:
        return GoLiveResult("missing", {"panels": _join(unknown)})
    if low := [each.panel.name for each in levels if each.is_low]:
        return GoLiveResult("low", {"panels": _join(low)})
    count = sum(each.stock.count for each in levels if each.stock)
    return GoLiveResult("enough", {"count": format_number(count)})


def read_critical_results(tenant: Tenant) -> GoLiveResult:
    """Count the members who may acknowledge one, and look for an address to mail."""
    able = [
        membership
        for membership in list_team_members(tenant.team)
        if roles_allow_access(
            roles=membership.roles,
            area=Area.SIGN_REPORTS,
            write=True,
            environment=tenant.environment,
        )
    ]
    if not able:
        return GoLiveResult("nobody")
    if not tenant.critical_result_notification_email:
        minutes = tenant.critical_result_limit_minutes
        return GoLiveResult("no_address", {"minutes": format_number(minutes)})
    return GoLiveResult("ready", {"count": format_number(len(able))})


def _list_active_accounts(tenant: Tenant) -> list[LabAccount]:
    rows = LabAccount.objects.linked_to(tenant).filter(status=LabAccountStatus.ACTIVE)
    return list(rows.select_related("lab").order_by("lab__name", "created_at", "pk"))


def _team_orders(flow: str) -> bool:
    known = DelegatedFlow.known(flow)
    return known is not None and known.needs_physician


def _join(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))
