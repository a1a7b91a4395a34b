"""Deletion of a user, and restoring of deleted users."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
)

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.dialogs import render_confirmation
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
)
from portal.lib.database.sorting import sort_as_asked
from portal.lib.errors import DomainError, NotFound
from portal.lib.web.views import (
    Pager,
    page_url,
    parse_list_offset,
    redirect_browser,
    render_page,
)
from users.models.user import UNDO_GRACE
from users.operations.users.users import delete_user, undo_delete_user
from users.queries import live_user
from users.queries.users.users import deleted_users
from users.web.columns import DELETED_USERS

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest

PAGE_SIZE = 50


@require_http_methods(["GET", "POST"])
@require_right(Area.DELETE_USERS, write=True)
def confirm_user_deletion(request: TenantRequest, user_id: str) -> HttpResponse:
    """Confirm by typing the ID, and delete the user."""
    user = live_user(tenant=request.tenant, user_id=_uuid(user_id))
    if not is_identity_confirmed(request):  # only now: a stranger's user is a 404
        return redirect_to_identity_confirmation(request)
    error = ""
    if request.method == "POST":
        if request.POST.get("typed_name", "").strip() == user.client_user_id:
            delete_user(user=user, actor=request.actor)
            messages.success(
                request, _("%(name)s deleted.") % {"name": user.client_user_id}
            )
            return redirect_browser(request, page_url(request, "users:deleted"))
        error = _("The ID does not match. The user was not deleted.")
    return render_confirmation(
        request,
        title=_("Delete %(name)s?") % {"name": user.client_user_id},
        says=_(
            "The user is hidden, their sources are disconnected and their upcoming"
            " visits are cancelled at once. You can"
            " restore the user for %(days)d days. After that, their samples, summaries,"
            " orders, results, reports and files are erased permanently."
        )
        % {"days": UNDO_GRACE.days},
        verb=_("Delete user"),
        keep=_("Keep user"),
        back=page_url(request, "users:page", user_id=user.uuid),
        back_words=user.client_user_id,
        match=user.client_user_id,
        match_label=_("Client user ID"),
        error=error,
    )


@require_GET
@require_right(Area.DELETE_USERS, write=True)
def show_deleted_users(request: TenantRequest) -> HttpResponse:
    """List deleted users that are not erased yet, latest first."""
    users = deleted_users(tenant=request.tenant)
    columns = read_list_columns(request, DELETED_USERS)
    listed = sort_as_asked(
        users, order_by=columns.order_asked, newest=("-deleted_at", "-id")
    )
    offset = parse_list_offset(request)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="user_list",
        subject_id=f"deleted offset={offset}",
    )
    return render_page(
        request,
        "users/deleted.html",
        columns=columns,
        users=listed[offset : offset + PAGE_SIZE],
        pager=Pager(users.count(), offset, PAGE_SIZE),
        days=UNDO_GRACE.days,
        section="users",
    )


@require_POST
@require_right(Area.DELETE_USERS, write=True)
def undo_user_deletion(request: TenantRequest, user_id: str) -> HttpResponse:
    """Restore a deleted user; the sources stay disconnected."""
    try:
        user = undo_delete_user(
            tenant=request.tenant, actor=request.actor, user_uuid=_uuid(user_id)
        )
    except NotFound:
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
        return redirect_browser(request, page_url(request, "users:deleted"))
    messages.success(
        request,
        _("%(name)s restored. Connect their sources again.")
        % {"name": user.client_user_id},
    )
    return redirect_browser(request, page_url(request, "users:page", user_id=user.uuid))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("not_found", _("User not found.")) from None
