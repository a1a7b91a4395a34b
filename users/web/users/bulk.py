"""Actions on several users of the list: refresh their sources, create archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.bulk import BulkAction, BulkRow, read_chosen_ids, serve_bulk_action
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
)
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url
from users.models import User
from users.operations.pulling.refresh import refresh_all_user_sources
from users.operations.users.export import request_user_export

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


def _may_export(request: TenantRequest) -> bool:
    return request.rights.allow(Area.DELETE_USERS, write=True)


def _refresh(request: TenantRequest, user: User) -> None:
    refresh_all_user_sources(user=user, actor=request.actor)


def _export(request: TenantRequest, user: User) -> None:
    request_user_export(user=user, actor=request.actor)


USER_ACTIONS = {
    action.key: action
    for action in (
        BulkAction(
            key="refresh",
            title=gettext_lazy("Refresh sources"),
            verb=gettext_lazy("Refresh sources"),
            says=gettext_lazy(
                "Each connected source that can be asked is asked for new data. Sources"
                " that send by themselves, and paused ones, are left as they are."
            ),
            undo=gettext_lazy("Data that arrives stays."),
            run=_refresh,
        ),
        BulkAction(
            key="export",
            title=gettext_lazy("Create archives"),
            verb=gettext_lazy("Create archives"),
            says=gettext_lazy(
                "An archive of all data is created for each user. Download it on the"
                " user's page, under Export."
            ),
            undo=gettext_lazy("An archive is deleted by itself when it expires."),
            run=_export,
            allows=_may_export,
        ),
    )
}


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS, write=True)
def act_on_users(request: TenantRequest) -> HttpResponse:
    """Plan an action on the chosen users, or carry it out."""
    sent = request.POST if request.method == "POST" else request.GET
    if (
        sent.get("action") == "export"
        and _may_export(request)
        and not is_identity_confirmed(request)
    ):
        return redirect_to_identity_confirmation(request)
    chosen = User.objects.for_tenant(request.tenant).live()
    users = list(
        chosen.filter(uuid__in=read_chosen_ids(sent.getlist("user"))).order_by(
            "client_user_id", "pk"
        )
    )
    for user in users:
        user.tenant = request.tenant
    if request.method == "GET":
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="user_list",
            subject_id=f"selected={len(users)}",
        )
    return serve_bulk_action(
        request,
        actions=USER_ACTIONS,
        rows=[
            BulkRow(
                user,
                user.client_user_id,
                str(user.uuid),
                page_url(request, "users:page", user_id=user.uuid),
                key=str(user.uuid),
            )
            for user in users
        ],
        field="user",
        back=page_url(request, "users:list"),
        back_words=_("Users"),
        section="users",
    )
