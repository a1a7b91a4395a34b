"""Lab accounts over the API (contract 6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.api.v3.catalogue.inputs import LabAccountQuery
from labs.api.v3.catalogue.outputs import LabAccountList, build_lab_account
from labs.queries.accounts import list_linked_lab_accounts
from portal.lib.api.fields import validate_query_string
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from rest_framework.request import Request


class LabAccountsView(TenantAPIView):
    """GET /v3/lab_test/lab_account."""

    area = Area.CATALOGUE

    @describe_api_operation(
        "list_lab_accounts",
        "List the lab accounts the team may use",
        answer=LabAccountList,
        query=LabAccountQuery,
    )
    def get(self, request: Request) -> Response:
        query = validate_query_string(request, LabAccountQuery)
        accounts = list_linked_lab_accounts(
            tenant=self.tenant,
            account_id=query.get("lab_account_id"),
            status=str(query.get("status", "")),
        )
        return Response({"data": [build_lab_account(each) for each in accounts]})
