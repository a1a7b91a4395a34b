"""Match lab reports to orders by number, confirmed by the patient's identity."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from labs.queries.inbound import (
    CANDIDATES_MAX,
    find_orders_by_birth_date_or_name,
    find_orders_by_lab_report_numbers,
    find_replacements_of_orders,
)
from labs.states.inbound import Agreement, UnmatchedReason

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.gateways.hl7.reports import Patient, Report
    from labs.models import Lab, LabAccount, Order

_SEX = {"female": "F", "male": "M"}
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A comparison of a report with an order, point by point."""

    number: Agreement
    name: Agreement
    birth_date: Agreement
    sex: Agreement
    tests: Agreement
    account: Agreement

    @property
    def is_same_person(self) -> bool:
        """Return whether name and birth date agree and sexes do not contradict."""
        return (
            self.name is Agreement.AGREES
            and self.birth_date is Agreement.AGREES
            and self.sex is not Agreement.DIFFERS
        )

    @property
    def weight(self) -> int:
        """Return the sort key of candidates: identity counts most."""
        points = (
            (self.number, 4),
            (self.birth_date, 4),
            (self.name, 4),
            (self.tests, 2),
            (self.sex, 1),
            (self.account, 1),
        )
        signs = {Agreement.AGREES: 1, Agreement.DIFFERS: -1, Agreement.UNTOLD: 0}
        return sum(signs[agreement] * points for agreement, points in points)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An order that may match a report."""

    order: Order
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Match:
    """The matching order, or the reason there is none."""

    order: Order | None
    reason: UnmatchedReason | None = None


def find_order_by_lab_report_numbers(
    *, tenant: Tenant, lab: Lab, account: LabAccount | None, report: Report
) -> Match:
    """Return the single order with a lab report's numbers, if its patient matches.

    Source: Ours: a result under the wrong name harms more than one that waits, so name
    and birth date must be told and agree, and nothing may contradict.
    """
    orders = find_orders_by_lab_report_numbers(
        tenant=tenant,
        lab=lab,
        placers=report.placers,
        fillers=report.fillers,
        samples=report.samples,
    )
    if not orders:
        return Match(None, UnmatchedReason.NO_ORDER)
    if len(orders) > 1:
        return Match(None, UnmatchedReason.SEVERAL_ORDERS)
    (order,) = orders
    order.tenant = tenant
    if order.lab_account_id != (account.pk if account else None):
        return Match(None, UnmatchedReason.OTHER_ACCOUNT)
    if order.patient_details is None:
        return Match(None, UnmatchedReason.NO_PERSON)
    if not compare_lab_report_with_order(
        report, order, account=account, has_number=True
    ).is_same_person:
        return Match(None, UnmatchedReason.PERSON_DIFFERS)
    return Match(order)


def list_candidate_orders_for_lab_report(
    *, tenant: Tenant, lab: Lab, account: LabAccount | None, report: Report
) -> list[Candidate]:
    """List orders a report may match, likeliest first, at most CANDIDATES_MAX.

    Those its numbers name, those that replaced them, and those of people of its name or
    birth date.
    """
    named = find_orders_by_lab_report_numbers(
        tenant=tenant,
        lab=lab,
        placers=report.placers,
        fillers=report.fillers,
        samples=report.samples,
    )
    by_number = {order.pk for order in named}
    replacements = find_replacements_of_orders(tenant=tenant, lab=lab, orders=named)
    like = find_orders_by_birth_date_or_name(
        tenant=tenant,
        lab=lab,
        birth_date=report.patient.birth_date,
        family=report.patient.family,
    )
    found = {order.pk: order for order in (*named, *replacements, *like)}
    weighed = [
        Candidate(
            order,
            compare_lab_report_with_order(
                report, order, account=account, has_number=order.pk in by_number
            ),
        )
        for order in found.values()
    ]
    weighed.sort(
        key=lambda one: (-one.evidence.weight, -one.order.created_at.timestamp())
    )
    return weighed[:CANDIDATES_MAX]


def compare_lab_report_with_order(
    report: Report, order: Order, *, account: LabAccount | None, has_number: bool
) -> Evidence:
    """Compare a report with an order whose panel's markers are loaded."""
    patient, details = report.patient, order.patient_details or {}
    ordered = {marker.provider_id for marker in order.placed.markers}
    return Evidence(
        number=Agreement.AGREES if has_number else Agreement.DIFFERS,
        name=_names_agree(
            patient,
            str(details.get("first_name", "")),
            str(details.get("last_name", "")),
        ),
        birth_date=_birth_dates_agree(patient.birth_date, order.patient_dob),
        sex=_texts_agree(
            patient.sex if patient.sex in _SEX.values() else "",
            _SEX.get(str(details.get("gender", "")), ""),
        ),
        tests=Agreement.AGREES if report.codes & ordered else Agreement.DIFFERS,
        account=Agreement.AGREES
        if order.lab_account_id == (account.pk if account else None)
        else Agreement.DIFFERS,
    )


def _names_agree(patient: Patient, first: str, last: str) -> Agreement:
    """Return whether names match; the shorter given name starts the longer."""
    family, given_names = _name_parts(patient.family), _name_parts(patient.given)
    known_family, known_given = _name_parts(last), _name_parts(first)
    if not (family and given_names and known_family and known_given):
        return Agreement.UNTOLD
    if "".join(family) != "".join(known_family):
        return Agreement.DIFFERS
    pairs = zip(given_names, known_given, strict=False)
    same = all(_given_names_agree(one, other) for one, other in pairs)
    return Agreement.AGREES if same else Agreement.DIFFERS


def _given_names_agree(one: str, other: str) -> bool:
    """Return whether given names agree; an initial matches its name."""
    if 1 in {len(one), len(other)}:
        return one[0] == other[0]
    return one == other


def _name_parts(name: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", name).casefold()
    unaccented = "".join(one for one in plain if not unicodedata.combining(one))
    return _WORD.findall(unaccented.replace("'", "").replace("’", ""))


def _birth_dates_agree(reported: date | None, known: date | str | None) -> Agreement:
    return _texts_agree(str(reported or ""), str(known or ""))


def _texts_agree(reported: str, known: str) -> Agreement:
    if not (reported and known):
        return Agreement.UNTOLD
    return Agreement.AGREES if reported == known else Agreement.DIFFERS
