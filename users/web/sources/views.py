"""A source of a user: status, data and timeline; pause, resume, disconnect."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import render_confirmation
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotFound, TooMany
from portal.lib.web.views import page_url, redirect_browser, render_page
from users.operations.pulling.refresh import refresh_all_user_sources
from users.operations.sources.pausing import pause_source, resume_source
from users.operations.sources.sources import disconnect_source
from users.queries import live_user
from users.queries.data.introspection import get_source_overview
from users.wearables.providers import find_provider
from users.web.sources.rows import build_connection_timeline, build_source_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.models import User


@require_GET
@require_right(Area.USERS)
def show_source(request: TenantRequest, user_id: str, provider: str) -> HttpResponse:
    user = _user(request, user_id)
    overview = get_source_overview(user=user, provider=provider)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="source",
        subject_id=provider,
        user_uuid=user.uuid,
    )
    latest, *former = overview.connections
    return render_page(
        request,
        "users/source.html",
        user=user,
        source=build_source_row(latest[0]),
        is_live=latest[0].disconnected_at is None,
        timeline=build_connection_timeline(latest[1]),
        former=[(each, build_connection_timeline(lines)) for each, lines in former],
        supplies=overview.supplies,
        devices=overview.devices,
        running=overview.running,
        grant=overview.grant,
    )


@require_POST
@require_right(Area.USERS, write=True)
def pause_user_source(
    request: TenantRequest, user_id: str, provider: str
) -> HttpResponse:
    user = _user(request, user_id)
    pause_source(user=user, actor=request.actor, provider=provider)
    name = find_provider(provider).name
    messages.success(
        request, _("%(source)s paused. No data is fetched from it.") % {"source": name}
    )
    return redirect_browser(request, _address(request, user, provider))


@require_POST
@require_right(Area.USERS, write=True)
def resume_user_source(
    request: TenantRequest, user_id: str, provider: str
) -> HttpResponse:
    user = _user(request, user_id)
    try:
        resume_source(user=user, actor=request.actor, provider=provider)
    except NotFound:
        raise
    except DomainError as refusal:
        messages.error(
            request, _("%(reason)s Nothing was changed.") % {"reason": refusal.message}
        )
    else:
        name = find_provider(provider).name
        messages.success(request, _("%(source)s resumed.") % {"source": name})
    return redirect_browser(request, _address(request, user, provider))


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS, write=True)
def disconnect_user_source(
    request: TenantRequest, user_id: str, provider: str
) -> HttpResponse:
    user = _user(request, user_id)
    name = find_provider(provider).name
    if request.method == "POST":
        disconnect_source(user=user, actor=request.actor, provider=provider)
        messages.success(
            request, _("%(source)s disconnected. Its data is kept.") % {"source": name}
        )
        return redirect_browser(
            request, page_url(request, "users:page", user_id=user.uuid)
        )
    overview = get_source_overview(user=user, provider=provider)
    if overview.connections[0][0].disconnected_at is not None:
        raise Http404
    return render_confirmation(
        request,
        title=_("Disconnect %(source)s?") % {"source": name},
        says=_(
            "No more data is fetched from it. Data received so far is kept. The user"
            " can connect it again with a link. A source that pushes data reconnects"
            " when it sends data."
        ),
        verb=_("Disconnect source"),
        keep=_("Keep connected"),
        back=_address(request, user, provider),
        back_words=name,
    )


@require_POST
@require_right(Area.USERS, write=True)
def refresh_user_sources(request: TenantRequest, user_id: str) -> HttpResponse:
    """Refresh all sources of a user and report the result."""
    user = _user(request, user_id)
    try:
        started = refresh_all_user_sources(user=user, actor=request.actor)
    except TooMany as refusal:
        minutes = math.ceil(refusal.wait.total_seconds() / 60)
        messages.error(
            request,
            _("%(reason)s Try again in %(minutes)d min.")
            % {"reason": refusal.message, "minutes": minutes},
        )
    else:
        outcomes = (
            (started.refreshed, _("%(sources)s: up to date.")),
            (started.running, _("%(sources)s: refreshing. New data appears soon.")),
            (started.failed, _("%(sources)s: failed. See the reason below.")),
        )
        parts = [text % {"sources": _names(slugs)} for slugs, text in outcomes if slugs]
        if started.failed:
            messages.warning(request, " ".join(parts))
        elif parts:
            messages.success(request, " ".join(parts))
        else:
            messages.info(
                request, _("Nothing to refresh: these sources push their data.")
            )
    return redirect_browser(request, page_url(request, "users:page", user_id=user.uuid))


def _names(slugs: Iterable[str]) -> str:
    return ", ".join(find_provider(slug).name for slug in slugs)


def _user(request: TenantRequest, user_id: str) -> User:
    try:
        return live_user(tenant=request.tenant, user_id=UUID(user_id))
    except ValueError:
        raise Http404 from None


def _address(request: TenantRequest, user: User, provider: str) -> str:
    return page_url(request, "users:source", user_id=user.uuid, provider=provider)
