"""Simulated values of the sandbox lab: a result's text, reference range and flag.

A value follows from the test's bounds, the requested interpretation and a number drawn
by seed, so that the same seed gives the same values. All are made up.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from labs.states.catalogue import ResultType
from labs.states.orders import Interpretation

if TYPE_CHECKING:
    from labs.models import Marker


# What stands for a result of another type than the catalogue expects.
_WORDS = ("NEGATIVE", "POSITIVE")
REFERENCE_BOUNDS = (0.0, 10.0)
# What laboratories telephone about, and beyond which values; in the catalogue's units.
PANIC_VALUES = {
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
class SimulatedTest:
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


class SeededDraw:
    """Pseudo-random numbers from 0 to 1 by seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def random_number(self, what: str) -> float:
        digest = hashlib.sha256(f"{self._seed}|{what}".encode()).digest()
        return int.from_bytes(digest[:6]) / (1 << 48)


def simulate_value(
    test: SimulatedTest, kind: str, lie: Interpretation, draw: SeededDraw
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
    bounds = (
        (test.low, test.high) if test.type == ResultType.NUMERIC else REFERENCE_BOUNDS
    )
    drawn = draw.random_number(f"{test.code} amount")
    if lie == Interpretation.CRITICAL and test.loinc in PANIC_VALUES:
        return _panic_limit(bounds, PANIC_VALUES[test.loinc], kind, drawn)
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
    low, high = bounds if bounds != (None, None) else REFERENCE_BOUNDS
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
