"""Mark results as reviewed, from a user's results or an order's."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts.states import Area
from accounts.web.rights import require_right
from labs.operations.results.reviews import SeenResults, mark_results_reviewed
from labs.web.results.user_page import render_user_results
from portal.lib.web.views import Toast, page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


@require_POST
@require_right(Area.ORDERS)
@require_right(Area.SIGN_REPORTS, write=True)
def review_results(request: TenantRequest) -> HttpResponse:
    """Mark what was `seen` (order:version, several) as reviewed, and go back.

    `user` is the user whose results are shown next, by the filters of the query string
    and to htmx without the rest of the page; without it those of the order.
    """
    seen = [_parse_seen(text) for text in request.POST.getlist("seen")]
    if not seen:
        raise Http404
    user = request.POST.get("user")
    user_id = _parse_uuid(user) if user else None
    marked, outdated = mark_results_reviewed(
        tenant=request.tenant,
        actor=request.actor,
        seen=seen,
        name=request.member.name or request.member.email,
    )
    if user_id and request.htmx and request.rights.allow(Area.USERS):
        response = render_user_results(request, str(user_id))
        if outdated:
            return Toast(_describe_outdated(outdated), kind="bad").on(response)
        return Toast(_describe_marked(marked)).on(response) if marked else response
    if marked:
        messages.success(request, _describe_marked(marked))
    if outdated:
        messages.warning(request, _describe_outdated(outdated))
    if user_id:
        url = page_url(request, "labs:user_results", user_id=user_id)
        query = request.GET.urlencode()
        return redirect_browser(request, f"{url}?{query}" if query else url)
    url = page_url(request, "labs:results", order_id=seen[0].order_id)
    return redirect_browser(request, url)


def _describe_marked(number: int) -> str:
    return ngettext(
        "Results of %(number)d order marked as reviewed.",
        "Results of %(number)d orders marked as reviewed.",
        number,
    ) % {"number": number}


def _describe_outdated(number: int) -> str:
    return ngettext(
        "The lab sent newer results of %(number)d order. Review them first.",
        "The lab sent newer results of %(number)d orders. Review them first.",
        number,
    ) % {"number": number}


def _parse_seen(text: str) -> SeenResults:
    order_id, _colon, number = text.partition(":")
    # A version has no more digits than PostgreSQL's integer takes.
    if not (number.isascii() and number.isdecimal() and len(number) < 9):
        raise Http404
    return SeenResults(_parse_uuid(order_id), int(number))


def _parse_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
