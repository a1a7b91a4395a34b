"""ServiceRequest: an order of a lab test. Source: US Core ServiceRequest."""

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
    build_own_url,
    build_patient_reference,
    drop_empty,
    write_time,
)
from exchange.resources.matching import Kind, Param
from exchange.resources.organization import build_lab_reference
from labs.queries.population import orders
from labs.states.orders import OrderTopLevelStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from labs.models import Order

_PROFILE = f"{US_CORE}servicerequest"
_STATUSES = {
    OrderTopLevelStatus.RECEIVED.value: "active",
    OrderTopLevelStatus.COLLECTING_SAMPLE.value: "active",
    OrderTopLevelStatus.SAMPLE_WITH_LAB.value: "active",
    OrderTopLevelStatus.COMPLETED.value: "completed",
    OrderTopLevelStatus.CANCELLED.value: "revoked",
    OrderTopLevelStatus.FAILED.value: "revoked",
}
_ICD10 = "http://hl7.org/fhir/sid/icd-10-cm"


def build_service_requests(tenant: Tenant, rows: Sequence[Order]) -> list[list[Json]]:
    """Build the ServiceRequest of each order."""
    return [[_build_service_request(order)] for order in rows]


def build_test_concept(order: Order) -> Json:
    """Return the ordered panel as a code."""
    system = build_own_url("lab-test")
    panel = order.lab_test
    return build_concept(panel.name, build_coding(system, str(panel.pk), panel.name))


def _build_service_request(order: Order) -> Json:
    physician = order.physician or {}
    names = [physician.get("first_name", ""), physician.get("last_name", "")]
    return drop_empty(
        {
            "resourceType": "ServiceRequest",
            "id": str(order.pk),
            "meta": build_meta(order.updated_at, None, _PROFILE),
            "status": _STATUSES.get(order.status_parts.top, "unknown"),
            "intent": "order",
            "category": [
                build_concept(
                    "", build_coding(SNOMED, "108252007", "Laboratory procedure")
                )
            ],
            "priority": "urgent" if order.priority else "routine",
            "code": build_test_concept(order),
            "subject": build_patient_reference(order.user.uuid),
            "authoredOn": write_time(order.created_at),
            "requester": drop_empty({"display": " ".join(filter(None, names))}),
            "performer": [build_lab_reference(order.lab)],
            "reasonCode": [
                build_concept("", build_coding(_ICD10, code))
                for code in order.icd_codes
            ],
        }
    )


SERVICE_REQUEST = ResourceType(
    name="ServiceRequest",
    sources=(
        TableSource(
            area=Area.ORDERS,
            rows=orders,
            build=build_service_requests,
            by_ids=lambda rows, ids: rows.filter(pk__in=list_uuids(ids)),
            patient="user__uuid",
            updated="updated_at",
        ),
    ),
    params=(
        Param("patient", Kind.REFERENCE, ("subject",)),
        Param("status", Kind.TOKEN, ("status",)),
        Param("category", Kind.TOKEN, ("category",)),
        Param("code", Kind.TOKEN, ("code",)),
        Param("authored", Kind.DATE, ("authoredOn",)),
    ),
    references={"patient": "subject", "performer": "performer"},
    profiles=(_PROFILE,),
)
