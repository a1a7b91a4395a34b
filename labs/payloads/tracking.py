"""Wire shapes of an order's tracking (contract 6.20)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from labs.states.tracking import InferredFrom, MarkerProgress, UpdateSource

if TYPE_CHECKING:
    from labs.queries.orders.tracking import (
        Collection,
        Estimate,
        EstimateUpdate,
        OrderTracking,
        TrackedMarker,
    )


class EstimateAnswer(TypedDict):
    """When results are due: as first known, and now; null if unknown or given up."""

    original_estimate: datetime | None
    current_estimate: datetime | None


class ExpectedAnswer(TypedDict):
    """When all results of an order are due."""

    final_results: EstimateAnswer


class CollectionAnswer(TypedDict):
    """When the sample was collected, and what that is inferred from."""

    collected_at: datetime
    is_inferred: bool
    inferred_from: Annotated[str, InferredFrom] | None


class TrackedResultAnswer(TypedDict):
    """A result of a marker."""

    id: int | None
    name: str
    slug: str
    provider_id: str | None


class TrackedMarkerAnswer(TypedDict):
    """A marker of an order and how far its results are."""

    id: int
    name: str
    slug: str
    provider_id: str | None
    status: Annotated[str, MarkerProgress]
    expected_at: EstimateAnswer
    results: list[TrackedResultAnswer]


class ImpactedMarkerAnswer(TypedDict):
    """A marker whose estimate changed."""

    id: int
    name: str
    provider_id: str | None
    estimates: EstimateAnswer


class EstimateUpdateAnswer(TypedDict):
    """A change of estimates."""

    created_at: datetime
    reason: str | None
    revised_estimate: datetime | None
    impacted_markers: list[ImpactedMarkerAnswer]
    source: Annotated[str, UpdateSource]


class TrackingAnswer(TypedDict):
    """The tracking of an order."""

    order_id: UUID
    expected_at: ExpectedAnswer
    collected_at: CollectionAnswer | None
    markers: list[TrackedMarkerAnswer]
    updates: list[EstimateUpdateAnswer]


_ESTIMATE: dict[str, Any] = {
    "type": "object",
    "required": sorted(EstimateAnswer.__required_keys__),
    "properties": {
        "original_estimate": {"type": ["string", "null"], "format": "date-time"},
        "current_estimate": {"type": ["string", "null"], "format": "date-time"},
    },
}
# Data of labtest.order_tracking.updated (contract 8.2).
TRACKING_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": sorted(TrackingAnswer.__required_keys__),
    "properties": {
        "order_id": {"type": "string", "format": "uuid"},
        "expected_at": {
            "type": "object",
            "required": ["final_results"],
            "properties": {"final_results": _ESTIMATE},
        },
        "collected_at": {
            "type": ["object", "null"],
            "required": sorted(CollectionAnswer.__required_keys__),
            "properties": {
                "collected_at": {"type": "string", "format": "date-time"},
                "is_inferred": {"type": "boolean"},
                "inferred_from": {"enum": [*InferredFrom.values, None]},
            },
        },
        "markers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": sorted(TrackedMarkerAnswer.__required_keys__),
                "properties": {
                    "id": {"type": "integer"},
                    "status": {"enum": MarkerProgress.values},
                    "expected_at": _ESTIMATE,
                },
            },
        },
        "updates": {
            "type": "array",
            "items": {
                "type": "object",
                "required": sorted(EstimateUpdateAnswer.__required_keys__),
                "properties": {
                    "created_at": {"type": "string", "format": "date-time"},
                    "source": {"enum": UpdateSource.values},
                },
            },
        },
    },
}


def build_order_tracking(tracking: OrderTracking) -> TrackingAnswer:
    """Build the tracking of an order."""
    return {
        "order_id": tracking.order.pk,
        "expected_at": {"final_results": _build_estimate(tracking.final)},
        "collected_at": _build_collection(tracking.collection),
        "markers": [_build_marker(one) for one in tracking.markers],
        "updates": [_build_update(one) for one in tracking.updates],
    }


def _build_estimate(estimate: Estimate) -> EstimateAnswer:
    return {
        "original_estimate": estimate.original,
        "current_estimate": estimate.current,
    }


def _build_collection(collection: Collection | None) -> CollectionAnswer | None:
    if collection is None:
        return None
    return {
        "collected_at": collection.at,
        "is_inferred": collection.inferred_from is not None,
        "inferred_from": collection.inferred_from,
    }


def _build_marker(tracked: TrackedMarker) -> TrackedMarkerAnswer:
    marker = tracked.marker
    return {
        "id": marker.pk,
        "name": marker.name,
        "slug": marker.slug,
        "provider_id": marker.provider_id or None,
        "status": tracked.status,
        "expected_at": _build_estimate(tracked.estimate),
        "results": [
            {
                "id": row.expected_result_id,
                "name": row.name,
                "slug": row.slug,
                "provider_id": row.provider_id or None,
            }
            for row in tracked.results
        ],
    }


def _build_update(update: EstimateUpdate) -> EstimateUpdateAnswer:
    return {
        "created_at": update.at,
        "reason": update.reason or None,
        "revised_estimate": None,
        "impacted_markers": [
            {
                "id": one.marker.pk,
                "name": one.marker.name,
                "provider_id": one.marker.provider_id or None,
                "estimates": _build_estimate(one.estimate),
            }
            for one in update.markers
        ],
        "source": update.source,
    }
