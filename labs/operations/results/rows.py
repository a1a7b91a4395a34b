"""Build result rows from a lab's reported results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db.models import prefetch_related_objects
from django.utils.text import slugify

from labs.models import Marker, MissingResult, Result
from labs.states.catalogue import ResultType
from labs.states.orders import Interpretation
from labs.states.result_texts import (
    Interval,
    get_reference_range_bounds,
    parse_reference_range,
    parse_result_value,
)
from labs.states.results import (
    FailureType,
    get_worst_interpretation,
    interpret_lab_flag,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from labs.gateways.results import ReportedGap, ReportedResult, ResultDelivery
    from labs.models import ExpectedResult, Order
    from labs.states.result_texts import ResultText

# Columns are as long as any lab's words have need to be; what is longer is cut.
_LENGTHS = {
    "name": 200,
    "slug": 200,
    "unit": 50,
    "source_interpretation": 100,
    "provider_id": 50,
    "sub_id": 50,
    "performing_laboratory": 200,
    "source_sample_id": 100,
}
_LOINC = re.compile(r"\d{1,7}-\d")


@dataclass(frozen=True, slots=True)
class Orderables:
    """An order's markers, and others its lab reported results for.

    `others` are those the lab added by itself, such as reflex tests.
    """

    ordered: tuple[Marker, ...]
    others: tuple[Marker, ...] = ()

    def find_markers_and_result(
        self, reported: ReportedResult | ReportedGap
    ) -> tuple[tuple[Marker, ...], ExpectedResult | None]:
        """Return a result's markers and its expected result.

        By the code it was ordered by, else by its own code, LOINC code or name among
        what was ordered; else it stands for the order as a whole, as contract 6.15 lets
        no result be without a marker.
        """
        code = reported.ordered_code
        named = tuple(
            marker
            for marker in self.ordered + self.others
            if marker.provider_id == code
        )
        found = _find_expected_result(reported, named or self.ordered)
        if named:
            return named, found[0] if found else None
        if found:
            ids = {one.marker_id for one in found}
            return tuple(m for m in self.ordered if m.pk in ids), found[0]
        return self.ordered, None


def find_orderable_markers(*, order: Order, delivery: ResultDelivery) -> Orderables:
    """Return the markers of an order's panel and those a delivery names."""
    known = order.placed.markers
    prefetch_related_objects(known, "expected_results")
    codes = {result.ordered_code for result in delivery.results}
    codes |= {gap.ordered_code for gap in delivery.missing}
    codes -= {"", *(marker.provider_id for marker in known)}
    if not codes:
        return Orderables(known)
    others = Marker.objects.filter(lab_id=order.lab_id, provider_id__in=codes)
    return Orderables(
        known, tuple(others.prefetch_related("expected_results").order_by("pk"))
    )


def build_result_row(
    reported: ReportedResult, orderables: Orderables, reported_at: datetime
) -> Result:
    """Build the row of a reported result, without its version and position.

    A number is compared with its range and the lab's flag, and the worse of both
    counts; of a text the flag counts, else whether it is
    the range's own word. Where nothing
    tells, the interpretation stays empty. Source: Contract 6.15; Ours: a lab that flags
    a value as normal outside its own range is not believed.
    """
    markers, expected = orderables.find_markers_and_result(reported)
    declared = reported.type or (_declared_result_type(expected) if expected else "")
    parsed = parse_result_value(reported.text, declared)
    limits = parse_reference_range(reported.reference_range, reported.unit)
    if limits is None and (reported.low, reported.high) != (None, None):
        limits = Interval(_exact(reported.low), _exact(reported.high))
    low, high = get_reference_range_bounds(limits)
    above = below = None
    if parsed.amount is not None and limits is not None:
        above, below = parsed.amount.exceeds(limits), parsed.amount.falls_below(limits)
    row = Result(
        expected_result=expected,
        type=parsed.type,
        result=parsed.text,
        value=parsed.number,
        unit=reported.unit,
        observed_at=reported.observed_at,
        reported_at=reported.reported_at or reported_at,
        is_preliminary=reported.is_preliminary,
        notes=reported.notes,
        reference_range=reported.reference_range.strip(),
        min_range_value=low,
        max_range_value=high,
        is_above_max_range=above,
        is_below_min_range=below,
        interpretation=_interpret_result(reported, parsed, (above, below)) or "",
        source_interpretation=reported.flag,
        performing_laboratory=reported.laboratory,
        source_sample_id=reported.sample_id,
        parsed_report_id=reported.parsed_report_id,
        parsed_position=reported.parsed_position,
    )
    _fill_shared_columns(row, reported, markers, expected)
    return row


def _exact(number: float | None) -> Decimal | None:
    return None if number is None else Decimal(str(number))


def build_missing_result_row(gap: ReportedGap, orderables: Orderables) -> MissingResult:
    """Build the row of a result the lab could not report."""
    markers, expected = orderables.find_markers_and_result(gap)
    row = MissingResult(failure_type=gap.failure_type, note=gap.note)
    _fill_shared_columns(row, gap, markers, expected)
    return row


def list_unreported_results(
    orderables: Orderables, results: Sequence[Result], gaps: Sequence[MissingResult]
) -> list[MissingResult]:
    """List required results of the ordered markers that were not reported.

    None is inferred of a marker that gave results which the catalogue does not know:
    the missing one may be among them. Source: Contract 6.15
    (`inferred_failure_type`).
    """
    unclear = {
        source["marker_id"]
        for row in results
        if row.expected_result_id is None
        for source in row.source_markers
    }
    reported_ids = {row.expected_result_id for row in results}
    codes = {row.provider_id for row in gaps} | {row.provider_id for row in results}
    loincs = {row.loinc for row in gaps} | {row.loinc for row in results}
    return [
        _build_unreported_row(marker, expected)
        for marker in orderables.ordered
        if marker.pk not in unclear
        for expected in marker.expected_results.all()
        if expected.required
        and expected.pk not in reported_ids
        and expected.provider_id not in codes
        and (not expected.loinc_code or expected.loinc_code not in loincs)
    ]


def _build_unreported_row(marker: Marker, expected: ExpectedResult) -> MissingResult:
    return MissingResult(
        name=expected.name,
        slug=expected.slug,
        failure_type=FailureType.UNKNOWN,
        loinc=expected.loinc_code,
        loinc_slug=expected.slug if expected.loinc_code else "",
        provider_id=expected.provider_id,
        source_markers=_source_markers([marker]),
    )


def _find_expected_result(
    reported: ReportedResult | ReportedGap, markers: Iterable[Marker]
) -> list[ExpectedResult]:
    """Return the markers' expected result that this is, by the best evidence."""
    results = [one for marker in markers for one in marker.expected_results.all()]
    signs = (
        (reported.provider_id, "provider_id"),
        (reported.loinc, "loinc_code"),
        (slugify(reported.name), "slug"),
    )
    for value, column in signs:
        found = [one for one in results if value and getattr(one, column) == value]
        if found:
            return found
    return []


def _declared_result_type(expected: ExpectedResult) -> str:
    """Return a result's declared type: constants always, others from the text."""
    is_coded = expected.result_type == ResultType.CODED_VALUE
    return expected.result_type if is_coded else ""


def _interpret_result(
    reported: ReportedResult,
    parsed: ResultText,
    outside: tuple[bool | None, bool | None],
) -> Interpretation | None:
    flagged = get_worst_interpretation(
        [interpret_lab_flag(reported.flag), reported.interpretation]
    )
    if parsed.amount is not None:
        return get_worst_interpretation([flagged, _interpret_bounds(outside)])
    return flagged or _interpret_text(parsed, reported.reference_range)


def _interpret_bounds(
    outside: tuple[bool | None, bool | None],
) -> Interpretation | None:
    if True in outside:
        return Interpretation.ABNORMAL
    return None if None in outside else Interpretation.NORMAL


def _interpret_text(parsed: ResultText, reference: str) -> Interpretation | None:
    usual = reference.strip().casefold()
    if not usual:
        return None
    if parsed.text.casefold() == usual:
        return Interpretation.NORMAL
    is_word = parsed.type == ResultType.CODED_VALUE
    return Interpretation.ABNORMAL if is_word else None


def _fill_shared_columns(
    row: Result | MissingResult,
    reported: ReportedResult | ReportedGap,
    markers: Sequence[Marker],
    expected: ExpectedResult | None,
) -> None:
    """Fill the columns shared by results and missing results."""
    row.name = reported.name
    row.slug = expected.slug if expected else slugify(reported.name)
    row.provider_id = reported.provider_id or (expected.provider_id if expected else "")
    row.sub_id = reported.sub_id
    row.loinc = reported.loinc if _LOINC.fullmatch(reported.loinc) else ""
    if expected is not None and row.loinc in {"", expected.loinc_code}:
        row.loinc = expected.loinc_code
        row.loinc_slug = expected.slug if row.loinc else ""
    row.source_markers = _source_markers(markers)
    for column, length in _LENGTHS.items():
        if hasattr(row, column):
            setattr(row, column, getattr(row, column)[:length])


def _source_markers(markers: Sequence[Marker]) -> list[dict[str, object]]:
    return [
        {
            "marker_id": marker.pk,
            "name": marker.name,
            "slug": marker.slug,
            "provider_id": marker.provider_id,
        }
        for marker in markers
    ]
