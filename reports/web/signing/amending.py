"""Pages that amend a report, withdraw an amendment, or skip a second read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser
from reports.operations.review.reviews import claim_review
from reports.operations.signing.amending import (
    open_amendment_review,
    withdraw_report_amendment,
)
from reports.operations.signing.signing import waive_second_read
from reports.queries import get_parsing_job, get_review
from reports.web.signing.rows import build_review_page_url

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import Review


class WhyForm(forms.Form):
    """A form with a reason, which is saved in the history."""

    why = forms.CharField(
        max_length=1000,
        label=gettext_lazy("Reason"),
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": gettext_lazy("Enter a reason.")},
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def amend_completed_report(request: TenantRequest, job_id: str) -> HttpResponse:
    """Ask for a reason, and open the next version of a report's results."""
    job = get_parsing_job(tenant=request.tenant, job_id=parse_report_id_or_404(job_id))
    form = WhyForm(read_posted(request))
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                review = open_amendment_review(
                    tenant=request.tenant,
                    actor=request.actor,
                    job_id=job.id,
                    why=form.cleaned_data["why"],
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
    return render_form(
        request,
        "reports/signing/_why.html",
        title=_("Amend results"),
        back=page_url(request, "reports:page", job_id=job.id),
        back_words=_("Back to report"),
        status=status,
        form=form,
        says=_(
            "The current results stay in place until you sign the next version."
            " The update is then sent to your endpoints."
        ),
        keep=_("Cancel"),
        verb=_("Amend results"),
        section="reports",
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def withdraw_amendment(request: TenantRequest, review_id: str) -> HttpResponse:
    """Withdraw an amendment."""
    review = _review(request, review_id)
    try:
        withdraw_report_amendment(
            tenant=request.tenant, actor=request.actor, review_id=review.id
        )
    except (NotAllowed, NotFound):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(
            request, _("Amendment withdrawn. The results have not changed.")
        )
    return redirect_browser(
        request, page_url(request, "reports:page", job_id=review.job_id)
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def skip_second_read(request: TenantRequest, review_id: str) -> HttpResponse:
    """Send a report's results as signed, without the second read."""
    review = _review(request, review_id)
    form = WhyForm(read_posted(request))
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                waive_second_read(
                    tenant=request.tenant,
                    actor=request.actor,
                    review_id=review.id,
                    why=form.cleaned_data["why"],
                )
            except (NotAllowed, NotFound):
                raise
            except DomainError as refusal:
                form.add_error(None, refusal.message)
            else:
                messages.success(
                    request, _("Second read skipped. The results are sent as signed.")
                )
                return redirect_browser(
                    request, page_url(request, "reports:page", job_id=review.job_id)
                )
    return render_form(
        request,
        "reports/signing/_why.html",
        title=_("Skip second read"),
        back=page_url(request, "reports:history", job_id=review.job_id),
        back_words=_("Back to history"),
        status=status,
        form=form,
        says=_(
            "The results are sent as the first reader signed them. The history"
            " shows that the second read was skipped, with your reason."
        ),
        keep=_("Cancel"),
        verb=_("Send as signed"),
        section="reports",
    )


def _review(request: TenantRequest, review_id: str) -> Review:
    return get_review(
        tenant=request.tenant, review_id=parse_report_id_or_404(review_id)
    )


def parse_report_id_or_404(text: str) -> UUID:
    """Parse an ID of a path. Raises: Http404."""
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
