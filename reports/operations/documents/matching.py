"""Find the order of a document by what it prints: numbers, patient, ordered results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from labs.operations.results.deliveries import require_order_accepts_results
from labs.queries.orders.by_document import (
    list_document_orders_of_birth_dates,
    list_document_orders_with_sample_id,
)
from portal.lib.errors import DomainError
from portal.lib.person_names import NameAgreement, PersonName, compare_person_names
from reports.models import ParsingJob
from reports.operations.orders.comparing import ReadRow, compare_rows_with_order
from reports.queries.intake import compare_report_patient_with_user
from reports.states import DocumentReason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accounts.models import Tenant
    from labs.models import Order

CANDIDATES_MAX = 10


@dataclass(frozen=True, slots=True)
class DocumentCandidate:
    """An order that a document may belong to, and what speaks for it.

    The three agreements are None where the document or the order is silent. A name
    agrees also after a marriage, but is the full one only if both parts do. `ordered`
    is how many rows of the document the order asked for.
    """

    order: Order
    has_number: bool
    name: bool | None
    has_full_name: bool
    birth_date: bool | None
    sex: bool | None
    ordered: int
    accepts_results: bool

    @property
    def is_same_person(self) -> bool:
        """Return whether the whole name and the birth date agree, and sex may."""
        return self.has_full_name and self.birth_date is True and self.sex is not False

    @property
    def is_other_person(self) -> bool:
        """Return whether something about the patient differs."""
        return False in {self.name, self.birth_date, self.sex}

    @property
    def weight(self) -> tuple[bool, bool, int, bool]:
        """Return what candidates are sorted by, the likeliest highest."""
        return (
            self.is_same_person,
            self.has_number,
            self.ordered,
            self.accepts_results,
        )


@dataclass(frozen=True, slots=True)
class DocumentMatch:
    """The order of a document, or the reason why there is none."""

    order: Order | None
    reason: DocumentReason | None = None


def find_order_of_document(
    *, tenant: Tenant, metadata: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> DocumentMatch:
    """Return the one order that a document is of, by what it prints.

    By the sample ID, which is also the requisition's barcode, where nothing about the
    patient differs; without one, by name and birth date, where one order of that
    person waits for results that the document has. Source: Ours: a document under the
    wrong name harms more than one that waits. A clinician reviews each match.
    """
    found = list_candidate_orders(tenant=tenant, metadata=metadata, rows=rows)
    if named := [one for one in found if one.has_number]:
        return _choose(named)
    people = [one for one in found if one.is_same_person]
    waiting = [one for one in people if one.accepts_results]
    fitting = [one for one in waiting if one.ordered]
    if fitting:
        return _choose(fitting)
    if waiting:
        return DocumentMatch(None, DocumentReason.NOTHING_ORDERED)
    if people:
        return DocumentMatch(None, DocumentReason.NOT_EXPECTED)
    return DocumentMatch(None, DocumentReason.NO_ORDER)


def list_candidate_orders(
    *, tenant: Tenant, metadata: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> list[DocumentCandidate]:
    """Return orders that a document may belong to, likeliest first.

    Those with its number, and those of people with its name or birth date; at most
    CANDIDATES_MAX.
    """
    named = list_document_orders_with_sample_id(
        tenant=tenant, number=metadata.get("specimen_number") or ""
    )
    born = metadata.get("dob") or None
    days = [born] if born else metadata.get("possible_dobs") or []
    like = list_document_orders_of_birth_dates(
        tenant=tenant, birth_dates=[date.fromisoformat(day) for day in days]
    )
    numbers = {order.pk for order in named}
    orders = {order.pk: order for order in (*named, *like)}
    weighed = [
        _weigh(tenant, order, metadata, rows, has_number=order.pk in numbers)
        for order in orders.values()
    ]
    kept = [one for one in weighed if one.has_number or one.name is not False]
    kept.sort(key=lambda one: one.weight, reverse=True)
    return kept[:CANDIDATES_MAX]


def _choose(found: Sequence[DocumentCandidate]) -> DocumentMatch:
    if len(found) > 1:
        return DocumentMatch(None, DocumentReason.SEVERAL_ORDERS)
    (one,) = found
    if one.is_other_person:
        return DocumentMatch(None, DocumentReason.PERSON_DIFFERS)
    if not one.accepts_results:
        return DocumentMatch(None, DocumentReason.NOT_EXPECTED)
    return DocumentMatch(one.order)


def _weigh(
    tenant: Tenant,
    order: Order,
    metadata: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    *,
    has_number: bool,
) -> DocumentCandidate:
    # A report that is not stored: the comparison is that of an upload on this order.
    report = ParsingJob(tenant=tenant, user=order.user, order=order)
    agrees = {
        line.field: line.agrees
        for line in compare_report_patient_with_user(job=report, metadata=metadata)
    }
    read = [
        ReadRow(
            position=position,
            name=row["name"],
            value=row["value"],
            unit=row["unit"],
            loinc=row["loinc"],
            values={"interpretation": ""},
        )
        for position, row in enumerate(rows)
    ]
    return DocumentCandidate(
        order=order,
        has_number=has_number,
        name=agrees["name"],
        has_full_name=_has_full_name(metadata, order),
        birth_date=agrees["dob"],
        sex=agrees["gender"],
        ordered=len(compare_rows_with_order(order=order, rows=read).matched),
        accepts_results=_accepts_results(order),
    )


def _has_full_name(metadata: Mapping[str, Any], order: Order) -> bool:
    details = order.patient_details or {}
    printed = PersonName(
        metadata.get("patient_first_name") or "",
        metadata.get("patient_last_name") or "",
    )
    known = PersonName(details.get("first_name", ""), details.get("last_name", ""))
    agreement = compare_person_names(printed, known, born_alike=True)
    return agreement is NameAgreement.SAME


def _accepts_results(order: Order) -> bool:
    try:
        require_order_accepts_results(order)
    except DomainError:
        return False
    return True
