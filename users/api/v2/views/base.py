"""What the user endpoints share: finding the user of the path, and one refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.response import Response

from accounts.operations.audit import record_read
from portal.lib.api.fields import read_uuid
from portal.lib.api.views import TenantAPIView, get_or_404
from users.api.v2.outputs import taken_answer
from users.models import User
from users.operations.users import ClientUserIdTaken

if TYPE_CHECKING:
    from uuid import UUID


class UserAPIView(TenantAPIView):
    """Base of views below /v2/user."""

    def get_user(self, user_id: str) -> User:
        """The live user of the path. Raises: 422 at the path; not_found."""
        user: User = get_or_404(
            User.objects.for_tenant(self.tenant).live(),
            what="User",
            uuid=read_uuid(user_id, "user_id"),
        )
        user.tenant = self.tenant
        return user

    def record_read(self, subject: str, user_uuid: UUID) -> None:
        """Audit that a user's data was read through the API."""
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject=subject,
            subject_id=user_uuid,
            user_uuid=user_uuid,
        )

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ClientUserIdTaken):
            return Response(taken_answer(exc), 400)
        answer: Any = super().handle_exception(exc)
        return answer  # type: ignore[no-any-return]  # DRF's is untyped
