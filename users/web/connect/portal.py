"""Extras of a portal link: lab tests, and disconnecting sources."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.http import Http404, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.declarations.hooks import list_app_hooks
from accounts.operations.audit.entries import record_read
from accounts.queries.branding import find_team_branding
from portal.lib.errors import NotFound
from users.operations.connect.linking import (
    disconnect_source_from_portal,
    list_connect_page_sources,
)
from users.wearables.providers import PROVIDERS, find_provider
from users.web.connect.entry import get_link_holder_actor, require_connect_link_cookie

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.declarations.hooks import PersonTest
    from users.models import LinkSession
    from users.operations.connect.linking import OfferedSource


def list_portal_lab_tests(
    request: HttpRequest, session: LinkSession
) -> list[PersonTest]:
    """Return the lab tests of a portal link, none for other links; audited."""
    if not session.opens_portal:
        return []
    found = [
        each
        for app in list_app_hooks()
        for list_tests in app.person_tests
        for each in list_tests(session.tenant, session.user.uuid, session.order_id)
    ]
    if found:
        record_read(
            tenant=session.tenant,
            actor=get_link_holder_actor(request),
            subject="orders",
            subject_id=session.user.uuid,
            user_uuid=session.user.uuid,
        )
    return found


def find_disconnected_source_name(
    request: HttpRequest, session: LinkSession, sources: list[OfferedSource]
) -> str:
    """Return the name of the source just disconnected, or empty."""
    slug = request.GET.get("disconnected", "")
    live = {each.provider.slug for each in sources if each.connection}
    if not session.opens_portal or slug in live or slug not in PROVIDERS:
        return ""
    return find_provider(slug).name


@require_http_methods(["GET", "HEAD", "POST"])
@require_connect_link_cookie
def confirm_and_disconnect_portal_source(
    request: HttpRequest, session: LinkSession, provider: str
) -> HttpResponse:
    """Serve GET and POST …/{provider}/disconnect/: confirm and disconnect."""
    source = next(
        (
            each
            for each in list_connect_page_sources(session)
            if each.provider.slug == provider and each.connection
        ),
        None,
    )
    if source is None or not session.opens_portal:
        raise Http404
    if request.method == "POST":
        try:
            disconnect_source_from_portal(
                session=session, actor=get_link_holder_actor(request), provider=provider
            )
        except NotFound:
            raise Http404 from None
        address = reverse("connect:page", args=[session.uuid])
        query = urlencode({"disconnected": provider})
        return HttpResponseRedirect(f"{address}?{query}")
    return render(
        request,
        "connect/disconnect.html",
        {
            "session": session,
            "brand": find_team_branding(session.tenant),
            "source": source,
        },
    )
