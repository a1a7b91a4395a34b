"""Dialogs that add, split and merge rows of a review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web.views import redirect_browser
from reports.operations.review.additions import (
    add_review_row,
    merge_review_rows,
    split_review_row,
    suggest_merged_row_text,
)
from reports.operations.review.boxes import read_text_in_drawn_box
from reports.operations.review.saving import RowRef
from reports.queries import get_review, list_review_rows
from reports.web.review.forms import BoxForm, RowForm, build_row_form_initial_values
from reports.web.review.queue import parse_review_id_or_404
from reports.web.review.responses import (
    build_review_row_url,
    build_row_version_reference,
    find_review_row,
    get_row_version_seen_by_member,
    is_row_changed_meanwhile_error,
    parse_row_version,
)

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import Review, ReviewRow


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def split_report_row(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Split one row into two."""
    review, row = find_review_row(request, review_id, position)
    forms = [
        RowForm(
            read_posted(request),
            initial=build_row_form_initial_values(row.values),
            prefix=prefix,
        )
        for prefix in ("first", "second")
    ]
    sound = [form.is_valid() for form in forms]  # each says its own errors
    seen = get_row_version_seen_by_member(request, row)
    if request.method == "POST" and all(sound):
        ref = build_row_version_reference(request, review_id, position)
        try:
            split_review_row(
                tenant=request.tenant,
                actor=request.actor,
                ref=ref,
                parts=[form.text() for form in forms],
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            seen = row.version if is_row_changed_meanwhile_error(refusal) else seen
            forms[0].add_error(None, refusal.message)
        else:
            return redirect_browser(
                request, build_review_row_url(request, review, position)
            )
    return _rows_dialog(
        request,
        review,
        row,
        forms,
        title=_("Split row"),
        verb=_("Split row"),
        seen=seen,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def merge_report_row_with_next(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Merge a row with the next one."""
    review, row = find_review_row(request, review_id, position)
    rows = list_review_rows(tenant=request.tenant, review=review)
    places = [one.position for one in rows]
    at = places.index(position)
    after = next((one for one in rows[at + 1 :] if one.is_included), None)
    if after is None:
        messages.error(request, _("There is no next row to merge with."))
        return redirect_browser(
            request, build_review_row_url(request, review, position)
        )
    text = suggest_merged_row_text([row, after])
    initial = {name: getattr(text, name) or "" for name in RowForm.base_fields}
    form = RowForm(read_posted(request), initial=initial, prefix="first")
    seen = get_row_version_seen_by_member(request, row)
    if request.method == "POST" and form.is_valid():
        beside = parse_row_version(request.POST.get("after_version", ""))
        refs = [
            build_row_version_reference(request, review_id, position),
            RowRef(review.id, after.position, beside),
        ]
        try:
            merge_review_rows(
                tenant=request.tenant, actor=request.actor, refs=refs, text=form.text()
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            seen = row.version if is_row_changed_meanwhile_error(refusal) else seen
            form.add_error(None, refusal.message)
        else:
            return redirect_browser(
                request, build_review_row_url(request, review, position)
            )
    return _rows_dialog(
        request,
        review,
        row,
        [form],
        title=_("Merge with the next row"),
        verb=_("Merge rows"),
        after=after,
        seen=seen,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def add_report_row(request: TenantRequest, review_id: str) -> HttpResponse:
    """Add a row: typed, or read from a box drawn on a page."""
    review = get_review(
        tenant=request.tenant, review_id=parse_review_id_or_404(review_id)
    )
    box = BoxForm(request.POST if request.method == "POST" else request.GET)
    place = box.place()
    initial, read = {}, ""
    if place is not None and request.method == "GET":
        try:
            reading = read_text_in_drawn_box(
                tenant=request.tenant, review_id=review.id, place=place
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            read = refusal.message
        else:
            read = (
                _("Text in the box: %(text)s") % {"text": reading.text}
                if reading.text
                else _("No text in the box.")
            )
            initial = {
                name: getattr(reading, name) or ""
                for name in ("test_name", "value", "units", "reference_range", "flag")
            }
    form = RowForm(read_posted(request), initial=initial, prefix="first")
    if request.method == "POST" and form.is_valid():
        try:
            saved = add_review_row(
                tenant=request.tenant,
                actor=request.actor,
                review_id=review.id,
                text=form.text(),
                place=place,
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect_browser(
                request, build_review_row_url(request, review, saved.row.position)
            )
    return _rows_dialog(
        request,
        review,
        None,
        [form],
        title=_("Add row"),
        verb=_("Add row"),
        box=box if place is not None else None,
        read=read,
    )


def _rows_dialog(
    request: TenantRequest,
    review: Review,
    row: ReviewRow | None,
    forms: list[RowForm],
    *,
    title: str,
    verb: str,
    **context: Any,
) -> HttpResponse:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="review",
        subject_id=review.id,
        user_uuid=review.job.user.uuid,
    )
    return render_form(
        request,
        "reports/review/_rows_form.html",
        title=title,
        back=build_review_row_url(request, review, row.position if row else 0),
        back_words=_("Back to report"),
        status=422 if any(form.errors for form in forms) else 200,
        section="reviews",
        forms=forms,
        row=row,
        verb=verb,
        **context,
    )
