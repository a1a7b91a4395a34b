"""Responses to changes of a review's rows: the changed parts, a form or a redirect.

With htmx only what changed is sent: rows, what is left, marks and boxes of pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_read
from accounts.web.dialogs import render_form
from portal.lib.web.views import (
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)
from reports.operations.review.saving import RowRef
from reports.queries import get_review, list_review_rows
from reports.web.review.desk import build_review_page_context, list_review_page_rows
from reports.web.review.pages import list_page_images_with_boxes
from reports.web.review.queue import parse_review_id_or_404
from reports.web.review.rows import list_panel_headings

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from portal.lib.errors import DomainError
    from reports.models import Review, ReviewRow
    from reports.web.review.desk import DeskState
    from reports.web.review.forms import ReasonForm
    from reports.web.review.rows import DeskRow

_VERSION_DIGITS = 10


def find_review_row(
    request: TenantRequest, review_id: str, position: int
) -> tuple[Review, ReviewRow]:
    """Return a row of the address with its review. Raises: Http404."""
    review = get_review(
        tenant=request.tenant, review_id=parse_review_id_or_404(review_id)
    )
    rows = list_review_rows(tenant=request.tenant, review=review)
    row = next((one for one in rows if one.position == position), None)
    if row is None:
        raise Http404
    return review, row


def build_row_version_reference(
    request: TenantRequest, review_id: str, position: int
) -> RowRef:
    """Return the row of the address at the version in the form."""
    version = parse_row_version(request.POST.get("version", ""))
    return RowRef(parse_review_id_or_404(review_id), position, version)


def parse_row_version(text: str) -> int:
    """Parse a version of a form; an invalid one matches no row."""
    return int(text) if text.isdecimal() and len(text) < _VERSION_DIGITS else 0


def get_row_version_seen_by_member(request: TenantRequest, row: ReviewRow) -> int:
    """Return the version that the member saw when they opened the form.

    Not the row's own: a change made since would be saved over unseen.
    """
    given = request.POST if request.method == "POST" else request.GET
    return parse_row_version(given["version"]) if "version" in given else row.version


def is_row_changed_meanwhile_error(refusal: DomainError) -> bool:
    """Return whether the refusal means that the row changed in the meantime."""
    return refusal.code == "row_changed"


def render_saved_review_row(
    request: TenantRequest,
    ref: RowRef,
    others: Collection[int],
    moved: Collection[int] = (),
) -> HttpResponse:
    """Return the saved row and all that changed with it, or a redirect.

    moved: the pages on which boxes are no more where they were.
    """
    if not is_page_fragment_requested(request):
        return redirect_browser(request, build_review_page_row_url(request, ref))
    state = _state(request, ref.review_id)
    response = render_page(
        request,
        "reports/review/_saved.html",
        **_changed(request, state, {ref.position, *others}, moved),
        row=_row_in(state, ref.position),
        others=[row for row in state.rows if row.row.position in others],
    )
    # A dialog's form names the dialog as its target.
    response["HX-Retarget"] = f"#row-{ref.position}"
    response["HX-Reswap"] = "outerHTML"
    return response


def render_row_with_refused_change(
    request: TenantRequest, ref: RowRef, refusal: DomainError
) -> HttpResponse:
    """Return the current row with the refusal, or a redirect."""
    if not is_page_fragment_requested(request):
        messages.error(request, refusal.message)
        return redirect_browser(request, build_review_page_row_url(request, ref))
    state = _state(request, ref.review_id)
    response = render_page(
        request,
        "reports/review/_saved.html",
        status=422,
        **_changed(request, state, {ref.position}),
        row=_row_in(state, ref.position),
        others=[],
        refused=refusal.message,
    )
    response["HX-Retarget"] = f"#row-{ref.position}"
    response["HX-Reswap"] = "outerHTML"
    return response


def render_confirmed_review_rows(
    request: TenantRequest,
    review_id: UUID,
    rows: Collection[ReviewRow],
    *,
    announcement: str,
) -> HttpResponse:
    """Return the rows confirmed together; `announcement` is read out."""
    positions = {row.position for row in rows}
    state = _state(request, review_id)
    return render_page(
        request,
        "reports/review/_saved.html",
        **_changed(request, state, positions),
        row=None,
        others=[row for row in state.rows if row.row.position in positions],
        announcement=announcement,
    )


def _changed(
    request: TenantRequest,
    state: DeskState,
    positions: Collection[int],
    moved: Collection[int] = (),
) -> dict[str, Any]:
    """Return the context of what is rendered again beside changed rows."""
    pages = list_page_images_with_boxes(request, state.review, state.rows)
    panels = {row.panel for row in state.rows if row.row.position in positions}
    return {
        **build_review_page_context(request, state),
        "oob": True,
        "panels": [
            panel for panel in list_panel_headings(state.rows) if panel.name in panels
        ],
        "marks": [page for page in pages if page.positions & {*positions}],
        "overlays": [page for page in pages if page.number in moved],
    }


def render_panel_below_row(
    request: TenantRequest,
    review: Review,
    row: ReviewRow,
    template: str,
    *,
    status: int,
    **context: Any,
) -> HttpResponse:
    """Return the panel below a row; a page of its own without script."""
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="review",
        subject_id=review.id,
        user_uuid=review.job.user.uuid,
    )
    return render_page(
        request,
        "reports/review/row_page.html",
        fragment=template,
        status=status,
        section="reviews",
        body=template,
        in_desk=is_page_fragment_requested(request),
        review=review,
        row=row,
        back=build_review_row_url(request, review, row.position),
        **context,
    )


def render_review_row_dialog(
    request: TenantRequest,
    review: Review,
    row: ReviewRow,
    form: ReasonForm,
    *,
    title: str,
    verb: str,
    seen: int,
) -> HttpResponse:
    """Return the dialog of one change to a row; a page of its own without script."""
    return render_form(
        request,
        "reports/review/_reason.html",
        title=title,
        back=build_review_row_url(request, review, row.position),
        back_words=_("Back to report"),
        status=422 if form.errors else 200,
        section="reviews",
        form=form,
        row=row,
        verb=verb,
        seen=seen,
    )


def build_review_page_row_url(request: TenantRequest, ref: RowRef) -> str:
    """Return the address of a row on the review page; its name gets the focus."""
    here = page_url(request, "reports:review", review_id=ref.review_id)
    return f"{here}?row={ref.position}#name-{ref.position}"


def build_review_row_url(request: TenantRequest, review: Review, position: int) -> str:
    """Return the same address for a row of a review at hand."""
    return build_review_page_row_url(request, RowRef(review.id, position, 0))


def _state(request: TenantRequest, review_id: UUID) -> DeskState:
    return list_review_page_rows(
        request, get_review(tenant=request.tenant, review_id=review_id)
    )


def _row_in(state: DeskState, position: int) -> DeskRow:
    return next(row for row in state.rows if row.row.position == position)
