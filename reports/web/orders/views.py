"""Pages of an order's reports: upload one, and compare one with what was ordered."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from labs.queries.orders.orders import get_order_with_details
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web.views import (
    allow_larger_request_body,
    page_url,
    redirect_browser,
    render_page,
)
from reports.operations.jobs.submission import MAX_BYTES, ReportRequest, submit_report
from reports.operations.orders.comparing import compare_report_with_order
from reports.operations.orders.missing import mark_ordered_result_missing
from reports.queries import (
    compare_report_patient_with_user,
    get_parsing_job,
    list_reports_of_order,
    list_reviews_of_job,
)
from reports.states import ReviewStatus
from reports.web.jobs.forms import FilesForm
from reports.web.orders.rows import build_comparison_row
from reports.web.review.notes import DETAIL_LABELS, describe_hold_reasons
from reports.web.signing.rows import build_review_page_url

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order
    from reports.models import ParsingJob, Review
    from reports.operations.orders.comparing import OrderComparison
    from reports.web.orders.rows import ComparisonRow


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.REPORTS)
def list_reports_of_one_order(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Show an order's reports, with a form to upload one."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    return _reports_of_order(request, order, FilesForm())


@allow_larger_request_body(
    2 * MAX_BYTES
)  # what is a little too large still gets its sentence
@require_POST
@require_right(Area.ORDERS)
@require_right(Area.REPORTS, write=True)
def upload_report_of_order(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Upload a report of an order."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    form = FilesForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            job = submit_report(
                tenant=request.tenant,
                actor=request.actor,
                request=ReportRequest(
                    user_id=order.user.uuid, parts=form.parts(), order_id=order.pk
                ),
            )
        except NotAllowed:
            raise
        except DomainError as refusal:
            form.add_error(
                "file",
                _("%(problem)s Nothing was stored.") % {"problem": refusal.message},
            )
        else:
            return redirect_browser(
                request, page_url(request, "reports:ordered", job_id=job.id)
            )
    return _reports_of_order(request, order, form, status=422)


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.REPORTS)
def compare_report_with_its_order(request: TenantRequest, job_id: str) -> HttpResponse:
    """Show what was ordered beside what was read."""
    job, review = _get_job_and_open_review(request, job_id)
    comparison = compare_report_with_order(job) if job.has_data else None
    if job.order_id is None or (job.has_data and comparison is None):
        return redirect_browser(
            request, page_url(request, "reports:page", job_id=job.id)
        )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="parsing_job",
        subject_id=job.id,
        user_uuid=job.user.uuid,
    )
    rows = [
        build_comparison_row(request, job, line)
        for line in (comparison.lines if comparison else ())
    ]
    lines = compare_report_patient_with_user(job=job) if job.has_data else []
    return render_page(
        request,
        "reports/orders/compare.html",
        section="orders",
        job=job,
        review=review,
        comparison=comparison,
        decide=[row for row in rows if row.needs_look],
        matching=[row for row in rows if not row.needs_look],
        counts=_count(rows),
        identity=[(str(DETAIL_LABELS[line.field]), line) for line in lines],
        specimen=_find_sample_id(job, comparison),
        hold_reasons=describe_hold_reasons(job.hold_reasons),
        desk=build_review_page_url(request, review) if review else "",
        may_decide=review is not None
        and request.rights.allow(Area.SIGN_REPORTS, write=True),
        poll_seconds=None if job.has_data or job.status == "failed" else 5,
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def mark_missing_result(request: TenantRequest, job_id: str) -> HttpResponse:
    """Say that the lab does not report what was ordered, or that it does later."""
    job, review = _get_job_and_open_review(request, job_id)
    if review is not None:
        try:
            mark_ordered_result_missing(
                tenant=request.tenant,
                actor=request.actor,
                review_id=review.id,
                key=request.POST.get("key", ""),
                is_performed=request.POST.get("verdict") != "not_performed",
            )
        except (NotAllowed, NotFound):
            raise
        except DomainError as refusal:
            messages.error(request, refusal.message)
    return redirect_browser(
        request, page_url(request, "reports:ordered", job_id=job.id)
    )


def _get_job_and_open_review(
    request: TenantRequest, job_id: str
) -> tuple[ParsingJob, Review | None]:
    try:
        job = get_parsing_job(tenant=request.tenant, job_id=UUID(job_id))
    except ValueError:
        raise Http404 from None
    reviews = list_reviews_of_job(job=job)
    review = next((r for r in reviews if r.status == ReviewStatus.OPEN), None)
    if review is not None:
        review.job = job
    return job, review


def _count(rows: list[ComparisonRow]) -> list[tuple[str, str, int]]:
    """Return the chips: how many rows of each kind, none of those that are zero."""
    kinds: dict[tuple[str, str], int] = {}
    for row in rows:
        kinds[row.pill] = kinds.get(row.pill, 0) + 1
    return [(family, words, number) for (family, words), number in kinds.items()]


def _reports_of_order(
    request: TenantRequest, order: Order, form: FilesForm, *, status: int = 200
) -> HttpResponse:
    jobs = list_reports_of_order(tenant=request.tenant, order_id=order.pk)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="report_list",
        subject_id=order.pk,
        user_uuid=order.user.uuid,
    )
    account = order.lab_account
    return render_page(
        request,
        "reports/orders/list.html",
        status=status,
        section="orders",
        order=order,
        jobs=jobs,
        form=form,
        takes_reports=account is not None and account.reports_by_document,
        may_upload=request.rights.allow(Area.REPORTS, write=True),
        is_enabled=request.tenant.lab_report_parsing_enabled
        and request.tenant.lab_report_human_review_enabled,
    )


def _find_sample_id(job: ParsingJob, comparison: OrderComparison | None) -> str:
    """Return the order's sample ID if it is printed anywhere, else the labelled one."""
    read = job.metadata or {}
    own = comparison.order.sample_id if comparison else ""
    if own and own in read.get("printed_numbers", ()):
        return own
    return read.get("specimen_number") or ""
