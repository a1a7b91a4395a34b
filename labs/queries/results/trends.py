"""Reads of one measure's results over a user's orders, in one unit.

Only the current version of each order's results counts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from accounts.declarations.hooks import list_app_hooks
from labs.models import Result
from labs.states.trends import (
    convert_result_to_unit,
    get_loinc_measure_code,
    is_same_unit,
    list_loinc_codes_of_measure,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant

# A person's results of many years; the newest are kept where there are more.
RESULTS_AT_MOST = 5000
_COLUMNS = (
    "name",
    "loinc",
    "provider_id",
    "type",
    "result",
    "value",
    "unit",
    "reference_range",
    "min_range_value",
    "max_range_value",
    "interpretation",
    "is_above_max_range",
    "is_below_min_range",
    "is_preliminary",
    "observed_at",
    "version__collected_at",
    "reported_at",
    "version__order_id",
    "version__order__lab__slug",
    "version__order__lab__name",
    "version__order__lab_test__name",
    "version__number",
    "version__review__member_name",
    "version__review__reviewed_at",
)


@dataclass(frozen=True, slots=True)
class MarkerResult:
    """A result with its time, in the lab's own unit and range.

    `measure` is what it is compared by: a LOINC code, or the lab and its own code where
    it has none. `at` is when the sample was taken, else when the lab told of it.
    `version` is the number of the order's results that it is from. A clinician marked
    those as seen at `reviewed_at`, which is None while nobody has. What no order
    brought was signed.
    """

    name: str
    loinc: str
    measure: str
    type: str
    text: str
    value: float | None
    unit: str
    reference_range: str
    low: float | None
    high: float | None
    interpretation: str
    is_above: bool | None
    is_below: bool | None
    is_preliminary: bool
    at: datetime
    order_id: UUID | None  # None of a value that no order brought
    lab: str
    report_id: UUID | None = None
    panel: str = ""  # the test ordered; empty of a value that no order brought
    version: int = 0
    reviewer: str = ""
    reviewed_at: datetime | None = None

    @property
    def is_reviewed(self) -> bool:
        """Return whether a clinician has seen it."""
        return self.order_id is None or self.reviewed_at is not None


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A result in a trend: `value`, `low` and `high` in the trend's unit.

    `converted_from` is the lab's unit where that is another one. `value` is None of a
    result that is no number, or can't be compared.
    """

    result: MarkerResult
    value: float | None
    low: float | None
    high: float | None
    converted_from: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """A measure over time, oldest first, in the unit of its newest number."""

    measure: str
    name: str
    loinc: str
    unit: str
    points: tuple[TrendPoint, ...]

    @property
    def drawn(self) -> list[TrendPoint]:
        """Return the points with a number in the trend's unit."""
        return [point for point in self.points if point.value is not None]

    @property
    def latest(self) -> MarkerResult:
        """Return the newest result."""
        return self.points[-1].result


def get_result_measure_key(
    *, loinc: str, lab_slug: str, provider_id: str, name: str
) -> str:
    """Return the key that groups results: LOINC measure, else the lab's own code."""
    return (
        get_loinc_measure_code(loinc) if loinc else f"{lab_slug}:{provider_id or name}"
    )


def list_result_trends_of_user(
    *,
    tenant: Tenant,
    user_uuid: UUID,
    measures: Sequence[str] | None = None,
    reads: Collection[str] = (),
) -> dict[str, Trend]:
    """List a user's trends by measure, all of them or those named.

    reads: the areas that the asker may read; values of other apps join in where theirs
    is among them. One query, and one for each of those apps.
    """
    by_measure: dict[str, list[MarkerResult]] = defaultdict(list)
    for found in _results_from_orders(tenant, user_uuid, measures):
        by_measure[found.measure].append(found)
    for found in _results_from_documents(tenant, user_uuid, measures, reads):
        by_measure[found.measure].append(found)
    return {
        measure: build_result_trend(results)
        for measure, results in by_measure.items()
        if measures is None or measure in measures
    }


def count_values_waiting_for_signature(
    *, tenant: Tenant, user_uuid: UUID, reads: Collection[str]
) -> int:
    """Return how many values of a user no trend has, as their reports are unsigned.

    reads: the areas that the asker may read; of others nothing counts.
    """
    return sum(
        source.count_waiting(tenant=tenant, user_uuid=user_uuid)
        for hooks in list_app_hooks()
        for source in hooks.marker_sources
        if source.area in reads
    )


def build_result_trend(results: Iterable[MarkerResult]) -> Trend:
    """Build the trend of one measure's results in the newest number's unit."""
    ordered = sorted(results, key=lambda one: one.at)
    newest = ordered[-1]
    unit = next(
        (one.unit for one in reversed(ordered) if one.value is not None), newest.unit
    )
    return Trend(
        measure=newest.measure,
        name=newest.name,
        loinc=newest.loinc,
        unit=unit,
        points=tuple(_trend_point(one, unit) for one in ordered),
    )


def _trend_point(result: MarkerResult, unit: str) -> TrendPoint:
    if result.value is None or is_same_unit(result.unit, unit):
        return TrendPoint(result, result.value, result.low, result.high)

    def convert(value: float | None) -> float | None:
        if value is None:
            return None
        return convert_result_to_unit(
            value, unit=result.unit, to=unit, loinc=result.loinc
        )

    value = convert(result.value)
    if value is None:
        return TrendPoint(result, None, None, None)
    return TrendPoint(
        result, value, convert(result.low), convert(result.high), result.unit
    )


def _results_from_documents(
    tenant: Tenant,
    user_uuid: UUID,
    measures: Sequence[str] | None,
    reads: Collection[str],
) -> list[MarkerResult]:
    coded = None
    if measures is not None:
        coded = {
            c
            for one in measures
            if ":" not in one
            for c in list_loinc_codes_of_measure(one)
        }
    return [
        MarkerResult(
            name=reading.name,
            loinc=reading.loinc,
            measure=get_loinc_measure_code(reading.loinc),
            type=reading.type,
            text=reading.text,
            value=reading.value,
            unit=reading.unit,
            reference_range=reading.reference_range,
            low=reading.low,
            high=reading.high,
            interpretation=reading.interpretation,
            is_above=reading.is_above,
            is_below=reading.is_below,
            is_preliminary=False,
            at=reading.at,
            order_id=None,
            lab=reading.lab,
            report_id=reading.source_id,
        )
        for app in list_app_hooks()
        for source in app.marker_sources
        if source.area in reads and (coded is None or coded)
        for reading in source.read(tenant, user_uuid, coded)
    ]


def _results_from_orders(
    tenant: Tenant, user_uuid: UUID, measures: Sequence[str] | None
) -> list[MarkerResult]:
    rows = Result.objects.for_tenant(tenant).filter(
        version__is_current=True,
        version__order__user__uuid=user_uuid,
        version__order__user__deleted_at=None,
    )
    if measures is not None:
        rows = rows.filter(_measure_condition(measures))
    newest = rows.order_by("-reported_at", "-pk").values_list(*_COLUMNS)
    return [_build_marker_result(*row) for row in newest[:RESULTS_AT_MOST]]


def _measure_condition(measures: Sequence[str]) -> Q:
    coded = {
        c
        for one in measures
        if ":" not in one
        for c in list_loinc_codes_of_measure(one)
    }
    condition = Q(loinc__in=coded)
    for one in measures:
        lab_slug, colon, code = one.partition(":")
        if colon:
            own = Q(provider_id=code) | Q(provider_id="", name=code)
            condition |= Q(loinc="", version__order__lab__slug=lab_slug) & own
    return condition


def _build_marker_result(
    name: str,
    loinc: str,
    provider_id: str,
    type_: str,
    text: str,
    value: float | None,
    unit: str,
    reference_range: str,
    low: float | None,
    high: float | None,
    interpretation: str,
    is_above: bool | None,
    is_below: bool | None,
    is_preliminary: bool,
    observed_at: datetime | None,
    collected_at: datetime | None,
    reported_at: datetime,
    order_id: UUID,
    lab_slug: str,
    lab: str,
    panel: str,
    version: int,
    reviewer: str | None,
    reviewed_at: datetime | None,
) -> MarkerResult:
    return MarkerResult(
        name=name,
        loinc=loinc,
        measure=get_result_measure_key(
            loinc=loinc, lab_slug=lab_slug, provider_id=provider_id, name=name
        ),
        type=type_,
        text=text,
        value=value,
        unit=unit,
        reference_range=reference_range,
        low=low,
        high=high,
        interpretation=interpretation,
        is_above=is_above,
        is_below=is_below,
        is_preliminary=is_preliminary,
        at=observed_at or collected_at or reported_at,
        order_id=order_id,
        lab=lab,
        panel=panel,
        version=version,
        reviewer=reviewer or "",
        reviewed_at=reviewed_at,
    )
