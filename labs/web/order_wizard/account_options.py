"""The lab accounts that an order may be placed on, and why each is open or closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from labs.operations.account_choice import ResolvedAccount
from labs.states.accounts import AccountReason, LabAccountStatus
from labs.web.order_rows import format_lab_account_name
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.models import Lab, LabAccount
    from labs.operations.account_choice import LabAccountOptions

# Why an account accepts no new orders.
_CLOSED_REASONS = {
    LabAccountStatus.PENDING: gettext_lazy("Pending: accepts imports, not new orders."),
    LabAccountStatus.READY_TO_LAUNCH: gettext_lazy(
        "Not launched yet: accepts imports, not new orders."
    ),
    LabAccountStatus.SUSPENDED: gettext_lazy("Suspended: accepts no orders."),
}


@dataclass(frozen=True, slots=True)
class LabAccountOption:
    """A lab or lab account to choose, or the reason why it is closed.

    `name` is the account's, empty for the platform's own.
    """

    value: str
    lab: Lab
    name: str
    why: str
    is_open: bool
    is_chosen: bool


def list_lab_account_options(
    labs: Sequence[LabAccountOptions], lab: Lab | None, resolved: ResolvedAccount | None
) -> list[LabAccountOption]:
    """List the accounts of the order's lab with the reason each is open or closed.

    The lab's own option leaves the choice to the rules of contract 6.4; its accounts
    are options of their own where the rules do not choose them. The team's accounts
    come first, and the account that the order has is chosen.
    """
    options = []
    for choice in labs:
        if choice.lab != lab:
            continue
        picked = choice.resolved.account if choice.resolved else None
        if choice.resolved is not None:
            value = f"lab:{choice.lab.pk}"
            name = format_lab_account_name(picked) if picked else ""
            why = f"{choice.resolved.reason.label}."
            is_chosen = resolved == choice.resolved
            options.append(
                LabAccountOption(value, choice.lab, name, why, True, is_chosen)
            )
        options += [
            _build_account_option(choice, account, resolved)
            for account in choice.accounts
            if account != picked
        ]
        if choice.refusal is not None and not choice.accounts:
            why = choice.refusal.message
            options.append(LabAccountOption("", choice.lab, "", why, False, False))
    options.sort(key=lambda option: (not option.is_open, not option.name))
    return options


def describe_lab_account_choice(resolved: ResolvedAccount | None) -> str:
    """Describe the order's lab account and why it was chosen."""
    if resolved is None:
        return ""
    own = resolved.account
    reason = f"{resolved.reason.label}."
    return f"{format_lab_account_name(own)}. {reason}" if own else reason


def is_lab_open(choice: LabAccountOptions) -> bool:
    """Return whether an order can go to a lab: by its default, or an account."""
    return choice.resolved is not None or any(
        not _explain_closed_account(account) for account in choice.accounts
    )


def find_lab_account(
    choice: LabAccountOptions | None, place: str
) -> ResolvedAccount | None:
    """Return the account of a choice, else what the rules choose, else the only one."""
    if choice is None:
        return None
    open_accounts = [
        account for account in choice.accounts if not _explain_closed_account(account)
    ]
    for account in choice.accounts:
        if place == f"account:{account.pk}":
            is_open = account in open_accounts
            return ResolvedAccount(account, AccountReason.GIVEN) if is_open else None
    return choice.resolved


def _build_account_option(
    choice: LabAccountOptions,
    account: LabAccount,
    resolved: ResolvedAccount | None,
) -> LabAccountOption:
    value = f"account:{account.pk}"
    chosen = resolved and resolved.account
    closed = _explain_closed_account(account)
    actives = sum(not _explain_closed_account(one) for one in choice.accounts)
    why = closed or ngettext(
        "%(count)d active account at this lab: choose it to use it.",
        "One of %(count)d active accounts at this lab.",
        actives,
    ) % {"count": actives}
    return LabAccountOption(
        value,
        choice.lab,
        format_lab_account_name(account),
        why,
        not closed,
        account == chosen,
    )


def _explain_closed_account(account: LabAccount) -> str:
    status = LabAccountStatus.known(account.status)
    if status is not None and status.takes_orders:
        return ""
    if status is None:
        return _("Unknown status.")
    return _CLOSED_REASONS.get(status) or _("Accepts no orders.")
