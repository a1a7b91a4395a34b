"""Orders list, its CSV export, and the orders of one user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import Http404, HttpResponseRedirect
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from accounts.web.saved_views import build_saved_views_row
from labs.queries.accounts import list_linked_lab_accounts
from labs.queries.catalogue import list_labs
from labs.queries.orders.attention import COUNTED_UP_TO
from labs.queries.orders.order_list import (
    ListFilters,
    count_orders_per_status,
    list_orders,
)
from labs.states.catalogue import CollectionMethod
from labs.states.order_queues import IN_STATE, Stage, WorkState
from labs.states.orders import split_order_status
from labs.web.columns import ORDERS, USER_ORDERS
from labs.web.order_rows import PLATFORM_WORDS, build_order_row, format_lab_account_name
from labs.web.orders.filters import (
    DAY_PARAMETERS,
    PAGE_SIZES,
    PERIOD_WORDS,
    PLATFORM,
    RESULTS,
    OrderListQuery,
)
from labs.web.orders.overview import get_attention_order_count
from portal.lib.web.csv_files import build_csv_download, format_csv_timestamp
from portal.lib.web.views import Pager, render_page
from portal.ui.numbers import format_number
from portal.ui.pills import find_status_pill
from users.queries.users.users import user_overview

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.http import HttpResponse

    from accounts.models import Tenant
    from accounts.web.requests import TenantRequest
    from labs.models import LabAccount, Order

# A user's tab lists this many; the orders list has the rest.
LATEST_OF_USER = 25
_COLUMNS = (
    "order_id",
    "created_at",
    "user_id",
    "client_user_id",
    "lab",
    "lab_account",
    "tests",
    "collection_method",
    "status",
    "interpretation",
    "sample_id",
    "updated_at",
)


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
def show_order_list(request: TenantRequest) -> HttpResponse:
    """Show the orders list; a POST shows patients, which is audited."""
    views = build_saved_views_row(request)
    if views.opens_at and request.method == "GET":
        return HttpResponseRedirect(views.opens_at)
    query = OrderListQuery.from_query(request.GET)
    columns = read_list_columns(request, ORDERS)
    may_see_patients = request.rights.allow(Area.PATIENT_DETAILS)
    show_patients = request.method == "POST" and may_see_patients
    per_status = count_orders_per_status(tenant=request.tenant)
    page = list_orders(
        tenant=request.tenant,
        filters=query.filters,
        per_status=per_status,
        offset=query.offset,
        limit=query.limit,
        with_patients=show_patients,
    )
    place = f"offset={query.offset} limit={query.limit}"
    _record_list(request, "order_list", place)
    if show_patients:
        _record_list(request, "order_list_patients", place)
    accounts = list_linked_lab_accounts(tenant=request.tenant)
    return render_page(
        request,
        "labs/orders.html",
        fragment="labs/_orders.html",
        asked=query,
        columns=columns,
        views=views,
        rows=[build_order_row(order) for order in page.orders],
        pager=Pager(total=page.total, offset=query.offset, limit=query.limit),
        is_total_exact=page.is_exact,
        is_sort_cut=page.is_sort_cut,
        page_sizes=PAGE_SIZES,
        tabs=_build_tabs(per_status, get_attention_order_count(request)),
        has_any=any(per_status.values()),
        may_see_patients=may_see_patients,
        show_patients=show_patients,
        section="orders",
        **_build_filter_choices(request.tenant, query, per_status, accounts),
    )


@require_GET
@require_right(Area.ORDERS)
def export_orders_as_csv(request: TenantRequest) -> HttpResponse:
    """Export the list as CSV, up to COUNTED_UP_TO, without patient details."""
    query = OrderListQuery.from_query(request.GET)
    arguments: dict[str, Any] = {
        "tenant": request.tenant,
        "filters": query.filters,
        "per_status": count_orders_per_status(tenant=request.tenant),
    }
    if not list_orders(**arguments, limit=1).is_exact:
        return render_page(
            request,
            "labs/orders_too_many.html",
            status=422,
            limit=COUNTED_UP_TO,
            section="orders",
        )
    orders = list_orders(**arguments, limit=COUNTED_UP_TO).orders
    _record_list(request, "order_file", f"orders={len(orders)}")
    return build_csv_download(
        name="orders",
        columns=_COLUMNS,
        rows=(_list_csv_cells(order) for order in orders),
    )


@require_GET
@require_right(Area.USERS)
@require_right(Area.ORDERS)
def show_user_orders(request: TenantRequest, user_id: str) -> HttpResponse:
    overview = user_overview(tenant=request.tenant, user_id=_parse_uuid(user_id))
    columns = read_list_columns(request, USER_ORDERS)
    page = list_orders(
        tenant=request.tenant,
        filters=ListFilters(user_uuid=overview.user.uuid, order_by=columns.order_by),
        limit=LATEST_OF_USER,
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="order_list",
        subject_id=overview.user.uuid,
        user_uuid=overview.user.uuid,
    )
    return render_page(
        request,
        "labs/user_orders.html",
        overview=overview,
        section="users",
        tab="orders",
        columns=columns,
        rows=[build_order_row(order) for order in page.orders],
        total=page.total,
    )


def _record_list(request: TenantRequest, subject: str, subject_id: str) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=subject_id,
    )


def _build_tabs(
    per_status: Mapping[str, int], attention: int
) -> list[tuple[WorkState, str, str]]:
    """List each tab with its number of orders and the number's colour."""
    tabs = []
    for state in WorkState:
        fits = IN_STATE.get(state)
        number = (
            attention
            if state == WorkState.ATTENTION
            else sum(n for s, n in per_status.items() if fits is None or fits(s))
        )
        family = "bad" if state == WorkState.ATTENTION and number else ""
        tabs.append((state, _format_count(number), family))
    return tabs


def _format_count(number: int) -> str:
    if number > COUNTED_UP_TO:
        return f"{format_number(COUNTED_UP_TO)}+"
    return format_number(number)


def _build_filter_choices(
    tenant: Tenant,
    query: OrderListQuery,
    per_status: Iterable[str],
    accounts: list[LabAccount],
) -> dict[str, Any]:
    """Return the filters' choices and the labels of the chosen ones."""
    labs = list(list_labs(tenant=tenant))
    by_id = {account.pk: account for account in accounts}
    lows = dict.fromkeys(split_order_status(status).low for status in per_status)
    method = CollectionMethod.known(query.method)
    stage = Stage.known(query.stage)
    chosen = by_id.get(query.account) if query.account else None
    return {
        "labs": labs,
        "lab_words": next((lab.name for lab in labs if lab.slug == query.lab), "")
        or query.lab,
        "accounts": [
            *(
                (account.pk, format_lab_account_name(account), account.lab.name)
                for account in accounts
            ),
            *([(PLATFORM, PLATFORM_WORDS, "")] if tenant.is_sandbox else []),
        ],
        "account_words": PLATFORM_WORDS
        if query.on_platform
        else format_lab_account_name(chosen)
        if chosen
        else str(query.account or "")[:8],
        "methods": CollectionMethod.offered(),
        "method_words": method.label if method else "",
        "stages": Stage.offered(),
        "stage_words": stage.label if stage else "",
        "statuses": [(low, find_status_pill(low).words) for low in lows],
        "status_words": find_status_pill(query.status).words if query.status else "",
        "results": RESULTS,
        "result_words": dict(RESULTS).get(query.result, ""),
        "periods": list(PERIOD_WORDS.items()),
        "created_parameters": " ".join(DAY_PARAMETERS),
    }


def _list_csv_cells(order: Order) -> tuple[str, ...]:
    row = build_order_row(order)
    return (
        str(order.pk),
        format_csv_timestamp(order.created_at),
        str(order.user.uuid),
        order.user.client_user_id,
        order.lab.name,
        row.account,
        order.lab_test.name,
        order.method,
        order.status,
        order.interpretation,
        order.sample_id,
        format_csv_timestamp(order.updated_at),
    )


def _parse_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
