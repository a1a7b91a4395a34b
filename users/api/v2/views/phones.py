"""Phones that send a user's data: list them, and disconnect one."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypedDict
from uuid import UUID

from rest_framework.response import Response

from portal.lib.api.fields import parse_path_uuid
from portal.lib.api.schema import describe_api_operation
from portal.lib.errors import NotFound
from users.api.v2.outputs import Success
from users.api.v2.views.base import UserAPIView
from users.operations.phones.tokens import revoke_phone
from users.queries.phones import find_phone, list_phone_health
from users.states.phones import PhoneApp

if TYPE_CHECKING:
    from rest_framework.request import Request

    from users.queries.phones import PhoneHealth


class PhoneUploads(TypedDict):
    """Batches that wait or failed, and records of all batches of 90 days."""

    waiting: int
    failed: int
    records: int
    refused: int


class PhoneGap(TypedDict):
    """A span of more than two days without an upload."""

    start: datetime
    end: datetime


class PhoneAnswer(TypedDict):
    """A phone of a user, its app, and how its uploads go."""

    id: UUID
    app: Annotated[str, PhoneApp]
    name: str | None
    app_version: str | None
    provider: str | None
    paired_at: datetime
    last_upload_at: datetime | None
    disconnected_at: datetime | None
    is_silent: bool
    uploads: PhoneUploads
    missing_types: list[str]
    gaps: list[PhoneGap]
    also_sent_by: list[Annotated[str, PhoneApp]]


class PhoneListView(UserAPIView):
    """Serve GET /v2/user/{user_id}/phone."""

    user_methods = ("GET",)

    @describe_api_operation(
        "list_phones",
        "List phones that send a user's data",
        answer=list[PhoneAnswer],
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str) -> Response:
        """Connected ones first, then those disconnected, the newest first.

        `missing_types` are types of records that the app could not read or found none
        of: a permission may be missing. `is_silent`: connected, and nothing came for
        two days. `gaps` are the last three of 30 days. `also_sent_by`: other apps on a
        connected phone that send the same source; what both send, such as steps,
        may count twice until one is disconnected.
        """
        user = self.get_user(user_id)
        phones = list_phone_health(user=user)
        self.record_read("phones", user.uuid)
        return Response([_build(each) for each in phones])


class PhoneView(UserAPIView):
    """Serve DELETE /v2/user/{user_id}/phone/{phone_id}; data received is kept."""

    user_methods = ("DELETE",)

    @describe_api_operation(
        "disconnect_phone",
        "Disconnect a phone; its data stays",
        answer=Success,
        refuses=(404,),
    )
    def delete(self, request: Request, user_id: str, phone_id: str) -> Response:
        """Its tokens end at once. 404 also for one that is disconnected already."""
        user = self.get_user(user_id)
        uuid = parse_path_uuid(phone_id, "phone_id")
        phone = find_phone(user=user, phone_id=str(uuid))
        if phone is None:
            raise NotFound("not_found", "Phone not found.")
        revoke_phone(phone=phone, actor=self.actor)
        return Response({"success": True})


def _build(health: PhoneHealth) -> PhoneAnswer:
    phone = health.phone
    return {
        "id": phone.uuid,
        "app": phone.app,
        "name": phone.name or None,
        "app_version": phone.app_version or None,
        "provider": phone.provider or None,
        "paired_at": phone.paired_at,
        "last_upload_at": phone.uploaded_at,
        "disconnected_at": phone.revoked_at,
        "is_silent": health.is_silent,
        "uploads": {
            "waiting": health.waiting,
            "failed": health.failed,
            "records": health.records,
            "refused": health.refused,
        },
        "missing_types": list(health.missing),
        "gaps": [{"start": start, "end": end} for start, end in health.gaps],
        "also_sent_by": list(health.also_by),
    }
