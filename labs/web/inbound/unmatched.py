"""Unmatched lab results: the queue, one report, one message.

Only report pages show names, to members with the right to patient details; each read is
recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.models import InboundReport
from labs.models.inbound import WHY_MAX_LENGTH
from labs.operations.inbound.matching import list_candidate_orders_for_lab_report
from labs.operations.inbound.processing import reprocess_malformed_lab_message
from labs.operations.inbound.review import (
    dismiss_lab_message,
    has_open_critical_alert,
    match_lab_report_manually,
    parse_stored_lab_report,
    reject_lab_report,
    restore_rejected_lab_report,
)
from labs.queries.inbound import (
    get_inbound_lab_message,
    get_inbound_lab_report,
    list_lab_messages_to_review,
    list_lab_reports_in_status,
)
from labs.states.inbound import (
    Agreement,
    MatchStatus,
    MessageStatus,
    UnmatchedReason,
)
from labs.web.inbound.overview import count_unmatched_reports_and_messages
from labs.web.order_rows import PLATFORM_WORDS, format_lab_account_name
from labs.web.results.critical import build_critical_result_row
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import (
    Pager,
    page_url,
    parse_list_offset,
    redirect_browser,
    render_page,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.gateways.hl7.results import Report
    from labs.models import InboundMessage
    from labs.operations.inbound.matching import Candidate, Evidence

PAGE_SIZE = 25
SHOWN_CHARACTERS = 20_000
PROBLEMS = "problems"
_TABS = {
    MatchStatus.UNMATCHED: gettext_lazy("Unmatched"),
    PROBLEMS: gettext_lazy("Malformed or refused"),
    MatchStatus.MATCHED: gettext_lazy("Matched"),
    MatchStatus.REJECTED: gettext_lazy("Rejected"),
}
_SEX = {"F": gettext_lazy("Female"), "M": gettext_lazy("Male")}
_POINTS = (
    ("number", gettext_lazy("Number")),
    ("name", gettext_lazy("Name")),
    ("birth_date", gettext_lazy("Birth date")),
    ("sex", gettext_lazy("Sex")),
    ("tests", gettext_lazy("Tests")),
    ("account", gettext_lazy("Account")),
)
_GLYPHS = {
    Agreement.AGREES: ("ok", "check"),
    Agreement.DIFFERS: ("bad", "x"),
    Agreement.UNTOLD: ("mute", "minus"),
}


class ReasonForm(forms.Form):
    """The reason for a decision."""

    why = forms.CharField(
        max_length=WHY_MAX_LENGTH,
        required=False,
        label=gettext_lazy("Reason"),
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class MatchForm(ReasonForm):
    """The order to match, and the reason."""

    order = forms.UUIDField(
        label=gettext_lazy("Order ID"),
        error_messages={"invalid": gettext_lazy("Enter a full order ID.")},
    )
    field_order = ("order", "why")


@dataclass(frozen=True, slots=True)
class MatchPoint:
    """One thing that agrees or differs between a report and an order."""

    words: str
    agreement: str
    family: str
    glyph: str


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A possible order of a report, as a table row."""

    candidate: Candidate
    points: Sequence[MatchPoint]
    account: str


@require_GET
@require_right(Area.ORDERS)
def show_unmatched_reports_and_messages(request: TenantRequest) -> HttpResponse:
    """Show a tab's reports or messages, newest first, without names."""
    tab = request.GET.get("tab", "")
    tab = tab if tab in _TABS else str(MatchStatus.UNMATCHED)
    offset = parse_list_offset(request)
    rows: Sequence[InboundReport | InboundMessage]
    if tab == PROBLEMS:
        rows, total = list_lab_messages_to_review(
            tenant=request.tenant, offset=offset, limit=PAGE_SIZE
        )
    else:
        rows, total = list_lab_reports_in_status(
            tenant=request.tenant, status=tab, offset=offset, limit=PAGE_SIZE
        )
    waiting = count_unmatched_reports_and_messages(request)
    counts = {MatchStatus.UNMATCHED: waiting.reports, PROBLEMS: waiting.messages}
    return render_page(
        request,
        "labs/unmatched.html",
        section="unmatched",
        tab=tab,
        tabs=[(str(name), label, counts.get(name)) for name, label in _TABS.items()],
        rows=[(row, _account_label(row), _reason_label(row)) for row in rows],
        is_problems=tab == PROBLEMS,
        pager=Pager(total=total, offset=offset, limit=PAGE_SIZE),
        may_open=request.rights.allow(Area.PATIENT_DETAILS),
    )


@require_GET
@require_right(Area.ORDERS)
def show_unmatched_report(request: TenantRequest, lab_report_id: UUID) -> HttpResponse:
    """Show a report with its possible orders."""
    row = _get_report(request, lab_report_id)
    report = parse_stored_lab_report(row)
    _record_read(request, "lab_report", row.pk, row)
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
        account=_account_label(row),
        reason=_reason_label(row),
        text=row.text.replace("\r", "\n")[:SHOWN_CHARACTERS],
        candidates=[_build_candidate_row(one) for one in found] if is_open else [],
        documents=sum(test.documents for test in report.tests),
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
    row = _get_report(request, lab_report_id, write=True)
    initial = {"order": request.GET.get("order", "")}
    form = MatchForm(read_posted(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            match_lab_report_manually(
                report=row,
                actor=request.actor,
                order_id=form.cleaned_data["order"],
                why=form.cleaned_data["why"],
            )
        except DomainError as refused:
            _add_refusal(form, refused, "order")
        else:
            messages.success(
                request, _("Report matched. Its results are added to the order.")
            )
            order_id = form.cleaned_data["order"]
            return redirect_browser(
                request, page_url(request, "labs:order", order_id=order_id)
            )
    report = parse_stored_lab_report(row)
    if request.method == "GET":
        _record_read(request, "lab_report", row.pk, row)
    chosen = _find_chosen_candidate(request, row, report, form)
    return _render_dialog(
        request,
        row,
        "match",
        _("Match to an order"),
        form,
        chosen=chosen,
        patient=report.patient,
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
            _add_refusal(form, refused, "why")
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


@require_GET
@require_right(Area.ORDERS)
def show_unprocessed_lab_message(
    request: TenantRequest, lab_message_id: UUID
) -> HttpResponse:
    """Show a malformed message or a lab's refusal as received."""
    message = _get_message(request, lab_message_id)
    _record_read(request, "lab_message", message.pk)
    text = bytes(message.content)[:SHOWN_CHARACTERS].decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return render_page(
        request,
        "labs/unmatched_message.html",
        section="unmatched",
        message=message,
        account=_account_label(message),
        text="".join(c if c == "\n" or c.isprintable() else "\ufffd" for c in lines),
        is_cut=len(message.content) > SHOWN_CHARACTERS,
        is_malformed=message.status == MessageStatus.MALFORMED,
        is_open=message.status in {MessageStatus.MALFORMED, MessageStatus.REFUSED},
        may_decide=request.rights.allow(Area.ORDERS, write=True),
    )


@require_http_methods(["POST"])
@require_right(Area.ORDERS)
def reprocess_lab_message(request: TenantRequest, lab_message_id: UUID) -> HttpResponse:
    """Process a malformed message again."""
    message = _get_message(request, lab_message_id, write=True)
    try:
        reprocess_malformed_lab_message(message=message, actor=request.actor)
    except DomainError as refused:
        messages.error(request, refused.message)
        here = page_url(request, "labs:unmatched_message", lab_message_id=message.pk)
        return redirect_browser(request, here)
    messages.success(request, _("Message processed."))
    return redirect_browser(request, page_url(request, "labs:unmatched"))


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
def dismiss_lab_message_dialog(
    request: TenantRequest, lab_message_id: UUID
) -> HttpResponse:
    """Dismiss a message, with a reason."""
    message = _get_message(request, lab_message_id, write=True)
    form = ReasonForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            dismiss_lab_message(
                message=message, actor=request.actor, why=form.cleaned_data["why"]
            )
        except DomainError as refused:
            _add_refusal(form, refused, "why")
        else:
            messages.success(request, _("Message dismissed."))
            address = page_url(request, "labs:unmatched")
            return redirect_browser(request, f"{address}?tab={PROBLEMS}")
    return render_form(
        request,
        "labs/_unmatched_dismiss.html",
        title=_("Dismiss this message?"),
        back=page_url(request, "labs:unmatched_message", lab_message_id=message.pk),
        back_words=_("Message"),
        status=422 if form.errors else 200,
        form=form,
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
        back=page_url(request, "labs:unmatched_report", lab_report_id=row.pk),
        back_words=_("Report"),
        status=422 if form.errors else 200,
        form=form,
        **context,
    )


def _add_refusal(form: forms.Form, refused: DomainError, otherwise: str) -> None:
    known = refused.field is not None and refused.field in form.fields
    form.add_error(refused.field if known else otherwise, refused.message)


def _get_report(
    request: TenantRequest, report_id: UUID, *, write: bool = False
) -> InboundReport:
    row = get_inbound_lab_report(tenant=request.tenant, report_id=report_id)
    row.tenant = request.tenant
    _require_patients(request, write=write)
    return row


def _get_message(
    request: TenantRequest, message_id: UUID, *, write: bool = False
) -> InboundMessage:
    message = get_inbound_lab_message(tenant=request.tenant, message_id=message_id)
    message.tenant = request.tenant
    _require_patients(request, write=write)
    return message


def _require_patients(request: TenantRequest, *, write: bool) -> None:
    """Require the right to patient details, after the tenant is checked."""
    if not request.rights.allow(Area.PATIENT_DETAILS) or (
        write and not request.rights.allow(Area.ORDERS, write=True)
    ):
        raise PermissionDenied


def _record_read(
    request: TenantRequest,
    subject: str,
    subject_id: UUID,
    row: InboundReport | None = None,
) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=subject_id,
        user_uuid=row.order.user.uuid if row and row.order else None,
    )


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
    return _build_candidate_row(one) if one else None


def _build_candidate_row(candidate: Candidate) -> CandidateRow:
    return CandidateRow(
        candidate,
        _build_match_points(candidate.evidence),
        format_lab_account_name(candidate.order.lab_account),
    )


def _build_match_points(evidence: Evidence) -> list[MatchPoint]:
    agreements = [(label, getattr(evidence, name)) for name, label in _POINTS]
    return [
        MatchPoint(label, str(agreement.label), *_GLYPHS[agreement])
        for label, agreement in agreements
    ]


def _account_label(row: InboundReport | InboundMessage) -> str:
    message = row.message if isinstance(row, InboundReport) else row
    account = message.lab_account
    return format_lab_account_name(account) if account else PLATFORM_WORDS


def _reason_label(row: InboundReport | InboundMessage) -> str:
    agreements = getattr(row, "reason", "")
    known = UnmatchedReason.known(agreements)
    return str(known.label) if known else agreements
