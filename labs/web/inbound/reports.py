"""One unmatched lab report: its page, and matching, rejecting and restoring it.

Names are shown to members with the right to patient details; each read is recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.operations.inbound.matching import list_candidate_orders_for_lab_report
from labs.operations.inbound.review import (
    add_lab_report_to_ended_order,
    has_open_critical_alert,
    match_lab_report_manually,
    parse_stored_lab_report,
    reject_lab_report,
    restore_rejected_lab_report,
)
from labs.queries.inbound import get_inbound_lab_report
from labs.states.inbound import MatchStatus, UnmatchedReason
from labs.web.inbound.candidates import CandidateRow, build_candidate_row
from labs.web.inbound.review_pages import (
    SHOWN_CHARACTERS,
    ReasonForm,
    add_refusal,
    build_account_label,
    build_reason_label,
    record_patient_read,
    require_patient_rights,
)
from labs.web.results.critical import build_critical_result_row
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.gateways.hl7.reports import Report
    from labs.models import InboundReport

_SEX = {"F": gettext_lazy("Female"), "M": gettext_lazy("Male")}


class MatchForm(ReasonForm):
    """The order to match, and the reason."""

    order = forms.UUIDField(
        label=gettext_lazy("Order ID"),
        error_messages={"invalid": gettext_lazy("Enter a full order ID.")},
    )
    field_order = ("order", "why")


@require_GET
@require_right(Area.ORDERS)
def show_unmatched_report(request: TenantRequest, lab_report_id: UUID) -> HttpResponse:
    """Show a report with its possible orders."""
    row = _get_report(request, lab_report_id)
    report = parse_stored_lab_report(row)
    record_patient_read(request, "lab_report", row.pk, row)
    is_open = row.status == MatchStatus.UNMATCHED
    found = list_candidate_orders_for_lab_report(
        tenant=request.tenant,
        lab=row.message.lab,
        account=row.message.lab_account,
        report=report,
    )
    return render_page(
        request,
        "labs/unmatched_report.html",
        section="unmatched",
        row=row,
        report=report,
        sex=_SEX.get(report.patient.sex, ""),
        account=build_account_label(row),
        reason=build_reason_label(row),
        text=row.text.replace("\r", "\n")[:SHOWN_CHARACTERS],
        candidates=[build_candidate_row(one) for one in found] if is_open else [],
        documents=sum(len(test.documents) for test in report.tests),
        is_open=is_open,
        is_rejected=row.status == MatchStatus.REJECTED,
        alert=build_critical_result_row(row.alert, ()) if row.alert else None,
        is_alert_open=has_open_critical_alert(row),
        may_acknowledge=request.rights.allow(Area.SIGN_REPORTS, write=True),
        may_decide=request.rights.allow(Area.ORDERS, write=True),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
def match_lab_report_dialog(
    request: TenantRequest, lab_report_id: UUID
) -> HttpResponse:
    """Match a report to an order, with a reason."""
    return _show_order_dialog(request, lab_report_id, match_lab_report_manually)


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
def add_lab_report_to_ended_order_dialog(
    request: TenantRequest, lab_report_id: UUID
) -> HttpResponse:
    """Add a report's results to an order that ended without them, with a reason."""
    return _show_order_dialog(request, lab_report_id, add_lab_report_to_ended_order)


def _show_order_dialog(
    request: TenantRequest, lab_report_id: UUID, operation: Callable[..., object]
) -> HttpResponse:
    to_ended = operation is add_lab_report_to_ended_order
    row = _get_report(request, lab_report_id, write=True)
    initial = {"order": request.GET.get("order", "")}
    form = MatchForm(read_posted(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            operation(
                report=row,
                actor=request.actor,
                order_id=form.cleaned_data["order"],
                why=form.cleaned_data["why"],
            )
        except DomainError as refused:
            add_refusal(form, refused, "order")
        else:
            messages.success(request, _("The report's results are added to the order."))
            order_id = form.cleaned_data["order"]
            return redirect_browser(
                request, page_url(request, "labs:order", order_id=order_id)
            )
    report = parse_stored_lab_report(row)
    if request.method == "GET":
        record_patient_read(request, "lab_report", row.pk, row)
    chosen = _find_chosen_candidate(request, row, report, form)
    return _render_dialog(
        request,
        row,
        "match",
        _("Add to an ended order") if to_ended else _("Match to an order"),
        form,
        chosen=chosen,
        patient=report.patient,
        to_ended=to_ended,
        is_held_lines=row.reason == UnmatchedReason.HELD_LINES,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
def reject_lab_report_dialog(
    request: TenantRequest, lab_report_id: UUID
) -> HttpResponse:
    """Reject a report, with a reason."""
    row = _get_report(request, lab_report_id, write=True)
    form = ReasonForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            reject_lab_report(
                report=row, actor=request.actor, why=form.cleaned_data["why"]
            )
        except DomainError as refused:
            add_refusal(form, refused, "why")
        else:
            messages.success(request, _("Report rejected."))
            return redirect_browser(request, page_url(request, "labs:unmatched"))
    return _render_dialog(
        request,
        row,
        "reject",
        _("Reject this report?"),
        form,
        alert_id=row.alert_id,
        is_alert_open=has_open_critical_alert(row),
        may_acknowledge=request.rights.allow(Area.SIGN_REPORTS, write=True),
    )


@require_http_methods(["POST"])
@require_right(Area.ORDERS)
def restore_rejected_report(
    request: TenantRequest, lab_report_id: UUID
) -> HttpResponse:
    """Return a rejected report to the queue."""
    row = _get_report(request, lab_report_id, write=True)
    try:
        restore_rejected_lab_report(report=row, actor=request.actor)
    except DomainError as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, _("Report restored."))
    return redirect_browser(
        request, page_url(request, "labs:unmatched_report", lab_report_id=row.pk)
    )


def _render_dialog(
    request: TenantRequest,
    row: InboundReport,
    body: str,
    title: str,
    form: forms.Form,
    **context: Any,
) -> HttpResponse:
    return render_form(
        request,
        f"labs/_unmatched_{body}.html",
        title=title,
        lab_report_id=row.pk,
        back=page_url(request, "labs:unmatched_report", lab_report_id=row.pk),
        back_words=_("Report"),
        status=422 if form.errors else 200,
        form=form,
        **context,
    )


def _get_report(
    request: TenantRequest, report_id: UUID, *, write: bool = False
) -> InboundReport:
    row = get_inbound_lab_report(tenant=request.tenant, report_id=report_id)
    row.tenant = request.tenant
    require_patient_rights(request, write=write)
    return row


def _find_chosen_candidate(
    request: TenantRequest, row: InboundReport, report: Report, form: forms.Form
) -> CandidateRow | None:
    """Return the order the form names, with its evidence."""
    chosen_id = str(form["order"].value() or "")
    found = list_candidate_orders_for_lab_report(
        tenant=request.tenant,
        lab=row.message.lab,
        account=row.message.lab_account,
        report=report,
    )
    named = (one for one in found if str(one.order.pk) == chosen_id)
    one = next(named, None)
    return build_candidate_row(one) if one else None
