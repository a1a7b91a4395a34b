"""The page of one API key: its rules, statistics and call log."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.queries.api_calls import (
    COUNTED_UP_TO,
    StatusClass,
    count_api_calls_by_day,
    count_matching_api_calls,
    list_api_calls_of_key,
    summarize_recent_api_calls,
)
from accounts.states import SCOPES, Area
from accounts.web.api_keys.forms import METHODS, PERIOD_WORDS, CallQuery
from accounts.web.api_keys.views import build_api_key_row, get_api_key_or_404
from accounts.web.rights import require_right
from portal.lib.web.views import is_page_fragment_requested, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.models import ApiKey
    from accounts.web.requests import TenantRequest

PAGE_SIZE = 50


@require_GET
@require_right(Area.API_KEYS)
def show_api_key_page(request: TenantRequest, api_key_id: str) -> HttpResponse:
    key = get_api_key_or_404(request, api_key_id)
    call_query = CallQuery.read(request.GET)
    page = list_api_calls_of_key(
        key=key,
        filters=call_query.filters,
        before=_read_cursor(request.GET.get("before", "")),
        limit=PAGE_SIZE,
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="api_call_list",
        subject_id=key.pk,
    )
    log: dict[str, Any] = {
        "key": key,
        "asked": call_query,
        "calls": page.calls,
        "after": _write_cursor(page.after),
    }
    if is_page_fragment_requested(request) and "before" in request.GET:
        return render_page(request, "accounts/_older_calls.html", **log)
    log |= {
        "total": count_matching_api_calls(key=key, filters=call_query.filters),
        "counted_up_to": COUNTED_UP_TO,
        "answers": StatusClass.offered(),
        "methods": METHODS,
        "periods": list(PERIOD_WORDS.items()),
        "kept_days": settings.API_CALL_LOG_DAYS,
    }
    if is_page_fragment_requested(request):
        return render_page(request, "accounts/_calls.html", **log)
    now = timezone.now()
    counts = count_api_calls_by_day(tenant=request.tenant, keys=[key.pk], at=now)
    return render_page(
        request,
        "accounts/api_key.html",
        row=build_api_key_row(key, now, counts.get(key.pk, ())),
        sums=summarize_recent_api_calls(key=key, at=now),
        scopes=describe_api_key_scopes(key),
        default_limit=settings.API_CALLS_PER_KEY,
        may_write=request.rights.allow(Area.API_KEYS, write=True),
        section="api_keys",
        **log,
    )


def describe_api_key_scopes(key: ApiKey) -> list[tuple[str, str]]:
    """Return a key's areas, each with its access; empty for full access."""
    found: dict[str, str] = {}
    for scope in key.scopes or ():
        area, access = SCOPES[scope]
        # Writing, which comes after reading, includes it.
        found[str(area.label)] = _("read") if access == "read" else _("read and write")
        if area == Area.DELETE_USERS:
            found[str(area.label)] = _("allowed")
    return list(found.items())


def _write_cursor(after: tuple[datetime, int] | None) -> str:
    return f"{after[0].timestamp():.6f}-{after[1]}" if after else ""


def _read_cursor(text: str) -> tuple[datetime, int] | None:
    at, _, key = text.partition("-")
    try:
        return datetime.fromtimestamp(float(at), timezone.get_current_timezone()), int(
            key
        )
    except (ValueError, OverflowError, OSError):
        return None
