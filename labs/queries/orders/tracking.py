"""Track an order: when its sample was collected, and when its results are due.

Everything follows from what was reported; what nobody reported is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from django.db.models import prefetch_related_objects

from labs.models import Appointment, MissingResult, Result
from labs.queries.results.results import find_current_result_version
from labs.states.appointments import AppointmentStatus
from labs.states.order_queues import is_order_closed_without_results
from labs.states.orders import split_order_status
from labs.states.tracking import InferredFrom, MarkerProgress, UpdateSource
from labs.states.turnaround import is_sample_drawn_or_at_lab

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labs.models import ExpectedResult, Marker, Order, OrderEvent, ResultVersion

_Row = TypeVar("_Row", Result, MissingResult)


@dataclass(frozen=True, slots=True)
class Estimate:
    """When results are due: as first known, and now; None if unknown or given up."""

    original: datetime | None = None
    current: datetime | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """When a sample was collected; `inferred_from` is None if somebody reported it."""

    at: datetime
    inferred_from: InferredFrom | None = None


@dataclass(frozen=True, slots=True)
class TrackedMarker:
    """A marker of an order: how far its results are, and those there are."""

    marker: Marker
    status: MarkerProgress
    estimate: Estimate
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class EstimateUpdate:
    """A change of estimates, with its reason, its source and the affected markers."""

    at: datetime
    reason: str
    source: UpdateSource
    markers: tuple[TrackedMarker, ...]


@dataclass(frozen=True, slots=True)
class OrderTracking:
    """The tracking of an order."""

    order: Order
    final: Estimate
    collection: Collection | None
    markers: tuple[TrackedMarker, ...]
    updates: tuple[EstimateUpdate, ...]

    @property
    def state(self) -> tuple[object, ...]:
        """Return what an event is sent about: collection and estimates."""
        return (
            self.collection,
            self.final,
            *((one.marker.pk, one.estimate) for one in self.markers),
        )


def get_order_tracking(*, order: Order) -> OrderTracking:
    """Return the tracking of an order loaded by orders_with_details.

    An estimate counts from the first step that shows the sample drawn or at the lab, by
    the days of the lab's markers. It is given up where the order ends without results.
    Source: Contract 6.2, 6.20.
    """
    events = list(order.events.all())
    version = find_current_result_version(order=order)
    start = next(
        (_moment(one) for one in events if is_sample_drawn_or_at_lab(one.status)), None
    )
    is_over = is_order_closed_without_results(order.status)
    prefetch_related_objects(order.placed.markers, "expected_results")
    markers = tuple(
        _track_marker(marker, version, start, is_over=is_over)
        for marker in order.placed.markers
    )
    originals = [one.estimate.original for one in markers]
    latest = max((one for one in originals if one), default=None)
    return OrderTracking(
        order=order,
        final=Estimate(latest, None if is_over else latest),
        collection=_find_collection(order, events, version),
        markers=markers,
        updates=_list_updates(events, markers) if is_over and latest else (),
    )


def _track_marker(
    marker: Marker,
    version: ResultVersion | None,
    start: datetime | None,
    *,
    is_over: bool,
) -> TrackedMarker:
    rows = _rows_of_marker(version.results.all() if version else (), marker)
    gaps = _rows_of_marker(version.missing_results.all() if version else (), marker)
    days = marker.common_tat_days
    due = None if start is None or days is None else start + timedelta(days=days)
    status = MarkerProgress.RESULTED
    if not (rows or gaps):
        status = MarkerProgress.PENDING
    elif gaps or _lacks_results(marker, rows):
        status = MarkerProgress.INCOMPLETE
    return TrackedMarker(
        marker, status, Estimate(due, None if is_over else due), tuple(rows)
    )


def _rows_of_marker(rows: Iterable[_Row], marker: Marker) -> list[_Row]:
    return [
        row
        for row in rows
        if any(source["marker_id"] == marker.pk for source in row.source_markers)
    ]


def _lacks_results(marker: Marker, rows: Sequence[Result]) -> bool:
    """Return whether results of a marker are preliminary or still to come.

    Not where the lab reports by codes that the catalog does not know.
    """
    if any(row.is_preliminary for row in rows):
        return True
    if any(row.expected_result_id is None for row in rows):
        return False
    reported = {row.expected_result_id for row in rows}
    expected: list[ExpectedResult] = list(marker.expected_results.all())
    return any(one.required and one.pk not in reported for one in expected)


def _find_collection(
    order: Order, events: Sequence[OrderEvent], version: ResultVersion | None
) -> Collection | None:
    """Return when the sample was collected: as reported, else as the nearest step says.

    A step that results took proves that it was, not when.
    """
    if version and version.collected_at:
        return Collection(version.collected_at)
    first = order.result_versions.order_by("number").first() if version else None
    seen = {
        split_order_status(one.status).low: _moment(one)
        for one in reversed(events)
        if first is None or one.created_at < first.created_at
    }
    if drawn := seen.get("draw_completed"):
        return Collection(drawn)
    visits = Appointment.objects.for_tenant(order.tenant).filter(
        order=order, status=AppointmentStatus.COMPLETED, start_at__isnull=False
    )
    visit = visits.order_by("-start_at").first()
    inferred = (
        (InferredFrom.SCHEDULED_APPOINTMENT, visit.start_at if visit else None),
        (InferredFrom.DISPATCH_DATE, seen.get("transit_lab")),
        (InferredFrom.LAB_ARRIVAL, seen.get("delivered_to_lab")),
        (InferredFrom.LAB_ACCESSIONING, version.received_at if version else None),
    )
    return next((Collection(at, source) for source, at in inferred if at), None)


def _list_updates(
    events: Sequence[OrderEvent], markers: Sequence[TrackedMarker]
) -> tuple[EstimateUpdate, ...]:
    """List the changes of estimates: they are given up with the order, nothing else."""
    last = events[-1]
    low = split_order_status(last.status).low
    source = UpdateSource.LAB if low == "sample_error" else UpdateSource.PLATFORM
    affected = tuple(one for one in markers if one.estimate.original)
    return (EstimateUpdate(_moment(last), last.status_detail or low, source, affected),)


def _moment(event: OrderEvent) -> datetime:
    return event.occurred_at or event.created_at
