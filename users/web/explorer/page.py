"""The explorer of a user's data: charts, tables, API calls, events and files.

A page of it is a question (explorer_query); every part is a link, so that it works
without script.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import Http404, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.periods import find_day_start
from portal.lib.web.views import page_url, render_page
from portal.ui.series_chart import (
    TimeNote,
    compute_plot_frame,
    draw_time_series_chart,
)
from users.analysis.explorer import Resolution
from users.queries import user_overview
from users.queries.data.annotations import list_annotations, number_annotations
from users.store.held_series import list_stored_series
from users.wearables.providers import find_provider
from users.web.explorer.calls import build_api_call, build_api_call_response
from users.web.explorer.comparing import build_comparison
from users.web.explorer.files import (
    FORMATS,
    stream_all_records_file,
    stream_shown_data_file,
)
from users.web.explorer.freshness import build_data_freshness_grid
from users.web.explorer.query import (
    RANGES,
    SERIES_MAX,
    Compare,
    Question,
    ViewAs,
    ZoneChoice,
)
from users.web.explorer.record_events import (
    find_events_with_samples,
    find_events_with_summaries,
    list_event_deliveries,
)
from users.web.explorer.series import ShownSeries, build_explorer_series
from users.web.explorer.table import (
    TABLE_ROWS,
    build_first_rows,
    build_series_table,
)
from users.web.explorer.tree import build_resource_tree, find_freshest_series

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from django.http import HttpResponse
    from django.http.response import HttpResponseBase
    from django.utils.safestring import SafeString

    from accounts.web.requests import TenantRequest
    from portal.ui.series_chart import Curve, Mark
    from users.models import User
    from users.queries import UserOverview
    from users.queries.data.annotations import NumberedAnnotation
    from users.web.explorer.calls import Call
    from users.web.explorer.comparing import Comparison
    from users.web.explorer.record_events import RecordEvent
    from users.web.explorer.tree import Tree


_DAY = timedelta(days=1)


class Why(StrEnum):
    """Reason why there is nothing to show, each with its next step."""

    NO_SOURCE = "no_source"
    WAITING = "waiting"
    OUTSIDE = "outside"  # of the ingestion window
    FILTERED = "filtered"  # there is something, but not so


@require_GET
@require_right(Area.USERS)
def show_data_explorer(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show series over a range; without one the freshest.

    `show=freshness` shows how fresh each resource is instead.
    """
    overview = _overview(request, user_id)
    user = overview.user
    question = Question.read(request.GET, user)
    held = list_stored_series(user=user)
    is_freshness = request.GET.get("show") == "freshness"
    if not (question.series or is_freshness):
        freshest = find_freshest_series(user, question, held)
        question = question.open_on(*freshest) if freshest else question
    tree = build_resource_tree(user, question, held)
    question = question.with_offset(_offset(tree, question))
    shown = build_explorer_series(user, question)
    _record(request, user, question)
    common: dict[str, Any] = {
        "overview": overview,
        "tab": "explorer",
        "question": question,
        "tree": tree,
        "providers": [find_provider(slug) for slug in tree.providers],
        "provider": find_provider(question.provider) if question.provider else None,
        "ranges": [
            (words, question.query(days=days), question.days == days)
            for days, words in RANGES.items()
        ],
        "zones": _choices(question, "zone", ZoneChoice, question.zone),
        "resolutions": _choices(
            question, "resolution", Resolution, question.resolution
        ),
        "views": _choices(question, "view", ViewAs, question.view),
        "comparisons": [
            (each.label, question.query(compare=each.value), each == question.compare)
            for each in Compare
        ],
        "series_max": SERIES_MAX,
    }
    if not shown:
        grid = build_data_freshness_grid(user, held)
        why = None if grid.rows else _why_nothing(overview, None, tree)
        return render_page(request, "users/explorer.html", grid=grid, why=why, **common)
    is_empty = all(each.is_empty for each in shown)
    return render_page(
        request,
        "users/explorer.html",
        series=shown,
        why=_why_nothing(overview, question, tree) if is_empty else None,
        moves={
            "earlier": question.shift_range(by=-1),
            "later": question.shift_range(by=1),
            "nearer": question.shift_range(times=0.5),
            "farther": question.shift_range(times=2),
        },
        files=[
            (form, question.query(format=form), question.query(format=form, all=1))
            for form in FORMATS
        ],
        **_view(request, user, question, shown),
        **common,
    )


@require_GET
@require_right(Area.USERS)
def download_explorer_data(request: TenantRequest, user_id: str) -> HttpResponseBase:
    """Download what is shown, or with `all` every record of the range."""
    user = _overview(request, user_id).user
    question = Question.read(request.GET, user)
    form = request.GET.get("format", "")
    if form not in FORMATS or not question.series:  # there is no file of nothing
        return HttpResponseRedirect(
            page_url(request, "users:explorer", user_id=user.uuid)
        )
    if question.zone == ZoneChoice.RECORD:
        tree = build_resource_tree(user, question, list_stored_series(user=user))
        question = question.with_offset(_offset(tree, question))
    whole = "all" in request.GET
    _record(request, user, question, f"{form}{' every record' if whole else ''}")
    if whole:
        return stream_all_records_file(user, question, form)
    return stream_shown_data_file(build_explorer_series(user, question), question, form)


def _view(
    request: TenantRequest, user: User, question: Question, shown: Sequence[ShownSeries]
) -> dict[str, Any]:
    """Return the context that one view of the series needs."""
    match question.view:
        case ViewAs.TABLE:
            tables = [build_series_table(user, question, each) for each in shown]
            return {"tables": tables, "table_rows": TABLE_ROWS}
        case ViewAs.JSON:
            calls = [build_api_call(user, question, each) for each in shown]
            return {"answers": [_answer(user, question, each) for each in calls]}
        case ViewAs.CURL:
            return {"calls": [build_api_call(user, question, each) for each in shown]}
        case ViewAs.EVENTS:
            return {
                "events_by_series": _find_events_by_series(
                    request, user, question, shown
                )
            }
        case _:
            comparison = build_comparison(user, question, shown)
            first, last = question.day_bounds
            annotations = number_annotations(
                list_annotations(user=user, first=first, last=last)
            )
            if annotations:
                _record_of(request, user, "annotations")
            return {
                "annotations": annotations,
                "comparison": comparison,
                "chart": _chart(question, shown, comparison, annotations),
                "chart_data": _chart_data(question, shown, comparison),
                # A request of a script is of a page that has no use for them.
                "first_rows": []
                if request.htmx
                else [build_first_rows(question, each) for each in shown],
            }


def _curves(shown: Sequence[ShownSeries], comparison: Comparison | None) -> list[Curve]:
    """Return the curves, those compared with first: the shown ones lie above."""
    return [
        *(comparison.curves if comparison else ()),
        *(curve for each in shown for curve in each.curves),
    ]


def _chart(
    question: Question,
    shown: Sequence[ShownSeries],
    comparison: Comparison | None,
    annotations: Sequence[NumberedAnnotation],
) -> SafeString:
    zone = question.counting_zone
    return draw_time_series_chart(
        _curves(shown, comparison),
        [
            *(each.lane for each in shown if each.lane is not None),
            *(comparison.lanes if comparison else ()),
        ],
        start=question.start,
        end=question.end,
        zone=question.clock,
        notes=[
            TimeNote(
                find_day_start(each.annotation.first_day, zone),
                find_day_start(each.annotation.last_day + _DAY, zone),
                each.number,
                each.title,
            )
            for each in annotations
        ],
        says="; ".join(f"{each.name}: {each.finding}" for each in shown)
        + f". {question.span}",
    )


def _chart_data(
    question: Question, shown: Sequence[ShownSeries], comparison: Comparison | None
) -> dict[str, Any]:
    """Return the data for the script that zooms and reads values; times in Unix ms."""
    curves = _curves(shown, comparison)
    frame = compute_plot_frame(curves, start=question.start, end=question.end)
    return {
        "start": _ms(question.start),
        "end": _ms(question.end),
        "left": frame.left,
        "right": frame.right,
        # A clock that is a fixed offset has no name that a browser knows.
        "zone": None
        if question.zone == ZoneChoice.RECORD and question.offset is not None
        else question.counting_zone_name,
        "offset": question.offset or 0,
        "curves": [
            {
                "name": curve.name,
                "unit": curve.unit,
                "points": [_point(curve, mark) for mark in curve.marks],
            }
            for curve in curves
        ],
    }


def _answer(user: User, question: Question, call: Call) -> tuple[Call, Any]:
    return call, build_api_call_response(user, question, call)


def _point(curve: Curve, mark: Mark) -> list[float | str]:
    """Return time, value, minimum and maximum of a mark, and its name if it has one.

    Bars do not vary.
    """
    is_sum = curve.shape == "bars"
    low, high = (mark.value,) * 2 if is_sum else (mark.low, mark.high)
    numbers = [round(each, 2) for each in (mark.value, low, high)]
    return [_ms(mark.middle), *numbers, *filter(None, [mark.name])]


def _find_events_by_series(
    request: TenantRequest, user: User, question: Question, shown: Sequence[ShownSeries]
) -> list[tuple[ShownSeries, list[tuple[RecordEvent, list[tuple[str, str]]]]]]:
    """Return events by series, each delivery with its URL if permitted."""
    found = []
    for each in shown:
        resource = each.key.timeseries
        record_events = (
            find_events_with_samples(
                user=user,
                resource=resource,
                start=question.start,
                end=question.end,
                provider=question.provider,
            )
            if resource
            else find_events_with_summaries(
                user=user,
                resource=each.key.summary,
                ids=[row.summary_id for row in each.rows if row.summary_id],
            )
        )
        found.append(
            (
                each,
                [(one, list_event_deliveries(request, one)) for one in record_events],
            )
        )
    return found


def _why_nothing(
    overview: UserOverview, question: Question | None, tree: Tree
) -> Why | None:
    """Return why a chart, or without a question the explorer, is empty."""
    if tree.branches:
        return Why.FILTERED if question else None
    if question and question.provider:
        return Why.FILTERED
    user, today = overview.user, timezone.now().date()
    if _is_outside(user, today, today):
        return Why.OUTSIDE
    return Why.WAITING if overview.connections else Why.NO_SOURCE


def _is_outside(user: User, first: date, last: date) -> bool:
    return bool(
        (user.ingestion_end and user.ingestion_end < first)
        or (user.ingestion_start and user.ingestion_start > last)
    )


def _choices(
    question: Question, name: str, choices: Any, here: str
) -> list[tuple[str, str, bool]]:
    """Return label, query string and whether it is selected, for each choice."""
    first = next(iter(choices))
    return [
        (
            str(each.label),
            question.query(**{name: "" if _is_usual(each, first) else str(each)}),
            each == here,
        )
        for each in choices
    ]


def _is_usual(choice: Any, first: Any) -> bool:
    return choice == ZoneChoice.USER or (
        choice == first and not isinstance(choice, ZoneChoice)
    )


def _offset(tree: Tree, question: Question) -> int | None:
    """Return the UTC offset of the last record of the first series with one."""
    known = (tree.offsets.get(key.slug) for key in question.series)
    return next((offset for offset in known if offset is not None), None)


def _record(
    request: TenantRequest, user: User, question: Question, took: str = ""
) -> None:
    """Record the read of each shown series in the audit log."""
    names = [key.slug for key in question.series]
    for subject in dict.fromkeys(names or ["freshness"]):
        _record_of(request, user, f"{subject}_file" if took else subject, took)


def _record_of(
    request: TenantRequest, user: User, subject: str, took: str = ""
) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=took or user.uuid,
        user_uuid=user.uuid,
    )


def _overview(request: TenantRequest, user_id: str) -> UserOverview:
    try:
        user_uuid = UUID(user_id)
    except ValueError:
        raise Http404 from None
    return user_overview(tenant=request.tenant, user_id=user_uuid)


def _ms(at: Any) -> int:
    return int(at.timestamp() * 1000)
