"""What production refuses unless the operator set it up; a sandbox has its own.

Each check is used by the API, the order wizard and the booking pages, and writes
nothing. Source: Contract D23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from labs.operations.gateways import get_lab_gateway
from labs.queries.production import (
    has_accounts_by_document,
    has_service_centers,
    offers_home_visits,
)
from labs.states.accounts import DelegatedFlow
from labs.states.catalogue import CollectionMethod
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from accounts.models import Tenant
    from labs.models import Lab, LabAccount


def require_lab_gateway(tenant: Tenant) -> None:
    """Refuse production orders that no lab would get, on whatever account.

    Raises: lab_gateway_required.
    """
    if not has_accounts_by_document(tenant=tenant):
        get_lab_gateway(tenant)


def require_lab_gateway_of_account(
    *, tenant: Tenant, account: LabAccount | None
) -> None:
    """Refuse an order that its account's lab would not get.

    Raises: lab_gateway_required.
    """
    get_lab_gateway(tenant, account)


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
    require_delegated_physician(account=account, physician=physician)
    if physician is None and not tenant.is_sandbox:
        raise DomainError(
            "physician_required",
            _("Enter an ordering physician: production has no platform physicians."),
            "physician",
        )


def require_delegated_physician(
    *, account: LabAccount | None, physician: Mapping[str, Any] | None
) -> None:
    """Refuse an order without physician on an account that leaves ordering to the team.

    Raises: physician_missing. Source: Contract 6.4.
    """
    flow = DelegatedFlow.known(account.delegated_flow) if account else None
    if physician is None and flow is not None and flow.needs_physician:
        raise DomainError(
            "physician_missing",
            _("Enter an ordering physician: this lab account requires one."),
            "physician",
        )


def require_home_visits(*, tenant: Tenant, method: CollectionMethod | str) -> None:
    """Refuse at-home collection where no provider of visits is set up.

    Raises: directory_required. Source: Contract D23.
    """
    if method == CollectionMethod.AT_HOME_PHLEBOTOMY and not offers_home_visits(tenant):
        raise DomainError(
            "directory_required",
            _("No provider of at-home visits is set up for production."),
            "collection_method",
        )


def require_collection_place(*, tenant: Tenant, provider: str, is_home: bool) -> None:
    """Refuse a visit at home or at a center that production has no directory of.

    Raises: directory_required. Source: Contract D23.
    """
    if is_home:
        require_home_visits(tenant=tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY)
    else:
        require_service_centers(tenant=tenant, lab_slugs=[provider])


def require_service_centers(*, tenant: Tenant, lab_slugs: Iterable[str]) -> None:
    """Refuse what needs a directory of service centers where none was imported.

    Raises: directory_required. Source: Contract D23.
    """
    if tenant.is_sandbox or has_service_centers(tenant=tenant, lab_slugs=lab_slugs):
        return
    raise DomainError(
        "directory_required",
        _("No service centers are imported for production. Ask the operator to."),
    )
