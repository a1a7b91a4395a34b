"""Changing the rows of a review, one act at a time, each on a version that was seen.

A stale save changes nothing: it shows what the row says now beside what was typed. Must
not be here: the workbench's own page (review_desk).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.operations.audit import record_read
from accounts.states import Area
from accounts.web.dialogs import posted, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.web import go_to, page_url, render_page, wants_fragment
from reports.operations.loinc import loinc_folder
from reports.operations.loinc_aliases import propose_alias
from reports.operations.review_additions import (
    add_row,
    merge_rows,
    merged_text,
    split_row,
)
from reports.operations.review_boxes import read_drawn_box
from reports.operations.review_checks import read_text, result_of, uses_decimal_comma
from reports.operations.review_comments import comment_review
from reports.operations.review_rows import (
    choose_loinc,
    confirm_plain_rows,
    confirm_row,
    edit_row,
    exclude_row,
    redraw_box,
    undo_row,
)
from reports.operations.review_saving import RowRef
from reports.parser.loinc import search_loinc
from reports.parser.report import Metadata
from reports.queries import review_of, review_rows, row_versions
from reports.states import RowPart
from reports.web.review_desk import DeskState, desk_context, desk_state
from reports.web.review_forms import BoxForm, ReasonForm, RowForm, row_initial
from reports.web.review_queue import read_id
from reports.web.review_rows import Candidate, candidates_of

if TYPE_CHECKING:
    from portal.lib.web import TenantRequest
    from reports.models import Review, ReviewRow

_VERSION_DIGITS = 10
PLAIN_ACTS = {"confirm": confirm_row, "undo": undo_row}


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def settle(
    request: TenantRequest, review_id: str, position: int, act: str
) -> HttpResponse:
    """Confirm a row as it stands, or undo its last change."""
    ref = _ref(request, review_id, position)
    try:
        saved = PLAIN_ACTS[act](tenant=request.tenant, actor=request.actor, ref=ref)
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        return _refused(request, ref, refusal)
    return _saved(request, ref, [row.position for row in saved.others])


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def edit(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Type what a row says; its box stays where it is."""
    review, row = _find(request, review_id, position)
    form = RowForm(posted(request), initial=row_initial(row.values))
    _name_fields(form, position)
    stale = None
    if request.method == "POST" and form.is_valid():
        ref = _ref(request, review_id, position)
        try:
            saved = edit_row(
                tenant=request.tenant, actor=request.actor, ref=ref, text=form.text()
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            if _is_stale(refusal):
                stale = row
            form.add_error(None, refusal.message)
        else:
            return _saved(request, ref, [one.position for one in saved.others])
    first = row_versions(tenant=request.tenant, review=review, position=position)[0]
    return _panel(
        request,
        review,
        row,
        "reports/review/_edit.html",
        status=422 if form.errors else 200,
        form=form,
        printed=first.values,
        stale=stale,
        seen=row.version if stale else _seen(request, row),
    )


@require_POST  # what is typed is health data, which no address may hold
@require_right(Area.SIGN_REPORTS, write=True)
def understood(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """How what is typed would be read; nothing is stored."""
    review, row = _find(request, review_id, position)
    form = RowForm(request.POST)
    result = None
    if form.is_valid():
        rows = review_rows(tenant=request.tenant, review=review)
        known = review.job.metadata or {}
        result = read_text(
            form.text(),
            before=result_of(row),
            metadata=Metadata(
                **{name: known.get(name) for name in Metadata.__dataclass_fields__}
            ),
            decimal_comma=uses_decimal_comma(rows),
        )
    return render_page(
        request, "reports/review/_understood.html", position=position, result=result
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def loinc(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Choose a row's LOINC code, or that it has none; remember it for the lab."""
    review, row = _find(request, review_id, position)
    error, is_stale = "", False
    if request.method == "POST":
        ref = _ref(request, review_id, position)
        code = request.POST.get("loinc_code")
        if code is None:
            error = "Choose a code, or that there is none."
        else:
            try:
                saved = choose_loinc(
                    tenant=request.tenant,
                    actor=request.actor,
                    ref=ref,
                    loinc_code=code or None,
                )
            except (NotFound, NotAllowed):
                raise
            except DomainError as refusal:
                error, is_stale = refusal.message, _is_stale(refusal)
            else:
                if code and request.POST.get("remember"):
                    _remember(request, ref, saved.row.version)
                return _saved(request, ref, [one.position for one in saved.others])
    query = request.GET.get("q", "").strip()
    return _panel(
        request,
        review,
        row,
        "reports/review/_loinc.html",
        status=422 if error else 200,
        error=error,
        is_stale=is_stale,
        seen=row.version if is_stale else _seen(request, row),
        query=query,
        chosen=row.values["loinc_matches"][0]["loinc_code"]
        if row.values["loinc_matches"]
        else "",
        candidates=_found(row, query)
        if query
        else candidates_of(row.values["loinc_matches"]),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def exclude(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Keep a row out of the results, and say why."""
    review, row = _find(request, review_id, position)
    form = ReasonForm(posted(request))
    seen = _seen(request, row)
    if request.method == "POST" and form.is_valid():
        ref = _ref(request, review_id, position)
        try:
            saved = exclude_row(
                tenant=request.tenant,
                actor=request.actor,
                ref=ref,
                reason=form.cleaned_data["reason"],
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            seen = row.version if _is_stale(refusal) else seen
            form.add_error(None, refusal.message)
        else:
            return _saved(request, ref, [one.position for one in saved.others])
    return _dialog(
        request, review, row, form, title="Exclude this row", verb="Exclude", seen=seen
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def comment(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Leave a remark on a row."""
    review, row = _find(request, review_id, position)
    form = ReasonForm(posted(request))
    form.fields["reason"].label = "Comment"
    if request.method == "POST" and form.is_valid():
        try:
            comment_review(
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
            return _saved(request, _ref(request, review_id, position), [])
    return _dialog(
        request,
        review,
        row,
        form,
        title="Comment",
        verb="Keep comment",
        seen=_seen(request, row),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def split(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Make one row two."""
    review, row = _find(request, review_id, position)
    forms = [
        RowForm(posted(request), initial=row_initial(row.values), prefix=prefix)
        for prefix in ("first", "second")
    ]
    sound = [form.is_valid() for form in forms]  # each says its own errors
    seen = _seen(request, row)
    if request.method == "POST" and all(sound):
        ref = _ref(request, review_id, position)
        try:
            split_row(
                tenant=request.tenant,
                actor=request.actor,
                ref=ref,
                parts=[form.text() for form in forms],
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            seen = row.version if _is_stale(refusal) else seen
            forms[0].add_error(None, refusal.message)
        else:
            return go_to(request, _row_url(request, review, position))
    return _rows_dialog(
        request, review, row, forms, title="Split this row", verb="Split", seen=seen
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def merge(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Make a row and the one after it one."""
    review, row = _find(request, review_id, position)
    rows = review_rows(tenant=request.tenant, review=review)
    places = [one.position for one in rows]
    at = places.index(position)
    after = next((one for one in rows[at + 1 :] if one.is_kept), None)
    if after is None:
        messages.error(request, "There is no row after this one to merge with.")
        return go_to(request, _row_url(request, review, position))
    text = merged_text([row, after])
    initial = {name: getattr(text, name) or "" for name in RowForm.base_fields}
    form = RowForm(posted(request), initial=initial, prefix="first")
    seen = _seen(request, row)
    if request.method == "POST" and form.is_valid():
        beside = _read_version(request.POST.get("after_version", ""))
        refs = [
            _ref(request, review_id, position),
            RowRef(review.id, after.position, beside),
        ]
        try:
            merge_rows(
                tenant=request.tenant, actor=request.actor, refs=refs, text=form.text()
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            seen = row.version if _is_stale(refusal) else seen
            form.add_error(None, refusal.message)
        else:
            return go_to(request, _row_url(request, review, position))
    return _rows_dialog(
        request,
        review,
        row,
        [form],
        title="Merge with the next row",
        verb="Merge",
        after=after,
        seen=seen,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def add(request: TenantRequest, review_id: str) -> HttpResponse:
    """Add a row that was not read: typed, or from a box drawn on a page."""
    review = review_of(tenant=request.tenant, review_id=read_id(review_id))
    box = BoxForm(request.POST if request.method == "POST" else request.GET)
    place = box.place()
    initial, read = {}, ""
    if place is not None and request.method == "GET":
        try:
            reading = read_drawn_box(
                tenant=request.tenant, review_id=review.id, place=place
            )
        except (NotFound, NotAllowed):
            raise
        except DomainError as refusal:
            read = refusal.message
        else:
            read = f"Read there: {reading.text}" if reading.text else "No text there."
            initial = {
                name: getattr(reading, name) or ""
                for name in ("test_name", "value", "units", "reference_range", "flag")
            }
    form = RowForm(posted(request), initial=initial, prefix="first")
    if request.method == "POST" and form.is_valid():
        try:
            saved = add_row(
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
            return go_to(request, _row_url(request, review, saved.row.position))
    return _rows_dialog(
        request,
        review,
        None,
        [form],
        title="Add a row",
        verb="Add",
        box=box if place is not None else None,
        read=read,
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def redraw(request: TenantRequest, review_id: str, position: int) -> HttpResponse:
    """Say where a row's value stands; without a box it counts as typed."""
    ref = _ref(request, review_id, position)
    try:
        redraw_box(
            tenant=request.tenant,
            actor=request.actor,
            ref=ref,
            part=RowPart.VALUE,
            place=BoxForm(request.POST).place(),
        )
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    return go_to(request, _desk_row(request, ref))


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def confirm_panel(request: TenantRequest, review_id: str) -> HttpResponse:
    """Confirm a panel's rows that nothing speaks against."""
    key = read_id(review_id)
    try:
        done = confirm_plain_rows(
            tenant=request.tenant,
            actor=request.actor,
            review_id=key,
            panel=request.POST.get("panel") or None,
        )
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"{len(done)} rows confirmed.")
    return go_to(request, page_url(request, "reports:review", review_id=key))


def _remember(request: TenantRequest, ref: RowRef, version: int) -> None:
    """Propose the code for this name; the row is saved whatever comes of that."""
    now = RowRef(ref.review_id, ref.position, version)
    try:
        propose_alias(tenant=request.tenant, actor=request.actor, ref=now)
    except DomainError as refusal:
        messages.info(request, refusal.message)


def _found(row: ReviewRow, query: str) -> list[Candidate]:
    hits = search_loinc(
        query,
        unit=row.values["units"],
        specimen=result_of(row).sample_type,
        release=loinc_folder(),
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
    return candidates_of(matches)


def _find(
    request: TenantRequest, review_id: str, position: int
) -> tuple[Review, ReviewRow]:
    review = review_of(tenant=request.tenant, review_id=read_id(review_id))
    rows = review_rows(tenant=request.tenant, review=review)
    row = next((one for one in rows if one.position == position), None)
    if row is None:
        raise Http404
    return review, row


def _ref(request: TenantRequest, review_id: str, position: int) -> RowRef:
    version = _read_version(request.POST.get("version", ""))
    return RowRef(read_id(review_id), position, version)


def _read_version(text: str) -> int:
    """A version of a form; what is none matches no row."""
    return int(text) if text.isdecimal() and len(text) < _VERSION_DIGITS else 0


def _seen(request: TenantRequest, row: ReviewRow) -> int:
    """The version that the person saw when they opened a form on a row.

    Not the row's own: a change made since would be saved over unseen.
    """
    given = request.POST if request.method == "POST" else request.GET
    return _read_version(given["version"]) if "version" in given else row.version


def _is_stale(refusal: DomainError) -> bool:
    """Whether the row says something else by now; the answer then shows it."""
    return refusal.code == "row_changed"


def _saved(request: TenantRequest, ref: RowRef, others: list[int]) -> HttpResponse:
    """The row as it is now, with all that changed beside it, or the way back to it."""
    if not wants_fragment(request):
        return go_to(request, _desk_row(request, ref))
    state = _state(request, ref)
    response = render_page(
        request,
        "reports/review/_saved.html",
        **{**desk_context(request, state), "oob": True},
        row=_row_in(state, ref.position),
        others=[row for row in state.rows if row.row.position in others],
    )
    # A dialog's form names the dialog as its target.
    response["HX-Retarget"] = f"#row-{ref.position}"
    response["HX-Reswap"] = "outerHTML"
    return response


def _refused(request: TenantRequest, ref: RowRef, refusal: DomainError) -> HttpResponse:
    if not wants_fragment(request):
        messages.error(request, refusal.message)
        return go_to(request, _desk_row(request, ref))
    state = _state(request, ref)
    return render_page(
        request,
        "reports/review/_saved.html",
        status=422,
        **{**desk_context(request, state), "oob": True},
        row=_row_in(state, ref.position),
        others=[],
        refused=refusal.message,
    )


def _panel(
    request: TenantRequest,
    review: Review,
    row: ReviewRow,
    template: str,
    *,
    status: int,
    **context: Any,
) -> HttpResponse:
    """What opens below a row; a page of its own without script."""
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
        in_desk=wants_fragment(request),
        review=review,
        row=row,
        back=_row_url(request, review, row.position),
        **context,
    )


def _dialog(
    request: TenantRequest,
    review: Review,
    row: ReviewRow,
    form: ReasonForm,
    *,
    title: str,
    verb: str,
    seen: int,
) -> HttpResponse:
    return render_form(
        request,
        "reports/review/_reason.html",
        title=title,
        back=_row_url(request, review, row.position),
        back_words="The report",
        status=422 if form.errors else 200,
        section="reviews",
        form=form,
        row=row,
        verb=verb,
        seen=seen,
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
        back=_row_url(request, review, row.position if row else 0),
        back_words="The report",
        status=422 if any(form.errors for form in forms) else 200,
        section="reviews",
        forms=forms,
        row=row,
        verb=verb,
        **context,
    )


def _name_fields(form: RowForm, position: int) -> None:
    """Tell the fields of rows that are open at once apart."""
    form.auto_id = f"row-{position}-%s"


def _state(request: TenantRequest, ref: RowRef) -> DeskState:
    return desk_state(
        request, review_of(tenant=request.tenant, review_id=ref.review_id)
    )


def _row_in(state: DeskState, position: int) -> Any:
    return next(row for row in state.rows if row.row.position == position)


def _row_url(request: TenantRequest, review: Review, position: int) -> str:
    here = page_url(request, "reports:review", review_id=review.id)
    return f"{here}?row={position}#row-{position}"


def _desk_row(request: TenantRequest, ref: RowRef) -> str:
    here = page_url(request, "reports:review", review_id=ref.review_id)
    return f"{here}?row={ref.position}#row-{ref.position}"
