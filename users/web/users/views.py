"""The users list, its CSV file, the ID look-up, and a user's page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.declarations.pages import list_user_columns
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from accounts.web.saved_views import build_saved_views_row
from portal.lib.english import in_english
from portal.lib.web.csv_files import build_csv_download, format_csv_timestamp
from portal.lib.web.views import Pager, page_url, render_page
from users.queries import (
    COUNTED_UP_TO,
    find_last_data_time_by_user,
    find_user_by_client_user_id,
    search_users,
)
from users.states import (
    ConnectionStatus,
    IngestionWindow,
    LastData,
    Silence,
    ZoneRegion,
)
from users.states.connections import explain_connection_status
from users.wearables.providers import KNOWN, find_provider
from users.web.columns import build_users_columns
from users.web.users.forms import PAGE_SIZES, ResolveForm, UserFilters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from portal.ui.columns import Column, ShownColumns
    from users.queries import SourceRow, UserRow

_COLUMNS = (
    "user_id",
    "client_user_id",
    "created_on",
    "sources",
    "last_data",
    "fallback_time_zone",
    "ingestion_start",
    "ingestion_end",
)


@require_GET
@require_right(Area.USERS)
def show_user_list(request: TenantRequest) -> HttpResponse:
    views = build_saved_views_row(request)
    if views.opens_at:
        return HttpResponseRedirect(views.opens_at)
    filters = UserFilters.read(request.GET)
    columns = _read_columns(request)
    page = search_users(
        **_wanted(request, filters, columns),
        offset=filters.offset,
        limit=filters.limit,
    )
    keys = [user.id for user in page.users]
    last_data = find_last_data_time_by_user(tenant=request.tenant, user_ids=keys)
    counted = _count_columns(request, keys, columns)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="user_list",
        subject_id=f"offset={filters.offset} limit={filters.limit}",
    )
    return render_page(
        request,
        "users/list.html",
        fragment="users/_list.html",
        filters=filters,
        views=views,
        users=[
            (
                user,
                [
                    (find_provider(source.provider), _explain_fault(source))
                    for source in page.sources[user.id]
                ],
                last_data.get(user.id),
                _numbers(user, counted),
            )
            for user in page.users
        ],
        columns=columns,
        pager=Pager(total=page.total, offset=filters.offset, limit=filters.limit),
        is_total_exact=page.is_total_exact,
        among=page.among,
        page_sizes=PAGE_SIZES,
        source=find_provider(filters.source) if filters.source else None,
        providers=sorted(KNOWN.values(), key=lambda provider: provider.name.lower()),
        source_status=ConnectionStatus.known(filters.status),
        source_statuses=ConnectionStatus.offered(),
        last_data=LastData.known(filters.last_data),
        last_data_choices=LastData.offered(),
        silence=Silence.known(filters.silence),
        silences=Silence.offered(),
        region=ZoneRegion.known(filters.region),
        regions=ZoneRegion.offered(),
        window=IngestionWindow.known(filters.window),
        windows=IngestionWindow.offered(),
        resolve_form=ResolveForm(),
        public_url=settings.PUBLIC_URL,
    )


@require_GET
@require_right(Area.USERS)
def download_user_list(request: TenantRequest) -> HttpResponse:
    """Download the list as CSV, up to COUNTED_UP_TO users, without birth dates."""
    columns = _read_columns(request)
    conditions = _wanted(request, UserFilters.read(request.GET), columns)
    fitting = search_users(**conditions, limit=1)
    if fitting.total > COUNTED_UP_TO or not fitting.is_total_exact:
        return render_page(
            request, "users/too_many.html", status=422, limit=COUNTED_UP_TO
        )
    page = search_users(**conditions, limit=COUNTED_UP_TO)
    keys = [user.id for user in page.users]
    last_data = find_last_data_time_by_user(tenant=request.tenant, user_ids=keys)
    counted = _count_columns(request, keys)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="user_file",
        subject_id=f"users={len(page.users)}",
    )
    return build_csv_download(
        name="users",
        columns=(*_COLUMNS, *_name_columns(counted)),
        rows=(
            (
                *_cells(user, page.sources[user.id], last_data.get(user.id)),
                *(str(number) for _, number in _numbers(user, counted)),
            )
            for user in page.users
        ),
    )


@in_english
def _name_columns(counted: Sequence[tuple[Column, Any]]) -> list[str]:
    """Name columns of a file for machines: in English for every reader."""
    return [str(column.words).lower() for column, _counts in counted]


@require_GET
@require_right(Area.USERS)
def look_up_user(request: TenantRequest) -> HttpResponse:
    form = ResolveForm(request.GET or None)
    status = 200
    if form.is_valid():
        found = find_user_by_client_user_id(tenant=request.tenant, **form.cleaned_data)
        if found is not None:
            return HttpResponseRedirect(
                page_url(request, "users:page", user_id=found.user.uuid)
            )
        form.add_error(
            "client_user_id", _("No user has this ID. Check its spelling and case.")
        )
    if form.errors:
        status = 422
    return render_page(request, "users/resolve.html", status=status, form=form)


def _wanted(
    request: TenantRequest, filters: UserFilters, columns: ShownColumns
) -> dict[str, Any]:
    by_key = {each.column.key: each.count for each in list_user_columns()}
    return {
        "tenant": request.tenant,
        "text": filters.q,
        "provider": filters.source,
        "status": filters.status,
        "last_data": filters.last_data,
        "silence": filters.silence,
        "region": filters.region,
        "window": filters.window,
        "sort": columns.order_by,
        "count": by_key.get(columns.order_by.removeprefix("-")),
    }


def _read_columns(request: TenantRequest) -> ShownColumns:
    """Return the columns of the list without those that the member may not read."""
    declared = build_users_columns()
    barred = {
        each.column.key
        for each in list_user_columns()
        if not request.rights.allow(each.area)
    }
    return read_list_columns(
        request,
        replace(
            declared,
            columns=tuple(c for c in declared.columns if c.key not in barred),
        ),
    )


def _count_columns(
    request: TenantRequest, user_keys: list[int], shown: ShownColumns | None = None
) -> list[tuple[Column, Mapping[int, int]]]:
    """Return the numbers of other apps' columns, of those shown or else all."""
    return [
        (each.column, each.count(tenant=request.tenant, user_keys=user_keys))
        for each in list_user_columns()
        if request.rights.allow(each.area)
        and (shown is None or each.column.key in shown)
    ]


def _numbers(
    user: UserRow, counted: list[tuple[Column, Mapping[int, int]]]
) -> list[tuple[str, int]]:
    return [(column.words, numbers.get(user.id, 0)) for column, numbers in counted]


def _explain_fault(source: SourceRow) -> str:
    """Return why a source is in error; "" for one that is not."""
    if source.status != ConnectionStatus.ERROR:
        return ""
    condition = explain_connection_status(source.status, error_type=source.error_type)
    return condition.sentence


def _cells(
    user: UserRow, sources: list[SourceRow], last_data: datetime | None
) -> tuple[str, ...]:
    return (
        str(user.uuid),
        user.client_user_id,
        format_csv_timestamp(user.created_on),
        " ".join(source.provider for source in sources),
        format_csv_timestamp(last_data),
        user.fallback_time_zone,
        _day(user.ingestion_start),
        _day(user.ingestion_end),
    )


def _day(day: date | None) -> str:
    return day.isoformat() if day else ""
