"""Words for the samples of an order, as its documents print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.states.catalogue import SPECIMENS, Container, SampleType

if TYPE_CHECKING:
    from labs.models import Marker, Order

_MIXED = "Blood"


def describe_marker_tube(marker: Marker) -> str:
    """Return a marker's tube, or its sample where it has none."""
    container = Container.known(marker.container)
    return str(container.label) if container else _describe_kind(marker.sample_type)


def describe_order_tubes(order: Order) -> str:
    """Return the tubes of an order, each once, or its sample where it has none."""
    containers = {marker.container for marker in order.placed.markers}
    tubes = [str(each.label) for each in Container if each.value in containers]
    return "; ".join(tubes) or _describe_kind(order.lab_test.sample_type)


def describe_order_specimen(order: Order) -> str:
    """Return what an order's labels say: its sample; of different tubes, blood."""
    found = {
        SPECIMENS[container][1]
        for marker in order.placed.markers
        if (container := Container.known(marker.container))
    }
    if not found:
        return _describe_kind(order.lab_test.sample_type)
    return found.pop() if len(found) == 1 else _MIXED


def _describe_kind(sample_type: str) -> str:
    kind = SampleType.known(sample_type)
    return str(kind.label) if kind else sample_type
