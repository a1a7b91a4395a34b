"""Read the stock of a team's kits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.models import KitStock, LabTest
from labs.states.catalogue import CollectionMethod

if TYPE_CHECKING:
    from accounts.models import Tenant


@dataclass(frozen=True, slots=True)
class KitLevel:
    """A kit panel that can be ordered and its stock, None if it was never entered."""

    panel: LabTest
    stock: KitStock | None

    @property
    def is_low(self) -> bool:
        """Return whether none is left, or fewer than the team wants."""
        return self.stock is not None and (
            self.stock.count == 0 or self.stock.count < self.stock.warn_below
        )


def list_kit_levels(tenant: Tenant) -> list[KitLevel]:
    """List the kit panels that can be ordered with their stock, by name."""
    panels = (
        LabTest.objects.for_tenant(tenant)
        .orderable()
        .filter(method=CollectionMethod.TESTKIT)
        .select_related("lab")
        .order_by("name", "pk")
    )
    stocks = {
        stock.lab_test_id: stock
        for stock in KitStock.objects.for_tenant(tenant).filter(lab_test__in=panels)
    }
    return [KitLevel(panel, stocks.get(panel.pk)) for panel in panels]
