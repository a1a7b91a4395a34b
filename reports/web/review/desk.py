"""Page that shows a report's pages beside the values read from them.

Before it opens, whose report it is has to be settled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.audit.entries import record_read
from accounts.operations.members.guides import Guide, is_guide_hidden
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web.views import page_url, redirect_browser, render_page
from reports.operations.review.gates import (
    confirm_mismatched_patient_identity,
    keep_duplicate_report,
    move_report_to_other_user,
    record_page_shown_to_reviewer,
    replace_duplicate_report,
)
from reports.operations.signing.signing import find_unmet_signing_rules
from reports.queries import (
    compare_report_patient_with_user,
    find_duplicate_reports,
    get_review,
    list_review_comments,
    list_review_rows,
)
from reports.queries.intake import is_identity_undecided
from reports.queries.review_queue import find_previous_values_of_user
from reports.states import DUPLICATE_REASONS, ParsingJobStatus, ReviewStatus
from reports.web.review.forms import MoveForm, ReasonForm
from reports.web.review.notes import (
    DETAIL_LABELS,
    describe_hold_reasons,
    merge_notes_on_repeated_tests,
)
from reports.web.review.pages import list_page_images_with_boxes
from reports.web.review.queue import parse_review_id_or_404
from reports.web.review.rows import (
    DeskRow,
    build_review_page_row,
    count_decided_rows,
    group_rows_to_check_first,
    list_report_check_notes,
)
from users.queries import find_user_by_client_user_id

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest
    from reports.models import Review
    from reports.web.review.pages import DeskPage


@dataclass(frozen=True, slots=True)
class DeskState:
    """A review as the page shows it, and whether the member works on it."""

    review: Review
    rows: list[DeskRow]
    is_mine: bool
    holder: str

    @property
    def kept(self) -> list[Any]:
        """Return the stored rows."""
        return [row.row for row in self.rows]


@require_GET
@require_right(Area.SIGN_REPORTS, write=True)
def show_review_page(request: TenantRequest, review_id: str) -> HttpResponse:
    """Show the review page, opened at `row`."""
    review = get_review(
        tenant=request.tenant, review_id=parse_review_id_or_404(review_id)
    )
    if review.status != ReviewStatus.OPEN:
        return redirect_browser(
            request, page_url(request, "reports:page", job_id=review.job_id)
        )
    is_mine = _is_mine(request, review)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="review",
        subject_id=review.id,
        user_uuid=review.job.user.uuid,
    )
    lines = compare_report_patient_with_user(job=review.job)
    if is_mine and is_identity_undecided(review=review, lines=lines):
        return _gate(request, review)
    state = list_review_page_rows(request, review)
    chosen = _chosen(request, state)
    pages = list_page_images_with_boxes(request, review, state.rows)
    chosen_page = request.GET.get("page", "")
    return render_page(
        request,
        "reports/review/desk.html",
        **build_review_page_context(request, state),
        pages=pages,
        chosen=chosen,
        page_wanted=chosen_page,
        page_first=_first_page(pages, chosen_page, chosen),
        duplicates=[]
        if review.duplicate_decided
        else find_duplicate_reports(job=review.job),
        identity=lines,
        reason_form=ReasonForm(),
        shows_tour=not is_guide_hidden(
            member=request.member, tenant=request.tenant, guide=Guide.DESK_TOUR
        ),
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def record_page_viewed_by_reviewer(
    request: TenantRequest, review_id: str, page: int
) -> HttpResponse:
    """Record that a page was viewed, and return what changes with it."""
    key = parse_review_id_or_404(review_id)
    try:
        review = record_page_shown_to_reviewer(
            tenant=request.tenant, actor=request.actor, review_id=key, page=page
        )
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
        return redirect_browser(
            request, page_url(request, "reports:review", review_id=key)
        )
    if not request.htmx:
        return redirect_browser(request, f"{_desk_url(request, review)}#page-{page}")
    state = list_review_page_rows(request, review)
    pages = list_page_images_with_boxes(request, review, state.rows)
    return render_page(
        request,
        "reports/review/_seen.html",
        **{**build_review_page_context(request, state), "oob": True},
        number=page,
        page=next((one for one in pages if one.number == page), None),
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def confirm_report_user_or_move_report(
    request: TenantRequest, review_id: str
) -> HttpResponse:
    """Confirm the report's user, or move it to another, with a reason."""
    review = get_review(
        tenant=request.tenant, review_id=parse_review_id_or_404(review_id)
    )
    is_move = request.POST.get("verdict") == "move"
    form = MoveForm(request.POST) if is_move else ReasonForm(request.POST)
    if not form.is_valid():
        return _gate(request, review, form, is_move=is_move)
    cleaned = form.cleaned_data
    about: dict[str, Any] = {
        "tenant": request.tenant,
        "actor": request.actor,
        "review_id": review.id,
        "reason": cleaned["reason"],
    }
    try:
        if is_move:
            owner = find_user_by_client_user_id(
                tenant=request.tenant, client_user_id=cleaned["client_user_id"]
            )
            if owner is None:
                form.add_error("client_user_id", _("No user has exactly this ID."))
                return _gate(request, review, form, is_move=True)
            move_report_to_other_user(**about, user_id=owner.user.uuid)
        else:
            confirm_mismatched_patient_identity(**about)
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        form.add_error(None, refusal.message)
        return _gate(request, review, form, is_move=is_move)
    return redirect_browser(request, _desk_url(request, review))


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def keep_or_replace_duplicate_report(
    request: TenantRequest, review_id: str
) -> HttpResponse:
    """Keep a report beside its duplicates, or let it replace one."""
    review = get_review(
        tenant=request.tenant, review_id=parse_review_id_or_404(review_id)
    )
    about: dict[str, Any] = {
        "tenant": request.tenant,
        "actor": request.actor,
        "review_id": review.id,
        "reason": request.POST.get("reason", ""),
    }
    try:
        if older := request.POST.get("replaces"):
            replace_duplicate_report(**about, job_id=parse_review_id_or_404(older))
        else:
            keep_duplicate_report(**about)
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    return redirect_browser(request, _desk_url(request, review))


def list_review_page_rows(request: TenantRequest, review: Review) -> DeskState:
    """Return a review's rows as shown; three queries."""
    rows = list_review_rows(tenant=request.tenant, review=review)
    earlier = find_previous_values_of_user(job=review.job)
    comments = list_review_comments(review=review)
    notes = merge_notes_on_repeated_tests(review.notes)
    return DeskState(
        review=review,
        rows=[build_review_page_row(row, notes, earlier, comments) for row in rows],
        is_mine=_is_mine(request, review),
        holder=_holder(review),
    )


def build_review_page_context(
    request: TenantRequest, state: DeskState
) -> dict[str, Any]:
    """Return the context that every part of the review page needs."""
    review, kept = state.review, state.kept
    gaps = find_unmet_signing_rules(review=review, rows=kept)
    decided = count_decided_rows(kept)
    needing = sum(row.needs for row in state.rows)
    return {
        "section": "reviews",
        "review": review,
        "rows": state.rows,
        "groups": group_rows_to_check_first(state.rows),
        "is_mine": state.is_mine,
        "holder": state.holder,
        "decided": decided,
        "needing": needing,
        "share": round(120 * decided / max(1, len(kept)), 1),
        "gaps": gaps,
        "left": _describe_remaining(gaps),
        "checks": list_report_check_notes(review, kept),
        "desk_url": _desk_url(request, review),
        # The first part of each row's addresses: to reverse sixteen for each of a
        # hundred rows takes 40 ms.
        "rows_url": page_url(request, "reports:review_add", review_id=review.id),
        "oob": False,
    }


def _describe_remaining(gaps: list[Any]) -> str:
    """Describe what is left to do before signing."""
    parts = [_describe_gap(gap.code, len(gap.at)) for gap in gaps]
    return ", ".join(part for part in parts if part)


def _describe_gap(code: str, n: int) -> str:
    match code:
        case "flagged_row_undecided":
            text = ngettext(
                "%(n)d flagged row to check", "%(n)d flagged rows to check", n
            )
        case "row_unconfirmed":
            text = ngettext("%(n)d row to confirm", "%(n)d rows to confirm", n)
        case "page_not_shown":
            text = ngettext("%(n)d page to view", "%(n)d pages to view", n)
        case "critical_unacknowledged":
            text = ngettext(
                "%(n)d critical value to acknowledge",
                "%(n)d critical values to acknowledge",
                n,
            )
        case "duplicate_undecided":
            return _("a duplicate to resolve")
        case "no_rows_left":
            return _("no rows left (reject the report instead)")
        case _other:
            return ""
    return text % {"n": n}


def _gate(
    request: TenantRequest,
    review: Review,
    form: Any = None,
    *,
    is_move: bool = False,
) -> HttpResponse:
    lines = compare_report_patient_with_user(job=review.job)
    return render_page(
        request,
        "reports/review/gate.html",
        status=422 if form is not None else 200,
        section="reviews",
        review=review,
        lines=[(str(DETAIL_LABELS[line.field]), line) for line in lines],
        hold_reasons=describe_hold_reasons(
            one for one in review.job.hold_reasons if one not in DUPLICATE_REASONS
        ),
        collected=(review.job.metadata or {}).get("date_collected"),
        same_form=form if form is not None and not is_move else ReasonForm(),
        move_form=form if form is not None and is_move else MoveForm(),
        may_move=review.job.status == ParsingJobStatus.PENDING_REVIEW,
        is_mine=_is_mine(request, review),
        holder=_holder(review),
        desk_url=_desk_url(request, review),
    )


def _chosen(request: TenantRequest, state: DeskState) -> int | None:
    """Return the position of the row to open: the requested one, or the most urgent."""
    positions = [row.row.position for row in state.rows]
    value = request.GET.get("row", "")
    if value.isdecimal() and int(value) in positions:
        return int(value)
    shown = [
        row for group in group_rows_to_check_first(state.rows) for row in group.rows
    ]
    undecided = [row for row in shown if not row.row.is_decided]
    first = next(iter(undecided or shown), None)
    return first.row.position if first else None


def _first_page(pages: list[DeskPage], text: str, chosen: int | None) -> int:
    """Return the number of the page to open, whose image loads first."""
    if text.isdecimal():
        return int(text)
    return next((page.number for page in pages if chosen in page.positions), 1)


def _is_mine(request: TenantRequest, review: Review) -> bool:
    return bool(
        review.status == ReviewStatus.OPEN
        and review.claimed_by_key == request.actor.key
    )


def _holder(review: Review) -> str:
    until = review.claimed_until
    is_held = until is not None and until > timezone.now()
    return review.claimed_by_label if is_held else ""


def _desk_url(request: TenantRequest, review: Review) -> str:
    return page_url(request, "reports:review", review_id=review.id)
