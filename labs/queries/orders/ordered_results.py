"""What the results of an order should hold, for reports that are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import prefetch_related_objects

if TYPE_CHECKING:
    from labs.models import ExpectedResult, Marker, Order


@dataclass(frozen=True, slots=True)
class OrderedResult:
    """A result that an ordered marker reports, or a marker whose results are unknown.

    `key` names it across requests.
    """

    marker: Marker
    expected: ExpectedResult | None

    @property
    def key(self) -> str:
        """Return the marker's and the result's numbers in the catalogue."""
        result = self.expected.pk if self.expected else ""
        return f"{self.marker.pk}:{result}"

    @property
    def name(self) -> str:
        """Return the name of the result."""
        return self.expected.name if self.expected else self.marker.name

    @property
    def loinc(self) -> str:
        """Return its LOINC code, empty where the catalogue has none."""
        return self.expected.loinc_code if self.expected else ""

    @property
    def unit(self) -> str:
        """Return its unit, empty where the catalogue has none."""
        return (self.expected.unit if self.expected else "") or self.marker.unit

    @property
    def provider_id(self) -> str:
        """Return the lab's code of it."""
        found = self.expected.provider_id if self.expected else ""
        return found or self.marker.provider_id

    @property
    def is_required(self) -> bool:
        """Return whether the order's results are not final without it."""
        return self.expected is None or self.expected.required


def list_ordered_results(order: Order) -> list[OrderedResult]:
    """List what an order's markers report, by marker; one query beside the order's."""
    markers = order.placed.markers
    prefetch_related_objects(markers, "expected_results")
    return [
        OrderedResult(marker, expected)
        for marker in markers
        for expected in (*marker.expected_results.all(),) or (None,)
    ]
