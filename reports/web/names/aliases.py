"""Pages of a team's LOINC mappings: list, approve, decline, remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotFound
from portal.lib.web.views import page_url, redirect_browser, render_page
from reports.operations.loinc_aliases import approve_loinc_alias, end_loinc_alias
from reports.queries import list_loinc_aliases
from reports.states import AliasStatus
from reports.web.columns import LOINC_ALIASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import LoincAlias

_ENDED_SHOWN = 25


@require_GET
@require_right(Area.SIGN_REPORTS)
def show_loinc_aliases(request: TenantRequest) -> HttpResponse:
    """Show all mappings, the pending ones first."""
    found = list_loinc_aliases(tenant=request.tenant)
    by_status = {
        status: [one for one in found if one.status == status] for status in AliasStatus
    }
    columns = read_list_columns(request, LOINC_ALIASES)
    return render_page(
        request,
        "reports/signing/aliases.html",
        section="reports",
        proposed=by_status[AliasStatus.PROPOSED],
        columns=columns,
        live=columns.sort_rows(by_status[AliasStatus.LIVE]),
        ended=by_status[AliasStatus.ENDED][:_ENDED_SHOWN],
        me=request.actor.key,
        may_write=request.rights.allow(Area.SIGN_REPORTS, write=True),
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def approve_proposed_loinc_alias(request: TenantRequest, alias_id: int) -> HttpResponse:
    """Approve a colleague's mapping."""
    return _run_action(
        request,
        alias_id,
        approve_loinc_alias,
        _("Mapping approved. New reports use it."),
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def decline_or_remove_loinc_alias(
    request: TenantRequest, alias_id: int
) -> HttpResponse:
    """Decline a proposed mapping, or remove an active one."""
    return _run_action(
        request,
        alias_id,
        end_loinc_alias,
        _("Mapping removed. New reports do not use it."),
    )


def _run_action(
    request: TenantRequest,
    alias_id: int,
    act: Callable[..., LoincAlias],
    done: str,
) -> HttpResponse:
    try:
        act(tenant=request.tenant, actor=request.actor, alias_id=alias_id)
    except NotFound:
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, done)
    return redirect_browser(request, page_url(request, "reports:aliases"))
