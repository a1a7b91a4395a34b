"""Choose the lab account of an order, and what it may be billed by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import LabAccount
from labs.operations.production import require_platform_account_allowed
from labs.queries.catalogue import list_labs
from labs.states.accounts import AccountReason, LabAccountStatus
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Lab


@dataclass(frozen=True, slots=True)
class ResolvedAccount:
    """The account of an order (None: the platform's), and why it was chosen."""

    account: LabAccount | None
    reason: AccountReason


@dataclass(frozen=True, slots=True)
class LabAccountOptions:
    """A lab with the tenant's accounts and the one an order gets by default.

    `resolved` is None where such an order is refused, by `refusal`.
    """

    lab: Lab
    accounts: tuple[LabAccount, ...]
    resolved: ResolvedAccount | None
    refusal: DomainError | None = None


def resolve_lab_account(
    *, tenant: Tenant, lab: Lab, account_id: UUID | None = None
) -> ResolvedAccount:
    """Return the account for an order of `lab`: the named or only possible one.

    Raises: lab_account_not_found (404, also for one that is not linked);
    lab_account_of_other_lab, lab_account_not_active, lab_account_ambiguous;
    lab_account_required, in production without an account. Source: Contract 6.4, D23.
    """
    if account_id is not None:
        account = _get_account_to_use(tenant, account_id)
        return _use_named_account(account, lab)
    accounts = _list_accounts_with_lab(tenant, lab)
    return _choose_only_active_account(tenant, lab, accounts)


def resolve_lab_account_of_import(
    *, tenant: Tenant, lab: Lab, account_id: UUID | None = None
) -> ResolvedAccount:
    """Return the account for an imported order, which may still be opening.

    Raises: as resolve_lab_account. Source: Specification 3; contract 6.4, 6.7.
    """
    if account_id is not None:
        account = _get_account_to_use(tenant, account_id)
        _require_of_lab(account, lab)
        if not _accepts_imports(account):
            raise DomainError(
                "lab_account_not_active",
                _("A lab account in status %(status)s does not accept imports.")
                % {"status": account.status},
                "lab_account_id",
            )
        return ResolvedAccount(account, AccountReason.GIVEN)
    accounts = _list_accounts_with_lab(tenant, lab)
    opening = [account for account in accounts if _accepts_imports(account)]
    if not opening or any(
        account.status == LabAccountStatus.ACTIVE for account in opening
    ):
        return _choose_only_active_account(tenant, lab, accounts)
    if len(opening) > 1:
        raise _ambiguous_account_error(lab)
    return ResolvedAccount(opening[0], AccountReason.ONLY_OPENING)


def resolve_other_lab_account(
    *,
    tenant: Tenant,
    lab: Lab,
    wrong: LabAccount | None,
    account_id: UUID | None = None,
) -> ResolvedAccount:
    """Return the account for an order recreated for its wrong lab: never `wrong`.

    Raises: as resolve_lab_account; lab_account_incorrect. Source: Contract 6.14.
    """
    if account_id is not None:
        account = _get_account_to_use(tenant, account_id)
        if account == wrong:
            raise DomainError(
                "lab_account_incorrect",
                _("Choose another account: the original order used this one."),
                "lab_account_id",
            )
        return _use_named_account(account, lab)
    accounts = _list_accounts_with_lab(tenant, lab)
    others = [account for account in accounts if account != wrong]
    found = _choose_only_active_account(tenant, lab, others)
    if len(others) == len(accounts):
        return found
    if found.account is None:
        return ResolvedAccount(None, AccountReason.PLATFORM_INSTEAD)
    return ResolvedAccount(found.account, AccountReason.OTHER_ACTIVE)


def list_lab_account_options_by_lab(*, tenant: Tenant) -> list[LabAccountOptions]:
    """List each lab with the accounts an order could use; two queries.

    Labs with accounts of the tenant come first, then by name. Source: Contract 6.4.
    """
    linked: dict[int, list[LabAccount]] = {}
    rows = LabAccount.objects.linked_to(tenant).order_by("created_at", "pk")
    for account in rows:
        linked.setdefault(account.lab_id, []).append(account)
    choices = [
        _account_options(tenant, lab, linked.get(lab.pk, []))
        for lab in list_labs(tenant=tenant)
    ]
    return sorted(choices, key=lambda choice: not choice.accounts)


def _account_options(
    tenant: Tenant, lab: Lab, accounts: list[LabAccount]
) -> LabAccountOptions:
    try:
        resolved = _choose_only_active_account(tenant, lab, accounts)
    except DomainError as refusal:
        return LabAccountOptions(lab, tuple(accounts), None, refusal)
    return LabAccountOptions(lab, tuple(accounts), resolved)


def require_billing_type_allowed(
    *, account: LabAccount | None, billing_type: str, state: str
) -> None:
    """Refuse a billing type the account does not allow. Raises: billing_not_allowed.

    The platform's own account bills in every state. Source: Contract 6.4, 6.6.
    """
    if account is None:
        return
    states = account.allowed_billing.get(billing_type)
    if states is None or state.upper() not in states:
        message = (
            _("The lab account does not allow %(billing)s in any state.")
            if states is None
            else _("The lab account does not allow %(billing)s in %(state)s.")
        )
        raise DomainError(
            "billing_not_allowed",
            message % {"billing": billing_type, "state": state.upper()},
            "billing_type",
        )


def _get_account_to_use(tenant: Tenant, account_id: UUID) -> LabAccount:
    account: LabAccount | None = (
        LabAccount.objects.linked_to(tenant).filter(pk=account_id).first()
    )
    if account is None:
        raise NotFound(
            "lab_account_not_found", _("Lab account not found."), "lab_account_id"
        )
    return account


def _list_accounts_with_lab(tenant: Tenant, lab: Lab) -> list[LabAccount]:
    linked = LabAccount.objects.linked_to(tenant)
    return list(linked.filter(lab=lab).order_by("created_at", "pk"))


def _use_named_account(account: LabAccount, lab: Lab) -> ResolvedAccount:
    _require_of_lab(account, lab)
    status = LabAccountStatus.known(account.status)
    if status is None or not status.takes_orders:
        raise DomainError(
            "lab_account_not_active",
            _("A lab account in status %(status)s does not accept orders.")
            % {"status": account.status},
            "lab_account_id",
        )
    return ResolvedAccount(account, AccountReason.GIVEN)


def _choose_only_active_account(
    tenant: Tenant, lab: Lab, accounts: Sequence[LabAccount]
) -> ResolvedAccount:
    """Return the only active one of a lab's accounts; for none the sandbox's own."""
    if not accounts:
        require_platform_account_allowed(tenant=tenant, lab=lab)
        return ResolvedAccount(None, AccountReason.PLATFORM)
    active = [a for a in accounts if a.status == LabAccountStatus.ACTIVE]
    if not active:
        raise DomainError(
            "lab_account_not_active",
            _("No lab account with %(lab)s is active.") % {"lab": lab.name},
            "lab_account_id",
        )
    if len(active) > 1:
        raise _ambiguous_account_error(lab)
    return ResolvedAccount(active[0], AccountReason.ONLY_ACTIVE)


def _require_of_lab(account: LabAccount, lab: Lab) -> None:
    if account.lab_id != lab.pk:
        raise DomainError(
            "lab_account_of_other_lab",
            _("This account is not with %(lab)s.") % {"lab": lab.name},
            "lab_account_id",
        )


def _accepts_imports(account: LabAccount) -> bool:
    status = LabAccountStatus.known(account.status)
    return status is not None and status.takes_imports


def _ambiguous_account_error(lab: Lab) -> DomainError:
    return DomainError(
        "lab_account_ambiguous",
        _("Choose a lab account: several accounts with %(lab)s are active.")
        % {"lab": lab.name},
        "lab_account_id",
    )
