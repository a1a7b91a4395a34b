"""Simulated results of the sandbox lab, shaped by simulation flags.

The same seed gives the same values; all are made up.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from labs.gateways.results import (
    ReportedGap,
    ReportedResult,
    ReportedSample,
    ResultDelivery,
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
# What stands for a result of another type than the catalogue expects.
_WORDS = ("NEGATIVE", "POSITIVE")
_BOUNDS = (0.0, 10.0)
# What laboratories telephone about, and beyond which values; in the catalogue's units.
_PANIC = {
    "2823-3": (2.8, 6.2),  # potassium
    "2951-2": (120, 160),  # sodium
    "2345-7": (45, 450),  # glucose
    "17861-6": (6.5, 13.0),  # calcium
    "718-7": (7.0, 20.0),  # hemoglobin
    "777-3": (20, 1000),  # platelets
    "6690-2": (2.0, 50.0),  # white blood cells
    "2028-9": (10, 40),  # carbon dioxide
    "19123-9": (1.0, 4.7),  # magnesium
}
_COMMENTS = {
    Interpretation.NORMAL: ("No abnormality seen.", "N"),
    Interpretation.ABNORMAL: ("Differs from what is usual at this age.", "A"),
    Interpretation.CRITICAL: ("Critical finding.", "AA"),
}


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


@dataclass(frozen=True, slots=True)
class _SimulatedTest:
    """A result to simulate, of the first marker that reports it."""

    marker: Marker
    name: str
    code: str
    loinc: str
    unit: str
    type: str
    low: float | None
    high: float | None
    words: tuple[str, ...]


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
    draw = _SeededDraw(f"{flags.seed or order.pk.hex}-{number}")
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


class _SeededDraw:
    """Pseudo-random numbers from 0 to 1 by seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def random_number(self, what: str) -> float:
        digest = hashlib.sha256(f"{self._seed}|{what}".encode()).digest()
        return int.from_bytes(digest[:6]) / (1 << 48)


def _rank_tests(
    markers: Iterable[Marker], draw: _SeededDraw, *, panic_first: bool
) -> list[_SimulatedTest]:
    """Return the tests once each; findings are taken from the front."""
    tests: dict[str, _SimulatedTest] = {}
    for marker in sorted(markers, key=lambda one: one.pk):
        for test in _tests_of_marker(marker):
            tests.setdefault(test.loinc or test.code, test)
    return sorted(
        tests.values(),
        key=lambda test: (
            panic_first and test.loinc not in _PANIC,
            test.type != ResultType.NUMERIC,
            draw.random_number(test.code),
        ),
    )


def _tests_of_marker(marker: Marker) -> list[_SimulatedTest]:
    found = [_simulated_test(marker, one) for one in marker.expected_results.all()]
    return found or [
        _SimulatedTest(
            marker,
            marker.name,
            marker.provider_id,
            "",
            marker.unit,
            ResultType.NUMERIC,
            *_BOUNDS,
            (),
        )
    ]


def _simulated_test(marker: Marker, expected: ExpectedResult) -> _SimulatedTest:
    return _SimulatedTest(
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
    tests: list[_SimulatedTest], before: ResultVersion | None
) -> list[_SimulatedTest]:
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
    tests: list[_SimulatedTest], before: ResultVersion, interpretation: Interpretation
) -> list[_SimulatedTest]:
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
    tests: Sequence[_SimulatedTest], result_types: tuple[ResultType, ...]
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
    test: _SimulatedTest,
    kind: str,
    lie: Interpretation,
    draw: _SeededDraw,
    *,
    notes: str,
    sample_id: str,
    observed_at: datetime,
    is_preliminary: bool,
) -> ReportedResult:
    text, reference, flag = _simulate_value(test, kind, lie, draw)
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


def _simulate_value(
    test: _SimulatedTest, kind: str, lie: Interpretation, draw: _SeededDraw
) -> tuple[str, str, str]:
    """Return a result's text, reference range and flag."""
    if kind == ResultType.COMMENT:
        text, flag = _COMMENTS.get(lie, ("See the laboratory's own report.", ""))
        return text, "", flag
    if kind == ResultType.CODED_VALUE:
        words = test.words or _WORDS
        if lie == Interpretation.ABNORMAL:
            return words[1].upper(), words[0].upper(), "A"
        if lie == Interpretation.CRITICAL:
            return words[-1].upper(), words[0].upper(), "AA"
        return words[0].upper(), words[0].upper(), ""
    bounds = (test.low, test.high) if test.type == ResultType.NUMERIC else _BOUNDS
    drawn = draw.random_number(f"{test.code} amount")
    if lie == Interpretation.CRITICAL and test.loinc in _PANIC:
        return _panic_limit(bounds, _PANIC[test.loinc], kind, drawn)
    return _simulate_amount(bounds, kind, lie, drawn)


def _panic_limit(
    bounds: tuple[float | None, float | None],
    limits: tuple[float, float],
    kind: str,
    drawn: float,
) -> tuple[str, str, str]:
    goes_up = drawn >= 0.5
    sign = (">" if goes_up else "<") if kind == ResultType.RANGE else ""
    # A tenth beyond the limit at most.
    beyond = (
        limits[1] * (0.97 + drawn / 10) if goes_up else limits[0] * (0.9 + drawn / 6)
    )
    text = f"{sign}{_format_amount(beyond, _rounding_unit(*bounds))}"
    return text, _format_reference_range(*bounds), "HH" if goes_up else "LL"


def _simulate_amount(
    bounds: tuple[float | None, float | None],
    kind: str,
    lie: Interpretation,
    drawn: float,
) -> tuple[str, str, str]:
    low, high = bounds if bounds != (None, None) else _BOUNDS
    unit = _rounding_unit(low, high)
    is_range = kind == ResultType.RANGE
    reference = _format_reference_range(low, high)
    if lie in {Interpretation.NORMAL, Interpretation.UNKNOWN}:
        if not is_range:
            return _format_amount(_amount_inside(low, high, drawn), unit), reference, ""
        if low is None:
            return (
                f"<{_format_amount(_amount_inside(low, high, drawn), unit)}",
                reference,
                "",
            )
        if high is None:
            return (
                f">{_format_amount(_amount_inside(low, high, drawn), unit)}",
                reference,
                "",
            )
        ends = [_amount_inside(low, high, one) for one in (drawn / 2, (drawn + 1) / 2)]
        return "-".join(_format_amount(end, unit) for end in ends), reference, ""
    goes_up, value = _amount_outside(low, high, lie, drawn)
    flag = ("H" if goes_up else "L") * (2 if lie == Interpretation.CRITICAL else 1)
    sign = (">" if goes_up else "<") if is_range else ""
    return f"{sign}{_format_amount(value, unit)}", reference, flag


def _amount_inside(low: float | None, high: float | None, drawn: float) -> float:
    if low is not None and high is not None:
        return low + (high - low) * (0.2 + 0.6 * drawn)
    if high is not None:
        return high * (0.3 + 0.5 * drawn)
    return (low or 1.0) * (1.15 + 0.5 * drawn)


def _amount_outside(
    low: float | None, high: float | None, lie: Interpretation, drawn: float
) -> tuple[bool, float]:
    """Return whether a value is above, and the value: further out when critical."""
    far = lie == Interpretation.CRITICAL
    if high is None:
        return False, (low or 1.0) * ((0.2 if far else 0.6) + 0.2 * drawn)
    if low is None:
        return True, high * ((2.0 if far else 1.1) + 0.5 * drawn)
    beyond = (high - low) * ((0.6 if far else 0.1) + 0.25 * drawn)
    if drawn < 0.5 and low - beyond > 0:
        return False, low - beyond
    return True, high + beyond


def _rounding_unit(low: float | None, high: float | None) -> Decimal:
    """Return the last digit to write: as the bounds, one more if they are close."""
    known = [Decimal(str(one)).normalize() for one in (low, high) if one is not None]
    places = max(0, *(-int(one.as_tuple().exponent) for one in known))
    width = abs(known[-1] - known[0]) if len(known) > 1 else abs(known[0])
    if width * 10**places < 20:
        places += 1
    return Decimal(1).scaleb(-places)


def _format_amount(value: float, unit: Decimal) -> str:
    return str(Decimal(value).quantize(unit))


def _format_reference_range(low: float | None, high: float | None) -> str:
    if low is None:
        return f"<{high:g}"
    return f">={low:g}" if high is None else f"{low:g}-{high:g}"


def _simulate_missing_result(test: _SimulatedTest) -> ReportedGap:
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
    draw: _SeededDraw,
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
