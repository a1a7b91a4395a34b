"""API views of parsing jobs: submit a report, get a job (contract 7.1, 7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation
from reports.api.v1.inputs import (
    MoveInputs,
    ParsingJobInputs,
    ParsingJobQuery,
    RejectInputs,
    ReleaseInputs,
    ReportUploadParser,
    validate_report_upload,
)
from reports.operations.jobs.holds import reject_held_report, release_held_report
from reports.operations.jobs.moving import move_report_to_order
from reports.operations.jobs.submission import (
    require_report_parsing_enabled,
    submit_report,
)
from reports.parser.intake import MAX_BYTES
from reports.payloads import ParsingJobAnswer, build_parsing_job_payload
from reports.queries import get_parsing_job
from reports.states import RejectionReason

if TYPE_CHECKING:
    from rest_framework.request import Request

PROVENANCE = "provenance"


class ParsingJobsView(TenantAPIView):
    """Submit lab reports for parsing."""

    area = Area.REPORTS
    parser_classes = [ReportUploadParser]
    body_max_bytes = 2 * MAX_BYTES  # what is a little too large still gets its sentence

    @describe_api_operation(
        "create_parsing_job",
        "Submit a lab report for parsing",
        answer=ParsingJobAnswer,
        body={"multipart/form-data": ParsingJobInputs},
        refuses=(400, 403, 404, 413, 415, 503),
    )
    def post(self, request: Request) -> Response:
        require_report_parsing_enabled(self.tenant)  # before ten megabytes are read
        report_request = validate_report_upload(request.data)
        job = submit_report(
            tenant=self.tenant, actor=self.actor, request=report_request
        )
        return Response(build_parsing_job_payload(job))


class ParsingJobView(TenantAPIView):
    """Get one parsing job."""

    area = Area.REPORTS

    @describe_api_operation(
        "get_parsing_job",
        "Get a parsing job",
        answer=ParsingJobAnswer,
        query=ParsingJobQuery,
        refuses=(404,),
    )
    def get(self, request: Request, job_id: str) -> Response:
        include = validate_query_string(request, ParsingJobQuery).get("include", [])
        job = get_parsing_job(
            tenant=self.tenant, job_id=parse_path_uuid(job_id, "job_id")
        )
        answer = build_parsing_job_payload(job, with_provenance=PROVENANCE in include)
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="parsing_job",
            subject_id=job.id,
            user_uuid=job.user.uuid,
        )
        return Response(answer)


class ReleaseParsingJobView(TenantAPIView):
    """Release a held report."""

    area = Area.REPORTS

    @describe_api_operation(
        "release_parsing_job",
        "Release a held lab report",
        answer=ParsingJobAnswer,
        body=ReleaseInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, job_id: str) -> Response:
        held = get_parsing_job(
            tenant=self.tenant, job_id=parse_path_uuid(job_id, "job_id")
        )
        given = validate_post_body(request, ReleaseInputs)
        job = release_held_report(
            tenant=self.tenant,
            actor=self.actor,
            job_id=held.id,
            reason=given["reason"],
        )
        return Response(build_parsing_job_payload(job))


class RejectParsingJobView(TenantAPIView):
    """Reject a held report."""

    area = Area.REPORTS

    @describe_api_operation(
        "reject_parsing_job",
        "Reject a held lab report",
        answer=ParsingJobAnswer,
        body=RejectInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, job_id: str) -> Response:
        held = get_parsing_job(
            tenant=self.tenant, job_id=parse_path_uuid(job_id, "job_id")
        )
        given = validate_post_body(request, RejectInputs)
        job = reject_held_report(
            tenant=self.tenant,
            actor=self.actor,
            job_id=held.id,
            reason=RejectionReason(given["reason"]),
            why=given["note"],
        )
        return Response(build_parsing_job_payload(job))


class MoveParsingJobView(TenantAPIView):
    """Move a report to another order."""

    area = Area.REPORTS

    @describe_api_operation(
        "move_parsing_job",
        "Move a lab report to another order",
        answer=ParsingJobAnswer,
        body=MoveInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, job_id: str) -> Response:
        """While it is pending review; the checks run again with the new order."""
        found = get_parsing_job(
            tenant=self.tenant, job_id=parse_path_uuid(job_id, "job_id")
        )
        given = validate_post_body(request, MoveInputs)
        job = move_report_to_order(
            tenant=self.tenant,
            actor=self.actor,
            job_id=found.id,
            order_id=given.get("order_id"),
            reason=given["reason"],
        )
        return Response(build_parsing_job_payload(job))
