"""Actions on several orders of the list: print requisitions, resend events, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.bulk import (
    BulkAction,
    BulkRow,
    read_chosen_ids,
    serve_bulk_action,
)
from accounts.web.rights import require_right
from labs.documents.merging import merge_documents
from labs.models import Order
from labs.operations.documents.order_documents import (
    render_requisition_as_first_printed,
)
from labs.operations.orders.placing import cancel_order, require_cancellable
from labs.operations.orders.resending import resend_last_order_events
from labs.queries.orders.history import had_requisition_created
from labs.queries.orders.order_list import list_orders_by_id
from labs.queries.orders.orders import get_order_with_details
from labs.web.documents.views import build_pdf_response
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


def _refuse_cancelling(_request: TenantRequest, order: Order) -> str:
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


def _may_see_patients(request: TenantRequest) -> bool:
    return request.rights.allow(Area.PATIENT_DETAILS)


def _refuse_printing(_request: TenantRequest, order: Order) -> str:
    return "" if had_requisition_created(order) else _("It has no requisition yet.")


def _print_requisitions(
    request: TenantRequest, orders: Sequence[Order]
) -> HttpResponse:
    """Answer with the requisitions as one PDF; each is a read of its user's data."""
    documents = []
    for order in orders:
        details = get_order_with_details(tenant=request.tenant, order_id=order.pk)
        documents.append(render_requisition_as_first_printed(details))
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="requisition",
            subject_id=order.pk,
            user_uuid=order.user.uuid,
        )
    if not documents:
        messages.error(request, _("None of these orders has a requisition."))
        return redirect_browser(request, page_url(request, "labs:orders"))
    return build_pdf_response(merge_documents("requisitions.pdf", documents))


ORDER_ACTIONS = {
    action.key: action
    for action in (
        BulkAction(
            key="print",
            title=gettext_lazy("Print requisitions"),
            verb=gettext_lazy("Open PDF"),
            says=gettext_lazy(
                "The requisitions open as one PDF, in the order of this list. Each is"
                " recorded in the access log of its user."
            ),
            undo=gettext_lazy("Nothing is changed."),
            refuse=_refuse_printing,
            deliver=_print_requisitions,
            allows=_may_see_patients,
        ),
        BulkAction(
            key="resend",
            title=gettext_lazy("Resend last events"),
            verb=gettext_lazy("Resend events"),
            says=gettext_lazy(
                "The event of each order's last status is sent to your endpoints again,"
                " as a new message."
            ),
            undo=gettext_lazy("A sent event can't be taken back."),
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
        tenant=request.tenant, ids=read_chosen_ids(sent.getlist("order"))
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
        field="order",
        back=page_url(request, "labs:orders"),
        back_words=_("Orders"),
        section="orders",
    )
