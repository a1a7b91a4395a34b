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

from accounts.operations.audit import record_read
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web import (
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)
from reports.operations.loinc import get_imported_loinc_folder
from reports.operations.loinc_aliases import propose_loinc_alias
from reports.operations.review_checks import (
    convert_stored_row_to_parsed_result,
    parse_typed_row_text,
    uses_report_decimal_commas,
)
from reports.operations.review_comments import add_review_comment
from reports.operations.review_rows import (
    confirm_review_row,
    confirm_unflagged_panel_rows,
    edit_review_row_text,
    exclude_review_row,
    set_review_row_box,
    set_review_row_loinc_code,
    undo_review_row_change,
)
from reports.operations.review_saving import RowRef
from reports.parser.loinc import search_loinc_codes
from reports.parser.report import Metadata
from reports.queries import list_review_row_versions, list_review_rows
from reports.states import RowPart
from reports.web.review_answers import (
    build_row_ref,
    find_row,
    is_stale,
    render_confirmed_rows,
    render_refused_row,
    render_row_dialog,
    render_row_panel,
    render_saved_row,
    row_url,
    seen_version,
)
from reports.web.review_forms import BoxForm, ReasonForm, RowForm, row_form_initial
from reports.web.review_pages import page_numbers_of
from reports.web.review_queue import read_id
from reports.web.review_rows import Candidate, list_candidates

if TYPE_CHECKING:
    from django.http import HttpResponse

    from portal.lib.web import TenantRequest
    from reports.models import Review, ReviewRow

PLAIN_ACTS = {"confirm": confirm_review_row, "undo": undo_review_row_change}


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def confirm_or_undo(
    request: TenantRequest, review_id: str, position: int, act: str
) -> HttpResponse:
    """Confirm a row as it is, or undo its last change."""
    ref = build_row_ref(request, review_id, position)
    # An undoing may put boxes back.
    before = find_row(request, review_id, position)[1] if act == "undo" else None
    try:
        saved = PLAIN_ACTS[act](tenant=request.tenant, actor=request.actor, ref=ref)
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        return render_refused_row(request, ref, refusal)
    moved = page_numbers_of(before, saved.row, *saved.others) if before else ()
    return render_saved_row(request, ref, [row.position for row in saved.others], moved)


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def edit(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Edit the text of a row; its box is unchanged."""
    review, row = find_row(request, review_id, position)
    form = RowForm(read_posted(request), initial=row_form_initial(row.values))
    _make_field_ids_unique(form, position)
    stale = None
    if request.method == "POST" and form.is_valid():
        ref = build_row_ref(request, review_id, position)
        try:
            saved = edit_review_row_text(
                tenant=request.tenant, actor=request.actor, ref=ref, text=form.text()
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            if is_stale(refusal):
                stale = row
            form.add_error(None, refusal.message)
        else:
            return render_saved_row(
                request, ref, [one.position for one in saved.others]
            )
    first = list_review_row_versions(
        tenant=request.tenant, review=review, position=position
    )[0]
    return render_row_panel(
        request,
        review,
        row,
        "reports/review/_edit.html",
        status=422 if form.errors else 200,
        form=form,
        printed=first.values,
        stale=stale,
        seen=row.version if stale else seen_version(request, row),
    )


@require_POST  # what is typed is health data, which no address may hold
@require_right(Area.SIGN_REPORTS, write=True)
def preview_row_text(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Show how the typed text would be parsed; nothing is stored."""
    review, row = find_row(request, review_id, position)
    form = RowForm(request.POST)
    result = None
    if form.is_valid():
        rows = list_review_rows(tenant=request.tenant, review=review)
        known = review.job.metadata or {}
        result = parse_typed_row_text(
            form.text(),
            before=convert_stored_row_to_parsed_result(row),
            metadata=Metadata(
                **{name: known.get(name) for name in Metadata.__dataclass_fields__}
            ),
            decimal_comma=uses_report_decimal_commas(rows),
        )
    return render_page(
        request, "reports/review/_understood.html", position=position, result=result
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def loinc(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Choose a row's LOINC code or none, and propose a mapping if wanted."""
    review, row = find_row(request, review_id, position)
    error, stale = "", False
    if request.method == "POST":
        ref = build_row_ref(request, review_id, position)
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
                error, stale = refusal.message, is_stale(refusal)
            else:
                if code and request.POST.get("remember"):
                    _propose_mapping(request, ref, saved.row.version)
                return render_saved_row(
                    request, ref, [one.position for one in saved.others]
                )
    query = request.GET.get("q", "").strip()
    return render_row_panel(
        request,
        review,
        row,
        "reports/review/_loinc.html",
        status=422 if error else 200,
        error=error,
        is_stale=stale,
        seen=row.version if stale else seen_version(request, row),
        query=query,
        chosen=row.values["loinc_matches"][0]["loinc_code"]
        if row.values["loinc_matches"]
        else "",
        candidates=_search_candidates(row, query)
        if query
        else list_candidates(row.values["loinc_matches"]),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def exclude(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Exclude a row from the results, with a reason."""
    review, row = find_row(request, review_id, position)
    form = ReasonForm(read_posted(request))
    seen = seen_version(request, row)
    if request.method == "POST" and form.is_valid():
        ref = build_row_ref(request, review_id, position)
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
            seen = row.version if is_stale(refusal) else seen
            form.add_error(None, refusal.message)
        else:
            return render_saved_row(
                request, ref, [one.position for one in saved.others]
            )
    return render_row_dialog(
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
def comment(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Add a comment to a row."""
    review, row = find_row(request, review_id, position)
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
            return render_saved_row(
                request, build_row_ref(request, review_id, position), []
            )
    return render_row_dialog(
        request,
        review,
        row,
        form,
        title=_("Comment on row"),
        verb=_("Save comment"),
        seen=seen_version(request, row),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def redraw(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Set the position of a row's value; without a box it counts as typed.

    The workbench sends what was drawn; the form is for who can't draw.
    """
    review, row = find_row(request, review_id, position)
    if request.method == "GET":
        return _render_box_form(
            request, review, row, BoxForm(initial=_initial_box(row))
        )
    form = BoxForm(request.POST)
    place = form.place()
    if place is None and "typed" not in request.POST:
        return _render_box_form(request, review, row, form)
    ref = build_row_ref(request, review_id, position)
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
            return render_refused_row(request, ref, refusal)
        form.add_error(None, refusal.message)
        return _render_box_form(request, review, row, form)
    others = [one.position for one in saved.others]
    return render_saved_row(request, ref, others, page_numbers_of(row, saved.row))


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def confirm_panel(request: TenantRequest, review_id: str) -> HttpResponse:
    """Confirm a panel's unflagged rows."""
    key = read_id(review_id)
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
        return render_confirmed_rows(request, key, done, announcement=announcement)
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
        back=row_url(request, review, row.position),
        back_words=_("Back to report"),
        status=422 if form.errors else 200,
        section="reviews",
        form=form,
        row=row,
        verb=_("Save box"),
        seen=seen_version(request, row),
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
    return list_candidates(matches)


def _make_field_ids_unique(form: RowForm, position: int) -> None:
    """Give the fields of each open row their own IDs."""
    form.auto_id = f"row-{position}-%s"
