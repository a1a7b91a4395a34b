"""The API log: the calls of all keys of an environment, and one of them opened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.queries import list_api_keys
from accounts.queries.api_calls import (
    COUNTED_UP_TO,
    DRAWN_HOURS,
    StatusClass,
    count_api_calls_by_hour,
    count_matching_api_calls,
    find_api_call,
    list_api_calls,
    summarize_recent_api_calls,
)
from accounts.states import Area
from accounts.web.api_keys.call_details import build_api_call_details
from accounts.web.api_keys.call_filters import (
    METHODS,
    PERIOD_WORDS,
    SLOWER_WORDS,
    USUAL_PERIOD,
    CallQuery,
)
from accounts.web.columns import read_list_columns
from accounts.web.list_columns import CALLS
from accounts.web.requests import Rights
from accounts.web.rights import require_right
from portal.lib.database.sorting import SORTED_UP_TO
from portal.lib.web.views import (
    is_page_fragment_requested,
    parse_list_offset,
    render_page,
)
from portal.ui.charts import draw_hourly_delivery_outcomes
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

    from django.http import HttpResponse

    from accounts.models import ApiCall, ApiKey
    from accounts.queries.api_calls import HourOfCalls
    from accounts.web.requests import TenantRequest

PAGE_SIZE = 50
_LARGEST_ID = 2**63 - 1  # of a bigint


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call with its key, and whether it is the opened one."""

    call: ApiCall
    key: ApiKey | None
    is_open: bool


@require_GET
@require_right(Area.API_KEYS)
def show_api_log(request: TenantRequest) -> HttpResponse:
    """Show calls by filter; `open` is the id of the one shown whole."""
    call_query = CallQuery.read(request.GET)
    columns = read_list_columns(request, CALLS)
    keys = {key.pk: key for key in list_api_keys(request.tenant)}
    page = list_api_calls(
        tenant=request.tenant,
        filters=call_query.filters,
        before=_read_cursor(request.GET.get("before", "")),
        limit=PAGE_SIZE,
        order_by=columns.order_asked,
        offset=parse_list_offset(request),
    )
    opened = _find_opened(request)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="api_call_list",
        subject_id=call_query.key or f"calls={len(page.calls)}",
        user_uuid=opened.user_uuid if opened else None,
    )
    log: dict[str, Any] = {
        "rows": list(_build_rows(page.calls, keys, opened)),
        "after": _write_cursor(page.after),
        "next_offset": page.next_offset,
        "columns": columns,
        "asked": call_query,
    }
    if is_page_fragment_requested(request) and "before" in request.GET:
        return render_page(request, "accounts/_older_calls.html", **log)
    total = count_matching_api_calls(tenant=request.tenant, filters=call_query.filters)
    now = timezone.now()
    key_ids = [call_query.key] if call_query.key else list(keys)
    hours = count_api_calls_by_hour(tenant=request.tenant, keys=key_ids, at=now)
    number = sum(hour.fine + hour.refused + hour.faults for hour in hours)
    errors = sum(hour.refused + hour.faults for hour in hours)
    return render_page(
        request,
        "accounts/api_log.html",
        opened=build_api_call_details(opened, keys.get(opened.api_key_id))
        if opened
        else None,
        newer=_find_neighbour(page.calls, opened, -1),
        older=_find_neighbour(page.calls, opened, 1),
        total=total,
        is_sort_cut=columns.is_partial and total > SORTED_UP_TO,
        counted_up_to=COUNTED_UP_TO,
        sums=summarize_recent_api_calls(
            tenant=request.tenant, key_id=call_query.key, at=now
        ),
        number=number,
        error_share=errors / number if number else None,
        bars=_draw_hours(hours),
        bars_from=now - timedelta(hours=DRAWN_HOURS),
        environments=list(_list_environments(request, call_query)),
        keys=list(keys.values()),
        key=keys.get(call_query.key) if call_query.key else None,
        answers=StatusClass.offered(),
        methods=METHODS,
        periods=list(PERIOD_WORDS.items()),
        slower=list(SLOWER_WORDS.items()),
        usual=PERIOD_WORDS[USUAL_PERIOD],
        kept_days=settings.API_CALL_LOG_DAYS,
        public_url=settings.PUBLIC_URL,
        section="api_log",
        **log,
    )


def _find_opened(request: TenantRequest) -> ApiCall | None:
    text = request.GET.get("open", "")
    if not (text.isascii() and text.isdecimal()) or int(text) > _LARGEST_ID:
        return None
    return find_api_call(tenant=request.tenant, pk=int(text))


def _build_rows(
    calls: Sequence[ApiCall], keys: Mapping[UUID, ApiKey], opened: ApiCall | None
) -> Iterator[CallRow]:
    for call in calls:
        yield CallRow(call, keys.get(call.api_key_id), call == opened)


def _find_neighbour(
    calls: Sequence[ApiCall], opened: ApiCall | None, step: int
) -> ApiCall | None:
    """Return the call before or after the opened one, on the same page."""
    if opened is None or opened not in calls:
        return None
    place = calls.index(opened) + step
    return calls[place] if 0 <= place < len(calls) else None


def _list_environments(
    request: TenantRequest, call_query: CallQuery
) -> Iterator[tuple[str, str]]:
    """Yield name and address of the log in each environment that the member may see."""
    for place in request.places:
        rights = Rights(request.rights.roles, place.environment)
        if place.team_id == request.tenant.team_id and rights.allow(Area.API_KEYS):
            address = reverse(
                "team:api_log",
                kwargs={"team_slug": place.team.slug, "environment": place.environment},
            )
            query = urlencode(call_query.kept_elsewhere)
            yield place.get_environment_display(), f"{address}?{query}"


def _draw_hours(hours: Sequence[HourOfCalls]) -> str:
    cells = [(hour.fine, hour.refused, hour.faults) for hour in hours]
    fine, refused, faults = map(sum, zip(*cells, strict=True))
    return draw_hourly_delivery_outcomes(
        cells,
        says=_(
            "Calls of the last %(hours)d hours: %(fine)s successful, %(refused)s with"
            " status 4xx, %(faults)s with 5xx"
        )
        % {
            "hours": len(hours),
            "fine": format_number(fine),
            "refused": format_number(refused),
            "faults": format_number(faults),
        },
    )


def _write_cursor(after: tuple[datetime, int] | None) -> str:
    return f"{after[0].timestamp():.6f}-{after[1]}" if after else ""


def _read_cursor(text: str) -> tuple[datetime, int] | None:
    at, _dash, key = text.partition("-")
    try:
        return datetime.fromtimestamp(float(at), timezone.get_current_timezone()), int(
            key
        )
    except (ValueError, OverflowError, OSError):
        return None
