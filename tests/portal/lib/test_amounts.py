from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lib.units import convert_amount, find_unit_conversion_factor

SAME_KIND = [
    ("mg/dL", "g/L"),
    ("g/dL", "g/L"),
    ("ug/mL", "mg/dL"),
    ("mmol/L", "umol/L"),
    ("10*3/uL", "10*9/L"),
    ("/uL", "10*3/uL"),
    ("10*5/uL", "10*3/uL"),
    ("%", "L/L"),
    ("ukat/L", "U/L"),
    ("m[IU]/L", "u[IU]/mL"),
    ("mm[Hg]", "kPa"),
    ("mg/(24.h)", "g/(24.h)"),
    ("ng/mL", "pg/mL"),
    ("mg/g{creat}", "ug/mg{creat}"),
]
AMOUNTS = st.decimals(
    min_value=Decimal(0), max_value=Decimal(10**7), places=3, allow_nan=False
)


@pytest.mark.parametrize(
    ("unit", "to", "factor"),
    [
        ("g/dL", "g/L", Fraction(10)),
        ("mg/dL", "g/L", Fraction(1, 100)),
        ("10*3/uL", "10*9/L", Fraction(1)),
        ("/uL", "10*3/uL", Fraction(1, 1000)),
        ("10*5/uL", "10*3/uL", Fraction(100)),
        ("%", "L/L", Fraction(1, 100)),
        ("ukat/L", "U/L", Fraction(60)),
        ("m[IU]/mL", "m[IU]/L", Fraction(1000)),
        ("kg", "mg", Fraction(10**6)),
        ("mL/min", "L/min", Fraction(1, 1000)),
    ],
)
def test_a_factor_is_exact(unit, to, factor):
    assert find_unit_conversion_factor(unit, to) == factor


@pytest.mark.parametrize(
    ("unit", "to"),
    [
        ("mg/dL", "mmol/L"),
        ("g/dL", "%"),
        ("mg/dL", "mg/(24.h)"),
        ("m[IU]/L", "mU/L"),
        ("meq/L", "mmol/L"),
        ("mg/g{creat}", "mg/g"),
        ("[arb'U]/mL", "[IU]/mL"),
        ("furlong", "mm"),
    ],
)
def test_units_of_two_kinds_have_no_factor(unit, to):
    assert find_unit_conversion_factor(unit, to) is None


def test_mass_and_moles_meet_by_the_molar_mass():
    glucose = Decimal("180.156")

    found = convert_amount(90, unit="mg/dL", to="mmol/L", molar_mass=glucose)
    back = convert_amount(5, unit="mmol/L", to="mg/dL", molar_mass=glucose)

    assert round(float(found or 0), 3) == 4.996
    assert round(float(back or 0), 2) == 90.08


def moved(amount: Decimal, unit: str, to: str, mass: str | None = None) -> Fraction:
    found = convert_amount(
        amount, unit=unit, to=to, molar_mass=Decimal(mass) if mass else None
    )
    assert found is not None
    return found


@pytest.mark.parametrize(("unit", "to"), SAME_KIND)
@given(value=AMOUNTS, low=AMOUNTS, high=AMOUNTS)
def test_a_value_stays_on_its_side_of_every_bound(unit, to, value, low, high):
    inside = moved(low, unit, to) <= moved(value, unit, to) <= moved(high, unit, to)

    assert (low <= value <= high) == inside


@given(value=AMOUNTS, low=AMOUNTS, high=AMOUNTS)
def test_a_value_stays_inside_its_range_in_moles(value, low, high):
    new = [moved(a, "mg/dL", "mmol/L", "386.65") for a in (low, value, high)]

    assert (low <= value <= high) == (new[0] <= new[1] <= new[2])
