"""Archives of all data about one user: request, list and download them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.http import FileResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
)
from portal.lib.errors import DomainError, NotFound
from portal.lib.storage import open_stored_file
from portal.lib.web.views import page_url, redirect_browser, render_page
from users.models import UserExport
from users.models.user_export import EXPORT_RETENTION
from users.operations.users.export import request_user_export
from users.queries import live_user
from users.web.columns import EXPORTS

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.models import User

POLL_S = 3
SHOWN = 20


@require_http_methods(["GET", "POST"])
@require_right(Area.DELETE_USERS, write=True)
def show_user_exports(request: TenantRequest, user_id: str) -> HttpResponse:
    """List and request a user's archives; needs the right to delete users."""
    user = live_user(tenant=request.tenant, user_id=_uuid(user_id))
    if not is_identity_confirmed(request):  # only now: a stranger's user is a 404
        return redirect_to_identity_confirmation(request)
    if request.method == "POST":
        try:
            request_user_export(user=user, actor=request.actor)
        except NotFound:
            raise
        except DomainError as refusal:
            messages.error(request, refusal.message)
        return redirect_browser(
            request, page_url(request, "users:exports", user_id=user.uuid)
        )
    mine = UserExport.objects.for_tenant(request.tenant).filter(user=user)
    columns = read_list_columns(request, EXPORTS)
    listed = list(mine.order_by("-asked_at")[:SHOWN])
    return render_page(
        request,
        "users/exports.html",
        fragment="users/_exports.html",
        user=user,
        columns=columns,
        exports=columns.sort_rows(listed),
        poll_seconds=POLL_S if any(each.is_open for each in listed) else None,
        days=EXPORT_RETENTION.days,
        section="users",
    )


@require_GET
@require_right(Area.DELETE_USERS, write=True)
def download_user_export(
    request: TenantRequest, user_id: str, export_id: str
) -> HttpResponse | FileResponse:
    """Download an archive."""
    user = live_user(tenant=request.tenant, user_id=_uuid(user_id))
    found = _export(user, _uuid(export_id))
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    try:
        file = open_stored_file(found.stored_as)
    except FileNotFoundError:
        raise NotFound("not_found", _("Archive not found.")) from None
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="user_export",
        subject_id=found.pk,
        user_uuid=user.uuid,
    )
    return FileResponse(
        file,
        as_attachment=True,
        filename=f"user-{user.uuid}.zip",
        content_type="application/zip",
        headers={"Content-Length": str(found.size)},
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("not_found", _("User not found.")) from None


def _export(user: User, export_id: UUID) -> UserExport:
    rows = UserExport.objects.for_tenant(user.tenant).filter(user=user, pk=export_id)
    found: UserExport | None = rows.exclude(stored_as="").first()
    if found is None:
        raise NotFound("not_found", _("Archive not found."))
    return found
