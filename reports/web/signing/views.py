"""Pages that end a review: summary and signature, and rejection."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    find_identity_confirmation_time,
    is_identity_confirmed,
    redirect_to_identity_confirmation,
)
from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from reports.operations.review.gates import (
    CriticalNotification,
    cancel_second_read,
    record_critical_value_notification,
    request_second_read,
)
from reports.operations.review.reviews import claim_review
from reports.operations.review.saving import RowRef
from reports.operations.signing.signing import (
    NotReady,
    SigningIntent,
    find_unmet_signing_rules,
    reject_report,
    sign_and_approve_report,
)
from reports.queries import get_review, list_review_rows, list_rows_changed_by_review
from reports.queries.review_queue import find_next_review
from reports.states import (
    RejectionReason,
    ReviewKind,
    ReviewStatus,
    RowDecision,
    SignatureMeaning,
)
from reports.web.review.notes import describe_check_note, merge_notes_on_repeated_tests
from reports.web.signing.rows import (
    build_changed_row_for_diff,
    build_review_page_url,
    crop_page_around_row,
    list_unmet_signing_rules_with_links,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accounts.web.requests import TenantRequest
    from reports.models import Review, ReviewRow
    from reports.web.signing.rows import PageCrop

_TRIES = 5  # to claim the next report while colleagues do, too


class SignForm(forms.Form):
    """The meaning of a signature."""

    meaning = forms.ChoiceField(
        choices=SignatureMeaning.choices,
        widget=forms.RadioSelect,
        label=gettext_lazy("Meaning of signature"),
        error_messages={
            "required": gettext_lazy("Choose the meaning of your signature.")
        },
    )


class RejectForm(forms.Form):
    """The reason why a report has no usable values."""

    reason = forms.ChoiceField(
        choices=RejectionReason.choices,
        widget=forms.RadioSelect,
        label=gettext_lazy("Reason"),
        error_messages={"required": gettext_lazy("Choose a reason.")},
    )
    why = forms.CharField(
        required=False,
        max_length=1000,
        label=gettext_lazy("Notes"),
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class NoticeForm(forms.Form):
    """The person notified of a critical value, the method and the local time."""

    told = forms.CharField(
        max_length=200,
        label=gettext_lazy("Person notified"),
        error_messages={"required": gettext_lazy("Enter the person you notified.")},
    )
    way = forms.CharField(
        max_length=200,
        label=gettext_lazy("Method"),
        error_messages={"required": gettext_lazy("Enter how you notified them.")},
    )
    at = forms.DateTimeField(
        label=gettext_lazy("Time"),
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
        ),
        error_messages={
            "required": gettext_lazy("Enter the date and time."),
            "invalid": gettext_lazy("Enter a valid date and time."),
        },
    )
    version = forms.IntegerField(widget=forms.HiddenInput)

    def clean_at(self) -> datetime:
        """Refuse a time in the future, with a minute for clocks that differ."""
        at: datetime = self.cleaned_data["at"]
        if at > timezone.now() + timedelta(minutes=1):
            raise forms.ValidationError(_("The time can't be in the future."))
        return at


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def sign_review(request: TenantRequest, review_id: str) -> HttpResponse:
    """Show the summary of a review, and sign it."""
    review = _review(request, review_id)
    report = page_url(request, "reports:page", job_id=review.job_id)
    if request.method != "POST":
        if review.status != ReviewStatus.OPEN:
            return redirect_browser(request, report)
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="review",
            subject_id=review.id,
            user_uuid=review.job.user.uuid,
        )
        meaning = SignatureMeaning.known(request.GET.get("meaning", ""))
        is_back = meaning is not None and is_identity_confirmed(request)
        return _summary(
            request,
            review,
            SignForm(initial={"meaning": meaning}),
            is_identity_fresh=is_back,
        )
    form = SignForm(request.POST)
    if not form.is_valid():
        return _summary(request, review, form, status=422)
    at = find_identity_confirmation_time(request)
    if at is None or not is_identity_confirmed(request):
        chosen = urlencode({"meaning": form.cleaned_data["meaning"]})
        here = page_url(request, "reports:approve", review_id=review.id)
        onward = f"{here}?{chosen}#h-sign"
        return redirect_to_identity_confirmation(request, onward=onward)
    intent = SigningIntent(
        SignatureMeaning(form.cleaned_data["meaning"]), at, name=request.member.name
    )
    try:
        sign_and_approve_report(
            tenant=request.tenant,
            actor=request.actor,
            review_id=review.id,
            intent=intent,
        )
    except NotReady:
        return _summary(request, review, form, status=422)
    except (NotAllowed, NotFound):
        raise
    except DomainError as refusal:
        form.add_error(None, refusal.message)
        return _summary(request, review, form, status=_status(refusal))
    messages.success(request, _("Report signed."))
    upcoming = _claim_next_review(request, review) if "next" in request.POST else None
    if upcoming is None:
        return redirect_browser(request, report)
    is_dispute = upcoming.kind == ReviewKind.DISPUTE
    opened = "reports:readings" if is_dispute else "reports:review"
    return redirect_browser(request, page_url(request, opened, review_id=upcoming.pk))


def _claim_next_review(request: TenantRequest, signed: Review) -> Review | None:
    """Claim the next report of the queue; None where none is left."""
    for _each in range(_TRIES):
        found = find_next_review(
            tenant=request.tenant, member=request.actor.key, after=signed
        )
        if found is None:
            return None
        try:
            return claim_review(
                tenant=request.tenant, actor=request.actor, review_id=found.pk
            )
        except Conflict:
            continue  # a colleague was faster, so another one is next
        except DomainError:
            break  # such as a second read of what they signed themselves
    return None


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def reject_report_with_reason(request: TenantRequest, review_id: str) -> HttpResponse:
    """Reject a report with a reason."""
    review = _review(request, review_id)
    report = page_url(request, "reports:page", job_id=review.job_id)
    form = RejectForm(request.POST if request.method == "POST" else None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                reject_report(
                    tenant=request.tenant,
                    actor=request.actor,
                    review_id=review.id,
                    reason=RejectionReason(form.cleaned_data["reason"]),
                    why=form.cleaned_data["why"],
                )
            except (NotAllowed, NotFound):
                raise
            except DomainError as refusal:
                form.add_error(None, refusal.message)
                status = _status(refusal)
            else:
                messages.success(request, _("Report rejected."))
                return redirect_browser(request, report)
    return render_page(
        request,
        "reports/signing/reject.html",
        status=status,
        review=review,
        form=form,
        section="reports",
        desk=build_review_page_url(request, review),
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def record_person_notified_of_critical_value(
    request: TenantRequest, review_id: str, position: int
) -> HttpResponse:
    """Record the person notified of one critical value."""
    review = _review(request, review_id)
    form = NoticeForm(request.POST)
    if form.is_valid():
        cleaned = form.cleaned_data
        try:
            record_critical_value_notification(
                tenant=request.tenant,
                actor=request.actor,
                ref=RowRef(review.id, position, cleaned["version"]),
                notice=CriticalNotification(
                    cleaned["told"], cleaned["at"], cleaned["way"]
                ),
            )
        except (NotAllowed, NotFound):
            raise
        except DomainError as refusal:
            form.add_error(None, refusal.message)
        else:
            here = page_url(request, "reports:approve", review_id=review.id)
            return redirect_browser(request, here)
    return _summary(request, review, SignForm(), status=422, notice=(position, form))


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def request_or_cancel_second_read_of_report(
    request: TenantRequest, review_id: str
) -> HttpResponse:
    """Request a second read, or cancel it."""
    review = _review(request, review_id)
    here = page_url(request, "reports:approve", review_id=review.id)
    try:
        if request.POST.get("wanted") == "yes":
            request_second_read(
                tenant=request.tenant, actor=request.actor, review_id=review.id
            )
        else:
            cancel_second_read(
                tenant=request.tenant, actor=request.actor, review_id=review.id
            )
    except (NotAllowed, NotFound):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    return redirect_browser(request, here)


def _summary(
    request: TenantRequest,
    review: Review,
    form: SignForm,
    *,
    status: int = 200,
    notice: tuple[int, NoticeForm] | None = None,
    is_identity_fresh: bool = False,
) -> HttpResponse:
    rows = list_review_rows(tenant=request.tenant, review=review)
    by_position = {row.position: row for row in rows}
    gaps = find_unmet_signing_rules(review=review, rows=rows)
    changed = [
        build_changed_row_for_diff(
            request,
            job=review.job,
            diff=diff,
            reason=by_position[diff.position].reason,
        )
        for diff in list_rows_changed_by_review(tenant=request.tenant, review=review)
    ]
    decided = [row.decision for row in rows]
    return render_page(
        request,
        "reports/signing/approve.html",
        status=status,
        review=review,
        section="reports",
        form=form,
        desk=build_review_page_url(request, review),
        gaps=list_unmet_signing_rules_with_links(
            request, review=review, rows=rows, gaps=gaps
        ),
        counts=[
            (_("Confirmed"), decided.count(RowDecision.CONFIRMED)),
            (_("Edited"), decided.count(RowDecision.EDITED)),
            (_("Added"), decided.count(RowDecision.ADDED)),
            (_("Excluded"), decided.count(RowDecision.EXCLUDED)),
            (_("Undecided"), decided.count(RowDecision.UNDECIDED)),
        ],
        changed=[one for one in changed if one.decision != RowDecision.EXCLUDED],
        doubted=_rows_kept_despite_checks(request, review, rows),
        excluded=[
            (row, crop_page_around_row(request, job=review.job, values=row.values))
            for row in rows
            if not row.is_included
        ],
        unread=sorted({place["page"] for place in review.job.unread or []}),
        unread_count=len(review.job.unread or []),
        critical=[_critical(row, notice) for row in rows if row.is_critical],
        may_ask_second=review.kind == ReviewKind.FIRST,
        is_mine=review.claimed_by_key == request.actor.key,
        is_identity_fresh=is_identity_fresh,
        has_next=find_next_review(
            tenant=request.tenant, member=request.actor.key, after=review
        )
        is not None,
    )


def _rows_kept_despite_checks(
    request: TenantRequest, review: Review, rows: Iterable[ReviewRow]
) -> list[tuple[ReviewRow, PageCrop | None, list[str]]]:
    """Return the decided, included rows that checks speak against, with notes."""
    notes = merge_notes_on_repeated_tests(review.notes)
    doubts = [
        (row, [describe_check_note(n) for n in notes if row.position in n["rows"]])
        for row in rows
        if row.is_included and row.is_decided
    ]
    return [
        (row, crop_page_around_row(request, job=review.job, values=row.values), why)
        for row, why in doubts
        if why
    ]


def _critical(
    row: ReviewRow, notice: tuple[int, NoticeForm] | None
) -> tuple[ReviewRow, datetime | None, NoticeForm | None]:
    """Return a critical value with its notification time, or the form for it."""
    if row.acknowledged:
        return row, datetime.fromisoformat(row.acknowledged["at"]), None
    if notice is not None and notice[0] == row.position:
        return row, None, notice[1]
    initial = {"version": row.version, "at": timezone.localtime()}
    prefix = f"critical-{row.position}_%s"
    return row, None, NoticeForm(initial=initial, auto_id=prefix)


def _review(request: TenantRequest, review_id: str) -> Review:
    try:
        return get_review(tenant=request.tenant, review_id=UUID(review_id))
    except ValueError:
        raise Http404 from None


def _status(refusal: DomainError) -> int:
    return 409 if isinstance(refusal, Conflict) else 422
