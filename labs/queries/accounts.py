"""Reads of lab accounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils.translation import gettext as _

from labs.models import LabAccount, LabAccountTeam
from labs.states.accounts import Billing
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant


@dataclass(frozen=True, slots=True)
class AccountFilters:
    """Filters of a list of lab accounts; empty values filter nothing.

    `text` is part of the name or number. In `state` somebody may be billed.
    """

    text: str = ""
    status: str = ""
    lab_slug: str = ""
    state: str = ""


def get_linked_lab_account(*, tenant: Tenant, account_id: UUID) -> LabAccount:
    """Return a lab account the tenant may use, its lab loaded.

    Raises: lab_account_not_found (404), also for one that is not linked.
    """
    rows = LabAccount.objects.linked_to(tenant).select_related("lab")
    found = rows.filter(pk=account_id).first()
    if found is None:
        raise NotFound(
            "lab_account_not_found", _("Lab account not found."), "lab_account_id"
        )
    return found


def list_linked_lab_accounts(
    *, tenant: Tenant, account_id: UUID | None = None, status: str = ""
) -> list[LabAccount]:
    """List lab accounts the tenant may use, their lab and links loaded."""
    rows = LabAccount.objects.linked_to(tenant)
    if account_id is not None:
        rows = rows.filter(pk=account_id)
    if status:
        rows = rows.filter(status=status)
    return _prefetch_links(rows)


def list_organisation_lab_accounts(
    *,
    tenant: Tenant,
    account_id: UUID | None = None,
    filters: AccountFilters | None = None,
) -> list[LabAccount]:
    """List the organization's lab accounts, their lab and links loaded."""
    rows = LabAccount.objects.of_organisation(tenant)
    if filters is not None:
        rows = rows.filter(_apply_filters(filters))
    return _prefetch_links(rows.filter(pk=account_id) if account_id else rows)


def list_lab_accounts_of_managed_teams(
    *,
    tenant: Tenant,
    managed_ids: Collection[UUID] | None,
    account_id: UUID | None = None,
    team_id: UUID | None = None,
    status: str = "",
) -> list[LabAccount]:
    """List the lab accounts a management key may read, their lab and links loaded.

    `managed_ids` None: all; else those that one of these teams may use. Source:
    Contract 9.1.
    """
    rows = LabAccount.objects.of_organisation(tenant)
    if managed_ids is not None:
        rows = rows.filter(pk__in=_used_by_teams(managed_ids))
    if account_id is not None:
        rows = rows.filter(pk=account_id)
    if team_id is not None:
        rows = rows.filter(pk__in=_used_by_teams([team_id]))
    if status:
        rows = rows.filter(status=status)
    return _prefetch_links(rows)


def _used_by_teams(team_ids: Collection[UUID]) -> QuerySet[LabAccountTeam, UUID]:
    links = LabAccountTeam.objects.filter(team_id__in=team_ids)
    return links.values_list("account_id", flat=True)


def _apply_filters(filters: AccountFilters) -> Q:
    condition = Q()
    if filters.text:
        condition &= Q(account_name__icontains=filters.text) | Q(
            provider_account_id__icontains=filters.text
        )
    if filters.status:
        condition &= Q(status=filters.status)
    if filters.lab_slug:
        condition &= Q(lab__slug=filters.lab_slug)
    if filters.state:
        billed = Q()
        for kind in Billing:
            billed |= Q(**{f"allowed_billing__{kind}__contains": [filters.state]})
        condition &= billed
    return condition


def _prefetch_links(rows: QuerySet[LabAccount]) -> list[LabAccount]:
    full = rows.select_related("lab").prefetch_related("team_links__team")
    return list(full.order_by("lab__name", "created_at", "pk"))
