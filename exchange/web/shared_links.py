"""Shared links on a user's page: list, make and revoke them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.dialogs import read_posted, render_confirmation
from accounts.web.rights import require_right
from exchange.operations.sharing.links import (
    LINK_ACTOR,
    create_shared_link,
    revoke_shared_link,
)
from exchange.queries.shareable import list_shareable_reports
from exchange.queries.shared_links import list_shared_links
from exchange.web.columns import SHARED_LINKS
from exchange.web.forms import ShareForm
from portal.lib.errors import DomainError, NotFound
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.qr import draw_qr_code
from users.queries import live_user

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.models import User


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS)
@require_right(Area.ORDERS)
@require_right(Area.PATIENT_DETAILS)
@require_right(Area.REPORTS, write=True)
def show_shared_links(request: TenantRequest, user_id: str) -> HttpResponse:
    """List a user's links; on POST make one, and show it this once."""
    user = _user(request, user_id)
    listed = list_shareable_reports(tenant=request.tenant, user_uuid=user.uuid)
    form = ShareForm(listed, read_posted(request))
    made = None
    if request.method == "POST" and form.is_valid():
        try:
            made = create_shared_link(
                user=user, actor=request.actor, request=form.build_request()
            )
        except NotFound:
            raise
        except DomainError as refusal:
            form.add_error(
                refusal.field if refusal.field in form.fields else None, refusal.message
            )
        else:
            form = ShareForm(listed)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=LINK_ACTOR,
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    columns = read_list_columns(request, SHARED_LINKS)
    response = render_page(
        request,
        "exchange/shared_links.html",
        status=422 if form.errors else 200,
        user=user,
        form=form,
        has_reports=bool(listed),
        columns=columns,
        links=columns.sort_rows(list_shared_links(user)),
        made=made,
        qr=draw_qr_code(made.url) if made else "",
        section="users",
    )
    add_never_cache_headers(response)
    return response


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS)
@require_right(Area.ORDERS)
@require_right(Area.PATIENT_DETAILS)
@require_right(Area.REPORTS, write=True)
def revoke_users_shared_link(
    request: TenantRequest, user_id: str, shared_link_id: str
) -> HttpResponse:
    """Confirm, then end a link at once."""
    user = _user(request, user_id)
    link_id = _parse(shared_link_id)
    back = page_url(request, "exchange:shared_links", user_id=user.uuid)
    if all(link.pk != link_id for link in list_shared_links(user)):
        raise Http404
    if request.method == "POST":
        try:
            revoke_shared_link(user=user, actor=request.actor, link_id=link_id)
        except NotFound:
            raise
        except DomainError as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, _("Link revoked."))
        return redirect_browser(request, back)
    return render_confirmation(
        request,
        title=_("Revoke this link?"),
        says=_("It stops working at once. What was read already can't be taken back."),
        verb=_("Revoke link"),
        keep=_("Keep link"),
        back=back,
        back_words=_("Shared links"),
    )


def _user(request: TenantRequest, user_id: str) -> User:
    return live_user(tenant=request.tenant, user_id=_parse(user_id))


def _parse(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
