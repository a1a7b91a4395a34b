"""Phones of a user: disconnect one."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import NotFound
from portal.lib.web.views import page_url, redirect_browser
from users.operations.phones.tokens import revoke_phone
from users.queries import live_user
from users.queries.phones import find_phone

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


@require_POST
@require_right(Area.USERS, write=True)
def disconnect_user_phone(
    request: TenantRequest, user_id: str, phone_id: str
) -> HttpResponse:
    """Serve POST …/users/{user_id}/phones/{phone_id}/disconnect/."""
    try:
        user = live_user(tenant=request.tenant, user_id=UUID(user_id))
        phone = find_phone(user=user, phone_id=phone_id)
        if phone is None:
            raise Http404
        revoke_phone(phone=phone, actor=request.actor)
    except (NotFound, ValueError):
        raise Http404 from None
    messages.success(request, _("Phone disconnected. Its data is kept."))
    return redirect_browser(request, page_url(request, "users:page", user_id=user.uuid))
