"""Move a report to another order, or detach it from its order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.queries.orders.by_document import list_document_orders_of_user
from labs.queries.orders.history import has_order_ended
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser
from reports.operations.jobs.moving import move_report_to_order
from reports.operations.review.reviews import REASON_MAX_LENGTH
from reports.queries import get_parsing_job

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order
    from reports.models import ParsingJob


class MoveForm(forms.Form):
    """The order that a report belongs to, and why; an empty order detaches it."""

    order = forms.ChoiceField(required=False, label=gettext_lazy("Order"))
    why = forms.CharField(
        max_length=REASON_MAX_LENGTH,
        label=gettext_lazy("Reason"),
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": gettext_lazy("Enter a reason.")},
    )

    def __init__(self, data: Any, *, orders: list[Order], is_attached: bool) -> None:
        super().__init__(data, initial={"order": str(orders[0].pk)} if orders else None)
        nothing = _("No order: keep it as a report of the user") if is_attached else ""
        choices = [(str(order.pk), _describe(order)) for order in orders]
        self.fields["order"].choices = (  # type: ignore[attr-defined]
            [*choices, ("", nothing)] if is_attached else choices
        )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.REPORTS, write=True)
def move_report(request: TenantRequest, job_id: str) -> HttpResponse:
    """Ask which order of its user a report belongs to, and move it there."""
    try:
        job = get_parsing_job(tenant=request.tenant, job_id=UUID(job_id))
    except ValueError:
        raise Http404 from None
    orders = [
        order
        for order in list_document_orders_of_user(
            tenant=request.tenant, user_uuid=job.user.uuid
        )
        if order.pk != job.order_id and not has_order_ended(order)
    ]
    form = MoveForm(
        read_posted(request), orders=orders, is_attached=job.order_id is not None
    )
    if form.is_bound and form.is_valid():
        try:
            moved = _move(request, job, form.cleaned_data)
        except (NotAllowed, NotFound):
            raise
        except DomainError as refusal:
            form.add_error(
                "order" if refusal.field == "order_id" else None, refusal.message
            )
        else:
            messages.success(
                request,
                _("Report moved.") if moved.order_id else _("Report detached."),
            )
            return redirect_browser(
                request,
                page_url(
                    request,
                    "reports:ordered" if moved.order_id else "reports:page",
                    job_id=job.id,
                ),
            )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="parsing_job",
        subject_id=job.id,
        user_uuid=job.user.uuid,
    )
    return render_form(
        request,
        "reports/orders/_move.html",
        title=_("Move report"),
        back=page_url(request, "reports:page", job_id=job.id),
        back_words=_("Back to report"),
        status=422 if form.is_bound else 200,
        form=form,
        has_choice=bool(orders) or job.order_id is not None,
        keep=_("Cancel"),
        verb=_("Move report"),
        section="reports",
    )


def _move(request: TenantRequest, job: ParsingJob, given: dict[str, Any]) -> ParsingJob:
    return move_report_to_order(
        tenant=request.tenant,
        actor=request.actor,
        job_id=job.id,
        order_id=UUID(given["order"]) if given["order"] else None,
        reason=given["why"],
    )


def _describe(order: Order) -> str:
    name = order.lab_test.name if order.lab_test else order.lab.name
    return _("%(order)s: %(panel)s, sample %(sample)s") % {
        "order": str(order.pk)[:8],
        "panel": name,
        "sample": order.sample_id or "–",
    }
