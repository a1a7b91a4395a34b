"""What production still lacks, per lab; a sandbox lacks nothing.

Source: Contract D23. The refusals are in labs.operations.production.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

from labs.models import LabAccount, ServiceCenter
from labs.queries.catalogue import list_labs
from labs.queries.physicians import practising_physicians
from labs.states.accounts import AccountGateway, DelegatedFlow, LabAccountStatus
from labs.states.catalogue import CollectionMethod
from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accounts.models import Tenant
    from labs.models import Lab


class SetUpGap(OpenChoices):
    """What nobody set up; the value is the code that refuses an order for it."""

    LAB_GATEWAY = "lab_gateway_required", gettext_lazy("Lab gateway")
    LAB_ACCOUNT = "lab_account_required", gettext_lazy("Active lab account")
    PHYSICIAN = "physician_required", gettext_lazy("Ordering physician")
    DIRECTORY = "directory_required", gettext_lazy("Service centers")


@dataclass(frozen=True, slots=True)
class LabSetUp:
    """A lab of the tenant's environment and what it lacks, in the order refused."""

    lab: Lab
    gaps: tuple[SetUpGap, ...]


def list_production_gaps(*, tenant: Tenant) -> list[LabSetUp]:
    """List each lab of the tenant's environment with what it lacks; three queries.

    A gateway is the same for all labs but those by document. A physician is lacking
    where an active account leaves ordering to the platform's physicians and none of the
    team's approves orders: each order must then name one. A
    directory is lacking for visits to service centers, which orders don't need. No lab
    at all means that none was imported. In a sandbox nothing is lacking.
    """
    labs = list_labs(tenant=tenant)
    if tenant.is_sandbox:
        return [LabSetUp(lab, ()) for lab in labs]
    has_approvers = (
        tenant.order_approval_enabled and practising_physicians(tenant).exists()
    )
    active = LabAccount.objects.linked_to(tenant).filter(status=LabAccountStatus.ACTIVE)
    flows: dict[int, set[str]] = {}
    by_document: set[int] = set()
    for lab_id, flow, gateway in active.values_list(
        "lab_id", "delegated_flow", "gateway"
    ):
        flows.setdefault(lab_id, set()).add(flow)
        if gateway == AccountGateway.REPORTS:
            by_document.add(lab_id)
    centers = ServiceCenter.objects.filter(is_active=True, lab__in=labs)
    listed = set(centers.values_list("lab_id", flat=True).distinct())
    return [
        LabSetUp(
            lab,
            tuple(
                gap
                for gap, is_open in (
                    (
                        SetUpGap.LAB_GATEWAY,
                        not settings.LAB_GATEWAY and lab.pk not in by_document,
                    ),
                    (SetUpGap.LAB_ACCOUNT, lab.pk not in flows),
                    (
                        SetUpGap.PHYSICIAN,
                        not has_approvers and _needs_platform_physician(flows, lab),
                    ),
                    (SetUpGap.DIRECTORY, _is_walk_in(lab) and lab.pk not in listed),
                )
                if is_open
            ),
        )
        for lab in labs
    ]


def has_accounts_by_document(*, tenant: Tenant) -> bool:
    """Return whether a production tenant has an active account of a lab by document.

    Of no interest in a sandbox, and where the installation has a gateway.
    """
    if tenant.is_sandbox or settings.LAB_GATEWAY:
        return False
    accounts = LabAccount.objects.linked_to(tenant).filter(
        gateway=AccountGateway.REPORTS, status=LabAccountStatus.ACTIVE
    )
    return bool(accounts.exists())


def has_service_centers(*, tenant: Tenant, lab_slugs: Iterable[str]) -> bool:
    """Return whether any of these labs has an active center in the environment."""
    centers = ServiceCenter.objects.filter(
        is_active=True,
        lab__in=list_labs(tenant=tenant).filter(slug__in=list(lab_slugs)),
    )
    return centers.exists()


def offers_home_visits(tenant: Tenant) -> bool:
    """Return whether a provider of at-home visits is set up: the sandbox has one.

    Source: Ours: production has no such provider yet.
    """
    return bool(tenant.is_sandbox)


def _needs_platform_physician(flows: dict[int, set[str]], lab: Lab) -> bool:
    known = (DelegatedFlow.known(flow) for flow in flows.get(lab.pk, ()))
    return any(flow is None or not flow.needs_physician for flow in known)


def _is_walk_in(lab: Lab) -> bool:
    return CollectionMethod.WALK_IN_TEST in lab.collection_methods
