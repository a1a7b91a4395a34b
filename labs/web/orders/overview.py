"""Overview items and navigation counts of orders.

Items show no result and name no patient.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.declarations.pages import (
    BADGE_UP_TO,
    AttentionItem,
    NavCount,
    OverviewCard,
    OverviewPart,
    Tile,
    Urgency,
)
from accounts.states import Area
from labs.queries.orders.attention import (
    COUNTED_UP_TO,
    count_orders_needing_attention,
)
from labs.queries.orders.order_list import (
    count_orders_per_day,
    count_orders_per_status,
    list_orders_needing_attention,
)
from labs.queries.results.critical import count_unacknowledged_critical_alerts
from labs.states.order_queues import (
    HELD_UP,
    Stage,
    WorkState,
    get_order_stage,
    is_order_in_progress,
)
from labs.states.orders import split_order_status
from labs.states.turnaround import is_sample_drawn_or_at_lab
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url
from portal.ui.charts import draw_segmented_bar
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.utils.safestring import SafeString

    from accounts.web.requests import TenantRequest
    from labs.models import Order

# Days of the tile's trend.
TREND_DAYS = 26
# The attention list names this many orders and leaves the rest to their own list.
LISTED = 3
_PROBLEM_TITLES = {
    "problem_in_transit_customer": gettext_lazy(
        "A test kit is delayed on its way to the user"
    ),
    "problem_in_transit_lab": gettext_lazy("A sample is delayed on its way to the lab"),
    "lab_processing_blocked": gettext_lazy("The lab can't process a sample"),
    "appointment_pending": gettext_lazy("An order needs a visit"),
    "appointment_cancelled": gettext_lazy("A visit was cancelled"),
    "redraw_available": gettext_lazy("A sample must be drawn again"),
    "sample_error": gettext_lazy("A sample could not be used"),
    "failure_to_deliver_to_customer": gettext_lazy("A test kit did not reach its user"),
    "failure_to_deliver_to_lab": gettext_lazy("A sample did not reach the lab"),
    "lost": gettext_lazy("A test kit or sample is lost"),
    "do_not_process": gettext_lazy("An order will not be processed"),
}
_NO_REQUISITION = gettext_lazy("An order has no requisition yet")
_UNACKNOWLEDGED = gettext_lazy("A critical result is not acknowledged")
_OVERDUE = gettext_lazy("Results are overdue")


@dataclass(frozen=True, slots=True)
class StageCount:
    """The number of orders in a stage, and the address of their list."""

    stage: Stage
    number: int
    url: str


# By request: a page's tab or tile and its navigation show the same number.
_attention_counts: WeakKeyDictionary[TenantRequest, int] = WeakKeyDictionary()


def get_attention_order_count(request: TenantRequest) -> int:
    """Count the orders that need attention, once per request."""
    if request not in _attention_counts:
        _attention_counts[request] = count_orders_needing_attention(
            tenant=request.tenant
        )
    return _attention_counts[request]


def build_orders_overview(request: TenantRequest) -> OverviewPart:
    """Build the overview's tile, chart and attention items of orders."""
    if not request.rights.allow(Area.ORDERS):
        return OverviewPart()
    per_status = count_orders_per_status(tenant=request.tenant)
    stages = _count_per_stage(request, per_status)
    attention = get_attention_order_count(request)
    shown = (
        list_orders_needing_attention(tenant=request.tenant, limit=LISTED)
        if attention
        else []
    )
    items = [_build_attention_item(request, order) for order in shown]
    if attention > LISTED:
        items.append(_build_more_item(request, shown[-1], attention - LISTED))
    return OverviewPart(
        tiles=(_build_orders_tile(request, per_status, attention),),
        attention=tuple(items),
        cards=(
            OverviewCard(
                10,
                "labs/_orders_by_stage.html",
                {"stages": stages, "bar": _draw_stage_bar(stages)},
            ),
        ),
    )


def build_orders_nav_count(request: TenantRequest) -> NavCount | None:
    """Build the navigation count of orders that need attention.

    On a page that counts them all anyway it is that number, else no more than a badge
    shows is counted.
    """
    if not request.rights.allow(Area.ORDERS):
        return None
    number = _attention_counts.get(request)
    if number is None:
        number = count_orders_needing_attention(
            tenant=request.tenant, up_to=BADGE_UP_TO
        )
    return NavCount(number, _("need attention")) if number else None


def build_critical_nav_count(request: TenantRequest) -> NavCount | None:
    """Build the navigation count of unacknowledged critical results."""
    if not request.rights.allow(Area.ORDERS):
        return None
    number = count_unacknowledged_critical_alerts(tenant=request.tenant)
    return NavCount(number, _("to acknowledge"), "bad") if number else None


def _build_orders_tile(
    request: TenantRequest, per_status: Mapping[str, int], attention: int
) -> Tile:
    number = sum(n for status, n in per_status.items() if is_order_in_progress(status))
    now = timezone.now()
    placed = count_orders_per_day(
        tenant=request.tenant, since=now - timedelta(TREND_DAYS)
    )
    days = [now.date() - timedelta(days=ago) for ago in reversed(range(TREND_DAYS))]
    return Tile(
        rank=20,
        label=_("Orders in progress"),
        number=min(number, COUNTED_UP_TO),
        unit=_("or more") if number > COUNTED_UP_TO else "",
        url=_orders_url(request, WorkState.IN_PROGRESS),
        detail=ngettext(
            "%(count)s needs attention", "%(count)s need attention", attention
        )
        % {"count": _format_count(attention)}
        if attention
        else _("None needs attention"),
        trend=tuple(placed.get(day, 0) for day in days),
        trend_says=_("Orders placed per day, last %(days)d days")
        % {"days": TREND_DAYS},
    )


def _count_per_stage(
    request: TenantRequest, per_status: Mapping[str, int]
) -> list[StageCount]:
    numbers = dict.fromkeys(Stage, 0)
    for status, number in per_status.items():
        if stage := get_order_stage(status):
            numbers[stage] += number
    address = page_url(request, "labs:orders")
    return [
        StageCount(stage, number, f"{address}?stage={stage}")
        for stage, number in numbers.items()
    ]


def _draw_stage_bar(stages: list[StageCount]) -> SafeString:
    return draw_segmented_bar(
        [(str(one.stage.label), one.number) for one in stages],
        says=_("Orders in progress, by stage"),
    )


def _build_attention_item(request: TenantRequest, order: Order) -> AttentionItem:
    is_critical = order.has_open_alert
    is_held_up = order.status in HELD_UP
    low = split_order_status(order.status).low
    other = _OVERDUE if is_sample_drawn_or_at_lab(order.status) else _NO_REQUISITION
    page = "labs:results" if is_critical else "labs:order"
    return AttentionItem(
        urgency=Urgency.CRITICAL_RESULT if is_critical else Urgency.ORDER,
        since=order.updated_at,
        family="bad" if is_critical or not is_held_up else "warn",
        icon="flask",
        title=_UNACKNOWLEDGED if is_critical else _PROBLEM_TITLES.get(low, other),
        detail=f"{order.user.client_user_id}, {order.lab_test.name}",
        url=page_url(request, page, order_id=order.pk),
        status="not_acknowledged" if is_critical else order.status,
    )


def _build_more_item(request: TenantRequest, last: Order, number: int) -> AttentionItem:
    return AttentionItem(
        urgency=Urgency.ORDER,
        since=last.updated_at,
        family="warn",
        icon="flask",
        title=ngettext(
            "%(count)s more order needs attention",
            "%(count)s more orders need attention",
            number,
        )
        % {"count": _format_count(number)},
        url=_orders_url(request, WorkState.ATTENTION),
    )


def _orders_url(request: TenantRequest, tab: WorkState) -> str:
    return f"{page_url(request, 'labs:orders')}?tab={tab}"


def _format_count(number: int) -> str:
    over = number > COUNTED_UP_TO
    if over:
        return _("%(count)s or more") % {"count": format_number(COUNTED_UP_TO)}
    return format_number(number)
