"""Simulated result deliveries of the sandbox lab, shaped by simulation flags.

This module chooses which tests a delivery reports, which are missing and how each is
interpreted; sandbox_values makes the values. The same seed gives the same delivery.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from labs.gateways.results import (
    ReportedGap,
    ReportedResult,
    ReportedSample,
    ResultDelivery,
)
from labs.gateways.sandbox_values import (
    PANIC_VALUES,
    REFERENCE_BOUNDS,
    SeededDraw,
    SimulatedTest,
    simulate_value,
)
from labs.queries.appointments.zip_codes import find_zip_code_location
from labs.queries.results.results import list_results_of_version
from labs.states.catalogue import ResultType
from labs.states.orders import Interpretation
from labs.states.results import FailureType, ResultStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from labs.models import ExpectedResult, Marker, Order, ResultVersion


_COLLECTED_BEFORE = timedelta(hours=20)
_SEVERITY = ("", "unknown", "normal", "abnormal", "critical")


@dataclass(frozen=True, slots=True)
class SimulationFlags:
    """The requested shape of simulated results (contract 6.13).

    `interpretation` is the order's as far as this delivery decides it; of no
    `result_types` each result has that of the catalogue. `seed` draws the values; the
    order's own where empty.
    """

    interpretation: Interpretation = Interpretation.NORMAL
    result_types: tuple[ResultType, ...] = ()
    has_missing_results: bool = False
    seed: str = ""

    @property
    def without_findings(self) -> SimulationFlags:
        """Return the flags of earlier deliveries, whose results are normal."""
        if self.interpretation == Interpretation.UNKNOWN:
            return replace(self, has_missing_results=False)
        normal = Interpretation.NORMAL
        return replace(self, interpretation=normal, has_missing_results=False)


def simulate_result_delivery(
    *,
    order: Order,
    markers: Iterable[Marker],
    flags: SimulationFlags,
    before: ResultVersion | None,
    low: str,
    at: datetime,
) -> ResultDelivery:
    """Simulate the delivery that brings an order to the status `low`.

    `partial_results`: half of what is still due, of a last one its preliminary value.
    `corrected`: anew what is worse than asked for, else one result. Else all the rest.
    `markers` have their expected results loaded, `before` its rows. Source: Contract
    6.13.
    """
    number = before.number + 1 if before else 1
    draw = SeededDraw(f"{flags.seed or order.pk.hex}-{number}")
    is_critical = flags.interpretation == Interpretation.CRITICAL
    tests = _rank_tests(markers, draw, panic_first=is_critical)
    due = _outstanding_tests(tests, before) or tests[:1]
    note, missing, is_preliminary = "", 0, False
    match low:
        case "partial_results":
            tests = due[: max(1, len(due) // 2)]
            if is_preliminary := len(due) == 1:
                note = f"Preliminary, report {number}."
        case "corrected" if before is not None:
            tests = _pick_tests_to_correct(tests, before, flags.interpretation)
            note = f"Corrected in report {number}."
        case _:
            tests = due
            missing = int(flags.has_missing_results)
    reported = tests[: len(tests) - missing]
    lies = _spread_interpretations(flags.interpretation, len(reported))
    types = _assign_result_types(reported, flags.result_types)
    collected = max(order.created_at, at - _COLLECTED_BEFORE)
    results = [
        _simulate_result(
            test,
            kind,
            lie,
            draw,
            notes=note,
            sample_id=order.sample_id,
            observed_at=collected,
            is_preliminary=is_preliminary,
        )
        for test, kind, lie in zip(reported, types, lies, strict=True)
    ]
    received = collected + (at - collected) / 2
    return ResultDelivery(
        status=_result_status_at(low),
        reported_at=at,
        # As the catalogue lists them, not as they were drawn.
        results=tuple(sorted(results, key=lambda one: one.provider_id)),
        missing=tuple(
            _simulate_missing_result(test) for test in tests[len(reported) :]
        ),
        samples=(_simulate_sample(order, draw, collected, received, at),),
        is_correction=low == "corrected",
        laboratory=order.lab.name,
        collected_at=collected,
        received_at=received,
    )


def _rank_tests(
    markers: Iterable[Marker], draw: SeededDraw, *, panic_first: bool
) -> list[SimulatedTest]:
    """Return the tests once each; findings are taken from the front."""
    tests: dict[str, SimulatedTest] = {}
    for marker in sorted(markers, key=lambda one: one.pk):
        for test in _tests_of_marker(marker):
            tests.setdefault(test.loinc or test.code, test)
    return sorted(
        tests.values(),
        key=lambda test: (
            panic_first and test.loinc not in PANIC_VALUES,
            test.type != ResultType.NUMERIC,
            draw.random_number(test.code),
        ),
    )


def _tests_of_marker(marker: Marker) -> list[SimulatedTest]:
    found = [_simulated_test(marker, one) for one in marker.expected_results.all()]
    return found or [
        SimulatedTest(
            marker,
            marker.name,
            marker.provider_id,
            "",
            marker.unit,
            ResultType.NUMERIC,
            *REFERENCE_BOUNDS,
            (),
        )
    ]


def _simulated_test(marker: Marker, expected: ExpectedResult) -> SimulatedTest:
    return SimulatedTest(
        marker=marker,
        name=expected.name,
        code=expected.provider_id,
        loinc=expected.loinc_code,
        unit=expected.unit,
        type=expected.result_type,
        low=expected.low,
        high=expected.high,
        words=tuple(expected.coded_values),
    )


def _outstanding_tests(
    tests: list[SimulatedTest], before: ResultVersion | None
) -> list[SimulatedTest]:
    """Return the tests without a final result."""
    if before is None:
        return tests
    came = {
        row.provider_id
        for row in list_results_of_version(before)
        if not row.is_preliminary
    }
    return [test for test in tests if test.code not in came]


def _pick_tests_to_correct(
    tests: list[SimulatedTest], before: ResultVersion, interpretation: Interpretation
) -> list[SimulatedTest]:
    worse = {
        row.provider_id
        for row in list_results_of_version(before)
        if _SEVERITY.index(row.interpretation) > _SEVERITY.index(interpretation)
    }
    return [test for test in tests if test.code in worse] or tests[:1]


def _spread_interpretations(
    interpretation: Interpretation, number: int
) -> list[Interpretation]:
    """Return each result's interpretation; the worst is as requested."""
    standing_out = [interpretation]
    if interpretation == Interpretation.ABNORMAL:
        standing_out = [interpretation] * max(1, number // 3)
    elif interpretation == Interpretation.CRITICAL:
        standing_out += [Interpretation.ABNORMAL] * (number // 4)
    elif interpretation == Interpretation.UNKNOWN:
        standing_out = [interpretation] * number
    rest = [Interpretation.NORMAL] * number
    return (standing_out + rest)[:number]


def _assign_result_types(
    tests: Sequence[SimulatedTest], result_types: tuple[ResultType, ...]
) -> list[str]:
    """Return each result's type: its own if requested; each requested type once."""
    if not result_types:
        return [test.type for test in tests]
    kinds: list[str] = [
        test.type
        if test.type in result_types
        else result_types[index % len(result_types)]
        for index, test in enumerate(tests)
    ]
    for kind in result_types:
        spare = [i for i, one in enumerate(kinds) if kinds.count(one) > 1]
        if kind not in kinds and spare:
            kinds[spare[-1]] = kind
    return kinds


def _simulate_result(
    test: SimulatedTest,
    kind: str,
    lie: Interpretation,
    draw: SeededDraw,
    *,
    notes: str,
    sample_id: str,
    observed_at: datetime,
    is_preliminary: bool,
) -> ReportedResult:
    text, reference, flag = simulate_value(test, kind, lie, draw)
    if lie == Interpretation.UNKNOWN:
        reference = flag = ""
    is_amount = kind in {ResultType.NUMERIC, ResultType.RANGE}
    return ReportedResult(
        name=test.name,
        text=text,
        type=kind,
        unit=test.unit if is_amount else "",
        reference_range=reference,
        flag=flag,
        ordered_code=test.marker.provider_id,
        provider_id=test.code,
        loinc=test.loinc,
        notes=notes,
        sample_id=sample_id,
        laboratory=test.marker.lab.name,
        observed_at=observed_at,
        is_preliminary=is_preliminary,
    )


def _simulate_missing_result(test: SimulatedTest) -> ReportedGap:
    return ReportedGap(
        name=test.name,
        failure_type=FailureType.QUANTITY_NOT_SUFFICIENT,
        note="Too little of the sample was left.",
        ordered_code=test.marker.provider_id,
        provider_id=test.code,
        loinc=test.loinc,
    )


def _simulate_sample(
    order: Order,
    draw: SeededDraw,
    collected: datetime,
    received: datetime,
    at: datetime,
) -> ReportedSample:
    lab = order.lab
    place = find_zip_code_location(lab.zipcode)
    return ReportedSample(
        sample_id=order.sample_id,
        control_number=f"C{math.floor(draw.random_number('control') * 10**8):08}",
        collected_at=collected,
        collected_offset=0,
        received_at=received,
        received_offset=0,
        reported_at=at,
        reported_offset=0,
        laboratories={
            lab.slug: {
                "name": lab.name,
                "phone_number": None,
                "medical_director": None,
                "address": {
                    "first_line": lab.first_line_address,
                    "city": lab.city,
                    "state": place.state if place else "",
                    "zip": lab.zipcode,
                    "country": "US",
                },
            }
        },
    )


def _result_status_at(low: str) -> ResultStatus:
    is_partial = low == "partial_results"
    return ResultStatus.PARTIAL if is_partial else ResultStatus.FINAL
