"""Wire shapes of labs, markers and panels (contract 6.1 to 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict
from uuid import UUID

from labs.models.catalogue_version import PlacedTest
from labs.states.catalogue import (
    CollectionMethod,
    LabTestStatus,
    MarkerType,
    QuestionType,
    SampleType,
)
from labs.states.turnaround import find_slowest_days

if TYPE_CHECKING:
    from labs.models import Lab, LabTest, Marker, Order


class LabAnswer(TypedDict):
    """A laboratory."""

    id: int
    slug: str
    name: str
    first_line_address: str
    city: str
    zipcode: str
    collection_methods: list[Annotated[str, CollectionMethod]]
    sample_types: list[Annotated[str, SampleType]]
    logo_url: str | None


class QuestionChoice(TypedDict):
    """A choice of an answer; send its `code` with the order."""

    id: int
    code: str
    value: str


class Question(TypedDict):
    """A question asked at order entry."""

    id: int
    required: bool
    code: str
    value: str
    type: Annotated[str, QuestionType]
    sequence: int
    answers: list[QuestionChoice]
    constraint: str | None
    default: str | None


class AoeAnswer(TypedDict):
    """All questions of a marker."""

    questions: list[Question]


class MarkerAnswer(TypedDict):
    """A marker; `price` is a decimal as text."""

    id: int
    name: str
    slug: str
    description: str | None
    lab_id: int | None
    provider_id: str | None
    type: Annotated[str, MarkerType] | None
    unit: str | None
    price: str | None
    aoe: AoeAnswer | None
    a_la_carte_enabled: bool | None
    common_tat_days: int | None
    worst_case_tat_days: int | None
    is_orderable: bool | None


class LabTestAnswer(TypedDict):
    """A lab test (panel); `price` in US dollars."""

    id: UUID
    slug: str
    name: str
    sample_type: Annotated[str, SampleType]
    method: Annotated[str, CollectionMethod]
    price: float
    is_active: bool
    status: Annotated[str, LabTestStatus]
    fasting: bool | None
    lab: LabAnswer | None
    markers: list[MarkerAnswer] | None
    is_delegated: bool | None
    auto_generated: bool | None
    has_collection_instructions: bool | None
    common_tat_days: int | None
    worst_case_tat_days: int | None


def build_lab(lab: Lab) -> LabAnswer:
    """Build a laboratory."""
    return {
        "id": lab.pk,
        "slug": lab.slug,
        "name": lab.name,
        "first_line_address": lab.first_line_address,
        "city": lab.city,
        "zipcode": lab.zipcode,
        "collection_methods": lab.collection_methods,
        "sample_types": lab.sample_types,
        "logo_url": None,
    }


def build_marker(marker: Marker) -> MarkerAnswer:
    """Build a marker."""
    questions: list[Question] = marker.aoe_questions
    return {
        "id": marker.pk,
        "name": marker.name,
        "slug": marker.slug,
        "description": marker.description or None,
        "lab_id": marker.lab_id,
        "provider_id": marker.provider_id,
        "type": marker.type,
        "unit": marker.unit or None,
        "price": None if marker.price is None else f"{marker.price:.2f}",
        "aoe": {"questions": questions} if questions else None,
        "a_la_carte_enabled": marker.a_la_carte_enabled,
        "common_tat_days": marker.common_tat_days,
        "worst_case_tat_days": marker.worst_case_tat_days,
        "is_orderable": marker.is_orderable,
    }


def build_lab_test(panel: LabTest) -> LabTestAnswer:
    """Build a panel with loaded lab and markers; turnaround of its slowest marker."""
    markers = sorted(panel.markers.all(), key=lambda marker: marker.pk)
    return _build_lab_test(
        panel, PlacedTest(tuple(markers), panel.price, panel.fasting)
    )


def build_ordered_lab_test(order: Order) -> LabTestAnswer:
    """Build the panel of an order as the order was placed with it."""
    return _build_lab_test(order.lab_test, order.placed)


def _build_lab_test(panel: LabTest, content: PlacedTest) -> LabTestAnswer:
    markers = content.markers
    return {
        "id": panel.pk,
        "slug": panel.slug,
        "name": panel.name,
        "sample_type": panel.sample_type,
        "method": panel.method,
        "price": float(content.price),
        "is_active": panel.status == LabTestStatus.ACTIVE,
        "status": panel.status,
        "fasting": content.fasting,
        "lab": build_lab(panel.lab),
        "markers": [build_marker(marker) for marker in markers],
        "is_delegated": False,
        "auto_generated": panel.generation == "auto",
        "has_collection_instructions": panel.has_collection_instructions,
        "common_tat_days": find_slowest_days(m.common_tat_days for m in markers),
        "worst_case_tat_days": find_slowest_days(
            m.worst_case_tat_days for m in markers
        ),
    }
