"""Reads of the review queue by tab, and a user's earlier values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, F, Q
from django.utils import timezone

from portal.lib.database.rows import fetch_rows
from reports.models import ReportResult, Review
from reports.states import ParsingJobStatus, ReviewKind, ReviewStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from uuid import UUID

    from accounts.models import Tenant
    from reports.models import ParsingJob, ReviewQuerySet

TABS = ("open", "mine", "second", "disputed", "done")
# By the least sure row: from, included, to, excluded.
BANDS = {"low": (None, 0.6), "fair": (0.6, 0.9), "high": (0.9, None)}
_SOURCES_AT_MOST = 100
_OPEN = f"""
SELECT count(*) FROM reports_review review
JOIN reports_parsingjob job ON job.id = review.job_id
JOIN users_user person ON person.id = job.user_id
WHERE review.tenant_id = %s AND review.status = '{ReviewStatus.OPEN}'
    AND person.deleted_at IS NULL
"""  # noqa: S608 - the status is ours
_EARLIER_AT_MOST = 2000  # rows of one person that are looked through


@dataclass(frozen=True, slots=True)
class TabFilters:
    """Filters of a tab; an empty one means all.

    `collected` is the day on the report, `band` one of BANDS, `source` a source_key.
    """

    tab: str
    member: str
    lab: str = ""
    collected: date | None = None
    needs_attention: bool = False
    band: str = ""
    source: str = ""

    @property
    def narrows(self) -> bool:
        """Return whether any filter besides the tab is set."""
        return bool(
            self.lab
            or self.collected
            or self.needs_attention
            or self.band
            or self.source
        )


@dataclass(frozen=True, slots=True)
class EarlierValue:
    """A user's previous value for a LOINC code."""

    value: str
    units: str
    collected: str


def list_reviews_in_tab(*, tenant: Tenant, filters: TabFilters) -> ReviewQuerySet:
    """Return a tab's reviews with their jobs and users, not paged.

    Critical ones first, then the oldest; of what is done the latest first.
    """
    rows: ReviewQuerySet = Review.objects.for_tenant(tenant).live()
    rows = rows.filter(_of_tab(filters.tab, filters.member))
    if filters.lab:
        rows = rows.filter(job__metadata__lab_name__icontains=filters.lab)
    if filters.collected:
        day = filters.collected.isoformat()
        rows = rows.filter(job__metadata__date_collected=day)
    if filters.needs_attention:
        rows = rows.filter(flagged__gt=0)
    if filters.band:
        least, most = BANDS[filters.band]
        if least is not None:
            rows = rows.filter(lowest_confidence__gte=least)
        if most is not None:
            rows = rows.filter(lowest_confidence__lt=most)
    if filters.source:
        rows = rows.filter(job__source_key=filters.source)
    rows = rows.select_related("job__user")
    if filters.tab == "done":
        return rows.order_by("-ended_at", "id")
    return rows.order_by("-is_critical", "created_at", "id")


def list_reviews_by_id(*, tenant: Tenant, ids: Sequence[UUID]) -> list[Review]:
    """List those of these reviews that are the tenant's, as the queue orders them."""
    rows = Review.objects.for_tenant(tenant).live().filter(pk__in=ids)
    rows = rows.select_related("job__user")
    return list(rows.order_by("-is_critical", "created_at", "id"))


def find_next_review(
    *, tenant: Tenant, member: str, after: Review | None = None
) -> Review | None:
    """Find the first of the queue that the member can claim or has claimed; one query.

    `member` is the actor's key; `after` is left out, as the member is about to end it.
    """
    is_free = Q(claimed_until__lte=timezone.now()) | (
        # One that is assigned to another reviewer is left to them.
        Q(claimed_until=None) & (Q(claimed_by_key="") | Q(claimed_at__isnull=False))
    )
    rows = list_reviews_in_tab(
        tenant=tenant, filters=TabFilters(tab="open", member=member)
    )
    if after is not None:
        rows = rows.exclude(pk=after.pk)
    found: Review | None = rows.filter(is_free | Q(claimed_by_key=member)).first()
    return found


def count_reviews_per_tab(*, tenant: Tenant, member: str) -> dict[str, int]:
    """Count the reviews of each tab; one query."""
    rows = Review.objects.for_tenant(tenant).live()
    counts: dict[str, int] = rows.aggregate(
        **{tab: Count("pk", filter=_of_tab(tab, member)) for tab in TABS}
    )
    return counts


def count_open_reviews(*, tenant: Tenant) -> int:
    """Count the reviews that are open, of whatever kind.

    One query, by hand: every page asks.
    """
    [(number,)] = fetch_rows(_OPEN, [tenant.pk])
    return int(number)


def list_senders_of_open_reports(*, tenant: Tenant) -> list[tuple[str, str]]:
    """Return the senders of open reports as key and label, by label; one query."""
    rows = Review.objects.for_tenant(tenant).live().filter(status=ReviewStatus.OPEN)
    found = rows.exclude(job__source_key="").values_list(
        "job__source_key", "job__source_label"
    )
    latest = dict(found.order_by("created_at")[:_SOURCES_AT_MOST])
    return sorted(latest.items(), key=lambda source: (source[1], source[0]))


def count_rows_per_review(
    *, tenant: Tenant, reviews: list[Review]
) -> dict[object, int]:
    """Count the rows of each review; one query."""
    rows = Review.objects.for_tenant(tenant).filter(pk__in=[r.pk for r in reviews])
    return dict(rows.annotate(row_count=Count("rows")).values_list("pk", "row_count"))


def find_previous_values_of_user(*, job: ParsingJob) -> dict[str, EarlierValue]:
    """Return the user's previous values by LOINC code; one query.

    Of completed reports alone. Source: Ours (workflow D1: previous value and delta).
    """
    collected = (job.metadata or {}).get("date_collected")
    rows = (
        ReportResult.objects.for_tenant(job.tenant)
        .filter(
            job__user=job.user_id,
            job__status=ParsingJobStatus.COMPLETED,
            version=F("job__version"),
        )
        .exclude(job=job.pk)
        .select_related("job")
        .order_by("-job__created_at", "position")
    )
    found: dict[str, tuple[str, EarlierValue]] = {}
    for row in rows[:_EARLIER_AT_MOST]:
        day = (row.job.metadata or {}).get("date_collected") or ""
        if not row.loinc_matches or (collected and day > collected):
            continue
        code = row.loinc_matches[0]["loinc_code"]
        if code not in found or found[code][0] < day:
            found[code] = (day, EarlierValue(row.value, row.units or "", day))
    return {code: value for code, (_, value) in found.items()}


def _of_tab(tab: str, member: str) -> Q:
    is_open = Q(status=ReviewStatus.OPEN)
    match tab:
        case "mine":
            is_assigned = Q(claimed_at=None, claimed_until=None)
            is_leased = Q(claimed_until__gt=timezone.now())
            return is_open & Q(claimed_by_key=member) & (is_assigned | is_leased)
        case "second":
            return is_open & Q(kind=ReviewKind.SECOND)
        case "disputed":
            return is_open & Q(kind=ReviewKind.DISPUTE)
        case "done":
            return ~is_open
        case _:
            return is_open & Q(kind=ReviewKind.FIRST)
