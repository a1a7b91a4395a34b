"""The page of assistants: their switch, and what each of them read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.audit.entries import record_read
from accounts.operations.teams.teams import change_team_settings
from accounts.queries import list_api_keys
from accounts.queries.assistant_calls import list_assistant_calls
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.list_columns import ASSISTANT_CALLS
from accounts.web.rights import require_right
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.utils.functional import _StrPromise

    from accounts.models import ApiKey, AssistantCall
    from accounts.web.requests import TenantRequest

_SECTION = "assistants"
_SHOWN = 200
# By tool, what it did.
_WORDS: dict[str, _StrPromise | str] = {
    "find_user": gettext_lazy("Looked for a user"),
    "read_summaries": gettext_lazy("Read daily summaries"),
    "sum_resource": gettext_lazy("Summed measurements"),
    "read_lab_results": gettext_lazy("Read lab results"),
    "read_order": gettext_lazy("Read an order and its next step"),
    "read_report": gettext_lazy("Read a lab report"),
    "find_missing_data": gettext_lazy("Looked for missing data"),
}
_REFUSALS = {
    "not_found": gettext_lazy("Not found"),
    "scope_missing": gettext_lazy("The key lacks the scope for this data"),
    "rate_limited": gettext_lazy("Over the key's limit"),
}


@dataclass(frozen=True, slots=True)
class AssistantCallRow:
    """A call of an assistant in words; `key` is None for one that was deleted."""

    call: AssistantCall
    words: str
    key: ApiKey | None
    refusal: str


@require_GET
@require_right(Area.ASSISTANT)
def show_assistants(request: TenantRequest) -> HttpResponse:
    """Show the switch and the newest calls, of a key or about a user if asked."""
    keys = {key.pk: key for key in list_api_keys(request.tenant)}
    key_id, user_uuid = (_read_id(request.GET.get(each)) for each in ("key", "user"))
    calls = list_assistant_calls(
        tenant=request.tenant, key_id=key_id, user_uuid=user_uuid, limit=_SHOWN
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="assistant_call_list",
        subject_id=f"calls={len(calls)}",
        user_uuid=user_uuid,
    )
    columns = read_list_columns(request, ASSISTANT_CALLS)
    return render_page(
        request,
        "accounts/assistants.html",
        section=_SECTION,
        columns=columns,
        rows=columns.sort_rows(
            AssistantCallRow(
                call,
                str(_WORDS.get(call.tool, call.tool)),
                keys.get(call.api_key_id),
                str(_REFUSALS.get(call.refusal, call.refusal)),
            )
            for call in calls
        ),
        shown=_SHOWN,
        is_filtered=bool(key_id or user_uuid),
        address=f"{settings.PUBLIC_URL}/mcp",
    )


@require_POST
@require_right(Area.ASSISTANT, write=True)
def switch_assistants(request: TenantRequest) -> HttpResponse:
    """Turn assistants on or off for this environment."""
    is_on = request.POST.get("is_on") == "on"
    change_team_settings(
        tenant=request.tenant,
        actor=request.actor,
        settings={"assistants_enabled": is_on},
    )
    messages.success(
        request,
        _("Assistants are on for keys with the scope assistant:read.")
        if is_on
        else _("Assistants are off."),
    )
    return redirect_browser(request, page_url(request, "team:assistants"))


def _read_id(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None
