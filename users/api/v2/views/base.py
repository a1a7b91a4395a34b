"""Shared parts of the user endpoints: the path's user, batches and their faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import parse_path_uuid
from users.api.v2.outputs import build_client_user_id_taken_response
from users.operations.users.users import ClientUserIdTaken
from users.queries import live_user, read_of_live_user
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from rest_framework.request import Request

    from accounts.models import Tenant
    from portal.lib.database.prepared import Read
    from users.models import User
    from users.wearables.readings import ElementsInvalid

# Of a batch, in the document.
SOURCE_TYPE = {
    "type": ["string", "null"],
    "default": "unknown",
    "description": "Any case of: " + ", ".join(SourceType.values),
}


class UserAPIView(TenantAPIView):
    """Base of the views under /v2/user."""

    area = Area.USERS

    def get_user(self, user_id: str) -> User:
        """Return the live user of the path. Raises: 422 at the path; not_found."""
        return live_user(
            tenant=self.tenant, user_id=parse_path_uuid(user_id, "user_id")
        )

    def find_first_read(self, tenant: Tenant, **path: str) -> Read | None:
        return find_read_of_path(read_of_live_user, tenant, **path)

    def record_read(
        self, subject: str, user_uuid: UUID, *, is_last: bool = False
    ) -> None:
        """Record in the audit log that a user's data was read.

        `is_last`: the view asks the database nothing more.
        """
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject=subject,
            subject_id=user_uuid,
            user_uuid=user_uuid,
            is_last=is_last,
        )

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ClientUserIdTaken):
            return Response(build_client_user_id_taken_response(exc), 400)
        answer: Any = super().handle_exception(exc)
        return answer  # type: ignore[no-any-return]  # DRF's is untyped


def find_read_of_path(
    read: Callable[..., Read], tenant: Tenant, *, user_id: str = "", **_: str
) -> Read | None:
    """Return the read of a path's user; None where the path names none.

    That is the view's to say.
    """
    try:
        uuid = parse_path_uuid(user_id, "user_id")
    except RequestInvalid:
        return None
    return read(tenant=tenant, user_id=uuid)


def get_pushed_batch_elements(request: Request) -> list[object]:
    """Return the unparsed elements of a pushed batch. Raises: 422."""
    body: Any = request.data
    elements = body.get("data")
    if not isinstance(elements, list):
        missing = "missing" if elements is None else "value_error"
        raise RequestInvalid(
            [FieldError(("body", "data"), "A list is needed.", missing)]
        )
    return elements


def build_batch_validation_error(refused: ElementsInvalid) -> RequestInvalid:
    """Return a 422 that locates each fault by its index in the batch."""
    return RequestInvalid(
        [
            FieldError(("body", "data", *fault.loc), fault.msg, fault.type)
            for fault in refused.faults
        ]
    )
