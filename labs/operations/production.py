"""What production refuses unless the operator set it up; a sandbox has its own.

Each check is used by the API, the order wizard and the booking pages, and writes
nothing. Source: Contract D23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from labs.operations.gateways import get_lab_gateway
from labs.states.accounts import DelegatedFlow
from labs.states.catalogue import CollectionMethod
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.models import Tenant
    from labs.models import Lab, LabAccount


def require_lab_gateway(tenant: Tenant) -> None:
    """Refuse production orders that no lab would get. Raises: lab_gateway_required."""
    get_lab_gateway(tenant)


def require_platform_account_allowed(*, tenant: Tenant, lab: Lab) -> None:
    """Refuse an order without a lab account: only the sandbox has the platform's.

    Raises: lab_account_required.
    """
    if not tenant.is_sandbox:
        raise DomainError(
            "lab_account_required",
            _("Link a lab account with %(lab)s: production has no platform account.")
            % {"lab": lab.name},
            "lab_account_id",
        )


def require_physician(
    *, tenant: Tenant, account: LabAccount | None, physician: Mapping[str, Any] | None
) -> None:
    """Refuse an order that no physician orders.

    The platform's physicians order in the sandbox alone. Raises: physician_missing,
    where the account leaves ordering to the team; physician_required. Source: Contract
    6.4, D23.
    """
    if physician is not None:
        return
    flow = DelegatedFlow.known(account.delegated_flow) if account else None
    if flow is not None and flow.needs_physician:
        raise DomainError(
            "physician_missing",
            _("Enter an ordering physician: this lab account requires one."),
            "physician",
        )
    if not tenant.is_sandbox:
        raise DomainError(
            "physician_required",
            _("Enter an ordering physician: production has no platform physicians."),
            "physician",
        )


def require_home_visits(*, tenant: Tenant, method: CollectionMethod | str) -> None:
    """Refuse at-home collection where no provider of visits is set up.

    Raises: directory_required. Source: Contract D23; Ours: production has no such
    provider yet.
    """
    if method == CollectionMethod.AT_HOME_PHLEBOTOMY and not offers_home_visits(tenant):
        raise DomainError(
            "directory_required",
            _("No provider of at-home visits is set up for production."),
            "collection_method",
        )


def offers_home_visits(tenant: Tenant) -> bool:
    """Return whether a provider of at-home visits is set up: the sandbox has one."""
    return bool(tenant.is_sandbox)
