"""Page of a report's history: reviews, edits, signatures, deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import Http404
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.audit.steps import add_audited_changes, group_steps
from accounts.web.rights import require_right
from accounts.webhooks.queries import (
    EndpointDelivery,
    list_endpoints_by_message,
    list_events_about_object,
)
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, render_page
from portal.ui.parts import Happening
from portal.ui.pills import find_status_pill, format_wire_value_as_words
from reports.operations.signing.signing import is_review_unchanged_since_signing
from reports.queries import (
    get_parsing_job,
    list_parsing_job_transitions,
    list_report_rereadings,
    list_review_comments,
    list_review_row_versions,
    list_reviews_of_job,
)
from reports.queries.review_queue import find_next_review
from reports.states import ParsingJobStatus, ReviewKind, ReviewStatus
from reports.web.signing.rows import (
    FieldChange,
    PageCrop,
    crop_page_around_row,
    list_changed_row_fields,
)

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import ParsingJob, Review, ReviewComment, ReviewRowVersion

_WAITS = {
    ReviewKind.FIRST: gettext_lazy("Waiting for review."),
    ReviewKind.SECOND: gettext_lazy(
        "Signed once. A second reader reviews it before results are sent."
    ),
    ReviewKind.DISPUTE: gettext_lazy(
        "The two readers disagree. A third reviewer resolves it."
    ),
}
UPDATED = "lab_report.parsing_job.updated"
_SENT_AT_MOST = 10
_ACTS = {
    "edit_row": gettext_lazy("Edited"),
    "choose_loinc": gettext_lazy("LOINC code changed"),
    "redraw_box": gettext_lazy("Box redrawn"),
    "confirm_row": gettext_lazy("Confirmed"),
    "confirm_plain_rows": gettext_lazy("Confirmed with its panel"),
    "exclude_row": gettext_lazy("Excluded"),
    "undo_row": gettext_lazy("Last change undone"),
    "add_row": gettext_lazy("Added"),
    "split_row": gettext_lazy("Split"),
    "merge_rows": gettext_lazy("Merged"),
    "take_reading": gettext_lazy("One reading selected"),
    "": gettext_lazy("Reopened: a new check failed"),
}


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to one row, its author, and the printed row."""

    at: datetime
    who: str
    says: str
    name: str
    reason: str
    changes: tuple[FieldChange, ...]
    ink: PageCrop | None


@dataclass(frozen=True, slots=True)
class Chapter:
    """A review with its edits; `is_hidden` during a blind second read."""

    review: Review
    kind: str
    edits: list[Edit]
    comments: list[ReviewComment]
    holds: bool | None
    is_hidden: bool
    is_waivable: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """An event about the report, and the endpoints it was sent to."""

    at: datetime
    status: str
    to: list[EndpointDelivery]


@require_GET
@require_right(Area.SIGN_REPORTS)
def show_report_history(request: TenantRequest, job_id: str) -> HttpResponse:
    """Show all changes to a report, the latest review first."""
    try:
        job = get_parsing_job(tenant=request.tenant, job_id=UUID(job_id))
    except ValueError:
        raise Http404 from None
    reviews = list_reviews_of_job(job=job)
    for review in reviews:
        review.job, review.tenant = job, job.tenant
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="report_history",
        subject_id=job.id,
        user_uuid=job.user.uuid,
    )
    is_open = any(review.status == ReviewStatus.OPEN for review in reviews)
    may_write = request.rights.allow(Area.SIGN_REPORTS, write=True)
    return render_page(
        request,
        "reports/signing/history.html",
        job=job,
        section="reports",
        chapters=[_chapter(request, review, reviews) for review in reversed(reviews)],
        moves=group_steps(request, _list_moves(request, job)),
        sent=list_events_sent_for_report(request, job),
        rereadings=list_report_rereadings(job),
        may_reread=may_write and job.status == ParsingJobStatus.COMPLETED,
        may_amend=may_write
        and job.status == ParsingJobStatus.COMPLETED
        and request.tenant.lab_report_human_review_enabled
        and not is_open,
    )


def _list_moves(request: TenantRequest, job: ParsingJob) -> list[Happening]:
    """Return the moves of the job's status and what else was changed, newest first."""
    moves = [
        Happening(
            label=find_status_pill(move.new).words,
            icon=find_status_pill(move.new).icon,
            at=move.at,
            detail=format_wire_value_as_words(move.why),
            raw=move.new,
            actor_kind=move.actor_kind,
            actor_label=move.actor_label,
        )
        for move in list_parsing_job_transitions(job)
    ]
    return add_audited_changes(
        request,
        sorted(moves, key=lambda move: move.at, reverse=True),
        user_uuid=job.user.uuid,
        subject="parsing_job",
        subject_id=job.id,
    )


def list_events_sent_for_report(request: TenantRequest, job: ParsingJob) -> list[Sent]:
    """Return the events with the report's status, newest first; three queries."""
    events = list_events_about_object(
        tenant=request.tenant,
        user_uuid=job.user.uuid,
        event_types=[UPDATED],
        data_id=job.id,
        says="status",
    )[:_SENT_AT_MOST]
    endpoints = list_endpoints_by_message(
        tenant=request.tenant, message_ids=[event.message_id for event in events]
    )
    return [
        Sent(event.at, event.says or "", endpoints.get(event.message_id, []))
        for event in events
    ]


def _chapter(request: TenantRequest, review: Review, reviews: list[Review]) -> Chapter:
    known = ReviewKind.known(review.kind)
    hidden = _is_hidden(request, review, reviews)
    signed = review.status == ReviewStatus.SIGNED
    return Chapter(
        review=review,
        kind=known.label if known else review.kind,
        edits=[] if hidden else _edits(request, review),
        comments=[] if hidden else list_review_comments(review=review),
        holds=is_review_unchanged_since_signing(tenant=request.tenant, review=review)
        if signed
        else None,
        is_hidden=hidden,
        is_waivable=review.kind == ReviewKind.SECOND
        and review.status == ReviewStatus.OPEN
        and request.rights.allow(Area.SIGN_REPORTS, write=True),
    )


def _is_hidden(request: TenantRequest, review: Review, reviews: list[Review]) -> bool:
    """Return whether a blind second read hides this review from the member.

    Who made the review sees it; the second reader's own is not hidden from them.
    """
    second = next(
        (
            one
            for one in reviews
            if one.kind == ReviewKind.SECOND and one.status == ReviewStatus.OPEN
        ),
        None,
    )
    if second is None or review.number < second.number - 1:
        return False
    reader = (
        review.claimed_by_key
        if review.status == ReviewStatus.OPEN
        else review.signature.member_key
    )
    return reader != request.actor.key


def _edits(request: TenantRequest, review: Review) -> list[Edit]:
    """Return the changes to the rows, oldest first."""
    before: dict[int, ReviewRowVersion] = {}
    edits = []
    for version in list_review_row_versions(tenant=request.tenant, review=review):
        last = before.get(version.row.position)
        before[version.row.position] = version
        if last is None and not version.act:
            continue
        edits.append(
            Edit(
                at=version.at,
                who=version.actor_label,
                says=_ACTS.get(version.act, version.act),
                name=str(version.values["test_name"]),
                reason=version.reason,
                changes=list_changed_row_fields(
                    last.values if last else None, version.values
                ),
                ink=crop_page_around_row(
                    request, job=review.job, values=version.values
                ),
            )
        )
    return sorted(edits, key=lambda edit: edit.at)


def build_report_review_card(
    request: TenantRequest, job: ParsingJob
) -> dict[str, Any] | None:
    """Return the review card of a report's page, None if it was not reviewed.

    Seven queries at most; for members who review.
    """
    if not request.rights.allow(Area.SIGN_REPORTS):
        return None
    reviews = list_reviews_of_job(job=job)
    open_one = next((r for r in reviews if r.status == ReviewStatus.OPEN), None)
    known = ReviewKind.known(open_one.kind) if open_one else None
    may_amend = (
        job.status == ParsingJobStatus.COMPLETED
        and open_one is None
        and request.tenant.lab_report_human_review_enabled
        and request.rights.allow(Area.SIGN_REPORTS, write=True)
    )
    return {
        "signed": next((r for r in reviews if r.number == job.version), None),
        "waits": _WAITS.get(known, "") if known else "",
        "desk": page_url(request, "reports:review", review_id=open_one.id)
        if open_one and request.rights.allow(Area.SIGN_REPORTS, write=True)
        else "",
        "next": _find_next_review_url(request, open_one),
        "replaced": page_url(request, "reports:page", job_id=job.replaced_by_id)
        if job.replaced_by_id
        else "",
        "history": page_url(request, "reports:history", job_id=job.id),
        "amend": page_url(request, "reports:amend", job_id=job.id) if may_amend else "",
        "sent": list_events_sent_for_report(request, job) if reviews else [],
    }


def _find_next_review_url(request: TenantRequest, open_one: Review | None) -> str:
    """Return the address of the next report to review, of one that waits for none."""
    if open_one or not request.rights.allow(Area.SIGN_REPORTS, write=True):
        return ""
    found = find_next_review(tenant=request.tenant, member=request.actor.key)
    return page_url(request, "reports:review", review_id=found.id) if found else ""
