"""The queue of orders that wait for a physician, and the page that decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.declarations.pages import NavCount
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    find_identity_confirmation_time,
    require_confirmed_identity,
    require_second_factor,
)
from labs.documents.specimens import describe_order_tubes
from labs.models.physician import REASON_MAX_LENGTH
from labs.operations.catalogue.diagnoses import describe_diagnoses
from labs.operations.orders.approvals import SeenOrder, approve_orders, refuse_orders
from labs.queries.orders.answers import list_order_answers
from labs.queries.orders.approvals import (
    count_waiting_approvals,
    list_decided_approvals,
    list_orders_to_approve,
    list_waiting_approvals,
)
from labs.queries.physicians import find_physician_of_member
from labs.states.catalogue import CollectionMethod
from labs.web.columns import APPROVALS
from labs.web.orders.order_page import list_patient_details_by_label
from portal.lib.errors import DomainError, NotAllowed
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.pills import format_wire_value_as_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order, Physician
    from labs.operations.orders.approvals import ApprovalOutcome
    from labs.queries.orders.answers import AnsweredQuestion

# The most orders that are looked at and decided on together.
REVIEWED_AT_MOST = 25


@dataclass(frozen=True, slots=True)
class OrderToApprove:
    """All that a physician decides on; `token` is the order as it is shown."""

    order: Order
    token: str
    is_chosen: bool
    patient: Mapping[str, str]
    markers: Sequence[str]
    method: str
    tubes: str
    answers: Sequence[AnsweredQuestion]
    diagnoses: Sequence[tuple[str, str]]


@require_GET
@require_right(Area.APPROVE_ORDERS)
def show_approval_queue(request: TenantRequest) -> HttpResponse:
    """Show what waits for the member, or for all to who only reads; no names."""
    may_decide = request.rights.allow(Area.APPROVE_ORDERS, write=True)
    physician = _find_physician(request) if may_decide else None
    columns = read_list_columns(request, APPROVALS)
    waiting = columns.sort_rows(
        list_waiting_approvals(tenant=request.tenant, physician=physician)
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="order_approvals",
        subject_id=f"waiting={len(waiting)}",
    )
    return render_page(
        request,
        "labs/approvals.html",
        section="approvals",
        columns=columns,
        waiting=waiting,
        decided=list_decided_approvals(tenant=request.tenant),
        physician=physician,
        may_decide=may_decide,
        reviewed_at_most=REVIEWED_AT_MOST,
    )


@require_GET
@require_right(Area.APPROVE_ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS)
@require_second_factor
@require_confirmed_identity
def review_orders_to_approve(request: TenantRequest) -> HttpResponse:
    """Show the chosen orders in full, each read recorded."""
    chosen = _parse_order_ids(request.GET.getlist("order"))
    return _render_review(request, chosen, request.GET.getlist("order"))


@require_POST
@require_right(Area.APPROVE_ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS)
@require_second_factor
@require_confirmed_identity
def decide_on_orders(request: TenantRequest) -> HttpResponse:
    """Approve or refuse the orders that were looked at and are still chosen."""
    seen = _parse_seen_orders(request.POST.getlist("seen"))
    shown = _parse_order_ids(request.POST.getlist("order"))
    chosen = [str(one.order_id) for one in seen]
    is_refusal = request.POST.get("decision") == "refuse"
    if not seen:
        refused = DomainError("nothing_chosen", _("Choose at least one order."))
        return _render_review(request, shown, chosen, refusal=refused)
    try:
        outcomes = _decide(request, seen, is_refusal=is_refusal)
    except NotAllowed:
        raise
    except DomainError as refusal:
        return _render_review(request, shown, chosen, refusal=refusal)
    _report_outcomes(request, outcomes, is_refusal=is_refusal)
    return redirect_browser(request, page_url(request, "labs:approvals"))


def build_approvals_nav_count(request: TenantRequest) -> NavCount | None:
    """Build the navigation count of what waits for the member; none for others."""
    if not request.rights.allow(Area.APPROVE_ORDERS, write=True):
        return None
    physician = _find_physician(request)
    if physician is None:
        return None
    number = count_waiting_approvals(tenant=request.tenant, physician=physician)
    return NavCount(number, _("waiting for approval"), "warn") if number else None


def _decide(
    request: TenantRequest, seen: Sequence[SeenOrder], *, is_refusal: bool
) -> list[ApprovalOutcome]:
    at = find_identity_confirmation_time(request) or timezone.now()
    if not is_refusal:
        return approve_orders(
            tenant=request.tenant, actor=request.actor, seen=seen, confirmed_at=at
        )
    return refuse_orders(
        tenant=request.tenant,
        actor=request.actor,
        seen=seen,
        reason=request.POST.get("reason", ""),
        confirmed_at=at,
    )


def _find_physician(request: TenantRequest) -> Physician | None:
    return find_physician_of_member(tenant=request.tenant, member_id=request.member.pk)


def _render_review(
    request: TenantRequest,
    order_ids: Sequence[UUID],
    chosen: Sequence[str],
    *,
    refusal: DomainError | None = None,
) -> HttpResponse:
    physician = _find_physician(request)
    if physician is None:
        messages.warning(request, _("Complete your profile first."))
        return redirect_browser(request, page_url(request, "labs:physician_profile"))
    orders = list_orders_to_approve(
        tenant=request.tenant,
        physician=physician,
        order_ids=order_ids[:REVIEWED_AT_MOST],
    )
    if not orders:
        messages.warning(request, _("Choose orders that are waiting for you."))
        return redirect_browser(request, page_url(request, "labs:approvals"))
    for order in orders:
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="order_approval",
            subject_id=order.pk,
            user_uuid=order.user.uuid,
        )
    return render_page(
        request,
        "labs/approval_review.html",
        status=422 if refusal else 200,
        section="approvals",
        rows=[_build_order_to_approve(order, chosen) for order in orders],
        physician=physician,
        refusal=refusal,
        reason=request.POST.get("reason", ""),
        reason_max=REASON_MAX_LENGTH,
    )


def _build_order_to_approve(order: Order, chosen: Sequence[str]) -> OrderToApprove:
    method = CollectionMethod.known(order.method)
    return OrderToApprove(
        order=order,
        token=f"{order.pk}|{order.updated_at.isoformat()}",
        is_chosen=str(order.pk) in chosen,
        patient=list_patient_details_by_label(order),
        markers=sorted(marker.name for marker in order.placed.markers),
        method=str(method.label)
        if method
        else format_wire_value_as_words(order.method),
        tubes=describe_order_tubes(order),
        answers=list_order_answers(order),
        diagnoses=describe_diagnoses(order.icd_codes),
    )


def _parse_order_ids(texts: Sequence[str]) -> list[UUID]:
    """Return the ids among texts, in order; anything else is left out."""
    found = []
    for text in texts:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return found


def _parse_seen_orders(tokens: Sequence[str]) -> list[SeenOrder]:
    found = []
    for token in tokens[:REVIEWED_AT_MOST]:
        order_id, _bar, at = token.partition("|")
        try:
            found.append(SeenOrder(UUID(order_id), datetime.fromisoformat(at)))
        except ValueError:
            continue
    return found


def _report_outcomes(
    request: TenantRequest, outcomes: Sequence[ApprovalOutcome], *, is_refusal: bool
) -> None:
    done = sum(one.refusal is None for one in outcomes)
    if done:
        words = (
            ngettext("%(count)d order refused.", "%(count)d orders refused.", done)
            if is_refusal
            else ngettext(
                "%(count)d order approved.", "%(count)d orders approved.", done
            )
        )
        messages.success(request, words % {"count": done})
    for one in outcomes:
        if one.refusal is not None:
            messages.error(
                request,
                _("Order %(order)s: %(message)s")
                % {"order": str(one.order_id)[:8], "message": one.refusal.message},
            )
