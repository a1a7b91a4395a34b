"""Sources: what can be connected, and what a user has connected. Contract 2.4, 3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from portal.lib.api.views import TenantAPIView
from users.api.v2.outputs import provider_answer, user_providers
from users.api.v2.views.base import UserAPIView
from users.operations.sources import disconnect_source
from users.queries import connections_of
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from rest_framework.request import Request


class ProviderListView(TenantAPIView):
    """GET /v2/providers; `source_type` matches auth_type (contract 3.1)."""

    def get(self, request: Request) -> Response:
        wanted = request.query_params.get("source_type")
        return Response(
            [
                provider_answer(provider)
                for provider in PROVIDERS.values()
                if wanted is None or provider.auth_type == wanted.strip().lower()
            ]
        )


class UserProvidersView(UserAPIView):
    """GET /v2/user/providers/{user_id}."""

    def get(self, request: Request, user_id: str) -> Response:
        user = self.get_user(user_id)
        connections = connections_of(user=user)
        self.record_read("sources", user.uuid)
        return Response(user_providers(connections))


class UserProviderView(UserAPIView):
    """DELETE /v2/user/{user_id}/{provider}; the data that came through it stays."""

    def delete(self, request: Request, user_id: str, provider: str) -> Response:
        user = self.get_user(user_id)
        disconnect_source(user=user, actor=self.actor, provider=provider)
        return Response({"success": True})
