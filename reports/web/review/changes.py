"""Changes rows of a review, one at a time, against the version seen.

A stale save changes nothing: it shows what the row says now beside what was typed. Must
not be here: rows that are new or made of others (review_additions), or the workbench's
own page (review_desk).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web.views import (
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)
from reports.operations.critical_limits import build_critical_criteria
from reports.operations.loinc_aliases import propose_loinc_alias
from reports.operations.reading.loinc_table import get_imported_loinc_folder
from reports.operations.reading.parsed_values import build_stored_header
from reports.operations.review.checks import (
    convert_stored_row_to_parsed_result,
    parse_typed_row_text,
    uses_report_decimal_commas,
)
from reports.operations.review.comments import add_review_comment
from reports.operations.review.rows import (
    confirm_review_row,
    confirm_unflagged_panel_rows,
    edit_review_row_text,
    exclude_review_row,
    set_review_row_box,
    set_review_row_loinc_code,
    undo_review_row_change,
)
from reports.operations.review.saving import RowRef
from reports.parser.loinc import search_loinc_codes
from reports.queries import list_review_row_versions, list_review_rows
from reports.states import RowPart
from reports.web.review.forms import (
    BoxForm,
    ReasonForm,
    RowForm,
    build_row_form_initial_values,
)
from reports.web.review.pages import list_page_numbers_of_rows
from reports.web.review.queue import parse_review_id_or_404
from reports.web.review.responses import (
    build_review_row_url,
    build_row_version_reference,
    find_review_row,
    get_row_version_seen_by_member,
    is_row_changed_meanwhile_error,
    render_confirmed_review_rows,
    render_panel_below_row,
    render_review_row_dialog,
    render_row_with_refused_change,
    render_saved_review_row,
)
from reports.web.review.rows import Candidate, list_row_loinc_candidates

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import Review, ReviewRow


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def confirm_row(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Confirm a row as it is; one that a check contradicts with a reason."""
    review, row = find_review_row(request, review_id, position)
    form = ReasonForm(read_posted(request))
    seen = get_row_version_seen_by_member(request, row)
    if request.method == "POST":
        ref = build_row_version_reference(request, review_id, position)
        try:
            saved = confirm_review_row(
                tenant=request.tenant,
                actor=request.actor,
                ref=ref,
                reason=request.POST.get("reason", ""),
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            if "reason" not in request.POST:
                return render_row_with_refused_change(request, ref, refusal)
            seen = row.version if is_row_changed_meanwhile_error(refusal) else seen
            if form.is_valid():
                form.add_error(None, refusal.message)
        else:
            return render_saved_review_row(
                request, ref, [one.position for one in saved.others]
            )
    return render_review_row_dialog(
        request,
        review,
        row,
        form,
        title=_("Keep value despite a failed check"),
        verb=_("Keep value"),
        seen=seen,
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def undo_row_change(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Undo the last change of a row."""
    ref = build_row_version_reference(request, review_id, position)
    before = find_review_row(request, review_id, position)[1]
    try:
        saved = undo_review_row_change(
            tenant=request.tenant, actor=request.actor, ref=ref
        )
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        return render_row_with_refused_change(request, ref, refusal)
    # An undoing may put boxes back.
    moved = list_page_numbers_of_rows(before, saved.row, *saved.others)
    return render_saved_review_row(
        request, ref, [row.position for row in saved.others], moved
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def edit_report_row_text(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Edit the text of a row; its box is unchanged."""
    review, row = find_review_row(request, review_id, position)
    form = RowForm(
        read_posted(request), initial=build_row_form_initial_values(row.values)
    )
    _make_field_ids_unique(form, position)
    stale = None
    if request.method == "POST" and form.is_valid():
        ref = build_row_version_reference(request, review_id, position)
        try:
            saved = edit_review_row_text(
                tenant=request.tenant, actor=request.actor, ref=ref, text=form.text()
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            if is_row_changed_meanwhile_error(refusal):
                stale = row
            form.add_error(None, refusal.message)
        else:
            return render_saved_review_row(
                request, ref, [one.position for one in saved.others]
            )
    first = list_review_row_versions(
        tenant=request.tenant, review=review, position=position
    )[0]
    return render_panel_below_row(
        request,
        review,
        row,
        "reports/review/_edit.html",
        status=422 if form.errors else 200,
        form=form,
        printed=first.values,
        stale=stale,
        seen=row.version if stale else get_row_version_seen_by_member(request, row),
    )


@require_POST  # what is typed is health data, which no address may hold
@require_right(Area.SIGN_REPORTS, write=True)
def preview_parsing_of_typed_text(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Show how the typed text would be parsed; nothing is stored."""
    review, row = find_review_row(request, review_id, position)
    form = RowForm(request.POST)
    result = None
    if form.is_valid():
        rows = list_review_rows(tenant=request.tenant, review=review)
        metadata = build_stored_header(review.job)
        result = parse_typed_row_text(
            form.text(),
            before=convert_stored_row_to_parsed_result(row),
            metadata=metadata,
            criteria=build_critical_criteria(job=review.job, metadata=metadata),
            decimal_comma=uses_report_decimal_commas(rows),
        )
    return render_page(
        request, "reports/review/_understood.html", position=position, result=result
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def choose_row_loinc_code(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Choose a row's LOINC code or none, and propose a mapping if wanted."""
    review, row = find_review_row(request, review_id, position)
    error, stale = "", False
    if request.method == "POST":
        ref = build_row_version_reference(request, review_id, position)
        code = request.POST.get("loinc_code")
        if code is None:
            error = _('Choose a code, or "No code".')
        else:
            try:
                saved = set_review_row_loinc_code(
                    tenant=request.tenant,
                    actor=request.actor,
                    ref=ref,
                    loinc_code=code or None,
                )
            except (NotFound, NotAllowed):
                raise
            except DomainError as refusal:
                error, stale = refusal.message, is_row_changed_meanwhile_error(refusal)
            else:
                if code and request.POST.get("remember"):
                    _propose_mapping(request, ref, saved.row.version)
                return render_saved_review_row(
                    request, ref, [one.position for one in saved.others]
                )
    query = request.GET.get("q", "").strip()
    return render_panel_below_row(
        request,
        review,
        row,
        "reports/review/_loinc.html",
        status=422 if error else 200,
        error=error,
        is_stale=stale,
        seen=row.version if stale else get_row_version_seen_by_member(request, row),
        query=query,
        chosen=row.values["loinc_matches"][0]["loinc_code"]
        if row.values["loinc_matches"]
        else "",
        candidates=_search_candidates(row, query)
        if query
        else list_row_loinc_candidates(row.values["loinc_matches"]),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def exclude_report_row(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Exclude a row from the results, with a reason."""
    review, row = find_review_row(request, review_id, position)
    form = ReasonForm(read_posted(request))
    seen = get_row_version_seen_by_member(request, row)
    if request.method == "POST" and form.is_valid():
        ref = build_row_version_reference(request, review_id, position)
        try:
            saved = exclude_review_row(
                tenant=request.tenant,
                actor=request.actor,
                ref=ref,
                reason=form.cleaned_data["reason"],
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            seen = row.version if is_row_changed_meanwhile_error(refusal) else seen
            form.add_error(None, refusal.message)
        else:
            return render_saved_review_row(
                request, ref, [one.position for one in saved.others]
            )
    return render_review_row_dialog(
        request,
        review,
        row,
        form,
        title=_("Exclude row"),
        verb=_("Exclude row"),
        seen=seen,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def comment_on_report_row(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Add a comment to a row."""
    review, row = find_review_row(request, review_id, position)
    form = ReasonForm(read_posted(request))
    form.fields["reason"].label = _("Comment")
    if request.method == "POST" and form.is_valid():
        try:
            add_review_comment(
                tenant=request.tenant,
                actor=request.actor,
                review_id=review.id,
                text=form.cleaned_data["reason"],
                position=position,
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            form.add_error(None, refusal.message)
        else:
            return render_saved_review_row(
                request, build_row_version_reference(request, review_id, position), []
            )
    return render_review_row_dialog(
        request,
        review,
        row,
        form,
        title=_("Comment on row"),
        verb=_("Save comment"),
        seen=get_row_version_seen_by_member(request, row),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def set_row_position_on_page(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Set the position of a row's value; without a box it counts as typed.

    The workbench sends what was drawn; the form is for who can't draw.
    """
    review, row = find_review_row(request, review_id, position)
    if request.method == "GET":
        return _render_box_form(
            request, review, row, BoxForm(initial=_initial_box(row))
        )
    form = BoxForm(request.POST)
    place = form.place()
    if place is None and "typed" not in request.POST:
        return _render_box_form(request, review, row, form)
    ref = build_row_version_reference(request, review_id, position)
    try:
        saved = set_review_row_box(
            tenant=request.tenant,
            actor=request.actor,
            ref=ref,
            part=RowPart.VALUE,
            place=place,
        )
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        if is_page_fragment_requested(request):
            return render_row_with_refused_change(request, ref, refusal)
        form.add_error(None, refusal.message)
        return _render_box_form(request, review, row, form)
    others = [one.position for one in saved.others]
    return render_saved_review_row(
        request, ref, others, list_page_numbers_of_rows(row, saved.row)
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def confirm_unflagged_rows_of_panel(
    request: TenantRequest, review_id: str
) -> HttpResponse:
    """Confirm a panel's unflagged rows."""
    key = parse_review_id_or_404(review_id)
    back = page_url(request, "reports:review", review_id=key)
    try:
        done = confirm_unflagged_panel_rows(
            tenant=request.tenant,
            actor=request.actor,
            review_id=key,
            panel=request.POST.get("panel") or None,
        )
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
        return redirect_browser(request, back)
    announcement = ngettext(
        "%(n)d row confirmed.", "%(n)d rows confirmed.", len(done)
    ) % {"n": len(done)}
    if is_page_fragment_requested(request):
        return render_confirmed_review_rows(
            request, key, done, announcement=announcement
        )
    messages.success(request, announcement)
    return redirect_browser(request, back)


def _render_box_form(
    request: TenantRequest, review: Review, row: ReviewRow, form: BoxForm
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
        "reports/review/_box_form.html",
        title=_("Position of the value"),
        back=build_review_row_url(request, review, row.position),
        back_words=_("Back to report"),
        status=422 if form.errors else 200,
        section="reviews",
        form=form,
        row=row,
        verb=_("Save box"),
        seen=get_row_version_seen_by_member(request, row),
    )


def _initial_box(row: ReviewRow) -> dict[str, float]:
    """Return the box of a row's value as initial form values."""
    place = row.values["provenance"].get(RowPart.VALUE)
    if place is None:
        return {}
    xs = [round(point[0], 1) for point in place["polygon"]]
    ys = [round(point[1], 1) for point in place["polygon"]]
    corners = {"x0": min(xs), "y0": min(ys), "x1": max(xs), "y1": max(ys)}
    return {"page": place["page"], **corners}


def _propose_mapping(request: TenantRequest, ref: RowRef, version: int) -> None:
    """Propose the code for this name; the row is saved either way."""
    now = RowRef(ref.review_id, ref.position, version)
    try:
        propose_loinc_alias(tenant=request.tenant, actor=request.actor, ref=now)
    except DomainError as refusal:
        messages.info(request, refusal.message)


def _search_candidates(row: ReviewRow, query: str) -> list[Candidate]:
    hits = search_loinc_codes(
        query,
        unit=row.values["units"],
        specimen=convert_stored_row_to_parsed_result(row).sample_type,
        release=get_imported_loinc_folder(),
    )
    matches = [
        {
            "loinc_code": hit.loinc_code,
            "loinc_name": hit.loinc_name,
            "display_name": hit.display_name,
            "confidence_score": hit.score,
            "reasons": [str(reason) for reason in hit.reasons],
        }
        for hit in hits
    ]
    return list_row_loinc_candidates(matches)


def _make_field_ids_unique(form: RowForm, position: int) -> None:
    """Give the fields of each open row their own IDs."""
    form.auto_id = f"row-{position}-%s"
