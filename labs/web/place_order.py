"""Placing an order, step by step; each step is a page of its own that works by itself.

A POST keeps what was entered and leads on by a redirect, so Back, reload and a second
tab lose nothing. Must not be here: what a step asks (labs.web.order_steps), what a
draft means (labs.web.order_entry), or a rule of ordering.
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
from labs.operations.orders import place_order, preview_order
from labs.queries.recent_twins import recent_twins
from labs.web.order_drafts import begin_draft, close_draft, find_draft
from labs.web.order_entry import STEP_OF_FIELD, STEPS, order_request, read_entry
from labs.web.order_pages import address_of, go_on, goes_back, render_step
from labs.web.order_review import review_sections
from labs.web.order_steps import (
    printed_of,
    show_billing,
    show_comments,
    show_lab,
    show_patient,
    show_questions,
    show_tests,
    show_user,
    take_billing,
    take_comments,
    take_lab,
    take_patient,
    take_questions,
    take_tests,
    take_user,
)
from portal.lib.errors import Conflict, DomainError
from portal.lib.idempotency import take_turn, turn_lost
from portal.lib.web import go_to, page_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponse

    from labs.models import Order
    from labs.operations.orders import OrderPlan, OrderRequest
    from labs.web.order_entry import OrderEntry
    from portal.lib.web import TenantRequest

    Show = Callable[["TenantRequest", "OrderEntry"], HttpResponse]

_ENDPOINT = "order_page"


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS, write=True)
def place(request: TenantRequest) -> HttpResponse:
    token = request.GET.get("draft", "")
    draft = find_draft(request, token) if token else begin_draft()
    if draft is None:
        messages.error(request, _("This draft has expired. Start a new order."))
        return go_to(request, page_url(request, "labs:place_order"))
    if draft.placed:
        return _go_to_order(request, draft.placed)
    entry = read_entry(tenant=request.tenant, draft=draft)
    wanted = request.GET.get("step", "user")
    step = entry.reachable(wanted if wanted in STEPS else "user")
    if request.method == "POST":
        return _TAKE[step](request, entry)
    return _SHOW[step](request, entry)


def _show_review(
    request: TenantRequest,
    entry: OrderEntry,
    refusal: DomainError | None = None,
    **more: Any,
) -> HttpResponse:
    wanted: OrderRequest | None = None
    plan: OrderPlan | None = None
    twins: list[Order] = []
    try:
        wanted = order_request(entry, member_id=request.member.pk)
        plan = preview_order(tenant=request.tenant, wanted=wanted)
        twins = recent_twins(
            tenant=request.tenant,
            user_id=wanted.user_id,
            marker_ids=[marker.pk for marker in plan.resolved.markers],
        )
    except DomainError as found:
        refusal = refusal or found
    at = STEP_OF_FIELD.get(refusal.field or "", "") if refusal else ""
    return render_step(
        request,
        entry,
        "review",
        wanted=wanted,
        sections=review_sections(entry, wanted),
        twins=twins,
        can_place=plan is not None,
        refusal=refusal,
        refused_step=at if at in entry.steps else "review",
        printed=printed_of(
            entry, str(entry.draft.entry("comments").get("comments", ""))
        ),
        **more,
    )


def _take_review(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    if goes_back(request):
        return go_on(request, entry.draft, entry.before("review"))
    try:
        order_id = _place_once(request, entry)
    except Conflict:
        # A second press while the first is at work: its order is shown once it is done.
        messages.info(request, _("This order is being placed."))
        return go_to(request, address_of(request, entry.draft, "review"))
    except DomainError as refusal:
        return _show_review(request, entry, refusal, status=422)
    close_draft(request, entry.draft, order_id)
    messages.success(request, _("Order placed."))
    return _go_to_order(request, order_id)


def _place_once(request: TenantRequest, entry: OrderEntry) -> str:
    """The id of the order that this draft became, now or by an earlier press.

    Raises: order_repeated; idempotency_key_in_use, idempotency_key_mismatch; those of
    place_order.
    """
    content = json.dumps(entry.draft.entries, sort_keys=True).encode()
    with take_turn(
        tenant=request.tenant,
        endpoint=_ENDPOINT,
        key=entry.draft.key,
        request_body=content,
        keep_failures=False,
    ) as turn:
        if turn.repeat is not None:
            return turn.repeat[1].decode()
        wanted = order_request(entry, member_id=request.member.pk)
        marker_ids = [marker.pk for marker in entry.markers]
        if not request.POST.get("repeat") and recent_twins(
            tenant=request.tenant, user_id=wanted.user_id, marker_ids=marker_ids
        ):
            raise DomainError(
                "order_repeated",
                _("Confirm that you want to place this order again."),
                "repeat",
            )
        with transaction.atomic():
            order = place_order(
                tenant=request.tenant, actor=request.actor, wanted=wanted
            )
            if not turn.keep(status=200, body=str(order.pk).encode()):
                raise turn_lost()
    return str(order.pk)


def _go_to_order(request: TenantRequest, order_id: str) -> HttpResponse:
    return go_to(request, page_url(request, "labs:order", order_id=order_id))


_SHOW: dict[str, Show] = {
    "user": show_user,
    "lab": show_lab,
    "tests": show_tests,
    "questions": show_questions,
    "patient": show_patient,
    "billing": show_billing,
    "comments": show_comments,
    "review": _show_review,
}
_TAKE: dict[str, Show] = {
    "user": take_user,
    "lab": take_lab,
    "tests": take_tests,
    "questions": take_questions,
    "patient": take_patient,
    "billing": take_billing,
    "comments": take_comments,
    "review": _take_review,
}
