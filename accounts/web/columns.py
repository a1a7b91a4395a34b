"""The columns of lists: those a member sees, and the form to choose them.

A list adopts them with its ListColumns among `lists` of its app's pages, with
`read_list_columns` in its view, and with components/columns.html and
components/columns_head.html in its page. Its filters are a FilterBar
(portal.ui.filters) that `{% filter_bar %}` draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import Http404
from django.views.decorators.http import require_POST

from accounts.declarations.pages import find_list_columns
from accounts.operations.members.columns import set_shown_columns
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from portal.ui.columns import ListColumns, ShownColumns


def read_list_columns(request: TenantRequest, declared: ListColumns) -> ShownColumns:
    """Return a list's columns as the member chose them, sorted as the request asks."""
    changed = request.member.changed_columns.get(declared.key, ())
    return declared.read(request.GET.get("sort", ""), changed)


@require_POST
def choose_list_columns(request: TenantRequest) -> HttpResponse:
    """Keep the posted columns of a list and return to it; `usual` shows the usual.

    404 for a list that has none to choose.
    """
    declared = find_list_columns(request.POST.get("list", ""))
    if declared is None:
        raise Http404
    usual = [column.key for column in declared.columns if not column.is_extra]
    set_shown_columns(
        member=request.member,
        declared=declared,
        shown=usual if "usual" in request.POST else request.POST.getlist("column"),
    )
    home = page_url(request, "home")
    back = request.POST.get("back", "")
    # Only a page of this team and environment: a form of another site leads nowhere.
    return redirect_browser(request, back if back.startswith(home) else home)
