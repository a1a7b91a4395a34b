"""Search of users in the command palette, by either ID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.declarations.pages import Hit
from portal.lib.ids import is_complete_uuid
from portal.lib.web.views import page_url
from users.queries import find_users_by_id_prefix

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest

HITS = 6


def search_users_for_palette(request: TenantRequest, text: str) -> list[Hit]:
    """Return users whose client_user_id or user_id starts with `text`."""
    page = find_users_by_id_prefix(tenant=request.tenant, text=text, limit=HITS)
    return [
        Hit(
            words=user.client_user_id,
            url=page_url(request, "users:page", user_id=user.uuid),
            detail=_sources(len(page.sources[user.id])),
            is_exact=text == user.client_user_id or is_complete_uuid(text, user.uuid),
        )
        for user in page.users
    ]


def _sources(number: int) -> str:
    if not number:
        return _("No sources")
    return ngettext("%(number)d source", "%(number)d sources", number) % {
        "number": number
    }
