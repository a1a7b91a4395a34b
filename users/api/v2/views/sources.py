"""Sources: available ones, and those of a user. Contract 2.4, 3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from portal.lib.api.fields import validate_query_string
from portal.lib.api.schema import describe_api_operation
from portal.lib.api.views import json_response
from users.api.v2.inputs import ProviderListInputs
from users.api.v2.outputs import (
    ProviderAnswer,
    Success,
    UserProviders,
    build_user_providers_response,
    list_provider_responses,
)
from users.api.v2.views.base import UserAPIView
from users.operations.sources.sources import disconnect_source
from users.queries import list_live_user_connections

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request


class ProviderListView(TenantAPIView):
    """Serve GET /v2/providers; `source_type` filters by auth_type (contract 3.1)."""

    area = Area.USERS
    reads_rows = False

    @describe_api_operation(
        "list_providers",
        "List sources that users can connect",
        answer=list[ProviderAnswer],
        query=ProviderListInputs,
    )
    def get(self, request: Request) -> HttpResponse:
        source_type = validate_query_string(request, ProviderListInputs).get(
            "source_type"
        )
        auth_type = None if source_type is None else source_type.lower()
        return json_response(list_provider_responses(auth_type, settings.PUBLIC_URL))


class UserProvidersView(UserAPIView):
    """Serve GET /v2/user/providers/{user_id}."""

    user_methods = ("GET",)

    @describe_api_operation(
        "list_user_providers",
        "List a user's sources",
        answer=UserProviders,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str) -> Response:
        user = self.get_user(user_id)
        connections = list_live_user_connections(user=user)
        self.record_read("sources", user.uuid)
        return Response(build_user_providers_response(connections))


class UserProviderView(UserAPIView):
    """Serve DELETE /v2/user/{user_id}/{provider}; data received is kept."""

    user_methods = ("DELETE",)

    @describe_api_operation(
        "disconnect_provider",
        "Disconnect a source; its data stays",
        answer=Success,
        refuses=(404,),
    )
    def delete(self, request: Request, user_id: str, provider: str) -> Response:
        user = self.get_user(user_id)
        disconnect_source(user=user, actor=self.actor, provider=provider)
        return Response({"success": True})
