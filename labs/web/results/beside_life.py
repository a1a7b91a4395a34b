"""A marker of a user beside a number of their daily life, on one axis of days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from statistics import median
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from labs.queries.results.trends import list_result_trends_of_user
from labs.states.orders import Interpretation
from labs.web.results.rows import ABNORMAL, build_interpretation_pill
from portal.lib.languages import write_within_sentence
from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import render_page
from portal.ui.beside_chart import DayNote, LifePoint, draw_beside_chart
from portal.ui.numbers import part_thousands
from portal.ui.trend_chart import TrendMark
from users.analysis.metric_history import read_metric_history
from users.queries.data.annotations import list_annotations, number_annotations
from users.queries.users.users import user_overview
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.queries.results.trends import MarkerResult, Trend, TrendPoint
    from labs.web.results.rows import InterpretationPill
    from users.queries.data.annotations import NumberedAnnotation
    from users.queries.users.users import UserOverview

# Ours: a month up to a collection, in whole weeks, so that each weekday counts alike.
BEFORE_DAYS = 28
# Ours: more days than these are drawn as medians of weeks.
_DAILY_AT_MOST = 200
_WEEK = 7


@dataclass(frozen=True, slots=True)
class Life:
    """A number of daily life: its key in METRICS, and how it is shown."""

    key: str
    name: str
    unit: str
    hue: str
    divisor: float = 1.0


LIVES = (
    Life("resting", gettext_lazy("Resting heart rate"), "bpm", "heart"),
    Life("hrv", gettext_lazy("HRV at night"), "ms", "heart"),
    Life("asleep", gettext_lazy("Time asleep"), "h", "sleep", 3600.0),
    Life("deep", gettext_lazy("Deep sleep"), "h", "sleep", 3600.0),
    Life("steps", gettext_lazy("Steps"), gettext_lazy("steps"), "steps"),
    Life("active_energy", gettext_lazy("Active energy"), "kcal", "steps"),
    Life("weight", gettext_lazy("Weight"), "kg", "body"),
    Life("fat", gettext_lazy("Body fat"), "%", "body"),
)
SPANS = (
    ("quarter", gettext_lazy("Quarter"), 92),
    ("year", gettext_lazy("Year"), 366),
    ("years", gettext_lazy("Three years"), 1096),
)
_DAYS = {key: days for key, _words, days in SPANS}
DEFAULT_SPAN = "year"


@dataclass(frozen=True, slots=True)
class BesideRow:
    """A result, with the median and the annotations of the days up to it."""

    day: date
    result: MarkerResult
    pill: InterpretationPill | None
    median: str
    days: int
    annotations: tuple[NumberedAnnotation, ...]


@dataclass(frozen=True, slots=True)
class BesideLife:
    """What a query string asks for: a marker and a number of daily life, over days.

    `values` are of days, from BEFORE_DAYS before `first`, in the unit of `life`.
    `points` have the day in the user's time zone, oldest first.
    """

    overview: UserOverview
    trends: Mapping[str, Trend]
    trend: Trend | None
    life: Life
    span: str
    first: date
    last: date
    provider: str
    values: Mapping[date, float]
    annotations: Sequence[NumberedAnnotation]
    points: Sequence[tuple[date, TrendPoint]]

    @property
    def rows(self) -> list[BesideRow]:
        """Return a row of each result, the newest first."""
        return [
            _build_row(day, point, self.values, self.annotations)
            for day, point in reversed(self.points)
        ]


@require_GET
@require_right(Area.USERS)
@require_right(Area.ORDERS)
def show_labs_beside_life(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show a marker over a number of daily life.

    `of` is a measure, by default the most urgent; `life` is one of
    LIVES, `span` one of SPANS. What means nothing is the default.
    """
    found = read_labs_beside_life(request, user_id)
    record_beside_life_read(request, found)
    trend, life, points = found.trend, found.life, found.points
    first, last, values = found.first, found.last, found.values
    every = 1 if (last - first).days < _DAILY_AT_MOST else _WEEK
    line = _list_life(values, first, last, every)
    title = (
        _("%(marker)s and %(life)s")
        % {"marker": trend.name, "life": write_within_sentence(life.name)}
        if trend
        else str(life.name)
    )
    return render_page(
        request,
        "labs/beside_life.html",
        overview=found.overview,
        section="users",
        tab="beside",
        trends=sorted(found.trends.values(), key=_rank),
        trend=trend,
        lives=LIVES,
        life=life,
        spans=SPANS,
        span=found.span,
        title=title,
        is_weekly=every == _WEEK,
        source=find_provider(found.provider) if found.provider else None,
        before_days=BEFORE_DAYS,
        has_life=bool(line),
        annotations=found.annotations,
        chart=draw_beside_chart(
            [_build_mark(day, point) for day, point in points],
            line,
            first=first,
            last=last,
            every=every,
            hue=life.hue,
            notes=[
                DayNote(
                    each.annotation.first_day,
                    each.annotation.last_day,
                    each.number,
                    each.title,
                )
                for each in found.annotations
            ],
            says=_("%(title)s, %(results)d results, %(days)d days with a value")
            % {
                "title": title,
                "results": len(points),
                "days": sum(first <= day <= last for day in values),
            },
        )
        if points or line
        else "",
        rows=found.rows,
    )


def read_labs_beside_life(request: TenantRequest, user_id: str) -> BesideLife:
    """Return what a query string asks for. Raises: Http404; not_found."""
    overview = user_overview(tenant=request.tenant, user_id=_parse_uuid(user_id))
    user = overview.user
    trends = {
        measure: trend
        for measure, trend in list_result_trends_of_user(
            tenant=request.tenant, user_uuid=user.uuid, reads=request.rights.reads
        ).items()
        if trend.drawn
    }
    zone = find_time_zone_by_name(user.fallback_time_zone)
    last = timezone.now().astimezone(zone).date()
    asked = request.GET.get("span", "")
    span = asked if asked in _DAYS else DEFAULT_SPAN
    first = last - timedelta(days=_DAYS[span] - 1)
    trend = _choose_trend(trends, request.GET.get("of", ""))
    life = next(
        (each for each in LIVES if each.key == request.GET.get("life", "")), LIVES[0]
    )
    history = read_metric_history(
        user=user, key=life.key, first=first - timedelta(days=BEFORE_DAYS), last=last
    )
    return BesideLife(
        overview=overview,
        trends=trends,
        trend=trend,
        life=life,
        span=span,
        first=first,
        last=last,
        provider=history.provider if history else "",
        values={day: value / life.divisor for day, value in history.days.items()}
        if history
        else {},
        annotations=number_annotations(
            list_annotations(user=user, first=first, last=last)
        ),
        points=_list_points(trend, first, last, zone) if trend else [],
    )


def record_beside_life_read(
    request: TenantRequest, found: BesideLife, *, suffix: str = ""
) -> None:
    """Record each kind of data that was read; `suffix` ends the subject of a file."""
    user_uuid = found.overview.user.uuid
    for subject, is_read in (
        ("result_trends", found.trends),
        ("summaries", found.values),
        ("annotations", found.annotations),
    ):
        if is_read:
            record_read(
                tenant=request.tenant,
                actor=request.actor,
                subject=subject + suffix,
                subject_id=user_uuid,
                user_uuid=user_uuid,
            )


def _choose_trend(trends: Mapping[str, Trend], measure: str) -> Trend | None:
    """Return the trend asked for, else the most urgent."""
    if measure and measure not in trends:
        raise Http404
    return trends.get(measure) or min(trends.values(), key=_rank, default=None)


def _rank(trend: Trend) -> tuple[bool, bool, int, str]:
    """Return what sorts critical markers first, then abnormal, then those with most."""
    now = trend.latest.interpretation
    return (
        now != Interpretation.CRITICAL,
        now not in ABNORMAL,
        -len(trend.drawn),
        trend.name.lower(),
    )


def _list_points(
    trend: Trend, first: date, last: date, zone: tzinfo
) -> list[tuple[date, TrendPoint]]:
    found = [(point.result.at.astimezone(zone).date(), point) for point in trend.drawn]
    return [(day, point) for day, point in found if first <= day <= last]


def _build_mark(day: date, point: TrendPoint) -> TrendMark:
    return TrendMark(
        day, point.value or 0.0, point.low, point.high, point.result.interpretation
    )


def _list_life(
    values: Mapping[date, float], first: date, last: date, every: int
) -> list[LifePoint]:
    """Return a point a day, or the median of each week that has any value."""
    if every == 1:
        shown = sorted(day for day in values if first <= day <= last)
        return [LifePoint(day, values[day]) for day in shown]
    found = []
    for start in range(0, (last - first).days + 1, every):
        days = [first + timedelta(days=start + each) for each in range(every)]
        week = [values[day] for day in days if day in values]
        if week:
            found.append(LifePoint(days[0], median(week)))
    return found


def _build_row(
    day: date,
    point: TrendPoint,
    values: Mapping[date, float],
    annotations: Sequence[NumberedAnnotation],
) -> BesideRow:
    """Build the row of a result with the median of BEFORE_DAYS up to its day."""
    before: Sequence[float] = [
        values[each]
        for number in range(BEFORE_DAYS)
        if (each := day - timedelta(days=number)) in values
    ]
    result = point.result
    return BesideRow(
        day=day,
        result=result,
        pill=build_interpretation_pill(
            result.interpretation, is_above=result.is_above, is_below=result.is_below
        ),
        median=part_thousands(f"{median(before):,.4g}") if before else "",
        days=len(before),
        annotations=tuple(
            each
            for each in annotations
            if each.annotation.first_day <= day
            and each.annotation.last_day > day - timedelta(days=BEFORE_DAYS)
        ),
    )


def _parse_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
