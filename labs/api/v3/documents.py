"""PDF documents in the API (contract 6.3, 6.16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse

from labs.api.v3.catalogue.views import CatalogueAPIView
from labs.api.v3.orders.views import OrderAPIView
from labs.documents.labels import LabelStock
from labs.operations.documents.lab_documents import get_order_result_pdf
from labs.operations.documents.order_documents import (
    LABELS_AT_MOST,
    LABELS_USUAL,
    render_order_instructions,
    render_order_specimen_labels,
    render_panel_instructions,
    render_requisition_as_first_printed,
    render_results_report,
)
from labs.queries.orders.orders import list_orders_of_transaction
from labs.queries.results.results import get_results_of_transaction
from labs.states.lab_documents import ResultPdfSource
from portal.lib.api.fields import (
    Date,
    Inputs,
    OpenEnum,
    QueryInt,
    parse_path_uuid,
    validate_query_string,
)
from portal.lib.api.schema import PDF, describe_api_operation
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from datetime import date

    from rest_framework.request import Request

    from labs.documents.sheet import Document

VERSION_MAX = 2**31 - 1  # of the column
_DAY_LENGTH = len("YYYY-MM-DD")


class QueryDay(Date):
    """A date, or the date a date-time shows (contract 1.5)."""

    def to_internal_value(self, data: Any) -> date:
        text = str(data)
        if text[_DAY_LENGTH : _DAY_LENGTH + 1] in {"T", " "}:
            text = text[:_DAY_LENGTH]
        day: date = super().to_internal_value(text)
        return day


class LabelsQuery(Inputs):
    """Date, number and stock of labels."""

    collection_date = QueryDay()
    number_of_labels = QueryInt(
        default=LABELS_USUAL, min_value=1, max_value=LABELS_AT_MOST
    )
    stock = OpenEnum(LabelStock, default=LabelStock.SHEET)


class RequisitionPdfView(OrderAPIView):
    """GET /v3/order/{order_id}/requisition/pdf."""

    @describe_api_operation(
        "get_requisition_pdf",
        "Download an order's requisition",
        answer=PDF,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> HttpResponse:
        order = self.get_order(order_id)
        document = render_requisition_as_first_printed(order)
        self.record_read("requisition", order.pk, order.user.uuid)
        return _pdf_response(document)


class LabelsPdfView(OrderAPIView):
    """GET /v3/order/{order_id}/labels/pdf."""

    @describe_api_operation(
        "get_labels_pdf",
        "Download an order's specimen labels",
        answer=PDF,
        query=LabelsQuery,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> HttpResponse:
        order = self.get_order(order_id)
        query = validate_query_string(request, LabelsQuery)
        document = render_order_specimen_labels(
            order,
            collected_on=query["collection_date"],
            number=query["number_of_labels"],
            stock=query["stock"],
        )
        self.record_read("labels", order.pk, order.user.uuid)
        return _pdf_response(document)


class OrderInstructionsPdfView(OrderAPIView):
    """GET /v3/order/{order_id}/collection_instruction_pdf."""

    @describe_api_operation(
        "get_order_collection_instruction_pdf",
        "Download an order's collection instructions",
        answer=PDF,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> HttpResponse:
        order = self.get_order(order_id)
        document = render_order_instructions(order)
        self.record_read("collection_instructions", order.pk, order.user.uuid)
        return _pdf_response(document)


class AbnPdfView(OrderAPIView):
    """GET /v3/order/{order_id}/abn_pdf: no order has one (`has_abn`)."""

    @describe_api_operation(
        "get_abn_pdf",
        "Download an order's advance beneficiary notice (always 404)",
        answer=PDF,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> HttpResponse:
        self.get_order(order_id)
        raise NotFound("abn_not_found", "This order has no advance beneficiary notice.")


class PanelInstructionsPdfView(CatalogueAPIView):
    """GET /v3/lab_test/{lab_test_id}/collection_instruction_pdf."""

    @describe_api_operation(
        "get_lab_test_collection_instruction_pdf",
        "Download a lab test's collection instructions",
        answer=PDF,
        refuses=(404,),
    )
    def get(self, request: Request, lab_test_id: str) -> HttpResponse:
        return _pdf_response(
            render_panel_instructions(
                panel=self.get_panel(lab_test_id), tenant=self.tenant
            )
        )


class ResultPdfQuery(Inputs):
    """Whose PDF, and which version of the lab's document."""

    # The name is also a property of DRF's, whose metaclass keeps both apart.
    source = OpenEnum(ResultPdfSource, required=False)  # type: ignore[assignment]
    version = QueryInt(required=False, min_value=1, max_value=VERSION_MAX)


class OrderResultPdfView(OrderAPIView):
    """GET /v3/order/{order_id}/result/pdf."""

    @describe_api_operation(
        "get_order_result_pdf",
        "Download an order's results, including partial results",
        answer=PDF,
        query=ResultPdfQuery,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> HttpResponse:
        """The lab's own PDF where it holds the current results, else ours.

        `source=lab` gives the newest PDF of the lab, `version` one of its documents by
        number, `source=assay` ours. A PDF of the lab is given once it was opened, and
        scanned for malware where a scanner is set.
        """
        order = self.get_order(order_id)
        query = validate_query_string(request, ResultPdfQuery)
        document = get_order_result_pdf(
            order=order, source=query.get("source"), number=query.get("version")
        )
        self.record_read("result", order.pk, order.user.uuid)
        return _pdf_response(document)


class TransactionResultPdfView(OrderAPIView):
    """GET /v3/order_transaction/{transaction_id}/result/pdf."""

    @describe_api_operation(
        "get_order_transaction_result_pdf",
        "Download the combined results of an order, its redraw and recreations",
        answer=PDF,
        refuses=(404,),
    )
    def get(self, request: Request, transaction_id: str) -> HttpResponse:
        orders = list_orders_of_transaction(
            tenant=self.tenant,
            transaction_id=parse_path_uuid(transaction_id, "transaction_id"),
        )
        found = get_results_of_transaction(tenant=self.tenant, orders=orders)
        order = found.order
        document = render_results_report(found=found, tenant=self.tenant)
        self.record_read("transaction_result", order.transaction_id, order.user.uuid)
        return _pdf_response(document)


def _pdf_response(document: Document) -> HttpResponse:
    return HttpResponse(
        document.body,
        content_type="application/pdf",
        headers={"Content-Disposition": f'inline; filename="{document.name}"'},
    )
