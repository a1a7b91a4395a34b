"""Specimen: a sample that results of an order come from. Source: US Core Specimen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.resources.base import Json, ResourceType, TableSource, list_uuids
from exchange.resources.datatypes import (
    SNOMED,
    US_CORE,
    build_coding,
    build_concept,
    build_meta,
    build_patient_reference,
    build_reference,
    drop_empty,
    hash_id_part,
    write_time,
)
from exchange.resources.matching import Kind, Param
from labs.queries.population import current_samples
from labs.states.catalogue import SampleType
from portal.lib.english import in_english

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from labs.models import Order, SampleData

_PROFILE = f"{US_CORE}specimen"
# SNOMED CT's specimens; an arm collector is a device, and no kind of sample there.
_TYPES = {
    SampleType.DRIED_BLOOD_SPOT.value: "440500007",
    SampleType.SERUM.value: "119364003",
    SampleType.SALIVA.value: "119342007",
    SampleType.URINE.value: "122575003",
    SampleType.STOOL.value: "119339001",
}


@in_english
def build_specimen_id(order: Order, sample_id: str) -> str:
    """Return the id of a sample, the same in every version of an order's results."""
    return f"specimen-{order.pk.hex}-{hash_id_part(sample_id)}"


@in_english
def build_specimens(tenant: Tenant, rows: Sequence[SampleData]) -> list[list[Json]]:
    """Build the Specimen of each sample."""
    return [[_build_specimen(row)] for row in rows]


def _build_specimen(row: SampleData) -> Json:
    order = row.version.order
    kind = order.lab_test.sample_type
    label = str(SampleType(kind).label) if kind in SampleType.values else kind
    fasting = (
        {True: "F", False: "NF"}.get(row.fasting) if row.fasting is not None else ""
    )
    system = "http://terminology.hl7.org/CodeSystem/v2-0916"
    collection = drop_empty(
        {
            "collectedDateTime": write_time(row.collected_at),
            "fastingStatusCodeableConcept": build_concept(
                "", build_coding(system, fasting or "")
            ),
        }
    )
    return drop_empty(
        {
            "resourceType": "Specimen",
            "id": build_specimen_id(order, row.sample_id),
            "meta": build_meta(row.version.created_at, row.version.number, _PROFILE),
            "accessionIdentifier": {"value": row.sample_id},
            "type": build_concept(label, build_coding(SNOMED, _TYPES.get(kind, ""))),
            "subject": build_patient_reference(order.user.uuid),
            "receivedTime": write_time(row.received_at),
            "request": [build_reference("ServiceRequest", order.pk)],
            "collection": collection,
            "note": [{"text": row.notes}] if row.notes else None,
        }
    )


SPECIMEN = ResourceType(
    name="Specimen",
    sources=(
        TableSource(
            area=Area.ORDERS,
            rows=current_samples,
            build=build_specimens,
            by_ids=lambda rows, ids: rows.filter(
                version__order__in=list_uuids(ids, part=1)
            ),
            patient="version__order__user__uuid",
            updated="version__created_at",
        ),
    ),
    params=(
        Param("patient", Kind.REFERENCE, ("subject",)),
        Param("type", Kind.TOKEN, ("type",)),
        Param("collected", Kind.DATE, ("collection.collectedDateTime",)),
    ),
    references={"subject": "subject", "patient": "subject"},
    profiles=(_PROFILE,),
)
