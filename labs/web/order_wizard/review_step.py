"""Last step of the order wizard: what prints, the lab's questions, and placing it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.web.dialogs import read_posted
from labs.documents.specimens import describe_marker_tube
from labs.operations.orders.checks import (
    require_start_date_not_past,
    require_valid_order_answers,
)
from labs.operations.orders.placing import place_order, preview_order
from labs.operations.orders.requisitions import build_requisition_comment
from labs.queries.orders.recent_duplicates import list_recent_duplicate_orders
from labs.web.order_wizard.draft_pages import (
    get_order_wizard_step_url,
    is_back_button_pressed,
    redirect_to_order_wizard_step,
    render_order_wizard_step,
)
from labs.web.order_wizard.drafts import mark_order_draft_placed, save_order_draft
from labs.web.order_wizard.entry import STEP_BY_FIELD, build_order_request
from labs.web.order_wizard.forms import (
    CommentsForm,
    QuestionsForm,
    get_raw_form_values,
)
from labs.web.order_wizard.review import build_order_review_sections
from portal.lib.errors import Conflict, DomainError
from portal.lib.idempotency import build_key_in_use_error, claim_idempotency_key
from portal.lib.web.views import (
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order
    from labs.operations.orders.plans import OrderRequest
    from labs.web.order_wizard.entry import OrderEntry

_IDEMPOTENCY_ENDPOINT = "order_page"
# Answered on this step: what is missing is said once it was submitted.
_ASKED_HERE = ("aoe_answers", "activate_by", "comments")


def show_order_review_step(
    request: TenantRequest,
    entry: OrderEntry,
    refusal: DomainError | None = None,
    *,
    questions: QuestionsForm | None = None,
    form: CommentsForm | None = None,
    **more: Any,
) -> HttpResponse:
    can_place = True
    order_request: OrderRequest | None = None
    twins: list[Order] = []
    try:
        order_request = build_order_request(entry, member_id=request.member.pk)
        twins = list_recent_duplicate_orders(
            tenant=request.tenant,
            user_id=order_request.user_id,
            marker_ids=[marker.pk for marker in entry.markers],
        )
        preview_order(tenant=request.tenant, request=order_request)
    except DomainError as found:
        if found.field not in _ASKED_HERE:
            refusal = refusal or found
            can_place = False
    at = STEP_BY_FIELD.get(refusal.field or "", "") if refusal else ""
    shown = form or CommentsForm(initial=entry.draft.values("comments"))
    return render_order_wizard_step(
        request,
        entry,
        "review",
        form=shown,
        questions=questions
        or QuestionsForm(
            entry.question_markers, initial=entry.draft.values("questions")
        ),
        wanted=order_request,
        sections=build_order_review_sections(entry, order_request),
        twins=twins,
        can_place=can_place,
        printed_tests=[
            (marker, describe_marker_tube(marker)) for marker in entry.markers
        ],
        refusal=refusal,
        refused_step=at or "review",
        # A literal in the template would reach the attribute unescaped.
        print_values=json.dumps({"go": "print"}),
        printed=_preview_comment(entry, str(shown["comments"].value() or "")),
        **more,
    )


def submit_order_review_step(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    questions = QuestionsForm(entry.question_markers, read_posted(request))
    form = CommentsForm(read_posted(request))
    draft = entry.draft.with_values(
        questions=get_raw_form_values(questions, request.POST),
        comments=get_raw_form_values(form, request.POST),
    )
    entry = replace(entry, draft=draft)
    if is_back_button_pressed(request):
        return redirect_to_order_wizard_step(
            request, draft, entry.step_before("review")
        )
    if request.POST.get("go") == "print":
        return _show_printed_comment(request, entry)
    save_order_draft(request, draft)
    if not _check_entered(entry, questions, form):
        return show_order_review_step(
            request, entry, questions=questions, form=form, status=422
        )
    try:
        order_id = _place_order_once(request, entry)
    except Conflict:
        # A second press while the first is at work: its order is shown once it is done.
        messages.info(request, _("This order is being placed."))
        return redirect_browser(
            request, get_order_wizard_step_url(request, draft, "review")
        )
    except DomainError as refusal:
        return show_order_review_step(
            request, entry, refusal, questions=questions, form=form, status=422
        )
    mark_order_draft_placed(request, draft, order_id)
    messages.success(request, _("Order placed."))
    return redirect_to_placed_order(request, order_id)


def redirect_to_placed_order(request: TenantRequest, order_id: str) -> HttpResponse:
    """Redirect to the page of the order that a draft became."""
    return redirect_browser(request, page_url(request, "labs:order", order_id=order_id))


def _check_entered(
    entry: OrderEntry, questions: QuestionsForm, form: CommentsForm
) -> bool:
    """Return whether answers, comment and start are good; faults go to their fields."""
    if questions.is_valid():
        answers = questions.answers()
        for marker in entry.question_markers:
            own = [one for one in answers if one["marker_id"] == marker.pk]
            try:
                require_valid_order_answers([marker], own)
            except DomainError as refusal:
                field = questions.first_unanswered_field(marker)
                questions.add_error(field, refusal.message)
    if form.is_valid():
        try:
            require_start_date_not_past(form.cleaned_data["activate_by"])
        except DomainError as refusal:
            form.add_error("activate_by", refusal.message)
    return questions.is_valid() and form.is_valid()


def _show_printed_comment(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    if not is_page_fragment_requested(request):
        return redirect_to_order_wizard_step(request, entry.draft, "review")
    comment = str(entry.draft.values("comments").get("comments", ""))
    part = "labs/_place_order_printed.html"
    return render_page(
        request,
        part,
        fragment=part,
        entry=entry,
        printed=_preview_comment(entry, comment),
    )


def _preview_comment(entry: OrderEntry, comments: str) -> str:
    if entry.lab is None:
        return ""
    account = entry.account.account if entry.account else None
    return build_requisition_comment(lab=entry.lab, account=account, comments=comments)


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
