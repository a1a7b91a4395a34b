"""What an order holds so far: prices, fasting, tubes and days to results, as stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.states.catalogue import CollectionMethod, Container

if TYPE_CHECKING:
    from decimal import Decimal

    from labs.web.order_wizard.entry import OrderEntry


@dataclass(frozen=True, slots=True)
class BasketLine:
    """A panel or a single marker; `price` in US dollars, None where none is stored.

    `key` names it in a form, such as "marker:17".
    """

    key: str
    name: str
    markers: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class Basket:
    """The order's tests and what they ask of the patient.

    `total` in US dollars is None where a price is missing, and `priced` how many lines
    have one. `tubes` are those of venous blood, each once; `days` how many working days
    the slowest marker commonly takes, None where one is unknown.
    """

    lines: tuple[BasketLine, ...]
    total: Decimal | None
    priced: int
    fasting: tuple[str, ...]
    tubes: tuple[str, ...]
    days: int | None
    slowest: str
    questions: int


def build_basket(entry: OrderEntry) -> Basket:
    """Add up a draft's tests; nothing is estimated. Source: Ours (order wizard)."""
    lines = (
        *(
            BasketLine(
                f"panel:{panel.pk}",
                panel.name,
                len(panel.markers.all()),
                panel.known_price,
            )
            for panel in entry.panels
        ),
        *(
            BasketLine(f"marker:{one.pk}", one.name, 1, one.price)
            for one in entry.single_markers
        ),
    )
    prices = [line.price for line in lines if line.price is not None]
    markers = entry.markers
    containers = {marker.container for marker in markers}
    takes_blood = entry.method != CollectionMethod.TESTKIT
    known = [(one.common_tat_days, one.name) for one in markers if one.common_tat_days]
    slowest = max(known) if known and len(known) == len(markers) else (None, "")
    return Basket(
        lines=lines,
        total=sum(prices[1:], prices[0])
        if prices and len(prices) == len(lines)
        else None,
        priced=len(prices),
        fasting=tuple(marker.name for marker in markers if marker.fasting),
        tubes=tuple(str(one.label) for one in Container if one.value in containers)
        if takes_blood
        else (),
        days=slowest[0],
        slowest=slowest[1],
        questions=len(entry.question_markers),
    )
