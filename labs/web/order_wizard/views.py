"""Order wizard: a page for each step, with the draft kept between them.

A POST stores what was entered and redirects to the next step, so Back, reload and a
second tab lose nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.db import transaction
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.rights import require_right
from labs.documents.specimens import describe_marker_tube
from labs.operations.orders.placing import place_order, preview_order
from labs.queries.orders.recent_duplicates import list_recent_duplicate_orders
from labs.web.order_wizard.choice_of_tests import (
    show_order_tests_step,
    submit_order_tests_step,
)
from labs.web.order_wizard.draft_pages import (
    get_order_wizard_step_url,
    is_back_button_pressed,
    redirect_to_order_wizard_step,
    render_order_wizard_step,
)
from labs.web.order_wizard.drafts import (
    create_order_draft,
    find_order_draft,
    mark_order_draft_placed,
)
from labs.web.order_wizard.entry import (
    STEP_BY_FIELD,
    STEPS,
    build_order_request,
    load_order_draft_records,
)
from labs.web.order_wizard.review import build_order_review_sections
from labs.web.order_wizard.steps import (
    preview_requisition_comment,
    show_order_billing_step,
    show_order_comments_step,
    show_order_lab_step,
    show_order_patient_step,
    show_order_questions_step,
    show_order_user_step,
    submit_order_billing_step,
    submit_order_comments_step,
    submit_order_lab_step,
    submit_order_patient_step,
    submit_order_questions_step,
    submit_order_user_step,
)
from portal.lib.errors import Conflict, DomainError
from portal.lib.idempotency import build_key_in_use_error, claim_idempotency_key
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order
    from labs.operations.orders.plans import OrderPlan, OrderRequest
    from labs.web.order_wizard.entry import OrderEntry

    StepView = Callable[["TenantRequest", "OrderEntry"], HttpResponse]

_IDEMPOTENCY_ENDPOINT = "order_page"


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS, write=True)
def place_order_page(request: TenantRequest) -> HttpResponse:
    token = request.GET.get("draft", "")
    draft = find_order_draft(request, token) if token else create_order_draft()
    if draft is None:
        messages.error(request, _("This draft has expired. Start a new order."))
        return redirect_browser(request, page_url(request, "labs:place_order"))
    if draft.placed:
        return _redirect_to_order(request, draft.placed)
    entry = load_order_draft_records(tenant=request.tenant, draft=draft)
    requested_step = request.GET.get("step", "user")
    step = entry.reachable_step(requested_step if requested_step in STEPS else "user")
    if request.method == "POST":
        return _SUBMIT_STEP[step](request, entry)
    return _SHOW_STEP[step](request, entry)


def _show_review_step(
    request: TenantRequest,
    entry: OrderEntry,
    refusal: DomainError | None = None,
    **more: Any,
) -> HttpResponse:
    order_request: OrderRequest | None = None
    plan: OrderPlan | None = None
    twins: list[Order] = []
    try:
        order_request = build_order_request(entry, member_id=request.member.pk)
        plan = preview_order(tenant=request.tenant, request=order_request)
        twins = list_recent_duplicate_orders(
            tenant=request.tenant,
            user_id=order_request.user_id,
            marker_ids=[marker.pk for marker in plan.resolved.markers],
        )
    except DomainError as found:
        refusal = refusal or found
    at = STEP_BY_FIELD.get(refusal.field or "", "") if refusal else ""
    return render_order_wizard_step(
        request,
        entry,
        "review",
        wanted=order_request,
        sections=build_order_review_sections(entry, order_request),
        twins=twins,
        can_place=plan is not None,
        printed_tests=[
            (marker, describe_marker_tube(marker)) for marker in entry.markers
        ],
        refusal=refusal,
        refused_step=at if at in entry.steps else "review",
        printed=preview_requisition_comment(
            entry, str(entry.draft.step_values("comments").get("comments", ""))
        ),
        **more,
    )


def _submit_review_step(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    if is_back_button_pressed(request):
        return redirect_to_order_wizard_step(
            request, entry.draft, entry.step_before("review")
        )
    try:
        order_id = _place_order_once(request, entry)
    except Conflict:
        # A second press while the first is at work: its order is shown once it is done.
        messages.info(request, _("This order is being placed."))
        return redirect_browser(
            request, get_order_wizard_step_url(request, entry.draft, "review")
        )
    except DomainError as refusal:
        return _show_review_step(request, entry, refusal, status=422)
    mark_order_draft_placed(request, entry.draft, order_id)
    messages.success(request, _("Order placed."))
    return _redirect_to_order(request, order_id)


def _place_order_once(request: TenantRequest, entry: OrderEntry) -> str:
    """Place the draft's order once, and return its ID.

    Raises: order_repeated; idempotency_key_in_use, idempotency_key_mismatch; those of
    place_order.
    """
    content = json.dumps(entry.draft.entries, sort_keys=True).encode()
    with claim_idempotency_key(
        tenant=request.tenant,
        endpoint=_IDEMPOTENCY_ENDPOINT,
        key=entry.draft.key,
        request_body=content,
        keep_failures=False,
    ) as turn:
        if turn.repeat is not None:
            return turn.repeat[1].decode()
        order_request = build_order_request(entry, member_id=request.member.pk)
        marker_ids = [marker.pk for marker in entry.markers]
        if not request.POST.get("repeat") and list_recent_duplicate_orders(
            tenant=request.tenant, user_id=order_request.user_id, marker_ids=marker_ids
        ):
            raise DomainError(
                "order_repeated",
                _("Confirm that you want to place this order again."),
                "repeat",
            )
        with transaction.atomic():
            order = place_order(
                tenant=request.tenant, actor=request.actor, request=order_request
            )
            if not turn.keep(status=200, body=str(order.pk).encode()):
                raise build_key_in_use_error()
    return str(order.pk)


def _redirect_to_order(request: TenantRequest, order_id: str) -> HttpResponse:
    return redirect_browser(request, page_url(request, "labs:order", order_id=order_id))


_SHOW_STEP: dict[str, StepView] = {
    "user": show_order_user_step,
    "lab": show_order_lab_step,
    "tests": show_order_tests_step,
    "questions": show_order_questions_step,
    "patient": show_order_patient_step,
    "billing": show_order_billing_step,
    "comments": show_order_comments_step,
    "review": _show_review_step,
}
_SUBMIT_STEP: dict[str, StepView] = {
    "user": submit_order_user_step,
    "lab": submit_order_lab_step,
    "tests": submit_order_tests_step,
    "questions": submit_order_questions_step,
    "patient": submit_order_patient_step,
    "billing": submit_order_billing_step,
    "comments": submit_order_comments_step,
    "review": _submit_review_step,
}
