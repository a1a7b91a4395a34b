"""Pages of reports: list, upload, one report, and the reports of a user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from accounts.web.saved_views import build_saved_views_row
from portal.lib.database.sorting import SORTED_UP_TO, sort_as_asked
from portal.lib.errors import DomainError, NotAllowed
from portal.lib.web.views import (
    Pager,
    allow_larger_request_body,
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)
from reports.operations.jobs.submission import MAX_BYTES, ReportRequest, submit_report
from reports.parser.loinc.catalogue import LOINC_NOTICE
from reports.queries import (
    JobFilters,
    count_parsing_jobs_per_status,
    get_parsing_job,
    list_parsing_job_transitions,
    list_parsing_jobs,
    list_report_results,
)
from reports.queries.outside import list_outside_reports
from reports.states import (
    ParsingJobFailureReason,
    ParsingJobStatus,
    RejectionReason,
    UnreadScript,
)
from reports.web.columns import REPORTS
from reports.web.jobs.forms import (
    PAGE_SIZES,
    TAB_LABELS,
    TABS,
    ReportFilters,
    UploadForm,
)
from reports.web.jobs.history import build_report_review_card
from reports.web.jobs.holds import build_held_report
from reports.web.jobs.rows import (
    build_result_row_with_range_bar,
    get_polling_interval_seconds,
    group_rows_by_panel,
)
from reports.web.review.notes import describe_hold_reasons
from reports.web.signing.rows import crop_page_around_row
from users.queries import find_user_by_client_user_id, user_overview

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import ParsingJob

# A user's tab lists this many; the reports list has the rest.
LATEST_OF_USER = 25
# All of a person's years, as nothing else lists them.
OUTSIDE_OF_USER = 500


@require_GET
@require_right(Area.REPORTS)
def list_reports(request: TenantRequest) -> HttpResponse:
    """Show the reports of the team, filtered and paged."""
    views = build_saved_views_row(request)
    if views.opens_at:
        return HttpResponseRedirect(views.opens_at)
    filters = ReportFilters.read(request.GET)
    columns = read_list_columns(request, REPORTS)
    counts = count_parsing_jobs_per_status(tenant=request.tenant)
    jobs: list[ParsingJob] = []
    total = 0
    owner = (
        find_user_by_client_user_id(tenant=request.tenant, client_user_id=filters.user)
        if filters.user
        else None
    )
    if owner is not None or not filters.user:
        found = list_parsing_jobs(
            tenant=request.tenant,
            filters=JobFilters(
                statuses=filters.statuses,
                user_uuid=owner.user.uuid if owner else None,
                created_from=filters.created_from,
                text=filters.text,
            ),
        )
        total = found.count()
        listed = sort_as_asked(
            found, order_by=columns.order_asked, newest=("-created_at", "id")
        )
        jobs = list(listed[filters.offset : filters.offset + filters.limit])
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="report_list",
        subject_id=f"offset={filters.offset} limit={filters.limit}",
    )
    return render_page(
        request,
        "reports/list.html",
        fragment="reports/_table.html",
        filters=filters,
        bar=filters.bar,
        columns=columns,
        is_sort_cut=columns.is_partial and total > SORTED_UP_TO,
        views=views,
        jobs=jobs,
        poll_seconds=get_polling_interval_seconds(jobs),
        pager=Pager(
            total=min(total, SORTED_UP_TO) if columns.is_partial else total,
            offset=filters.offset,
            limit=filters.limit,
        ),
        page_sizes=PAGE_SIZES,
        tabs=[
            (tab, TAB_LABELS[tab], sum(counts.get(s, 0) for s in statuses or counts))
            for tab, statuses in TABS.items()
        ],
        form=UploadForm(),
        **_upload_rules(request),
    )


@allow_larger_request_body(
    2 * MAX_BYTES
)  # what is a little too large still gets its sentence
@require_http_methods(["GET", "POST"])
@require_right(Area.REPORTS, write=True)
def upload_report(request: TenantRequest) -> HttpResponse:
    """Show the upload form, or submit a report for parsing."""
    if request.method != "POST":
        form = UploadForm(initial={"user": request.GET.get("user", "")})
        return _upload_page(request, form)
    form = UploadForm(request.POST, request.FILES)
    if form.is_valid():
        owner = find_user_by_client_user_id(
            tenant=request.tenant, client_user_id=form.cleaned_data["user"]
        )
        if owner is None:
            form.add_error("user", _("No user has exactly this ID."))
        else:
            report_request = ReportRequest(
                user_id=owner.user.uuid,
                parts=form.parts(),
                needs_human_review=form.cleaned_data["needs_human_review"],
            )
            try:
                job = submit_report(
                    tenant=request.tenant, actor=request.actor, request=report_request
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
                    request, page_url(request, "reports:page", job_id=job.id)
                )
    return _upload_page(request, form, status=422)


@require_GET
@require_right(Area.REPORTS)
def show_report(request: TenantRequest, job_id: str) -> HttpResponse:
    """Show a report with its values, that at position `ink` as printed."""
    job = get_parsing_job(tenant=request.tenant, job_id=_uuid(job_id))
    rows = [
        build_result_row_with_range_bar(result) for result in list_report_results(job)
    ]
    only_flagged = request.GET.get("show") == "flagged"
    show_patient = (
        request.GET.get("reveal") == "patient"
        and request.rights.allow(Area.PATIENT_DETAILS)
        and job.metadata is not None
    )
    if job.has_data or not is_page_fragment_requested(
        request
    ):  # a poll of a bare status is no read
        _record_job_read(request, job, "parsing_job")
    if show_patient:
        _record_job_read(request, job, "parsing_job_patient")
    flagged = [row for row in rows if row.is_out_of_range]
    why = _find_reason_of_failure(job)
    opened = next(
        (r.result for r in rows if str(r.result.position) == request.GET.get("ink")),
        None,
    )
    return render_page(
        request,
        "reports/page.html",
        fragment="reports/_job.html",
        job=job,
        poll_seconds=get_polling_interval_seconds([job]),
        failure=ParsingJobFailureReason.known(job.failure_reason),
        rejection=RejectionReason.known(why),
        script=UnreadScript.known(job.unread_script),
        results=rows,
        flagged=flagged,
        only_flagged=only_flagged,
        opened=opened,
        ink=crop_page_around_row(
            request, job=job, values={"provenance": opened.provenance}
        )
        if opened
        else None,
        panels=group_rows_by_panel(flagged if only_flagged else rows),
        metadata=job.metadata or {},
        held=build_held_report(job),
        findings=describe_hold_reasons(job.findings),
        review=build_report_review_card(request, job) if job.has_data else None,
        show_patient=show_patient,
        may_see_patient=request.rights.allow(Area.PATIENT_DETAILS),
        loinc_notice=LOINC_NOTICE,
        public_url=settings.PUBLIC_URL,
    )


@require_GET
@require_right(Area.USERS)
@require_right(Area.REPORTS)
def list_reports_of_user(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show the reports of one user."""
    overview = user_overview(tenant=request.tenant, user_id=_uuid(user_id))
    found = list_parsing_jobs(
        tenant=request.tenant, filters=JobFilters(user_uuid=overview.user.uuid)
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="report_list",
        subject_id=overview.user.uuid,
        user_uuid=overview.user.uuid,
    )
    jobs = list(found[: LATEST_OF_USER + 1])
    return render_page(
        request,
        "reports/user_reports.html",
        fragment="reports/_user_reports.html",
        overview=overview,
        section="users",
        tab="reports",
        jobs=jobs[:LATEST_OF_USER],
        has_more=len(jobs) > LATEST_OF_USER,
        outside=list_outside_reports(
            tenant=request.tenant, user_uuid=overview.user.uuid
        ).defer("conclusion")[:OUTSIDE_OF_USER],
        poll_seconds=get_polling_interval_seconds(jobs),
    )


def _record_job_read(request: TenantRequest, job: ParsingJob, subject: str) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=job.id,
        user_uuid=job.user.uuid,
    )


def _upload_page(
    request: TenantRequest, form: UploadForm, *, status: int = 200
) -> HttpResponse:
    return render_page(
        request,
        "reports/upload.html",
        fragment="reports/_upload_form.html",
        status=status,
        form=form,
        **_upload_rules(request),
    )


def _upload_rules(request: TenantRequest) -> dict[str, Any]:
    return {
        "may_upload": request.rights.allow(Area.REPORTS, write=True),
        "is_enabled": request.tenant.lab_report_parsing_enabled,
        "offers_review": request.tenant.lab_report_human_review_enabled,
    }


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None


def _find_reason_of_failure(job: ParsingJob) -> str:
    """Return why a person rejected a report, or why it failed; or empty."""
    if job.status != ParsingJobStatus.FAILED:
        return ""
    return next((one.why for one in list_parsing_job_transitions(job)[-1:]), "")
