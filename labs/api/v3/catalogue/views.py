"""Labs, markers and panels in the API (contract 6.1 to 6.3)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.utils.http import http_date
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.api.v3.catalogue.inputs import (
    AccountPageQuery,
    AccountQuery,
    LabTestFilterQuery,
    LabTestInputs,
    LabTestListQuery,
    LabTestPatch,
    MarkerListQuery,
    decode_lab_test_list_cursor,
    encode_lab_test_list_cursor,
    parse_lab_test_filters,
    parse_lab_test_request,
    parse_marker_filters,
    parse_order_set,
)
from labs.api.v3.catalogue.outputs import (
    Labs,
    LabTestPage,
    LabTests,
    MarkersPage,
    OrderSetPrices,
    build_lab_test_page,
    build_markers_page,
    build_order_set_price,
)
from labs.api.v3.orders.inputs import OrderSetInputs, OrderSetPriceInputs
from labs.operations.catalogue.order_sets import (
    check_order_set,
    list_markers_of_order_set,
)
from labs.operations.catalogue.panels import create_lab_test, update_lab_test
from labs.payloads import (
    LabTestAnswer,
    MarkerAnswer,
    build_lab,
    build_lab_test,
    build_marker,
)
from labs.queries.accounts import get_linked_lab_account
from labs.queries.catalogue import (
    MarkerFilters,
    find_marker,
    get_lab_test_with_details,
    list_lab_tests,
    list_labs,
    list_markers_page,
)
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_patch_body,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.pagination import PageInputs
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rest_framework.request import Request

    from labs.models import Lab, LabTest

_DEPRECATED = datetime(2026, 11, 1, tzinfo=UTC)
_SUNSET = datetime(2027, 11, 1, tzinfo=UTC)
_SUCCESSOR = "/v3/lab_test"
_ID_MAX_DIGITS = 9  # those that PostgreSQL's integer holds whatever they are


class CatalogueAPIView(TenantAPIView):
    """Base of views about the catalog."""

    area = Area.CATALOGUE

    def get_lab(self, query: Mapping[str, Any]) -> Lab | None:
        """Return the chosen account's lab. Raises: lab_account_not_found (404)."""
        account_id = query.get("lab_account_id")
        if account_id is None:
            return None
        return get_linked_lab_account(tenant=self.tenant, account_id=account_id).lab

    def get_panel(self, lab_test_id: str, lab: Lab | None = None) -> LabTest:
        """Return the path's panel. Raises: 422 at the path; lab_test_not_found."""
        panel_id = parse_path_uuid(lab_test_id, "lab_test_id")
        return get_lab_test_with_details(
            tenant=self.tenant, lab_test_id=panel_id, lab=lab
        )


class LabsView(CatalogueAPIView):
    """GET /v3/lab_tests/labs."""

    @describe_api_operation("list_labs", "List laboratories", answer=Labs)
    def get(self, request: Request) -> Response:
        labs = list_labs(tenant=self.tenant)
        return Response([build_lab(lab) for lab in labs.order_by("pk")])


class MarkersView(CatalogueAPIView):
    """GET /v3/lab_tests/markers."""

    @describe_api_operation(
        "list_markers",
        "List markers",
        answer=MarkersPage,
        query=MarkerListQuery,
        refuses=(404,),
    )
    def get(self, request: Request) -> Response:
        query = validate_query_string(request, MarkerListQuery)
        page, size = query["page"], query["size"]
        filters = parse_marker_filters(query, self.get_lab(query))
        found = list_markers_page(
            tenant=self.tenant, filters=filters, page=page, size=size
        )
        with_prices = query["include_pricing"]
        return Response(
            build_markers_page(found, page=page, size=size, with_prices=with_prices)
        )


class SetMarkersView(CatalogueAPIView):
    """POST /v3/lab_tests/list_order_set_markers."""

    reading = ("POST",)

    @describe_api_operation(
        "list_order_set_markers",
        "List the markers of an order set",
        answer=MarkersPage,
        query=PageInputs,
        body=OrderSetInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request) -> Response:
        query = validate_query_string(request, PageInputs)
        body = validate_post_body(request, OrderSetInputs)
        lab = self.get_lab(body)
        marker_ids = list_markers_of_order_set(
            tenant=self.tenant, order_set=parse_order_set(body), lab=lab
        )
        filters = MarkerFilters(lab=lab, marker_ids=marker_ids)
        found = list_markers_page(tenant=self.tenant, filters=filters, **query)
        return Response(build_markers_page(found, **query))


class OrderSetPricesView(CatalogueAPIView):
    """POST /v3/lab_test/estimate_order_set_pricing."""

    reading = ("POST",)

    @describe_api_operation(
        "estimate_order_set_pricing",
        "Estimate the price of order sets",
        answer=OrderSetPrices,
        body=OrderSetPriceInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request) -> Response:
        body = validate_post_body(request, OrderSetPriceInputs)
        resolved = [
            check_order_set(
                tenant=self.tenant,
                order_set=parse_order_set(sent),
                method=body["modality"],
                lab=self.get_lab(sent),
            )
            for sent in body["order_sets"]
        ]
        data = [build_order_set_price(one, body["billing"]) for one in resolved]
        return Response({"currency": "USD", "data": data})


class PanelMarkersView(CatalogueAPIView):
    """GET /v3/lab_tests/{lab_test_id}/markers."""

    @describe_api_operation(
        "list_lab_test_markers",
        "List the markers of a lab test",
        answer=MarkersPage,
        query=AccountPageQuery,
        refuses=(404,),
    )
    def get(self, request: Request, lab_test_id: str) -> Response:
        query = validate_query_string(request, AccountPageQuery)
        panel = self.get_panel(lab_test_id, self.get_lab(query))
        marker_ids = tuple(marker.pk for marker in panel.markers.all())
        page, size = query["page"], query["size"]
        filters = MarkerFilters(marker_ids=marker_ids)
        found = list_markers_page(
            tenant=self.tenant, filters=filters, page=page, size=size
        )
        return Response(build_markers_page(found, page=page, size=size))


class LabMarkerView(CatalogueAPIView):
    """GET /v3/lab_tests/{lab_id}/markers/{provider_id}."""

    @describe_api_operation(
        "get_lab_marker",
        "Get a marker by its lab's code",
        answer=MarkerAnswer,
        query=AccountQuery,
        refuses=(404,),
    )
    def get(self, request: Request, lab_id: str, provider_id: str) -> Response:
        query = validate_query_string(request, AccountQuery)
        if not lab_id.isdecimal() or len(lab_id) > _ID_MAX_DIGITS:
            line = FieldError(("path", "lab_id"), "Enter an integer.", "int_parsing")
            raise RequestInvalid([line])
        marker = find_marker(
            tenant=self.tenant,
            lab_id=int(lab_id),
            provider_id=provider_id,
            lab=self.get_lab(query),
        )
        return Response(build_marker(marker))


class LabTestListView(CatalogueAPIView):
    """GET /v3/lab_test."""

    @describe_api_operation(
        "list_lab_tests",
        "List lab tests",
        answer=LabTestPage,
        query=LabTestListQuery,
        refuses=(404,),
    )
    def get(self, request: Request) -> Response:
        query = validate_query_string(request, LabTestListQuery)
        filters = parse_lab_test_filters(query, self.get_lab(query))
        limit = query["lab_test_limit"]
        found = list_lab_tests(
            tenant=self.tenant,
            filters=filters,
            after=decode_lab_test_list_cursor(query, filters),
            limit=limit + 1,
        )
        shown = found[:limit]
        more = (
            encode_lab_test_list_cursor(shown[-1], filters)
            if len(found) > limit
            else None
        )
        with_prices = query["include_pricing"]
        return Response(
            build_lab_test_page(shown, next_cursor=more, with_prices=with_prices)
        )


class LabTestsView(CatalogueAPIView):
    """Creation of lab tests, and the deprecated list of all."""

    @describe_api_operation(
        "legacy_list_lab_tests",
        "List all lab tests (deprecated: use GET /v3/lab_test)",
        answer=LabTests,
        query=LabTestFilterQuery,
    )
    def get(self, request: Request) -> Response:
        filters = parse_lab_test_filters(
            validate_query_string(request, LabTestFilterQuery)
        )
        found = list_lab_tests(tenant=self.tenant, filters=filters)
        # RFC 9745, RFC 8594 and RFC 8288.
        headers = {
            "Deprecation": f"@{int(_DEPRECATED.timestamp())}",
            "Sunset": http_date(_SUNSET.timestamp()),
            "Link": f'<{_SUCCESSOR}>; rel="successor-version"',
        }
        return Response([build_lab_test(panel) for panel in found], headers=headers)

    @describe_api_operation(
        "create_lab_test",
        "Create a lab test, pending approval",
        answer=LabTestAnswer,
        body=LabTestInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request) -> Response:
        panel_request = parse_lab_test_request(
            validate_post_body(request, LabTestInputs)
        )
        panel = create_lab_test(
            tenant=self.tenant, actor=self.actor, request=panel_request
        )
        return Response(build_lab_test(self.get_panel(str(panel.pk))))


class LabTestView(CatalogueAPIView):
    """One lab test."""

    @describe_api_operation(
        "get_lab_test",
        "Get a lab test",
        answer=LabTestAnswer,
        query=AccountQuery,
        refuses=(404,),
    )
    def get(self, request: Request, lab_test_id: str) -> Response:
        query = validate_query_string(request, AccountQuery)
        panel = self.get_panel(lab_test_id, self.get_lab(query))
        return Response(build_lab_test(panel))

    @describe_api_operation(
        "update_lab_test",
        "Rename, archive or unarchive a lab test",
        answer=LabTestAnswer,
        body=LabTestPatch,
        refuses=(400, 404),
    )
    def patch(self, request: Request, lab_test_id: str) -> Response:
        panel = self.get_panel(lab_test_id)
        body = validate_patch_body(request, LabTestPatch)
        active = body.get("active")
        update_lab_test(
            tenant=self.tenant,
            actor=self.actor,
            lab_test_id=panel.pk,
            name=body.get("name"),
            is_archived=None if active is None else not active,
        )
        return Response(build_lab_test(self.get_panel(lab_test_id)))
