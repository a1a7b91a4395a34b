"""Users: list, create, read, change, delete, undo. Contract 2.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.response import Response

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.api.errors import RequestInvalid
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_patch_body,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.pagination import OffsetInputs
from portal.lib.api.schema import Refusal, describe_api_operation
from portal.lib.api.views import json_response
from portal.lib.errors import NotFound
from users.api.v2.inputs import UndoDeleteInputs, UserInputs, UserSearchInputs
from users.api.v2.outputs import (
    ClientUserIdTakenAnswer,
    Success,
    UserAnswer,
    UserList,
    Users,
    build_user_list_response,
    build_user_response,
)
from users.api.v2.views.base import UserAPIView, find_read_of_path
from users.operations.users.users import (
    UserChanges,
    UserRequest,
    create_user,
    delete_user,
    undo_delete_user,
    update_user,
)
from users.queries import (
    find_user,
    find_user_by_client_user_id,
    find_users_by_id_prefix,
    list_users_page,
    read_of_user,
    read_of_users_page,
)

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request

    from accounts.models import Tenant
    from portal.lib.database.prepared import Read
    from users.queries import UserWithSources

_FOUND_AT_MOST = 50


class UserListView(UserAPIView):
    """Serve GET /v2/user/ and POST /v2/user."""

    query: dict[str, Any] | None = None

    def find_first_read(self, tenant: Tenant, **path: str) -> Read | None:
        if self.request.method != "GET":
            return None
        try:
            self.query = validate_query_string(self.request, OffsetInputs)
        except RequestInvalid:
            return None  # as the view will say
        return read_of_users_page(tenant=tenant, **self.query)

    @describe_api_operation(
        "list_users", "List users", answer=UserList, query=OffsetInputs
    )
    def get(self, request: Request) -> HttpResponse:
        query = self.query or validate_query_string(request, OffsetInputs)
        page = list_users_page(tenant=self.tenant, **query)
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="user_list",
            subject_id="offset={offset} limit={limit}".format(**query),
            is_last=True,
        )
        return json_response(build_user_list_response(self.tenant, page, **query))

    @describe_api_operation(
        "create_user",
        "Create a user",
        answer=UserAnswer,
        body=UserInputs,
        refuses={400: ClientUserIdTakenAnswer | Refusal},
    )
    def post(self, request: Request) -> Response:
        user_request = UserRequest(**validate_post_body(request, UserInputs))
        user = create_user(tenant=self.tenant, actor=self.actor, request=user_request)
        return Response(build_user_response(self.tenant, user, ()))


class _OneUserView(UserAPIView):
    """Base of views that answer one user, found by either ID."""

    def answer(self, found: UserWithSources | None) -> HttpResponse:
        if found is None:
            raise NotFound("not_found", "User not found.")
        user, sources = found
        self.record_read("user", user.uuid, is_last=True)
        return json_response(build_user_response(self.tenant, user, sources))


class UserView(_OneUserView):
    """Serve GET, PATCH and DELETE /v2/user/{user_id}."""

    area_by_method = {"DELETE": Area.DELETE_USERS}
    user_methods = ("GET",)

    def find_first_read(self, tenant: Tenant, **path: str) -> Read | None:
        if self.request.method == "GET":
            return find_read_of_path(read_of_user, tenant, **path)
        return super().find_first_read(tenant, **path)

    @describe_api_operation(
        "get_user", "Read a user", answer=UserAnswer, refuses=(404,)
    )
    def get(self, request: Request, user_id: str) -> HttpResponse:
        uuid = parse_path_uuid(user_id, "user_id")
        return self.answer(find_user(tenant=self.tenant, user_id=uuid))

    @describe_api_operation(
        "change_user",
        "Change a user",
        status=204,
        body=UserInputs,
        refuses={400: ClientUserIdTakenAnswer, 404: Refusal},
    )
    def patch(self, request: Request, user_id: str) -> Response:
        user = self.get_user(user_id)
        changes = UserChanges(**validate_patch_body(request, UserInputs))
        update_user(user=user, actor=self.actor, changes=changes)
        return Response(status=204)

    @describe_api_operation(
        "delete_user",
        "Delete a user; 7 days of undo",
        answer=Success,
        refuses=(404,),
    )
    def delete(self, request: Request, user_id: str) -> Response:
        delete_user(user=self.get_user(user_id), actor=self.actor)
        return Response({"success": True})


class ResolveUserView(_OneUserView):
    """Serve GET /v2/user/resolve/{client_user_id}."""

    @describe_api_operation(
        "resolve_user",
        "Read a user by client_user_id",
        answer=UserAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, client_user_id: str) -> HttpResponse:
        """Matches the ID as sent, then without a trailing slash."""
        found = find_user_by_client_user_id(
            tenant=self.tenant, client_user_id=client_user_id
        )
        if found is None and client_user_id.endswith("/"):
            shorter = client_user_id.removesuffix("/")
            found = find_user_by_client_user_id(
                tenant=self.tenant, client_user_id=shorter
            )
        return self.answer(found)


class UserSearchView(UserAPIView):
    """Serve GET /v2/team/users/search."""

    @describe_api_operation(
        "search_users",
        "Find users by the beginning of either id",
        answer=Users,
        query=UserSearchInputs,
    )
    def get(self, request: Request) -> HttpResponse:
        """Exact matches first, then the newest; at most 50. Empty text matches none."""
        text = validate_query_string(request, UserSearchInputs).get("query_id", "")
        page = find_users_by_id_prefix(
            tenant=self.tenant, text=text, limit=_FOUND_AT_MOST
        )
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="user_list",
            subject_id="search",
        )
        answers = [
            build_user_response(self.tenant, user, page.sources[user.id])
            for user in page.users
        ]
        return json_response(answers)


class UndoDeleteUserView(UserAPIView):
    """Serve POST /v2/user/undo_delete."""

    area = Area.DELETE_USERS

    @describe_api_operation(
        "undo_delete_user",
        "Undo the deletion of a user",
        answer=Success,
        query=UndoDeleteInputs,
        refuses={400: ClientUserIdTakenAnswer | Refusal, 404: Refusal},
    )
    def post(self, request: Request) -> Response:
        query = validate_query_string(request, UndoDeleteInputs)
        undo_delete_user(
            tenant=self.tenant,
            actor=self.actor,
            user_uuid=query.get("user_id"),
            client_user_id=query.get("client_user_id"),
        )
        return Response({"success": True})
