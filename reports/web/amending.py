"""Putting a report on the desk again: amend it, give that up, let it go unread twice.

Must not be here: the signature of the next version (reports.web.signing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
)

from accounts.operations.audit import record_read
from accounts.states import Area
from accounts.web.dialogs import posted, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web import go_to, page_url, render_page
from reports.operations.rereading import (
    reread_report,
    rereading_diff,
    rereading_of,
)
from reports.operations.review_amending import amend_report, withdraw_amendment
from reports.operations.review_signing import waive_second_read
from reports.operations.reviews import claim_review
from reports.queries import parsing_job, review_of
from reports.web.signing_rows import changed_row, desk_url

if TYPE_CHECKING:
    from django.http import HttpResponse

    from portal.lib.web import TenantRequest
    from reports.models import Review


class WhyForm(forms.Form):
    """A reason, which stays in the history."""

    why = forms.CharField(
        max_length=1000,
        label="Why",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say why."},
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def amend(request: TenantRequest, job_id: str) -> HttpResponse:
    """Ask why, and open the next version of a report's results on the desk."""
    job = parsing_job(tenant=request.tenant, job_id=_uuid(job_id))
    form = WhyForm(posted(request))
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                review = amend_report(
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
                return go_to(request, desk_url(request, review))
    return render_form(
        request,
        "reports/signing/_why.html",
        title="Amend the results",
        back=page_url(request, "reports:page", job_id=job.id),
        back_words="Back to the report",
        status=status,
        form=form,
        says="The signed values stay as they are until you sign the next version. "
        "Who receives your events is told then.",
        keep="Keep them",
        verb="Amend",
        section="reports",
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def withdraw(request: TenantRequest, review_id: str) -> HttpResponse:
    """Give up an amendment."""
    review = _review(request, review_id)
    try:
        withdraw_amendment(
            tenant=request.tenant, actor=request.actor, review_id=review.id
        )
    except (NotAllowed, NotFound):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "The results stay as they were.")
    return go_to(request, page_url(request, "reports:page", job_id=review.job_id))


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def waive(request: TenantRequest, review_id: str) -> HttpResponse:
    """Let a report go as it was signed, without the second read."""
    review = _review(request, review_id)
    form = WhyForm(posted(request))
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
                messages.success(request, "The values are sent as they were signed.")
                return go_to(
                    request, page_url(request, "reports:page", job_id=review.job_id)
                )
    return render_form(
        request,
        "reports/signing/_why.html",
        title="Do without the second read",
        back=page_url(request, "reports:history", job_id=review.job_id),
        back_words="Back to the history",
        status=status,
        form=form,
        says="The values leave as the first reader signed them. That nobody read them "
        "again stays in the history, with your reason.",
        keep="Wait for it",
        verb="Send as signed",
        section="reports",
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def reread(request: TenantRequest, job_id: str) -> HttpResponse:
    """Have a report read again."""
    asked = _uuid(job_id)
    try:
        reread_report(tenant=request.tenant, actor=request.actor, job_id=asked)
    except (NotAllowed, NotFound):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "It is being read again. What is signed stays.")
    return go_to(request, page_url(request, "reports:history", job_id=asked))


@require_GET
@require_right(Area.SIGN_REPORTS)
def rereading(request: TenantRequest, job_id: str, rereading_id: int) -> HttpResponse:
    """What the machine would say now, beside what stands."""
    found = rereading_of(
        tenant=request.tenant, job_id=_uuid(job_id), rereading_id=rereading_id
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="rereading",
        subject_id=found.pk,
        user_uuid=found.job.user.uuid,
    )
    return render_page(
        request,
        "reports/signing/rereading.html",
        job=found.job,
        section="reports",
        rereading=found,
        rows=[
            changed_row(request, job=found.job, diff=diff)
            for diff in rereading_diff(rereading=found)
        ],
    )


def _review(request: TenantRequest, review_id: str) -> Review:
    return review_of(tenant=request.tenant, review_id=_uuid(review_id))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
