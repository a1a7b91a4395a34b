"""Results of a user across all orders and reports: what is abnormal comes first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from labs.queries.orders.user_record import list_orders_with_open_alert
from labs.queries.results.trends import (
    count_values_waiting_for_signature,
    list_result_trends_of_user,
)
from labs.states.orders import Interpretation
from labs.web.results.filters import (
    KEPT,
    SHOWN,
    UNREVIEWED,
    ResultFilters,
    build_result_filter_bar,
    read_result_filters,
)
from labs.web.results.rows import (
    ABNORMAL,
    build_interpretation_pill,
    build_result_trend_chart,
    draw_result_range_bar,
    format_reference_range,
)
from portal.lib.units import format_unit
from portal.lib.web.views import render_page
from portal.ui.dates import write_date
from portal.ui.trend_chart import TrendMark, draw_result_sparkline
from users.queries.users.users import user_overview

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from django.http import HttpResponse
    from django.utils.safestring import SafeString

    from accounts.web.requests import TenantRequest
    from labs.queries.results.trends import MarkerResult, Trend, TrendPoint
    from labs.web.results.rows import InterpretationPill
    from users.queries.users.users import UserOverview

# Ours: the days to choose from, newest first.
_DAYS_AT_MOST = 60
# The most urgent first.
_URGENCY = {Interpretation.CRITICAL: 0, Interpretation.ABNORMAL: 1}


@dataclass(frozen=True, slots=True)
class UserResultRow:
    """A marker: the result shown, how it was before or on the day compared.

    `compared` is None without such a result; `change` is the difference with its sign,
    empty where the two can't be compared.
    """

    trend: Trend
    shown: MarkerResult
    pill: InterpretationPill | None
    bar: SafeString | str
    sparkline: SafeString
    compared: TrendPoint | None
    change: str
    is_waiting: bool

    @property
    def ranges(self) -> str:
        """Return the reference range in words."""
        return format_reference_range(self.shown)


@dataclass(frozen=True, slots=True)
class UserResultGroup:
    """Markers of one panel or report; `origin` says when it was taken and where.

    `seen` is its order and version while they are unreviewed, else "".
    """

    name: str
    origin: str
    rows: list[UserResultRow]
    seen: str = ""


@dataclass(frozen=True, slots=True)
class UserResults:
    """What a query string asks for: `rows` fit its filters, `every` only its days."""

    trends: Mapping[str, Trend]
    filters: ResultFilters
    days: list[date]
    every: list[UserResultRow]
    rows: list[UserResultRow]

    @property
    def seen(self) -> list[str]:
        """Return each order and version shown that is unreviewed, as order:version."""
        return sorted({seen for row in self.rows if (seen := _name_seen(row))})


@require_GET
@require_right(Area.USERS)
@require_right(Area.ORDERS)
def show_user_results(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show the result of each measure of a user, and one trend.

    `of` names the measure that is shown over time; `q`, `show`, `lab` and `panel`
    filter, `day` and `with` choose two days to compare.
    """
    return render_user_results(request, user_id)


def render_user_results(request: TenantRequest, user_id: str) -> HttpResponse:
    """Return the page, or to htmx its results alone; the caller has asked for rights.

    The first order that is left to review takes the focus of the button that went.
    """
    overview = find_user(request, user_id)
    user_uuid = overview.user.uuid
    measure = request.GET.get("of", "")
    found = list_user_results(request, user_uuid)
    trends, every, rows = found.trends, found.every, found.rows
    if measure and measure not in trends:
        raise Http404
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="result_trends",
        subject_id=user_uuid,
        user_uuid=user_uuid,
    )
    off = sorted(
        (row for row in rows if row.shown.interpretation in ABNORMAL), key=_rank
    )
    groups = _group([row for row in rows if row.shown.interpretation not in ABNORMAL])
    # Each order has one button: in the heading of its panel, or else of what is off.
    in_groups = [group.seen for group in groups if group.seen]
    of_off = {seen: row for row in off if (seen := _name_seen(row))}
    alone = [
        (seen, row.shown.panel, _name(_day_of(row.shown)))
        for seen, row in of_off.items()
        if seen not in in_groups
    ]
    unreviewed = [*(seen for seen, *_rest in alone), *in_groups]
    return render_page(
        request,
        "labs/user_results.html",
        fragment="labs/_user_results.html",
        overview=overview,
        section="users",
        tab="results",
        figure=build_result_trend_chart(trends[measure]) if measure else None,
        filters=found.filters,
        days=found.days,
        seen=found.seen,
        may_review=request.rights.allow(Area.SIGN_REPORTS, write=True),
        bar=build_result_filter_bar(
            found.filters,
            labs={row.shown.lab for row in found.every},
            panels={row.shown.panel for row in found.every},
        ),
        kept=[
            (name, value)
            for name, value in request.GET.items()
            if value and name in KEPT
        ],
        counts=_count(every),
        has_results=bool(trends),
        unsigned=count_values_waiting_for_signature(
            tenant=request.tenant, user_uuid=user_uuid, reads=request.rights.reads
        ),
        off=off,
        off_unreviewed=alone,
        groups=groups,
        focused=unreviewed[0] if unreviewed and request.method == "POST" else "",
    )


def find_user(request: TenantRequest, user_id: str) -> UserOverview:
    """Return the user of a page. Raises: Http404; not_found."""
    return user_overview(tenant=request.tenant, user_id=_parse_uuid(user_id))


def list_user_results(request: TenantRequest, user_uuid: UUID) -> UserResults:
    """Return a user's results by the filters and days of a query string."""
    trends = list_result_trends_of_user(
        tenant=request.tenant, user_uuid=user_uuid, reads=request.rights.reads
    )
    days = _list_days(trends.values())
    filters = read_result_filters(request.GET, days)
    waiting = list_orders_with_open_alert(tenant=request.tenant, user_uuid=user_uuid)
    every = [
        row
        for trend in trends.values()
        if (row := _build_row(trend, filters, waiting)) is not None
    ]
    return UserResults(
        trends=trends,
        filters=filters,
        days=days,
        every=every,
        rows=[row for row in every if _fits(row, filters)],
    )


def _build_row(
    trend: Trend, filters: ResultFilters, waiting: set[UUID]
) -> UserResultRow | None:
    """Build the row of a marker; None without a result on the day asked for."""
    place = _find_place(trend, filters.of_day)
    if place is None:
        return None
    point = trend.points[place]
    compared = _find_compared(trend, place, filters.with_day)
    shown = point.result
    return UserResultRow(
        trend=trend,
        shown=shown,
        pill=build_interpretation_pill(
            shown.interpretation, is_above=shown.is_above, is_below=shown.is_below
        ),
        bar=draw_result_range_bar(
            type_=shown.type,
            value=shown.value,
            low=shown.low,
            high=shown.high,
            unit=format_unit(shown.unit),
        ),
        sparkline=_draw_sparkline(trend),
        compared=compared,
        change=_describe_change(point, compared),
        is_waiting=shown.order_id in waiting
        and shown.interpretation == Interpretation.CRITICAL,
    )


def _find_place(trend: Trend, day: date | None) -> int | None:
    if day is None:
        return len(trend.points) - 1
    places = [
        place
        for place, point in enumerate(trend.points)
        if _day_of(point.result) == day
    ]
    return places[-1] if places else None


def _find_compared(trend: Trend, place: int, day: date | None) -> TrendPoint | None:
    if day is None:
        return trend.points[place - 1] if place else None
    other = _find_place(trend, day)
    return None if other in {None, place} else trend.points[other or 0]


def _describe_change(point: TrendPoint, compared: TrendPoint | None) -> str:
    if compared is None or point.value is None or compared.value is None:
        return ""
    return f"{point.value - compared.value:+.3g}"


def _draw_sparkline(trend: Trend) -> SafeString:
    marks = [
        TrendMark(
            _day_of(point.result),
            point.value,
            point.low,
            point.high,
            point.result.interpretation,
        )
        for point in trend.drawn
        if point.value is not None
    ]
    unit = format_unit(trend.unit)
    return draw_result_sparkline(
        marks,
        says=_("%(name)s from %(first)s to %(last)s")
        % {
            "name": trend.name,
            "first": f"{marks[0].value:.4g}",
            "last": f"{marks[-1].value:.4g} {unit}".strip(),
        }
        if len(marks) > 1
        else "",
    )


def _fits(row: UserResultRow, filters: ResultFilters) -> bool:
    if filters.show == UNREVIEWED and row.shown.is_reviewed:
        return False
    kinds = SHOWN.get(filters.show)
    if kinds and row.shown.interpretation not in kinds:
        return False
    if filters.panel and row.shown.panel != filters.panel:
        return False
    if filters.lab and row.shown.lab != filters.lab:
        return False
    text = filters.text.lower()
    return text in row.trend.name.lower() or text in row.trend.loinc.lower()


def _rank(row: UserResultRow) -> tuple[int, float, str]:
    """Return what sorts critical results first, then the newest."""
    known = Interpretation.known(row.shown.interpretation)
    urgency = _URGENCY.get(known, 2) if known else 2
    return urgency, -row.shown.at.timestamp(), row.trend.name.lower()


def _group(rows: Sequence[UserResultRow]) -> list[UserResultGroup]:
    """Group markers by panel or report and day, the newest first."""

    def key(row: UserResultRow) -> tuple[float, str, str]:
        day = _day_of(row.shown)
        origin = row.shown.order_id or row.shown.report_id
        return -day.toordinal(), row.shown.panel, str(origin)

    ordered = sorted(rows, key=lambda row: (*key(row), row.trend.name.lower()))
    groups = []
    for _key, found in groupby(ordered, key=key):
        members = list(found)
        shown = members[0].shown
        groups.append(
            UserResultGroup(
                name=shown.panel or _("Uploaded report"),
                origin=", ".join(filter(None, (shown.lab, _name(_day_of(shown))))),
                rows=members,
                seen=_name_seen(members[0]),
            )
        )
    return groups


def _count(rows: Sequence[UserResultRow]) -> list[tuple[str, str, int]]:
    """List each filter's value, label and number of markers."""
    found = [row.shown.interpretation for row in rows]
    return [
        ("", _("All"), len(found)),
        ("abnormal", _("Out of range"), sum(one in ABNORMAL for one in found)),
        (
            "critical",
            _("Critical"),
            sum(one == Interpretation.CRITICAL for one in found),
        ),
        (
            UNREVIEWED,
            _("Unreviewed"),
            sum(not row.shown.is_reviewed for row in rows),
        ),
    ]


def _list_days(trends: Iterable[Trend]) -> list[date]:
    days = {_day_of(point.result) for trend in trends for point in trend.points}
    return sorted(days, reverse=True)[:_DAYS_AT_MOST]


def _name_seen(row: UserResultRow) -> str:
    """Return order:version of an unreviewed result; "" of a reviewed one."""
    shown = row.shown
    return "" if shown.is_reviewed else f"{shown.order_id}:{shown.version}"


def _day_of(result: MarkerResult) -> date:
    return timezone.localtime(result.at).date()


def _name(day: date) -> str:
    return write_date(day, "j M Y")


def _parse_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
