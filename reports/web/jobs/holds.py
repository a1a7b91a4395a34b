"""Held reports on their page: why a report is held, and its release or rejection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser
from reports.operations.jobs.holds import reject_held_report, release_held_report
from reports.operations.review.reviews import REASON_MAX_LENGTH
from reports.queries import (
    compare_report_patient_with_user,
    find_duplicate_reports,
    get_parsing_job,
)
from reports.states import DUPLICATE_REASONS, ParsingJobStatus, RejectionReason
from reports.web.review.notes import DETAIL_LABELS, describe_hold_reasons

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import ParsingJob
    from reports.queries import IdentityLine


class ReleaseForm(forms.Form):
    """Why a held report may be used after all."""

    reason = forms.CharField(
        max_length=REASON_MAX_LENGTH,
        label=gettext_lazy("Why it can be released"),
        error_messages={"required": gettext_lazy("Enter a reason.")},
    )


class RejectForm(forms.Form):
    """Why a held report has no usable values."""

    reason = forms.ChoiceField(
        choices=RejectionReason.choices,
        label=gettext_lazy("Reason"),
        error_messages={"required": gettext_lazy("Choose a reason.")},
    )


@dataclass(frozen=True, slots=True)
class HeldReport:
    """A held report as its page shows it; `others` are duplicates of it."""

    reasons: list[str]
    lines: list[tuple[str, IdentityLine]]
    others: list[ParsingJob]
    release_form: ReleaseForm
    reject_form: RejectForm


def build_held_report(job: ParsingJob) -> HeldReport | None:
    """Return why a report is held, None if it is not; at most two queries."""
    if job.status != ParsingJobStatus.PENDING_REVIEW or not job.hold_reasons:
        return None
    lines = compare_report_patient_with_user(job=job)
    return HeldReport(
        reasons=describe_hold_reasons(job.hold_reasons),
        lines=[(str(DETAIL_LABELS[line.field]), line) for line in lines],
        others=find_duplicate_reports(job=job)
        if DUPLICATE_REASONS.intersection(job.hold_reasons)
        else [],
        release_form=ReleaseForm(auto_id="release_%s"),
        reject_form=RejectForm(auto_id="reject_%s"),
    )


@require_POST
@require_right(Area.REPORTS, write=True)
def release_or_reject_held_report(request: TenantRequest, job_id: str) -> HttpResponse:
    """Release a held report, or reject it."""
    try:
        key = UUID(job_id)
    except ValueError:
        raise Http404 from None
    get_parsing_job(tenant=request.tenant, job_id=key)  # another's does not exist
    is_rejection = request.POST.get("verdict") == "reject"
    form = RejectForm(request.POST) if is_rejection else ReleaseForm(request.POST)
    about: dict[str, Any] = {
        "tenant": request.tenant,
        "actor": request.actor,
        "job_id": key,
    }
    if not form.is_valid():
        messages.error(request, str(next(iter(form.errors.values()))[0]))
    else:
        reason = form.cleaned_data["reason"]
        try:
            if is_rejection:
                reject_held_report(**about, reason=RejectionReason(reason))
                messages.success(request, _("Report rejected. Its values are deleted."))
            else:
                release_held_report(**about, reason=reason)
                messages.success(request, _("Report released."))
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            messages.error(request, refusal.message)
    return redirect_browser(request, page_url(request, "reports:page", job_id=key))
