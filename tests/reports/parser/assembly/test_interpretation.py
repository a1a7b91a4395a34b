"""A value against its own range (contract 7.4, inference)."""

from __future__ import annotations

import pytest

from reports.parser.assembly.interpretation import (
    RangeOutcome,
    interpret_result_against_range,
)
from reports.parser.report import Interpretation
from reports.parser.text.ranges import Bounds

NORMAL, ABNORMAL = Interpretation.NORMAL, Interpretation.ABNORMAL
CRITICAL, UNKNOWN = Interpretation.CRITICAL, Interpretation.UNKNOWN
INSIDE = (NORMAL, False, False)
ABOVE = (ABNORMAL, True, False)
BELOW = (ABNORMAL, False, True)
OPEN = (UNKNOWN, None, None)


@pytest.mark.parametrize(
    ("value", "bounds", "verdict"),
    [
        ("5.0", Bounds(3.5, 5.1), INSIDE),
        ("5.2", Bounds(3.5, 5.1), ABOVE),
        ("3.4", Bounds(3.5, 5.1), BELOW),
        ("5.1", Bounds(3.5, 5.1), INSIDE),
        ("1,45,000", Bounds(150000, 450000), BELOW),
        ("61 %", Bounds(40, 60), ABOVE),
        ("<0.1", Bounds(0.4, 4.0), BELOW),
        (">2000", Bounds(232, 1245), ABOVE),
        ("<10", Bounds(high=14), INSIDE),
        ("<10", Bounds(high=8), OPEN),
        (">90", Bounds(low=59), INSIDE),
        ("2-4", Bounds(0, 5), INSIDE),
        ("8-10", Bounds(0, 5), ABOVE),
        ("4-10", Bounds(0, 5), OPEN),
        ("Negative", Bounds(0, 5), OPEN),
        ("200", Bounds(high=200, strict=True), (UNKNOWN, False, False)),
    ],
)
def test_a_value_is_judged_where_the_numbers_settle_it(
    value: str, bounds: Bounds, verdict: tuple[Interpretation, bool | None, bool | None]
) -> None:
    found = interpret_result_against_range(
        value=value, bounds=bounds, has_range=True, flag=None
    )

    assert found == RangeOutcome(*verdict)


def test_a_number_without_a_range_is_normal() -> None:
    found = interpret_result_against_range(
        value="5.0", bounds=Bounds(), has_range=False, flag=None
    )

    assert found == RangeOutcome(NORMAL)


def test_a_number_with_a_range_that_is_not_decided_is_unknown() -> None:
    found = interpret_result_against_range(
        value="5.0", bounds=Bounds(), has_range=True, flag=None
    )

    assert found == RangeOutcome(UNKNOWN)


@pytest.mark.parametrize(
    ("flag", "expected"),
    [("H", ABNORMAL), ("HH", CRITICAL), ("Alert Low", CRITICAL)],
)
def test_the_printed_flag_speaks_where_no_bounds_do(
    flag: str, expected: Interpretation
) -> None:
    found = interpret_result_against_range(
        value="5.0", bounds=Bounds(), has_range=True, flag=flag
    )

    assert found.interpretation is expected


def test_the_numbers_outweigh_a_plain_flag() -> None:
    found = interpret_result_against_range(
        value="5.0", bounds=Bounds(3.5, 5.1), has_range=True, flag="H"
    )

    assert found == RangeOutcome(*INSIDE)
