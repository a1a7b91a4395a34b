"""Compare a report with the order whose results it should hold.

The same comparison is shown to people and decides what is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.queries.orders.ordered_results import list_ordered_results
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.results import (
    find_current_result_version,
    list_results_of_version,
)
from labs.states.trends import is_same_unit
from reports.parser.loinc.catalogue import build_name_key
from reports.queries import (
    list_report_results,
    list_review_rows,
    list_reviews_of_job,
)
from reports.states import ReviewStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from labs.models import Order, Result
    from labs.queries.orders.ordered_results import OrderedResult
    from reports.models import ParsingJob, ReportResult, ReviewRow


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row of a report as it would be stored; `loinc` is its first candidate."""

    position: int
    name: str
    value: str
    unit: str
    loinc: str
    values: dict[str, Any]

    @property
    def is_critical(self) -> bool:
        """Return whether its value is critical."""
        return bool(self.values["interpretation"] == "critical")


@dataclass(frozen=True, slots=True)
class OrderedLine:
    """What was ordered beside the row that was read; None where there is none.

    `ordered` is None of a row that was not ordered. `before` is the order's present
    result; `is_not_performed`: a person said that the lab does not report it.
    """

    ordered: OrderedResult | None
    row: ReadRow | None
    before: Result | None = None
    is_not_performed: bool = False

    @property
    def has_other_unit(self) -> bool:
        """Return whether the unit differs from the ordered one; not if one is bare."""
        if self.ordered is None or self.row is None:
            return False
        ordered, read = self.ordered.unit, self.row.unit
        return bool(ordered and read and not is_same_unit(ordered, read))

    @property
    def is_missing(self) -> bool:
        """Return whether the order waits for it, after this report as well."""
        return (
            self.ordered is not None
            and self.row is None
            and self.before is None
            and self.ordered.is_required
            and not self.is_not_performed
        )

    @property
    def is_extra(self) -> bool:
        """Return whether the row was not ordered."""
        return self.ordered is None


@dataclass(frozen=True, slots=True)
class OrderComparison:
    """A report beside its order, in the order's sequence, extra rows last."""

    order: Order
    lines: tuple[OrderedLine, ...]

    @property
    def matched(self) -> list[OrderedLine]:
        """Return the ordered lines that the report has."""
        return [one for one in self.lines if one.ordered and one.row]

    @property
    def extra(self) -> list[OrderedLine]:
        """Return the rows that were not ordered."""
        return [one for one in self.lines if one.is_extra]

    @property
    def missing(self) -> list[OrderedLine]:
        """Return the lines that the order still waits for."""
        return [one for one in self.lines if one.is_missing]


def get_order_of_report(job: ParsingJob) -> Order | None:
    """Return the order whose results a report should hold, with details."""
    if job.order_id is None:
        return None
    return get_order_with_details(tenant=job.tenant, order_id=job.order_id)


def compare_report_with_order(job: ParsingJob) -> OrderComparison | None:
    """Compare a report as it stands with its order; None without one.

    Its rows are those of its open review, else its results; excluded ones are left out.
    """
    order = get_order_of_report(job)
    if order is None:
        return None
    reviews = list_reviews_of_job(job=job)
    current = next(
        (r for r in reversed(reviews) if r.status == ReviewStatus.OPEN), None
    )
    if current is None:
        rows = [build_read_row(row) for row in list_report_results(job)]
        current = next((r for r in reviews if r.number == job.version), None)
    else:
        reviewed = list_review_rows(tenant=job.tenant, review=current)
        rows = [_build_read_review_row(row) for row in reviewed if row.is_included]
    return compare_rows_with_order(
        order=order, rows=rows, not_performed=current.not_performed if current else ()
    )


def has_ordered_row(job: ParsingJob, rows: Iterable[ReportResult]) -> bool:
    """Return whether a row is of what the job's order ordered."""
    order = get_order_of_report(job)
    if order is None:
        return False
    read = [build_read_row(row) for row in rows]
    return bool(compare_rows_with_order(order=order, rows=read).matched)


def build_read_row(row: ReportResult) -> ReadRow:
    """Return a stored result, or one about to be stored, as a row to compare."""
    matches = row.loinc_matches
    return ReadRow(
        position=row.position,
        name=row.test_name,
        value=row.value,
        unit=row.units or "",
        loinc=matches[0]["loinc_code"] if matches else "",
        values={
            "interpretation": row.interpretation,
            "flag": row.flag,
            "reference_range": row.reference_range,
            "provenance": row.provenance,
        },
    )


def compare_rows_with_order(
    *, order: Order, rows: Iterable[ReadRow], not_performed: Sequence[str] = ()
) -> OrderComparison:
    """Pair rows of a report with what was ordered; at most five queries.

    By LOINC code, then by name; each ordered result has one row. Of two rows that fit
    one, the first in reading order is it, the other an extra. Source: Ours: a code
    that a clinician confirms decides, and a name that is the catalogue's own.
    """
    ordered = list_ordered_results(order)
    left = list(rows)
    found: dict[str, ReadRow] = {}
    for signs in (_loinc_signs, _name_signs):
        wanted: dict[str, OrderedResult] = {}
        for one in ordered:
            if one.key not in found:
                for sign in signs(one):
                    wanted.setdefault(sign, one)
        for row in list(left):
            sign = row.loinc if signs is _loinc_signs else build_name_key(row.name)
            fitting = wanted.get(sign) if sign else None
            if fitting is not None and fitting.key not in found:
                found[fitting.key] = row
                left.remove(row)
    version = find_current_result_version(order=order)
    stored = {
        row.expected_result_id or row.provider_id: row
        for row in (list_results_of_version(version) if version else ())
    }
    lines = [
        OrderedLine(
            one,
            found.get(one.key),
            stored.get(one.expected.pk if one.expected else one.provider_id),
            one.key in not_performed,
        )
        for one in ordered
    ]
    return OrderComparison(order, (*lines, *(OrderedLine(None, row) for row in left)))


def _loinc_signs(one: OrderedResult) -> list[str]:
    return [one.loinc] if one.loinc else []


def _name_signs(one: OrderedResult) -> list[str]:
    """The result's name, and its marker's where that has no other result."""
    names = [one.name]
    if one.expected is None or len(one.marker.expected_results.all()) == 1:
        names.append(one.marker.name)
    return [key for name in names if (key := build_name_key(name))]


def _build_read_review_row(row: ReviewRow) -> ReadRow:
    values = row.values
    matches = values["loinc_matches"]
    return ReadRow(
        position=row.position,
        name=values["test_name"],
        value=values["value"],
        unit=values["units"] or "",
        loinc=matches[0]["loinc_code"] if matches else "",
        values=values,
    )
