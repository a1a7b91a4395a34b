"""Unmatched results in the API (contract 10, 8.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from labs.api.v3.orders.views import OrderAPIView
from labs.api.v3.unmatched_results.inputs import (
    AcceptInputs,
    ResolveInputs,
    UnmatchedResultQuery,
    decode_unmatched_result_cursor,
    encode_unmatched_result_cursor,
    parse_unmatched_result_filters,
)
from labs.api.v3.unmatched_results.outputs import (
    UnmatchedResultAnswer,
    UnmatchedResultList,
    build_unmatched_result,
)
from labs.operations.inbound.matching import list_candidate_orders_for_lab_report
from labs.operations.inbound.report_summaries import summarize_lab_report
from labs.operations.inbound.review import (
    has_open_critical_alert,
    parse_stored_lab_report,
)
from labs.operations.inbound.unmatched_results import (
    accept_unmatched_result,
    resolve_unmatched_result,
)
from labs.payloads import OrderAnswer, build_order
from labs.queries.inbound import get_unmatched_result, list_unmatched_results
from labs.states.inbound import MatchStatus
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from rest_framework.request import Request

    from labs.models import InboundReport
    from labs.operations.inbound.matching import Candidate


class UnmatchedResultAPIView(OrderAPIView):
    """Base of views about one unmatched result."""

    def get_report(self, raw_result_id: str) -> InboundReport:
        """Return the path's result. Raises: 422; unmatched_result_not_found (404)."""
        report = get_unmatched_result(
            tenant=self.tenant,
            report_id=parse_path_uuid(raw_result_id, "raw_result_id"),
        )
        report.tenant = self.tenant
        return report

    def build_answer(
        self, report: InboundReport, candidates: list[Candidate] | None = None
    ) -> UnmatchedResultAnswer:
        """Build the answer of a result."""
        report.tenant = self.tenant
        return build_unmatched_result(
            report,
            summarize_lab_report(report),
            can_reject=not has_open_critical_alert(report),
            candidates=candidates,
        )


class UnmatchedResultListView(UnmatchedResultAPIView):
    """GET /v3/unmatched_result."""

    @describe_api_operation(
        "list_unmatched_results",
        "List results that match no order",
        answer=UnmatchedResultList,
        query=UnmatchedResultQuery,
    )
    def get(self, request: Request) -> Response:
        """Newest first, including decided ones.

        `search_input` are words of the patient's name, or the birth date. The orders
        that a result may belong to are in its own response.
        """
        query = validate_query_string(request, UnmatchedResultQuery)
        limit = query["limit"]
        found, total = list_unmatched_results(
            tenant=self.tenant,
            filters=parse_unmatched_result_filters(query),
            after=decode_unmatched_result_cursor(query),
            limit=limit + 1,
        )
        page = found[:limit]
        self.record_read("lab_report_list", query.get("status", "all"), None)
        has_more = len(found) > limit
        return Response(
            {
                "data": [self.build_answer(report) for report in page],
                "next_cursor": encode_unmatched_result_cursor(page[-1])
                if has_more
                else None,
                "total": total,
            }
        )


class UnmatchedResultView(UnmatchedResultAPIView):
    """GET /v3/unmatched_result/{raw_result_id}."""

    @describe_api_operation(
        "get_unmatched_result",
        "Get a result that matches no order",
        answer=UnmatchedResultAnswer,
        refuses=(404, 503),
    )
    def get(self, request: Request, raw_result_id: str) -> Response:
        """While it waits, with the orders that it may belong to, likeliest first."""
        report = self.get_report(raw_result_id)
        candidates: list[Candidate] = []
        if report.status == MatchStatus.UNMATCHED:
            candidates = list_candidate_orders_for_lab_report(
                tenant=self.tenant,
                lab=report.message.lab,
                account=report.message.lab_account,
                report=parse_stored_lab_report(report),
            )
        self.record_read(
            "lab_report", report.pk, report.order.user.uuid if report.order else None
        )
        return Response(self.build_answer(report, candidates))


class UnmatchedResultAcceptView(UnmatchedResultAPIView):
    """POST /v3/unmatched_result/{raw_result_id}/accept."""

    @describe_api_operation(
        "accept_unmatched_result",
        "Match a result to an order",
        answer=OrderAnswer,
        body=AcceptInputs,
        refuses=(400, 404, 503),
    )
    def post(self, request: Request, raw_result_id: str) -> Response:
        """Send `order_id`, or `user_id` where one order of that user may be meant.

        Repeated with the same order it changes nothing. An order that ended without
        results keeps its status.
        """
        report = self.get_report(raw_result_id)
        body = validate_post_body(request, AcceptInputs)
        order = accept_unmatched_result(
            report=report,
            actor=self.actor,
            order_id=body.get("order_id"),
            user_id=body.get("user_id"),
            note=body.get("note", ""),
        )
        return Response(build_order(order))


class UnmatchedResultResolveView(UnmatchedResultAPIView):
    """POST /v3/unmatched_result/{raw_result_id}/resolve."""

    @describe_api_operation(
        "resolve_unmatched_result",
        "Reject or escalate a result",
        answer=UnmatchedResultAnswer,
        body=ResolveInputs,
        refuses=(400, 404, 409),
    )
    def post(self, request: Request, raw_result_id: str) -> Response:
        """`reject` ends the wait, `unsure` leaves the result to another member.

        Repeated it changes nothing.
        """
        report = self.get_report(raw_result_id)
        body = validate_post_body(request, ResolveInputs)
        resolved = resolve_unmatched_result(
            report=report,
            actor=self.actor,
            action=body["action"],
            note=body.get("note", ""),
        )
        return Response(self.build_answer(resolved))
