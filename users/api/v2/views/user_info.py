"""Demographics of a user. Contract 2.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from accounts.states import Area
from portal.lib.api.fields import validate_post_body
from portal.lib.api.schema import describe_api_operation
from portal.lib.errors import NotFound
from users.api.v2.inputs import UserInfoInputs, parse_user_info_request
from users.api.v2.outputs import UserInfoAnswer, build_user_info_response
from users.api.v2.views.base import UserAPIView
from users.operations.users.demographics import record_user_info
from users.queries import latest_user_info

if TYPE_CHECKING:
    from rest_framework.request import Request


class UserInfoView(UserAPIView):
    """Serve PATCH /v2/user/{user_id}/info; absent and null fields are equal."""

    area = Area.PATIENT_DETAILS
    user_methods = ("PATCH",)

    @describe_api_operation(
        "record_user_info",
        "Write a user's demographics, whole",
        answer=UserInfoAnswer,
        body=UserInfoInputs,
        refuses=(404,),
    )
    def patch(self, request: Request, user_id: str) -> Response:
        user = self.get_user(user_id)
        user_info = parse_user_info_request(validate_post_body(request, UserInfoInputs))
        info = record_user_info(user=user, actor=self.actor, request=user_info)
        return Response(build_user_info_response(info))


class LatestUserInfoView(UserAPIView):
    """Serve GET /v2/user/{user_id}/info/latest."""

    area = Area.PATIENT_DETAILS

    @describe_api_operation(
        "get_latest_user_info",
        "Read a user's demographics",
        answer=UserInfoAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str) -> Response:
        user = self.get_user(user_id)
        info = latest_user_info(user=user)
        if info is None:
            raise NotFound("user_info_missing", "User info not found.")
        self.record_read("user_info", user.uuid)
        return Response(build_user_info_response(info))

    user_methods = ("GET",)
