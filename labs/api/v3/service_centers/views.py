"""Service centers and areas in the API. Contract 6.17."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.api.v3.orders.views import OrderAPIView
from labs.api.v3.service_centers.inputs import (
    AreaQuery,
    CentersQuery,
    NearOrderQuery,
    parse_known_capabilities,
    parse_search_radius_miles,
)
from labs.api.v3.service_centers.outputs import (
    AreaInfo,
    PscInfo,
    build_area_coverage_info,
    build_service_center_info,
)
from labs.operations.production import require_service_centers
from labs.queries.accounts import get_linked_lab_account
from labs.queries.appointments.areas import (
    find_zip_code_lab_coverage,
    list_labs_with_centers,
)
from labs.queries.appointments.service_centers import (
    get_zip_code_location,
    list_service_centers_near,
)
from labs.queries.catalogue import find_lab
from portal.lib.api.fields import validate_query_string
from portal.lib.api.schema import describe_api_operation
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from rest_framework.request import Request


class CentersView(TenantAPIView):
    """GET /v3/order/psc/info."""

    area = Area.BOOKINGS

    @describe_api_operation(
        "get_psc_info",
        "List a lab's service centers near a ZIP code",
        answer=PscInfo,
        query=CentersQuery,
        refuses=(400, 404),
    )
    def get(self, request: Request) -> Response:
        query = validate_query_string(request, CentersQuery)
        lab = find_lab(tenant=self.tenant, lab_id=query["lab_id"])
        account = None
        if "lab_account_id" in query:
            account = get_linked_lab_account(
                tenant=self.tenant, account_id=query["lab_account_id"]
            )
            if account.lab_id != lab.pk:
                raise DomainError(
                    "lab_account_of_another_lab",
                    ("The lab account belongs to another lab."),
                )
        found = list_service_centers_near(
            place=get_zip_code_location(query["zip_code"]),
            labs=[lab],
            miles=parse_search_radius_miles(query),
            capabilities=parse_known_capabilities(query),
        )
        return Response(build_service_center_info(lab, found, account))


class CentersNearOrderView(OrderAPIView):
    """GET /v3/order/{order_id}/psc/info."""

    area = Area.BOOKINGS

    @describe_api_operation(
        "get_order_psc_info",
        "List service centers of an order's lab near its patient",
        answer=PscInfo,
        query=NearOrderQuery,
        refuses=(400, 404),
    )
    def get(self, request: Request, order_id: str) -> Response:
        query = validate_query_string(request, NearOrderQuery)
        order = self.get_order(order_id)
        address = order.patient_address
        if not address:
            raise DomainError("address_missing", "The order has no patient address.")
        found = list_service_centers_near(
            place=get_zip_code_location(address["zip"]),
            labs=[order.lab],
            miles=parse_search_radius_miles(query),
            capabilities=parse_known_capabilities(query),
        )
        self.record_read("order_service_centers", order.pk, order.user.uuid)
        return Response(build_service_center_info(order.lab, found, order.lab_account))


class AreaView(TenantAPIView):
    """GET /v3/order/area/info."""

    area = Area.BOOKINGS

    @describe_api_operation(
        "get_area_info",
        "Get collection options near a ZIP code",
        answer=AreaInfo,
        query=AreaQuery,
        refuses=(400, 404),
    )
    def get(self, request: Request) -> Response:
        query = validate_query_string(request, AreaQuery)
        account = None
        if "lab_account_id" in query:
            account = get_linked_lab_account(
                tenant=self.tenant, account_id=query["lab_account_id"]
            )
        miles = parse_search_radius_miles(query)
        slugs = [*query.get("labs", []), *filter(None, [query.get("lab")])]
        labs = list_labs_with_centers(tenant=self.tenant, lab_slugs=slugs)
        require_service_centers(
            tenant=self.tenant, lab_slugs=[lab.slug for lab in labs]
        )
        area = find_zip_code_lab_coverage(
            tenant=self.tenant,
            zip_code=query["zip_code"],
            miles=miles,
            lab_slugs=slugs,
        )
        return Response(build_area_coverage_info(area, miles, account))
