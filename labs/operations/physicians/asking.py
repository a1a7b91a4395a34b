"""Check that a physician can approve an order, and ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from labs.models import OrderApproval
from labs.operations.physicians.profiles import build_npi_refusal
from labs.operations.production import require_delegated_physician, require_physician
from labs.queries.physicians import practising_physicians
from labs.states.physicians import is_npi
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.models import Tenant
    from labs.models import LabAccount, Order


def require_ordering_physician(
    *,
    tenant: Tenant,
    account: LabAccount | None,
    physician: Mapping[str, Any] | None,
    state: str,
) -> None:
    """Refuse an order that no physician orders or can approve.

    In production a named physician's NPI has its check digit; the sandbox takes made-up
    ones, as clients' examples have. Where the team's physicians approve, one of them
    with a license in the patient's `state` must be there, and be the named one if one
    is named. Raises:
    npi_invalid; physician_missing; physician_not_registered, physician_not_licensed;
    physician_required. Source: Contract 6.4, D23; Ours: the team's own physicians.
    """
    if physician is not None and not (tenant.is_sandbox or is_npi(physician["npi"])):
        raise build_npi_refusal("physician")
    if not tenant.order_approval_enabled:
        require_physician(tenant=tenant, account=account, physician=physician)
        return
    require_delegated_physician(account=account, physician=physician)
    practising = practising_physicians(tenant)
    if physician is not None:
        practising = practising.filter(npi=physician["npi"])
        if not practising.exists():
            raise DomainError(
                "physician_not_registered",
                _("Name one of your team's physicians: orders need their approval."),
                "physician",
            )
    if practising.filter(licensed_states__contains=[state.upper()]).exists():
        return
    if physician is not None:
        raise DomainError(
            "physician_not_licensed",
            _("This physician has no license in %(state)s.") % {"state": state.upper()},
            "physician",
        )
    raise DomainError(
        "physician_required",
        _("None of your team's physicians has a license in %(state)s.")
        % {"state": state.upper()},
        "physician",
    )


def request_approval(order: Order) -> None:
    """Let a new order wait for approval, where the team's physicians approve.

    In the caller's transaction, before the requisition is enqueued. A signature that
    came with the order is dropped: only the physician's own is printed.
    """
    if not order.tenant.order_approval_enabled:
        return
    asked = None
    if order.physician is not None:
        asked = (
            practising_physicians(order.tenant)
            .filter(npi=order.physician["npi"])
            .first()
        )
        order.physician.pop("signature_image", None)
        order.save(update_fields=["physician"])
    OrderApproval(tenant=order.tenant, order=order, asked=asked).save(force_insert=True)
