"""API view of the lab reports that other institutions made of a user."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID

from django.db.models import Q
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.api.fields import QueryInt, parse_path_uuid, validate_query_string
from portal.lib.api.pagination import (
    CursorInputs,
    build_invalid_cursor_error,
    decode_page_cursor,
    encode_page_cursor,
)
from portal.lib.api.schema import describe_api_operation
from reports.queries.outside import list_outside_reports
from users.queries import live_user

if TYPE_CHECKING:
    from rest_framework.request import Request

    from reports.models import OutsideReport

_LIMIT_MAX = 100


class OutsideReportQuery(CursorInputs):
    """The page of a list of outside reports."""

    limit = QueryInt(default=50, min_value=1, max_value=_LIMIT_MAX)


class CodingAnswer(TypedDict):
    """A code as the source wrote it."""

    system: str
    code: str
    display: str


class OutsideRangeAnswer(TypedDict):
    """A reference range of the source; bounds are null where they are not numbers."""

    text: str
    low: float | None
    high: float | None
    unit: str
    applies_to: str


class OutsideResultAnswer(TypedDict):
    """A result as the source has it, empty where it says nothing.

    `value` is a text with the source's digits and comparator, `number` the number of a
    quantity without comparator. `absent` says why there is no value. `components` are
    results of the same shape.
    """

    record_id: str
    name: str
    loinc: str
    codes: list[CodingAnswer]
    status: str
    collected: str
    type: str
    value: str
    number: float | None
    comparator: str
    unit: str
    ucum: str
    absent: str
    flag: str
    interpretation: str
    ranges: list[OutsideRangeAnswer]
    note: str
    specimen: str
    method: str
    components: list[dict[str, Any]]


class OutsideReportAnswer(TypedDict):
    """A report of another institution; `is_reviewed` is always false.

    `collected` and `issued` are as the source wrote them, possibly a day or a month,
    null where it did not. `status` is FHIR's, such as final, amended or
    entered-in-error; the last has no results. `version` counts what changed.
    `missing_results` are named by the report and were not in the file.
    """

    id: str
    record_id: str
    version: int
    provider: str
    institution: str
    laboratory: str
    name: str
    loinc: str
    codes: list[CodingAnswer]
    status: str
    collected: str | None
    issued: str | None
    conclusion: str
    attachments: int
    missing_results: int
    is_reviewed: bool
    fhir_version: str
    created_at: datetime
    results: list[OutsideResultAnswer]


class OutsideReportList(TypedDict):
    """A page of outside reports, newest first."""

    data: list[OutsideReportAnswer]
    next_cursor: str | None


class OutsideReportsView(TenantAPIView):
    """Lab reports of other institutions."""

    area = Area.REPORTS

    @describe_api_operation(
        "list_outside_reports",
        "List lab reports of other institutions",
        answer=OutsideReportList,
        query=OutsideReportQuery,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str) -> Response:
        """Newest first, from the health records that a user imported.

        Nobody on your team has reviewed them, and they are no results of an order.
        """
        user = live_user(
            tenant=self.tenant, user_id=parse_path_uuid(user_id, "user_id")
        )
        query = validate_query_string(request, OutsideReportQuery)
        limit = query["limit"]
        rows = list_outside_reports(tenant=self.tenant, user_uuid=user.uuid)
        if "next_cursor" in query:
            at, key = _decode(query["next_cursor"])
            rows = rows.filter(Q(dated_at__lt=at) | Q(dated_at=at, id__gt=key))
        found = list(rows[: limit + 1])
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="outside_report_list",
            subject_id=user.uuid,
            user_uuid=user.uuid,
        )
        last = found[limit - 1] if len(found) > limit else None
        return Response(
            {
                "data": [_build_answer(report) for report in found[:limit]],
                "next_cursor": last
                and encode_page_cursor([last.dated_at.isoformat(), str(last.id)]),
            }
        )


def _decode(cursor: str) -> tuple[datetime, UUID]:
    at, key = decode_page_cursor(cursor, length=2)
    try:
        return datetime.fromisoformat(at).astimezone(UTC), UUID(key)
    except (ValueError, OverflowError):
        raise build_invalid_cursor_error() from None


def _build_answer(report: OutsideReport) -> OutsideReportAnswer:
    return {
        "id": str(report.id),
        "record_id": report.record_id,
        "version": report.number,
        "provider": report.provider,
        "institution": report.institution,
        "laboratory": report.laboratory,
        "name": report.name,
        "loinc": report.loinc,
        "codes": report.codes,
        "status": report.status,
        "collected": report.collected or None,
        "issued": report.issued or None,
        "conclusion": report.conclusion,
        "attachments": report.attachments,
        "missing_results": report.missing_results,
        "is_reviewed": False,
        "fhir_version": report.fhir_version,
        "created_at": report.created_at,
        "results": report.results,
    }
