"""Pages of a report that was read again: differences, and amending with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from reports.operations.jobs.rereading import (
    enqueue_report_rereading,
    get_rereading,
    list_rereading_differences,
)
from reports.operations.review.reviews import claim_review
from reports.operations.signing.amending import ReadingChoice, open_amendment_review
from reports.web.signing.amending import WhyForm, parse_report_id_or_404
from reports.web.signing.rows import build_changed_row_for_diff, build_review_page_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import Rereading
    from reports.queries import RowDiff


class ChoiceForm(WhyForm):
    """The rows to amend with, the version they were seen at, and the reason."""

    rows = forms.TypedMultipleChoiceField(
        coerce=int,
        error_messages={"required": gettext_lazy("Select at least one row.")},
    )
    version = forms.IntegerField()

    def __init__(self, data: Any, *, diffs: Sequence[RowDiff]) -> None:
        super().__init__(data)
        readable = [diff.position for diff in diffs if diff.after is not None]
        self.fields["rows"].choices = [(at, at) for at in readable]  # type: ignore[attr-defined]


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def reread_completed_report(request: TenantRequest, job_id: str) -> HttpResponse:
    """Enqueue a new reading of a report."""
    report_id = parse_report_id_or_404(job_id)
    try:
        enqueue_report_rereading(
            tenant=request.tenant, actor=request.actor, job_id=report_id
        )
    except (NotAllowed, NotFound):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Reading again. Signed results do not change."))
    return redirect_browser(
        request, page_url(request, "reports:history", job_id=report_id)
    )


@require_GET
@require_right(Area.SIGN_REPORTS)
def show_rereading_differences(
    request: TenantRequest, job_id: str, rereading_id: int
) -> HttpResponse:
    """Show the differences between a new reading and the current results."""
    found, diffs = _found(request, job_id, rereading_id)
    return _page(request, found, diffs, ChoiceForm(None, diffs=diffs))


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def amend_report_with_rereading(
    request: TenantRequest, job_id: str, rereading_id: int
) -> HttpResponse:
    """Open the next version with the selected rows of the new reading."""
    found, diffs = _found(request, job_id, rereading_id)
    form = ChoiceForm(request.POST, diffs=diffs)
    if form.is_valid():
        cleaned = form.cleaned_data
        try:
            review = open_amendment_review(
                tenant=request.tenant,
                actor=request.actor,
                job_id=found.job.id,
                why=cleaned["why"],
                chosen=ReadingChoice(
                    rereading_id=found.pk,
                    version=cleaned["version"],
                    positions=frozenset(cleaned["rows"]),
                ),
            )
            claim_review(
                tenant=request.tenant, actor=request.actor, review_id=review.id
            )
        except (NotAllowed, NotFound):
            raise
        except DomainError as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect_browser(request, build_review_page_url(request, review))
    return _page(request, found, diffs, form, status=422)


def _found(
    request: TenantRequest, job_id: str, rereading_id: int
) -> tuple[Rereading, list[RowDiff]]:
    found = get_rereading(
        tenant=request.tenant,
        job_id=parse_report_id_or_404(job_id),
        rereading_id=rereading_id,
    )
    return found, list_rereading_differences(rereading=found)


def _page(
    request: TenantRequest,
    found: Rereading,
    diffs: Sequence[RowDiff],
    form: ChoiceForm,
    *,
    status: int = 200,
) -> HttpResponse:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="rereading",
        subject_id=found.pk,
        user_uuid=found.job.user.uuid,
    )
    chosen = request.POST.getlist("rows")
    return render_page(
        request,
        "reports/signing/rereading.html",
        status=status,
        job=found.job,
        section="reports",
        rereading=found,
        form=form,
        rows=[
            (
                build_changed_row_for_diff(request, job=found.job, diff=diff),
                diff.after is not None,
                str(diff.position) in chosen,
            )
            for diff in diffs
        ],
        may_choose=any(diff.after is not None for diff in diffs),
    )
