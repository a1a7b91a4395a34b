"""Links to a user's own portal in the API (contract 2.2).

It is in labs because a link can open an order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.operations.portal_links import PORTAL_TTL, create_portal_link
from portal.lib.api.fields import (
    Inputs,
    OpenEnum,
    Uuid,
    parse_path_uuid,
    validate_post_body,
)
from portal.lib.api.schema import describe_api_operation
from users.operations.connect.link_sessions import build_connect_link_url
from users.queries import live_user
from users.states.links import PortalContext

if TYPE_CHECKING:
    from rest_framework.request import Request


class PortalUrlInputs(Inputs):
    """The purpose of a portal link, and the order to show first."""

    # The name is also a property of DRF's, whose metaclass keeps both apart.
    context = OpenEnum(PortalContext)  # type: ignore[assignment]
    order_id = Uuid(required=False)


class PortalUrlAnswer(TypedDict):
    """A portal link and its lifetime in seconds."""

    url: str
    expires_in: int


class PortalUrlView(TenantAPIView):
    """POST /v2/user/{user_id}/create_portal_url."""

    area = Area.USERS
    also_reads = (Area.ORDERS,)

    @describe_api_operation(
        "create_portal_url",
        "Create a link to a user's portal",
        body=PortalUrlInputs,
        answer=PortalUrlAnswer,
        refuses=(404,),
    )
    def post(self, request: Request, user_id: str) -> Response:
        """A page where the user connects and disconnects sources and sees lab tests.

        It needs no account: whoever has the link acts for the user, and sees no result
        and no name. `launch` is opened at once (30 minutes), `communications` may be
        mailed (7 days).
        """
        user = live_user(
            tenant=self.tenant, user_id=parse_path_uuid(user_id, "user_id")
        )
        body = validate_post_body(request, PortalUrlInputs)
        session = create_portal_link(
            user=user,
            actor=self.actor,
            context=body["context"],
            order_id=body.get("order_id"),
        )
        answer: PortalUrlAnswer = {
            "url": build_connect_link_url(session),
            "expires_in": int(PORTAL_TTL[body["context"]].total_seconds()),
        }
        return Response(answer)
