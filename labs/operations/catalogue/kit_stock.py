"""Change the stock of a team's kits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.models import KitStock, LabTest, OrderEvent
from labs.states.catalogue import CollectionMethod
from labs.states.orders import ORDER_STATUSES, split_order_status
from portal.lib.errors import DomainError, NotFound
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order
    from portal.lib.actor import Actor

KITS_MAX = 1_000_000
# The statuses of a kit that has left. A kit may skip the first of them: results of a
# lab prove that it was sent.
_LEFT = ("collecting_sample", "sample_with_lab", "completed")
SENT = frozenset(
    status
    for status in ORDER_STATUSES
    if (parts := split_order_status(status)).method == CollectionMethod.TESTKIT
    and parts.top in _LEFT
)


@dataclass(frozen=True, slots=True)
class KitStockChange:
    """A panel's new stock; `seen` is the count it replaces, None for no count."""

    lab_test_id: UUID
    count: int
    warn_below: int
    seen: int | None


@transaction.atomic
def set_kit_stock(
    *, tenant: Tenant, actor: Actor, changes: Sequence[KitStockChange]
) -> None:
    """Set the stock of kit panels: all of them, or none.

    Raises: lab_test_not_found (404); not_a_kit; kit_stock_invalid; kit_stock_changed,
    where a kit was sent, or another count entered, since the count was shown. Source:
    Ours.
    """
    for change in changes:
        _set_panel_stock(tenant, actor, change)


def _set_panel_stock(tenant: Tenant, actor: Actor, change: KitStockChange) -> None:
    # The panel is locked, as there may be no stock to lock.
    panels = LabTest.objects.for_tenant(tenant).select_for_update()
    panel = panels.filter(pk=change.lab_test_id).first()
    if panel is None:
        raise NotFound("lab_test_not_found", _("Lab test not found."), "lab_test_id")
    if panel.method != CollectionMethod.TESTKIT:
        raise DomainError(
            "not_a_kit", _("This test can't be collected with a kit."), "lab_test_id"
        )
    if not (0 <= change.count <= KITS_MAX and 0 <= change.warn_below <= KITS_MAX):
        raise DomainError(
            "kit_stock_invalid",
            _("Enter a number of kits from 0 to %(most)s.")
            % {"most": format_number(KITS_MAX)},
            "count",
        )
    stocks = KitStock.objects.for_tenant(tenant)
    stock = stocks.select_for_update().filter(lab_test=panel).first()
    present = stock.count if stock else None
    if present != change.seen:
        raise DomainError(
            "kit_stock_changed",
            _("The stock of %(panel)s has changed meanwhile. Check the new count.")
            % {"panel": panel.name},
            "count",
        )
    before = (stock.count, stock.warn_below) if stock else (None, None)
    if before == (change.count, change.warn_below):
        return
    stocks.update_or_create(
        tenant=tenant,
        lab_test=panel,
        defaults={
            "count": change.count,
            "warn_below": change.warn_below,
            "updated_at": timezone.now(),
        },
    )
    record_change(
        tenant=tenant,
        actor=actor,
        verb="set_kit_stock",
        subject="lab_test",
        subject_id=panel.pk,
        changes={
            "count": [before[0], change.count],
            "warn_below": [before[1], change.warn_below],
        },
    )


def take_sent_kit_from_stock(order: Order) -> None:
    """Lower a panel's stock by one at the first status of an order whose kit was sent.

    Call it in the transaction that stored the status and its event. Source: Ours.
    """
    if order.status not in SENT:
        return
    events = OrderEvent.objects.for_tenant(order.tenant).filter(order=order)
    if events.filter(status__in=SENT).count() == 1:
        KitStock.objects.for_tenant(order.tenant).filter(
            lab_test_id=order.lab_test_id, count__gt=0
        ).update(count=F("count") - 1, updated_at=timezone.now())
