from __future__ import annotations

import pytest

from labs.states.trends import (
    convert_result_to_unit,
    get_loinc_measure_code,
    is_same_unit,
    list_loinc_codes_of_measure,
)


@pytest.mark.parametrize(
    ("value", "unit", "to", "loinc", "expected"),
    [
        (1.0, "mg/L", "mg/dL", "30522-7", 0.1),
        (5.5, "mmol/L", "mg/dL", "14749-6", 99.086),
        (100.0, "mg/dL", "mmol/L", "2093-3", 2.5863),
        (1.0, "mg/dL", "umol/L", "2160-0", 88.402),
        (14.0, "mg/dL", "mmol/L", "3094-0", 4.9975),
    ],
)
def test_values_convert_where_the_measure_allows(value, unit, to, loinc, expected):
    found = convert_result_to_unit(value, unit=unit, to=to, loinc=loinc)

    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("unit", "to", "loinc"),
    [("mmol/L", "mg/dL", "30522-7"), ("mg/dL", "%", "2345-7"), ("", "mg/dL", "2345-7")],
)
def test_what_cant_be_compared_is_not_converted(unit, to, loinc):
    assert convert_result_to_unit(5.0, unit=unit, to=to, loinc=loinc) is None


def test_twins_by_mass_and_moles_are_one_measure():
    assert (
        get_loinc_measure_code("14749-6")
        == get_loinc_measure_code("2345-7")
        == "2345-7"
    )
    assert list_loinc_codes_of_measure("2345-7") == ("2345-7", "14749-6")
    assert (get_loinc_measure_code("718-7"), list_loinc_codes_of_measure("718-7")) == (
        "718-7",
        ("718-7",),
    )


def test_a_units_spelling_makes_no_other_unit():
    assert is_same_unit("mg/dl", "mg/dL")
    assert not is_same_unit("mg/L", "mg/dL")
    assert is_same_unit("", "")
