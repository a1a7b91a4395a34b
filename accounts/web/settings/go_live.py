"""The page Go live: what production needs, tried now or when it was last tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from django.contrib import messages
from django.core.cache import cache
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from accounts.declarations.go_live import GoLiveState
from accounts.declarations.pages import NavCount, OverviewCard, OverviewPart
from accounts.operations.go_live import try_go_live_checks
from accounts.queries.go_live import build_go_live_report
from accounts.states import Area, Environment
from accounts.web.rights import require_right
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.gauges import draw_state_bar
from portal.ui.pills import PILLS

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.http.response import HttpResponseBase

    from accounts.declarations.go_live import GoLiveGroup
    from accounts.queries.go_live import CheckedPoint, GoLiveReport
    from accounts.web.requests import TenantRequest

# By request: the page, its overview card and its navigation show the same number.
_reports: WeakKeyDictionary[TenantRequest, GoLiveReport] = WeakKeyDictionary()
_COUNT_LIFE_S = 60
# The order of the bar and its legend.
_BAR = (
    GoLiveState.READY,
    GoLiveState.NOT_NEEDED,
    GoLiveState.LOW,
    GoLiveState.FAILED,
    GoLiveState.MISSING,
    GoLiveState.NOT_TRIED,
)


@dataclass(frozen=True, slots=True)
class PointRow:
    """A check as the page shows it; `url` is where it is done, empty for no link."""

    point: CheckedPoint
    family: str
    url: str
    words: str


@dataclass(frozen=True, slots=True)
class PointGroup:
    """A group of checks and how many of them are not open."""

    group: GoLiveGroup
    rows: tuple[PointRow, ...]
    done: int


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM)
def show_go_live_page(request: TenantRequest) -> HttpResponseBase:
    return _try_again(request) if request.method == "POST" else _show(request)


@require_right(Area.TEAM, write=True)
def _try_again(request: TenantRequest) -> HttpResponse:
    try:
        try_go_live_checks(
            tenant=request.tenant,
            actor=request.actor,
            name=request.POST.get("check", ""),
        )
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Checked again."))
    return redirect_browser(request, page_url(request, "team:go_live"))


def _show(request: TenantRequest) -> HttpResponse:
    if request.tenant.is_sandbox:
        place = {
            "team_slug": request.tenant.team.slug,
            "environment": Environment.PRODUCTION,
        }
        return render_page(
            request,
            "accounts/go_live_sandbox.html",
            section="go_live",
            production_url=reverse("team:go_live", kwargs=place),
        )
    report = get_go_live_report(request)
    next_up = [_build_row(request, point) for point in report.open]
    counts = [
        (state, sum(point.state is state for point in report.points)) for state in _BAR
    ]
    return render_page(
        request,
        "accounts/go_live.html",
        section="go_live",
        report=report,
        refusing=", ".join(str(point.check.title) for point in report.refusing),
        groups=[
            _build_group(request, group, tuple(points))
            for group, points in groupby(
                report.points, key=lambda point: point.check.group
            )
        ],
        next_step=next_up[0] if next_up else None,
        later=next_up[1:],
        counts=[
            (PILLS[state].family, state.label, number)
            for state, number in counts
            if number
        ],
        bar=draw_state_bar(
            [
                (PILLS[state].family, str(state.label), number)
                for state, number in counts
            ],
            says=_("Checks"),
        ),
        may_try=request.rights.allow(Area.TEAM, write=True),
    )


def get_go_live_report(request: TenantRequest) -> GoLiveReport:
    """Build the report of the request's environment, once per request."""
    if request not in _reports:
        report = _reports[request] = build_go_live_report(request.tenant)
        cache.set(_count_key(request), len(report.open), _COUNT_LIFE_S)
    return _reports[request]


def build_go_live_nav_count(request: TenantRequest) -> NavCount | None:
    """Count the open checks for the navigation; None if there are none.

    As of the last minute, as every page of production shows it; the page Go live and
    the overview count anew.
    """
    number = None if request in _reports else cache.get(_count_key(request))
    if number is None:
        number = len(get_go_live_report(request).open)
    says = ngettext("open check", "open checks", number)
    return NavCount(number, says, "warn") if number else None


def _count_key(request: TenantRequest) -> str:
    return f"go-live-open-{request.tenant.pk}"


def build_go_live_card(request: TenantRequest) -> OverviewCard | None:
    """Build the card of open checks; None for a sandbox and where all is ready."""
    if request.tenant.is_sandbox or not request.rights.allow(Area.TEAM):
        return None
    report = get_go_live_report(request)
    if not report.open:
        return None
    return OverviewCard(5, "accounts/_go_live_card.html", {"report": report})


def build_go_live_overview(request: TenantRequest) -> OverviewPart:
    """Build the overview's card of open checks."""
    card = build_go_live_card(request)
    return OverviewPart(cards=(card,)) if card else OverviewPart()


def _build_group(
    request: TenantRequest, group: GoLiveGroup, points: tuple[CheckedPoint, ...]
) -> PointGroup:
    return PointGroup(
        group,
        tuple(_build_row(request, point) for point in points),
        sum(not point.state.is_open for point in points),
    )


def _build_row(request: TenantRequest, point: CheckedPoint) -> PointRow:
    check = point.check
    url, words = "", ""
    if check.guide:
        url, words = reverse("docs-page", args=[check.guide]), _("Open the guide")
    elif check.area is None or request.rights.allow(check.area):
        url, words = page_url(request, check.path_name), str(check.path_words)
    return PointRow(point, PILLS[point.state].family, url, words)
