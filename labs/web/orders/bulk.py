"""Actions on several orders of the list: cancel them, resend their last events."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.bulk import ROWS_MAX, BulkAction, BulkRow, serve_bulk_action
from accounts.web.rights import require_right
from labs.models import Order
from labs.operations.orders.placing import cancel_order, require_cancellable
from labs.operations.orders.resending import resend_last_order_events
from labs.queries.orders.order_list import list_orders_by_id
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


def _refuse_cancelling(order: Order) -> str:
    try:
        require_cancellable(order)
    except DomainError as refusal:
        return refusal.message
    return ""


def _cancel(request: TenantRequest, order: Order) -> None:
    cancel_order(order=order, actor=request.actor, why=_("Cancelled with others"))


def _resend(request: TenantRequest, order: Order) -> None:
    resend_last_order_events(
        tenant=request.tenant,
        actor=request.actor,
        order_ids=[order.pk],
        start_at=None,
        end_at=timezone.now(),
    )


ORDER_ACTIONS = {
    action.key: action
    for action in (
        BulkAction(
            key="resend",
            title=gettext_lazy("Resend last events"),
            verb=gettext_lazy("Resend events"),
            says=gettext_lazy(
                "The event of each order's last status is sent to your endpoints again,"
                " as a new message."
            ),
            undo=gettext_lazy("A sent event can't be taken back."),
            refuse=lambda _order: "",
            run=_resend,
        ),
        BulkAction(
            key="cancel",
            title=gettext_lazy("Cancel orders"),
            verb=gettext_lazy("Cancel orders"),
            says=gettext_lazy(
                "Each order is cancelled at its lab, with its visit at home if it has"
                " one. A visit at a service center stays booked."
            ),
            undo=gettext_lazy("A cancelled order can't be restored. Order again."),
            refuse=_refuse_cancelling,
            run=_cancel,
            is_danger=True,
        ),
    )
}


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
def act_on_orders(request: TenantRequest) -> HttpResponse:
    """Plan an action on the chosen orders, or carry it out."""
    sent = request.POST if request.method == "POST" else request.GET
    orders = list_orders_by_id(
        tenant=request.tenant, ids=_read_ids(sent.getlist("order"))
    )
    if request.method == "GET":
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="order_list",
            subject_id=f"selected={len(orders)}",
        )
    return serve_bulk_action(
        request,
        actions=ORDER_ACTIONS,
        rows=[
            BulkRow(
                order,
                str(order.pk)[:8],
                f"{order.user.client_user_id}, {order.lab_test.name}",
                page_url(request, "labs:order", order_id=order.pk),
            )
            for order in orders
        ],
        back=page_url(request, "labs:orders"),
        back_words=_("Orders"),
        section="orders",
    )


def _read_ids(texts: list[str]) -> list[UUID]:
    found = []
    for text in texts[:ROWS_MAX]:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return found
