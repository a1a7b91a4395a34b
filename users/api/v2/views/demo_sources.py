"""Demo sources of sandbox users (contract 3.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from portal.lib.api.fields import validate_post_body
from portal.lib.api.schema import Refusal, describe_api_operation
from users.api.v2.inputs import DemoConnectionInputs
from users.api.v2.outputs import DemoConnected
from users.operations.demo_sources import DEMO_DAYS, connect_demo_source
from users.queries import live_user
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from rest_framework.request import Request


class DemoConnectionView(TenantAPIView):
    """Serve POST /v2/link/connect/demo."""

    area = Area.USERS

    @describe_api_operation(
        "connect_demo_source",
        "Connect a demo source to a sandbox user",
        body=DemoConnectionInputs,
        answer=DemoConnected,
        refuses={400: Refusal, 404: Refusal},
    )
    def post(self, request: Request) -> Response:
        """Adds 30 days of demo data; further calls add the data since the last one.

        Emits provider.connection.created, then historical.data.{resource}.created for
        each resource. The user is deleted after 7 days.
        """
        body = validate_post_body(request, DemoConnectionInputs)
        user = live_user(tenant=self.tenant, user_id=body["user_id"])
        connection = connect_demo_source(
            user=user, actor=self.actor, provider=body["provider"]
        )
        name = find_provider(connection.provider).name
        text = f"{name} is connected, with {DEMO_DAYS} days of demo data."
        return Response({"success": True, "detail": text})
