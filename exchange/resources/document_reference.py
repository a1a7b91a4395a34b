"""DocumentReference: files of labs and of uploaded reports.

Source: US Core DocumentReference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.resources.base import Json, ResourceType, TableSource, list_uuids
from exchange.resources.binary import LAB, PDF, REPORT, build_binary_url
from exchange.resources.datatypes import (
    LOINC,
    US_CORE,
    build_coding,
    build_concept,
    build_meta,
    build_own_url,
    build_patient_reference,
    build_reference,
    drop_empty,
    write_time,
)
from exchange.resources.matching import Kind, Param
from exchange.resources.organization import build_lab_reference
from labs.queries.population import available_documents
from reports.queries.population import report_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import LabDocument
    from reports.models import ReportFile

_PROFILE = f"{US_CORE}documentreference"
_TYPE = build_concept(
    "Laboratory report", build_coding(LOINC, "11502-2", "Laboratory report")
)
_CATEGORY = build_concept(
    "", build_coding(LOINC, "26436-6", "Laboratory studies (set)")
)


def build_report_file_id(job_id: UUID, position: int) -> str:
    """Return the id of a file of an uploaded report."""
    return f"report-{job_id.hex}-{position}"


def _build_frame(id_: str, updated: datetime, user: UUID) -> Json:
    return {
        "resourceType": "DocumentReference",
        "id": id_,
        "meta": build_meta(updated, None, _PROFILE),
        "identifier": [{"system": build_own_url("document"), "value": id_}],
        "status": "current",
        "type": _TYPE,
        "category": [_CATEGORY],
        "subject": build_patient_reference(user),
        "date": write_time(updated),
    }


def build_lab_documents(
    tenant: Tenant, rows: Sequence[LabDocument]
) -> list[list[Json]]:
    """Build the DocumentReference of each document that a lab sent."""
    return [
        [
            {
                **_build_frame(
                    f"lab-{row.pk.hex}", row.created_at, row.order.user.uuid
                ),
                "author": [build_lab_reference(row.order.lab)],
                "content": [
                    {
                        "attachment": drop_empty(
                            {
                                "contentType": PDF,
                                "url": build_binary_url(LAB, row.pk),
                                "size": row.size,
                                "title": row.name,
                            }
                        )
                    }
                ],
                "context": {
                    "related": [build_reference("ServiceRequest", row.order_id)]
                },
            }
        ]
        for row in rows
    ]


def build_report_files(tenant: Tenant, rows: Sequence[ReportFile]) -> list[list[Json]]:
    """Build the DocumentReference of each file of an uploaded report."""
    return [
        [
            drop_empty(
                {
                    **_build_frame(
                        build_report_file_id(row.job_id, row.position),
                        row.job.created_at,
                        row.job.user.uuid,
                    ),
                    "content": [
                        {
                            "attachment": {
                                "contentType": row.content_type,
                                "url": build_binary_url(
                                    REPORT, row.job_id, row.position
                                ),
                                "size": row.size,
                            }
                        }
                    ],
                    "context": {
                        "related": [build_reference("ServiceRequest", row.job.order_id)]
                    }
                    if row.job.order_id
                    else None,
                }
            )
        ]
        for row in rows
    ]


DOCUMENT_REFERENCE = ResourceType(
    name="DocumentReference",
    sources=(
        TableSource(
            area=Area.ORDERS,
            rows=available_documents,
            build=build_lab_documents,
            by_ids=lambda rows, ids: rows.filter(pk__in=list_uuids(ids, part=1)),
            patient="order__user__uuid",
            updated="created_at",
        ),
        TableSource(
            area=Area.REPORTS,
            rows=report_files,
            build=build_report_files,
            by_ids=lambda rows, ids: rows.filter(job__in=list_uuids(ids, part=1)),
            patient="job__user__uuid",
        ),
    ),
    params=(
        Param("patient", Kind.REFERENCE, ("subject",)),
        Param("status", Kind.TOKEN, ("status",)),
        Param("category", Kind.TOKEN, ("category",)),
        Param("type", Kind.TOKEN, ("type",)),
        Param("date", Kind.DATE, ("date",)),
    ),
    references={"patient": "subject", "author": "author"},
    also_reads=(Area.PATIENT_DETAILS,),
    profiles=(_PROFILE,),
)
