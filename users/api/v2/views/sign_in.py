"""Tokens by which a user's own app signs in (contract 2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict
from uuid import UUID

from rest_framework.response import Response

from accounts.operations.api_keys.access_tokens import create_user_sign_in_token
from accounts.states import Area
from portal.lib.api.schema import describe_api_operation
from users.api.v2.views.base import UserAPIView

if TYPE_CHECKING:
    from rest_framework.request import Request


class SignInTokenAnswer(TypedDict):
    """A sign-in token for one user."""

    user_id: UUID
    sign_in_token: str


class SignInTokenView(UserAPIView):
    """Serve POST /v2/user/{user_id}/sign_in_token."""

    area = Area.USERS

    @describe_api_operation(
        "create_sign_in_token",
        "Make a token for a user's own app",
        answer=SignInTokenAnswer,
        refuses=(404,),
    )
    def post(self, request: Request, user_id: str) -> Response:
        """The token replaces the API key for 1 hour, for calls about this user only.

        Send it as `Authorization: Bearer` or in the header of the key. It can read the
        user, their demographics, devices, sources, summaries and samples, and send
        summaries and samples. It cannot change the user.
        """
        user = self.get_user(user_id)
        token = create_user_sign_in_token(
            tenant=self.tenant, actor=self.actor, user_uuid=user.uuid
        )
        return Response({"user_id": user.uuid, "sign_in_token": token})
