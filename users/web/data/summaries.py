"""Charts of a user's summaries: nights of sleep, and menstrual cycles."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.periods import find_time_zone_by_name
from portal.lib.web.views import render_page
from users.queries import get_summary_with_neighbors, user_overview
from users.web.data.cycles import Cycle
from users.web.data.nights import Night

if TYPE_CHECKING:
    from datetime import date

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.queries import SummaryPage, UserOverview

EARLIER_NIGHTS = 7


class Why(StrEnum):
    """Reason why a user has no night to show, each with its next step."""

    NO_SOURCE = "no_source"
    WAITING = "waiting"
    OUTSIDE = "outside"  # of the ingestion window


@require_GET
@require_right(Area.USERS)
def show_sleep_and_cycle_charts(request: TenantRequest, user_id: str) -> HttpResponse:
    overview = user_overview(tenant=request.tenant, user_id=_uuid(user_id))
    zone = find_time_zone_by_name(overview.user.fallback_time_zone)
    today = timezone.now().astimezone(zone).date()
    nights = get_summary_with_neighbors(
        user=overview.user,
        kind="sleep_cycle",
        wanted=_wanted(request, "night"),
        until=today + timedelta(days=1),
        earlier=EARLIER_NIGHTS,
    )
    # Cycles are sensitive: read only when somebody opens them, and told apart in the
    # audit (workflows: the sensitive group).
    shows_cycles = "cycle" in request.GET
    cycles = _cycles(request, overview, today) if shows_cycles else None
    for subject in ("user", "sleep_cycle", *(["menstrual_cycle"] * shows_cycles)):
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject=subject,
            subject_id=overview.user.uuid,
            user_uuid=overview.user.uuid,
        )
    return render_page(
        request,
        "users/summaries.html",
        overview=overview,
        tab="summaries",
        night=nights and Night(nights.shown),
        earlier_nights=[Night(row) for row in nights.earlier] if nights else [],
        later_night=nights and nights.later,
        why_no_night=_why_nothing(overview, today),
        shows_cycles=shows_cycles,
        cycle=cycles and Cycle(cycles.shown, cycles.later, today),
        earlier_cycle=cycles and next(iter(cycles.earlier), None),
        later_cycle=cycles and cycles.later,
    )


def _cycles(
    request: TenantRequest, overview: UserOverview, today: date
) -> SummaryPage | None:
    return get_summary_with_neighbors(
        user=overview.user,
        kind="menstrual_cycle",
        wanted=_wanted(request, "cycle"),
        until=today,
        earlier=1,
    )


def _why_nothing(overview: UserOverview, today: date) -> Why:
    user = overview.user
    if (user.ingestion_end and user.ingestion_end < today) or (
        user.ingestion_start and user.ingestion_start > today
    ):
        return Why.OUTSIDE
    return Why.WAITING if overview.connections else Why.NO_SOURCE


def _wanted(request: TenantRequest, name: str) -> UUID | None:
    """Return the summary ID of the query string; None for the latest."""
    text = request.GET.get(name, "")
    return _uuid(text) if text not in {"", "now"} else None


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
