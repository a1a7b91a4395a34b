"""Results of an order, and of a user across all orders."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from labs.payloads import list_order_events
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.critical import (
    list_critical_alerts_of_order,
    list_critical_results,
)
from labs.queries.results.results import (
    list_missing_results_of_version,
    list_result_versions,
    list_results_of_version,
)
from labs.queries.results.trends import (
    get_result_measure_key,
    list_result_trends_of_user,
)
from labs.states.orders import Interpretation
from labs.states.results import FailureType
from labs.web.order_lifecycle import build_order_turnaround
from labs.web.order_rows import format_lab_account_name
from labs.web.results.critical import build_critical_result_row
from labs.web.results.rows import (
    ABNORMAL,
    CHARTS_AT_MOST,
    build_result_groups,
    build_result_trend_chart,
    build_result_version_rows,
    describe_result_version,
)
from portal.lib.web.views import render_page
from portal.ui.pills import format_wire_value_as_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import MissingResult, Order, Result, ResultVersion
    from labs.queries.results.trends import Trend
    from labs.web.results.rows import TrendFigure

_FILTERS: dict[str, tuple[str, ...] | None] = {
    "": None,
    "abnormal": ABNORMAL,
    "critical": (Interpretation.CRITICAL,),
}


@require_GET
@require_right(Area.ORDERS)
def show_order_results(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Show an order's results; `show` filters, `version` chooses one."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    versions = list_result_versions(order=order)
    shown = _find_version(versions, request.GET.get("version", ""))
    _record_read(request, "results", order.pk, order.user.uuid)
    if shown is None:
        return render_page(
            request,
            "labs/no_results.html",
            order=order,
            section="orders",
            turnaround=build_order_turnaround(order, list_order_events(order)),
        )
    trends = list_result_trends_of_user(
        tenant=request.tenant,
        user_uuid=order.user.uuid,
        measures=[_measure_key_of(order, row) for row in shown.results.all()],
        reads=request.rights.reads,
    )
    show = request.GET.get("show", "")
    alerts = list_critical_alerts_of_order(tenant=request.tenant, order_id=order.pk)
    critical = list_critical_results(
        tenant=request.tenant, order_ids=[order.pk] if alerts else []
    )
    return render_page(
        request,
        "labs/results.html",
        order=order,
        section="orders",
        account=format_lab_account_name(order.lab_account),
        shown=shown,
        shown_words=describe_result_version(shown),
        groups=build_result_groups(
            order,
            shown,
            before=_previous_version(versions, shown),
            trends=trends,
            shown=_FILTERS.get(show),
        ),
        show=show if show in _FILTERS else "",
        counts=_count_per_filter(shown),
        gaps=[
            (gap, _failure_label(gap)) for gap in list_missing_results_of_version(shown)
        ],
        samples=sorted(shown.samples.all(), key=lambda one: one.sample_id),
        versions=build_result_version_rows(versions, shown=shown),
        figures=_build_abnormal_figures(order, shown, trends),
        alerts=[
            build_critical_result_row(one, critical.get(order.pk, ())) for one in alerts
        ],
        may_see_user=request.rights.allow(Area.USERS),
        review=getattr(shown, "review", None),
        may_acknowledge=request.rights.allow(Area.SIGN_REPORTS, write=True),
        turnaround=build_order_turnaround(order, list_order_events(order)),
    )


def _find_version(
    versions: Sequence[ResultVersion], number: str
) -> ResultVersion | None:
    """Return the requested version, else the newest; None without any."""
    if not number:
        return versions[0] if versions else None
    found = [one for one in versions if str(one.number) == number]
    if not found:
        raise Http404
    return found[0]


def _previous_version(
    versions: Sequence[ResultVersion], shown: ResultVersion
) -> ResultVersion | None:
    return next((one for one in versions if one.number == shown.number - 1), None)


def _measure_key_of(order: Order, result: Result) -> str:
    return get_result_measure_key(
        loinc=result.loinc,
        lab_slug=order.lab.slug,
        provider_id=result.provider_id,
        name=result.name,
    )


def _count_per_filter(version: ResultVersion) -> list[tuple[str, str, int]]:
    """List each filter's value, label and number of results."""
    interpretations = [result.interpretation for result in version.results.all()]
    return [
        ("", _("All"), len(interpretations)),
        ("abnormal", _("Abnormal"), sum(one in ABNORMAL for one in interpretations)),
        (
            "critical",
            _("Critical"),
            sum(one == Interpretation.CRITICAL for one in interpretations),
        ),
    ]


def _build_abnormal_figures(
    order: Order, version: ResultVersion, trends: Mapping[str, Trend]
) -> list[TrendFigure]:
    """Build trend charts of abnormal results, critical ones first."""
    figures: dict[str, TrendFigure] = {}
    rows = sorted(
        list_results_of_version(version),
        key=lambda row: row.interpretation != Interpretation.CRITICAL,
    )
    for row in rows:
        measure = _measure_key_of(order, row)
        trend = trends.get(measure)
        if row.interpretation in ABNORMAL and trend and len(trend.drawn) > 1:
            figures.setdefault(measure, build_result_trend_chart(trend))
        if len(figures) == CHARTS_AT_MOST:
            break
    return list(figures.values())


def _failure_label(gap: MissingResult) -> str:
    known = FailureType.known(gap.failure_type)
    return str(known.label) if known else format_wire_value_as_words(gap.failure_type)


def _record_read(
    request: TenantRequest, subject: str, subject_id: object, user_uuid: UUID
) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=subject_id,
        user_uuid=user_uuid,
    )
