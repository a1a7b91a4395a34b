"""Page that compares two readers' results side by side for a third to resolve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web.views import page_url, redirect_browser, render_page
from reports.operations.review.saving import RowRef
from reports.operations.review.second_reads import resolve_disputed_row
from reports.queries import get_review, list_previous_readings, list_review_rows
from reports.states import ReviewKind, RowDecision
from reports.web.signing.rows import (
    FieldChange,
    PageCrop,
    build_review_page_url,
    crop_page_around_row,
    list_changed_row_fields,
)

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import Review, ReviewRow


class SideForm(forms.Form):
    """The reader whose version a row takes, and the version seen."""

    side = forms.ChoiceField(choices=[("first", ""), ("second", "")])
    version = forms.IntegerField()


@dataclass(frozen=True, slots=True)
class DisputedRow:
    """One disputed row: both readers' versions, and the differences."""

    row: ReviewRow
    differences: tuple[FieldChange, ...]
    sides: tuple[tuple[str, dict[str, Any] | None, PageCrop | None], ...]


@require_GET
@require_right(Area.SIGN_REPORTS)
def show_disputed_rows(request: TenantRequest, review_id: str) -> HttpResponse:
    """Show the disputed rows of a report."""
    review = _dispute(request, review_id)
    rows = list_review_rows(tenant=request.tenant, review=review)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="review",
        subject_id=review.id,
        user_uuid=review.job.user.uuid,
    )
    disputed = [_disputed(request, review, row) for row in rows if row.disputed]
    return render_page(
        request,
        "reports/signing/readings.html",
        review=review,
        section="reports",
        desk=build_review_page_url(request, review),
        readers=[one.signature.member_label for one in list_previous_readings(review)],
        rows=disputed,
        undecided=sum(not one.row.is_decided for one in disputed),
        is_mine=review.claimed_by_key == request.actor.key,
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def resolve_row_with_reader_version(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Use one reader's version of a row."""
    review = _dispute(request, review_id)
    form = SideForm(request.POST)
    if form.is_valid():
        cleaned = form.cleaned_data
        try:
            resolve_disputed_row(
                tenant=request.tenant,
                actor=request.actor,
                ref=RowRef(review.id, position, cleaned["version"]),
                side=cleaned["side"],
            )
        except (NotAllowed, NotFound):
            raise
        except DomainError as refusal:
            messages.error(request, refusal.message)
    here = page_url(request, "reports:readings", review_id=review.id)
    return redirect_browser(request, f"{here}#row-{position}")


def _disputed(request: TenantRequest, review: Review, row: ReviewRow) -> DisputedRow:
    readings = row.disputed or {}
    first, second = (
        side["values"] if side and side["decision"] != RowDecision.EXCLUDED else None
        for side in (readings.get("first"), readings.get("second"))
    )
    return DisputedRow(
        row=row,
        differences=list_changed_row_fields(first, second),
        sides=tuple(
            (
                side,
                readings.get(side),
                crop_page_around_row(request, job=review.job, values=values)
                if values
                else None,
            )
            for side, values in (("first", first), ("second", second))
        ),
    )


def _dispute(request: TenantRequest, review_id: str) -> Review:
    try:
        review = get_review(tenant=request.tenant, review_id=UUID(review_id))
    except ValueError:
        raise Http404 from None
    if review.kind != ReviewKind.DISPUTE:
        raise Http404
    return review
