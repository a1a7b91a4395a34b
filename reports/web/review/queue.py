"""Page of the review queue, and claiming a review."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.declarations.pages import NavCount
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from portal.lib.database.sorting import SORTED_UP_TO, sort_as_asked
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import Pager, page_url, redirect_browser, render_page
from portal.ui.filters import DayFilter, FilterBar, ListFilter, build_choices
from reports.operations.review.reviews import (
    claim_review,
    release_review,
    take_over_review,
)
from reports.queries import get_review
from reports.queries.review_queue import (
    TABS,
    TabFilters,
    count_open_reviews,
    count_reviews_per_tab,
    count_rows_per_review,
    list_reviews_in_tab,
    list_senders_of_open_reports,
)
from reports.states import ReviewKind, ReviewStatus
from reports.web.columns import ENDED_REVIEWS, REVIEWS

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import Review

PAGE_SIZE = 50
_MAX_OFFSET = 2**31
_TAB_WORDS = {
    "open": gettext_lazy("To review"),
    "mine": gettext_lazy("Mine"),
    "second": gettext_lazy("Second read"),
    "disputed": gettext_lazy("Disputed"),
    "done": gettext_lazy("Done"),
}


_BAND_WORDS = {
    "low": gettext_lazy("Below 60%"),
    "fair": gettext_lazy("60–89%"),
    "high": gettext_lazy("90% or more"),
}


class QueueForm(forms.Form):
    """The queue's query string; an invalid value counts as not given."""

    tab = forms.ChoiceField(required=False, choices=[(tab, "") for tab in TABS])
    lab = forms.CharField(required=False, max_length=100)
    collected = forms.DateField(required=False)
    band = forms.ChoiceField(required=False, choices=list(_BAND_WORDS.items()))
    source = forms.CharField(required=False, max_length=100)
    attention = forms.BooleanField(required=False)
    offset = forms.IntegerField(required=False, min_value=0, max_value=_MAX_OFFSET)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A review as listed; `holder` is its reviewer."""

    review: Review
    rows: int
    holder: str
    minutes: int
    is_mine: bool


@require_GET
@require_right(Area.SIGN_REPORTS, write=True)
def list_reviews(request: TenantRequest) -> HttpResponse:
    """Show the review queue, by tab and filter."""
    form = QueueForm(request.GET)
    form.is_valid()
    cleaned = form.cleaned_data
    sources = list_senders_of_open_reports(tenant=request.tenant)
    filters = TabFilters(
        tab=cleaned.get("tab") or "open",
        member=request.actor.key,
        lab=cleaned.get("lab") or "",
        collected=cleaned.get("collected"),
        needs_attention=bool(cleaned.get("attention")),
        band=cleaned.get("band") or "",
        source=source if (source := cleaned.get("source", "")) in dict(sources) else "",
    )
    offset = cleaned.get("offset") or 0
    found = list_reviews_in_tab(tenant=request.tenant, filters=filters)
    columns = read_list_columns(
        request, ENDED_REVIEWS if filters.tab == "done" else REVIEWS
    )
    total = found.count()
    listed = sort_as_asked(
        found, order_by=columns.order_asked, newest=("-created_at", "id")
    )
    reviews = list(listed[offset : offset + PAGE_SIZE])
    numbers = count_rows_per_review(tenant=request.tenant, reviews=reviews)
    counts = count_reviews_per_tab(tenant=request.tenant, member=request.actor.key)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="review_queue",
        subject_id=f"tab={filters.tab} offset={offset}",
    )
    return render_page(
        request,
        "reports/review/queue.html",
        fragment="reports/review/_queue.html",
        section="reviews",
        bar=_build_filter_bar(filters, sources),
        columns=columns,
        is_sort_cut=columns.is_partial and total > SORTED_UP_TO,
        filters=filters,
        is_filtered=filters.narrows,
        public_url=settings.PUBLIC_URL,
        tabs=[(tab, _TAB_WORDS[tab], counts[tab]) for tab in TABS],
        rows=[_row(request, review, numbers.get(review.pk, 0)) for review in reviews],
        pager=Pager(
            total=min(total, SORTED_UP_TO) if columns.is_partial else total,
            offset=offset,
            limit=PAGE_SIZE,
        ),
    )


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def claim_and_open_review(request: TenantRequest, review_id: str) -> HttpResponse:
    """Claim a review and open it; read only if someone else was faster.

    A dispute opens at what its two readers made of it.
    """
    key = parse_review_id_or_404(review_id)
    try:
        review = claim_review(tenant=request.tenant, actor=request.actor, review_id=key)
    except NotFound:
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        if review.kind == ReviewKind.DISPUTE:
            return redirect_browser(
                request, page_url(request, "reports:readings", review_id=key)
            )
    return redirect_browser(request, page_url(request, "reports:review", review_id=key))


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def take_over_review_from_reviewer(
    request: TenantRequest, review_id: str
) -> HttpResponse:
    """Take over a review from its reviewer, with a reason."""
    key = get_review(
        tenant=request.tenant, review_id=parse_review_id_or_404(review_id)
    ).id
    try:
        take_over_review(
            tenant=request.tenant,
            actor=request.actor,
            review_id=key,
            why=request.POST.get("reason", ""),
        )
    except NotFound:
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    return redirect_browser(request, page_url(request, "reports:review", review_id=key))


@require_POST
@require_right(Area.SIGN_REPORTS, write=True)
def release_review_to_queue(request: TenantRequest, review_id: str) -> HttpResponse:
    """Return a review to the queue."""
    try:
        release_review(
            tenant=request.tenant,
            actor=request.actor,
            review_id=parse_review_id_or_404(review_id),
        )
    except (NotFound, NotAllowed):
        raise
    except DomainError as refusal:
        messages.error(request, refusal.message)
    return redirect_browser(request, page_url(request, "reports:reviews"))


def build_reviews_nav_count(request: TenantRequest) -> NavCount | None:
    """Build the navigation count of open reviews."""
    if not request.rights.allow(Area.SIGN_REPORTS, write=True):
        return None
    number = count_open_reviews(tenant=request.tenant)
    return NavCount(number, _("to review"), "rev") if number else None


def parse_review_id_or_404(text: str) -> UUID:
    """Parse an ID of the address. Raises: Http404."""
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None


def _build_filter_bar(filters: TabFilters, sources: list[tuple[str, str]]) -> FilterBar:
    attention = "on" if filters.needs_attention else ""
    sent_by = ListFilter("source", _("Sent by"), filters.source, tuple(sources))
    return FilterBar(
        (
            ListFilter(
                "attention",
                _("Needs attention"),
                attention,
                (("on", _("yes")),),
                is_switch=True,
            ),
            ListFilter(
                "band",
                _("Lowest confidence"),
                filters.band,
                build_choices(_BAND_WORDS.items()),
            ),
            DayFilter("collected", _("Collected on"), filters.collected),
            *([sent_by] if sources else []),
        ),
        text=filters.lab,
        label=_("Search reviews by lab"),
        placeholder=_("Part of a lab's name"),
        parameter="lab",
    )


def _row(request: TenantRequest, review: Review, rows: int) -> QueueRow:
    now = timezone.now()
    is_held = (
        review.status == ReviewStatus.OPEN
        and review.claimed_until is not None
        and review.claimed_until > now
    )
    is_mine = is_held and review.claimed_by_key == request.actor.key
    since = review.claimed_at or now
    return QueueRow(
        review=review,
        rows=rows,
        holder=review.claimed_by_label if is_held else "",
        minutes=max(0, int((now - since).total_seconds() // 60)),
        is_mine=is_mine,
    )
