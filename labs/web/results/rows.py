"""Results as table rows, by test ordered, with versions and trends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from labs.queries.results.results import (
    compare_result_versions,
    get_result_identity_key,
    list_results_of_version,
)
from labs.queries.results.trends import get_result_measure_key
from labs.states.catalogue import ResultType
from labs.states.orders import Interpretation
from labs.states.results import ResultStatus
from labs.states.trends import convert_result_to_unit, is_same_unit
from labs.states.turnaround import (
    Lateness,
    get_result_lateness,
    is_sample_drawn_or_at_lab,
)
from portal.lib.languages import write_within_sentence
from portal.lib.units import format_unit
from portal.ui.charts import draw_reference_range_bar
from portal.ui.pills import find_status_pill, format_wire_value_as_words
from portal.ui.trend_chart import TrendMark, draw_result_trend_chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from django.utils.safestring import SafeString

    from labs.models import Marker, Order, Result, ResultVersion
    from labs.queries.results.results import ResultChange
    from labs.queries.results.trends import MarkerResult, Trend

# Shown of a filter: those whose interpretation it is.
ABNORMAL = (Interpretation.ABNORMAL, Interpretation.CRITICAL)
CHARTS_AT_MOST = 4
_SIDES = {
    (Interpretation.ABNORMAL, True): "high",
    (Interpretation.ABNORMAL, False): "low",
}


@dataclass(frozen=True, slots=True)
class InterpretationPill:
    """The pill of a result: its status, and a more precise label."""

    status: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class PreviousResult:
    """The previous result of a measure, in the unit of the new one.

    `converted_from` is its own unit where that is another, `change` the difference with
    its sign, empty where the two can't be compared.
    """

    text: str
    at: datetime
    order_id: object
    change: str = ""
    converted_from: str = ""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A result as a table row; `was` is a corrected value."""

    result: Result
    measure: str
    pill: InterpretationPill | None
    bar: SafeString | str
    previous: PreviousResult | None
    has_trend: bool
    was: str = ""


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """The results of one test ordered, with their expected days.

    `due_by` and `state` are None where nothing was expected; `came_on` is None while
    nothing has come.
    """

    name: str
    rows: tuple[ResultRow, ...]
    due_by: date | None = None
    came_on: date | None = None
    state: Lateness | None = None

    @property
    def is_late(self) -> bool:
        """Return whether the results are later than expected."""
        return self.state in {Lateness.LATE, Lateness.OVERDUE}


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of the results, with its changes."""

    version: ResultVersion
    words: str
    changes: Sequence[ResultChange]
    is_first: bool
    is_shown: bool


@dataclass(frozen=True, slots=True)
class TrendFigure:
    """A trend with its chart and the pill of its latest result."""

    trend: Trend
    chart: SafeString
    pill: InterpretationPill | None
    ranges: str


def build_interpretation_pill(
    interpretation: str, *, is_above: bool | None, is_below: bool | None
) -> InterpretationPill | None:
    """Return the pill of a result; None without an interpretation.

    Never more than the lab's or our own reading against the range (design guide 10).
    """
    side = True if is_above else False if is_below else None
    if interpretation == Interpretation.CRITICAL:
        side_words = {
            True: _("Critical high"),
            False: _("Critical low"),
            None: "",
        }
        return InterpretationPill(interpretation, side_words[side])
    if interpretation == Interpretation.ABNORMAL and side is not None:
        return InterpretationPill(_SIDES[Interpretation.ABNORMAL, side])
    if interpretation in {"", Interpretation.UNKNOWN}:
        return None
    return InterpretationPill(interpretation)


def build_result_groups(
    order: Order,
    version: ResultVersion,
    *,
    before: ResultVersion | None,
    trends: Mapping[str, Trend],
    shown: Sequence[str] | None,
) -> list[ResultGroup]:
    """Group the results by test ordered; `shown` filters them.

    What was ordered and has nothing yet comes last, unless narrowed.
    """
    markers = {marker.pk: marker for marker in order.placed.markers}
    was = (
        {
            get_result_identity_key(row): row.result
            for row in list_results_of_version(before)
        }
        if before
        else {}
    )
    rows: dict[int, list[ResultRow]] = {}
    names: dict[int, str] = {}
    for result in list_results_of_version(version):
        source = result.source_markers[0] if result.source_markers else {}
        key = int(source.get("marker_id", 0))
        names.setdefault(key, source.get("name", "") or _("Other results"))
        rows.setdefault(key, [])
        if shown is None or result.interpretation in shown:
            rows[key].append(_build_result_row(order, result, was, trends))
    groups = [
        _build_result_group(order, version, names[key], markers.get(key), tuple(found))
        for key, found in rows.items()
        if found
    ]
    if shown is None and version.status == ResultStatus.PARTIAL:
        groups += [
            _build_result_group(order, version, marker.name, marker, ())
            for key, marker in markers.items()
            if key not in rows
        ]
    return groups


def build_result_version_rows(
    versions: Sequence[ResultVersion], *, shown: ResultVersion
) -> list[VersionRow]:
    """List the versions, newest first, each with its changes."""
    befores = [*versions[1:], None]
    return [
        VersionRow(
            version=version,
            words=describe_result_version(version),
            changes=compare_result_versions(before=before, after=version)
            if before
            else (),
            is_first=before is None,
            is_shown=version.pk == shown.pk,
        )
        for version, before in zip(versions, befores, strict=True)
    ]


def describe_result_version(version: ResultVersion) -> str:
    """Return what kind of version it is."""
    if version.is_correction:
        return _("Corrected")
    known = ResultStatus.known(version.status)
    return str(known.label) if known else format_wire_value_as_words(version.status)


def build_result_trend_chart(trend: Trend) -> TrendFigure:
    """Build a trend's chart; empty with fewer than two numbers."""
    drawn = trend.drawn
    newest = trend.latest
    pill = build_interpretation_pill(
        newest.interpretation, is_above=newest.is_above, is_below=newest.is_below
    )
    chart = draw_result_trend_chart(
        [
            TrendMark(
                timezone.localtime(point.result.at).date(),
                point.value,
                point.low,
                point.high,
                point.result.interpretation,
            )
            for point in drawn
            if point.value is not None
        ],
        unit=format_unit(trend.unit),
        says=_describe_trend(trend),
    )
    return TrendFigure(
        trend=trend, chart=chart, pill=pill, ranges=format_reference_range(newest)
    )


def format_reference_range(result: MarkerResult) -> str:
    """Format a range: 30 to 200, under 90, over 40."""
    low, high = result.low, result.high
    if low is not None and high is not None:
        return _("%(low)g to %(high)g") % {"low": low, "high": high}
    if high is not None:
        return _("under %(high)g") % {"high": high}
    if low is not None:
        return _("over %(low)g") % {"low": low}
    return result.reference_range


def draw_result_range_bar(
    *, type_: str, value: float | None, low: float | None, high: float | None, unit: str
) -> SafeString | str:
    """Draw the range bar of a number; empty for other results."""
    if type_ != ResultType.NUMERIC or value is None:
        return ""
    return draw_reference_range_bar(value, low=low, high=high, unit=unit)


def _build_result_row(
    order: Order,
    result: Result,
    was: Mapping[tuple[str, str], str],
    trends: Mapping[str, Trend],
) -> ResultRow:
    measure = get_result_measure_key(
        loinc=result.loinc,
        lab_slug=order.lab.slug,
        provider_id=result.provider_id,
        name=result.name,
    )
    trend = trends.get(measure)
    before = was.get(get_result_identity_key(result), result.result)
    return ResultRow(
        result=result,
        measure=measure,
        pill=build_interpretation_pill(
            result.interpretation,
            is_above=result.is_above_max_range,
            is_below=result.is_below_min_range,
        ),
        bar=draw_result_range_bar(
            type_=result.type,
            value=result.value,
            low=result.min_range_value,
            high=result.max_range_value,
            unit=format_unit(result.unit),
        ),
        previous=_find_previous_result(order, result, trend) if trend else None,
        has_trend=trend is not None and len(trend.points) > 1,
        was=before if before != result.result else "",
    )


def _find_previous_result(
    order: Order, result: Result, trend: Trend
) -> PreviousResult | None:
    mine = [p.result.at for p in trend.points if p.result.order_id == order.pk]
    if not mine:
        return None
    earlier = [
        point.result
        for point in trend.points
        if point.result.order_id != order.pk and point.result.at <= min(mine)
    ]
    if not earlier:
        return None
    last = earlier[-1]
    if last.value is None or result.value is None:
        return PreviousResult(
            f"{last.text} {format_unit(last.unit)}".strip(), last.at, last.order_id
        )
    value: float | None = last.value
    converted_from = ""
    if not is_same_unit(last.unit, result.unit):
        value = convert_result_to_unit(
            last.value, unit=last.unit, to=result.unit, loinc=last.loinc
        )
        converted_from = format_unit(last.unit)
    if value is None:
        return PreviousResult(
            f"{last.text} {format_unit(last.unit)}".strip(), last.at, last.order_id
        )
    return PreviousResult(
        text=f"{value:.4g}" if converted_from else last.text,
        at=last.at,
        order_id=last.order_id,
        change=f"{result.value - value:+.3g}",
        converted_from=converted_from,
    )


def _build_result_group(
    order: Order,
    version: ResultVersion,
    name: str,
    marker: Marker | None,
    rows: tuple[ResultRow, ...],
) -> ResultGroup:
    start = _turnaround_start(order, version)
    if marker is None or marker.common_tat_days is None or start is None:
        return ResultGroup(name, rows)
    due_by = start + timedelta(days=marker.common_tat_days)
    worst = max(marker.common_tat_days, marker.worst_case_tat_days or 0)
    came_on = max((row.result.reported_at.date() for row in rows), default=None)
    return ResultGroup(
        name=name,
        rows=rows,
        due_by=due_by,
        came_on=came_on,
        state=get_result_lateness(
            due_by=due_by,
            worst_case_by=start + timedelta(days=worst),
            on=came_on or timezone.now().date(),
        ),
    )


def _turnaround_start(order: Order, version: ResultVersion) -> date | None:
    """Return the day from which the turnaround counts."""
    known_at = version.received_at or version.collected_at
    if known_at is not None:
        return known_at.date()
    return next(
        (
            event.created_at.date()
            for event in order.events.all()
            if is_sample_drawn_or_at_lab(event.status)
        ),
        None,
    )


def _describe_trend(trend: Trend) -> str:
    drawn = trend.drawn
    if not drawn or drawn[-1].value is None or drawn[0].value is None:
        return trend.name
    first, last = drawn[0].value, drawn[-1].value
    parts = {
        "name": trend.name,
        "first": f"{first:.4g}",
        "last": f"{last:.4g}",
        "unit": format_unit(trend.unit),
    }
    if first == last:
        span = _("%(name)s unchanged at %(last)s %(unit)s") % parts
    else:
        span = _("%(name)s from %(first)s to %(last)s %(unit)s") % parts
    state = drawn[-1].result.interpretation
    if not state:
        return span.strip()
    return _("%(change)s, now %(status)s") % {
        "change": span.strip(),
        "status": write_within_sentence(find_status_pill(state).words),
    }
