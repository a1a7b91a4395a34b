"""Search of users in the command palette, by either ID."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.declarations.pages import Hit
from portal.lib.ids import is_complete_uuid
from portal.lib.web.views import page_url
from users.queries import find_users_by_part_of_id, list_users_by_uuid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.web.requests import TenantRequest
    from users.queries import UserRow

HITS = 6


def search_users_for_palette(request: TenantRequest, text: str) -> list[Hit]:
    """Return users with `text` in their client_user_id or user_id."""
    page = find_users_by_part_of_id(tenant=request.tenant, text=text, limit=HITS)
    return [
        _build_hit(
            request,
            user,
            detail=_sources(len(page.sources[user.id])),
            is_exact=text == user.client_user_id or is_complete_uuid(text, user.uuid),
        )
        for user in page.users
    ]


def reopen_users(request: TenantRequest, uuids: Sequence[UUID]) -> list[Hit]:
    """Return those of these users that are live."""
    users = list_users_by_uuid(tenant=request.tenant, uuids=uuids)
    return [_build_hit(request, user) for user in users]


def _build_hit(request: TenantRequest, user: UserRow, **more: Any) -> Hit:
    return Hit(
        words=user.client_user_id,
        url=page_url(request, "users:page", user_id=user.uuid),
        record=str(user.uuid),
        **more,
    )


def _sources(number: int) -> str:
    if not number:
        return _("No sources")
    return ngettext("%(number)d source", "%(number)d sources", number) % {
        "number": number
    }
