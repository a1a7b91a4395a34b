"""Spellings of units: what they are read as, what they measure, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lib.units import (
    Dimension,
    can_printed_unit_express_loinc_property,
    find_unit_dimension,
    format_unit,
    looks_like_unit,
    normalize_unit,
    parse_printed_unit,
)

# UCUM text to the spellings met on reports, one spelling a line part.
SPELLINGS: dict[str, str] = {
    "10*3/uL": """x10E3/uL|10^3/uL|x10^3/uL|X 10³ / µL|K/mcL|K/µL|K/uL|thou/mm3|thou/µL
        |10~3/uL|x1000/uL|1000/uL|10*3/mm3|thousands/cmm|Thousand/uL|10'3/uL|x10(3)/mcL
        |10^3/cumm|10e3/ul|x 10^3 / cu.mm|10³/mm³|10 3/uL""",
    "10*9/L": "x 109/L|x10⁹/L|10^9/L|X10^9/L|10^9 / L|x10E9/L|Bin/µL|G/L|G/l|Bil/L",
    "10*5/uL": "lakhs/cumm|Lakh/µL|lac/cumm|Lakhs/cmm|lakhs/cu.mm|lakhs cumm",
    "10*6/uL": """Million/uL|mill/cumm|million/cumm|M/uL|mill/mm3|10^6/uL|x10E6/uL
        |10*6/mm3|millions/cmm|mil/uL""",
    "10*12/L": "10^12/L|x10¹²/L|x 1012/L|T/L|T/l",
    "/uL": "/uL|cells/cumm|parasites/µL|cumm|/cu mm|/cumm|cells/uL|cells/mm³|/mm3|/µL"
    "|cells / cu.mm",
    "/[HPF]": "/hpf|/HPF|/h.p.f|cells/hpf|/HP Field|per hpf|hpf|p/campo|/ HPF",
    "/[LPF]": "/lpf|/LPF|lpf|per lpf",
    "%": "%|percent| % |(%)|% of total Hb|%NGSP|% (calc)",
    "g/dL": "g/dL|gm/dL|gms/dl|G/DL|g%|gm%|gm %|g/dl.|(g/dL)|[g/dL]|g/d1|gm/100ml",
    "g/L": "g/L|gm/L|g/l|g / L",
    "mg/dL": """mg/dL|mgs/dl|MG/DL|mg%|mgm%|%mg|% mg/dl|mg/dL (calc)|mg/dI|mg /dl
        |mg/100 mL""",
    "mg/L": "mg/L|MG/L|mg/l",
    "ug/dL": "ug/dL|µg/dL|μg/dl|mcg/dL|µg%|microgm/dl|µgm/dl|UG/DL",
    "ug/mL": "ug/mL|mcg/mL|µg/ml",
    "ug/L": "ug/L|µg/L|mcg/L",
    "ng/mL": "ng/mL|NG/ML|ng/ml|ng / mL",
    "ng/dL": "ng/dL|ng/dl",
    "ng/L": "ng/L",
    "pg/mL": "pg/mL|PG/ML|pg/ml|picogram/ml",
    "pg": "pg|Pg|PG|pgm",
    "fL": "fL|fl|FL|Fl",
    "mmol/L": "mmol/L|MMOL/L|mmoI/L|mmo1/L|m.mol/L|mmol/l|mmoles/L",
    "umol/L": "umol/L|µmol/L|μmol/l|micromol/L|UMOL/L",
    "nmol/L": "nmol/L|nmol/l",
    "pmol/L": "pmol/L|pmol/l",
    "meq/L": "mEq/L|meq/l|MEQ/L|mEq / L|mval/L",
    "U/L": "U/L|u/l|Units/L|unit/L|U/l|UN/L",
    "[IU]/L": "IU/L|iu/l|I.U./L|UI/L|lU/L|IE/l",
    "U/mL": "U/mL|u/ml|units/mL",
    "[IU]/mL": "IU/mL|iu/ml|UI/mL|IU/ml",
    "m[IU]/L": "mIU/L|mlU/L|MIU/L|mUI/L|mIU/l",
    "m[IU]/mL": "mIU/mL|mlU/mL|mUI/mL|mIU/ml",
    "u[IU]/mL": "µIU/mL|μIU/mL|uIU/mL|µlU/mL|UIU/ML|mcIU/mL|µUI/mL",
    "mU/L": "mU/L",
    "kU/L": "kU/L|KU/L|kUA/L",
    "mmol/mol": "mmol/mol|mmol/mol Hb|mmol/mol (IFCC)",
    "mL/min/{1.73_m2}": """mL/min/1.73m2|mL/min/1.73 m²|ml/min/1.73 sq.m|ml/min/1.73
        |mL/min/1.73m^2|ML/MIN/1.73|mL/min/{1.73_m2}|ml/min/1,73m²|mL/min/1.73 m2
        |ml/min per 1.73 m2|mL/dk/1.73 m²|mL/minute/1.73m2""",
    "mL/min": "mL/min|ml/min|ML/MIN",
    "mm/h": "mm/hr|mm/h|mm/1st hr|mm/1hr.|mm/hour|mm 1st hour|mm/1 hr|MM/HR",
    "s": "sec|seconds|Sec.|secs|s|SECONDS",
    "mm[Hg]": "mmHg|mm Hg|mm/Hg|MMHG",
    "mg/g{creat}": "mg/g creat|mg/gm creatinine|mg/g Cr|mg/g of creatinine|mg/g crea",
    "mg/g": "mg/g",
    "ug/mg{creat}": "ug/mg creat|mcg/mg creat|µg/mg creatinine",
    "mg/mmol": "mg/mmol",
    "ug/g": "µg/g|ug/g|mcg/g",
    "mg/(24.h)": "mg/24 hrs|mg/24h|mg/24 hr|mg/day|mg/24hours|mg/d",
    "{copies}/mL": "copies/mL|copies/ml|cp/mL",
    "{s_co_ratio}": "S/CO|s/co|S/C|Signal/Cutoff",
    "{cutoff_index}": "COI|Cut off index",
    "{index}": "index|Index|INDEX|Index value",
    "{ratio}": "ratio|Ratio|RATIO",
    "mU/mL": "nmol/min/mL|nmol/mL/min",
    "ng/mL{FEU}": "ng/mL FEU|ng/mL (FEU)|ng FEU/mL",
    "ug/mL{FEU}": "ug/mL FEU|mcg/mL FEU|µg FEU/mL|ug/mL{FEU}",
    "mg/L{FEU}": "mg/L FEU|mg/L (FEU)",
    "{Ehrlich'U}/dL": "EU/dL|Ehrlich units/dL|E.U./dL",
    "mosm/kg": "mOsm/kg|mosmol/kg|mOsm/kg H2O|MOSM/KG",
    "[GPL'U]/mL": "GPL U/mL|GPL/mL|GPL units/mL",
    "[arb'U]/mL": "AU/mL|RU/mL|au/ml",
    "ng/mL/h": "ng/mL/hr|ng/ml/h",
    "U/g{Hb}": "U/g Hb|U/gm Hb|U/g Hgb",
    "L/L": "L/L|l/l",
    "[pH]": "pH units|[pH]",
}
ROWS = [
    (spelling.strip("\n "), unit)
    for unit, spellings in SPELLINGS.items()
    for spelling in spellings.replace("\n", "").split("|")
]


def test_a_printed_unit_looks_like_one_and_is_read_into_ucum() -> None:
    found = [(spelling, normalize_unit(spelling)) for spelling, _ in ROWS]

    assert found == ROWS
    assert [spelling for spelling, _ in ROWS if not looks_like_unit(spelling)] == []
    assert len(ROWS) > 300


def test_canonical_text_has_a_dimension() -> None:
    units = set(SPELLINGS) - {"10*5/uL"}

    assert {
        unit for unit in units if find_unit_dimension(unit) is Dimension.OTHER
    } == set()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-",
        "L",
        "H",
        "N",
        "A",
        "C",
        "Normal",
        "Negative",
        "Reactive",
        "Positive",
        "Low",
        "High",
        "Male",
        "test",
        "name",
        "page",
        "page 1 of 3",
        "method",
        "CLIA",
        "HPLC",
        "years",
        "Nil",
        "Absent",
        "No growth",
        "INR",
        "pH",
        "5",
        "120",
        "10",
        "109",
        "1:64",
        "70 - 99",
        "<200",
        "12/01/2024",
        "per",
        "total",
        "mol",
        "mill",
        "Glucose",
        "Clin Biochem. 2020",
        "and/or",
        "his/her",
        "a/b",
        "N/A",
        "Yes/No",
        "x" * 200,
    ],
)
def test_words_flags_numbers_and_ranges_are_no_units(text: str) -> None:
    assert not looks_like_unit(text)


@pytest.mark.parametrize("text", ["Negative", "", "N/A", "and/or", "mill", "12.5"])
def test_an_unknown_unit_is_none(text: str) -> None:
    assert normalize_unit(text) is None


def test_capital_g_per_litre_reads_as_giga_first_and_gram_second() -> None:
    assert parse_printed_unit("G/L") == ("10*9/L", "g/L")
    assert parse_printed_unit("g/L") == ("g/L",)
    assert can_printed_unit_express_loinc_property(property="MCnc", units="G/L") is True
    assert can_printed_unit_express_loinc_property(property="NCnc", units="G/L") is True
    assert (
        can_printed_unit_express_loinc_property(property="SCnc", units="G/L") is False
    )


@pytest.mark.parametrize(
    ("property", "units", "agrees"),
    [
        ("MCnc", "mg/dL", True),
        ("MCnc", "mmol/L", False),
        ("SCnc", "mmol/L", True),
        ("SCnc", "mEq/L", True),
        ("NCnc", "x10E3/uL", True),
        ("NCnc", "%", False),
        ("NFr", "%", True),
        ("NFr", "cells/uL", False),
        ("CCnc", "U/L", True),
        ("CCnc", "IU/L", True),
        ("CCnc", "ng/mL", False),
        ("ACnc", "mIU/L", True),
        ("ACnc", "index", True),
        ("SRto", "mmol/mol", True),
        ("MFr", "mmol/mol", False),
        ("EntVol", "fL", True),
        ("EntVol", "%", False),
        ("EntMass", "pg", True),
        ("Naric", "/hpf", True),
        ("Naric", "/uL", False),
        ("ArVRat", "mL/min/1.73m2", True),
        ("MSRto", "mg/mmol", True),
        ("MRto", "mg/g creat", True),
        ("Time", "sec", True),
        ("Vel", "mm/hr", True),
        ("PrThr", "mg/dL", None),
        ("MCnc", "furlongs", None),
    ],
)
def test_a_unit_agrees_or_not_with_a_property(
    property: str, units: str, agrees: bool | None
) -> None:
    assert (
        can_printed_unit_express_loinc_property(property=property, units=units)
        is agrees
    )


@given(st.text(max_size=60))
def test_any_text_is_read_without_failing_and_to_known_dimensions(text: str) -> None:
    unit = normalize_unit(text)

    assert unit is None or find_unit_dimension(unit) in Dimension
    assert not looks_like_unit(text) or unit is not None


@given(st.sampled_from(sorted(SPELLINGS)))
def test_canonical_text_is_read_as_itself(unit: str) -> None:
    assert normalize_unit(unit) == unit


@given(
    st.sampled_from(ROWS),
    st.sampled_from(("", " ", "  ")),
    st.sampled_from(("", " ", ".")),
)
def test_blanks_and_a_full_stop_around_a_unit_change_nothing(
    row: tuple[str, str], before: str, after: str
) -> None:
    spelling, unit = row

    assert normalize_unit(before + spelling + after) == unit


@given(st.sampled_from([row for row in ROWS if row[1] not in ("10*9/L", "10*12/L")]))
def test_case_changes_nothing_but_giga_and_tera(row: tuple[str, str]) -> None:
    spelling, unit = row
    capitals = {"g/L", "g/(24.h)"}

    if unit not in capitals:
        assert normalize_unit(spelling.upper()) == unit
    assert normalize_unit(spelling.lower()) == unit


@pytest.mark.parametrize(
    ("printed", "ucum"),
    [
        ("/pl", "/pL"),
        ("mm/1 hora", "mm/h"),
        ("mm (1. Std.)", "mm/h"),
        ("mm/godz.", "mm/h"),
        ("mg/24 horas", "mg/(24.h)"),
        ("mg/g de creatinina", "mg/g{creat}"),
        ("µm³", "fL"),
        ("kUI/L", "k[IU]/L"),
        ("UI/I", "[IU]/L"),
        ("/wpw", "/[HPF]"),
        ("/nl", "/nL"),
        ("E9/L", "10*9/L"),
        ("*10^9/L", "10*9/L"),
        ("x10ˆ3/uL", "10*3/uL"),
        ("milhões/mm3", "10*6/uL"),
        ("milioni/mmc", "10*6/uL"),
        ("mila/mm3", "10*3/uL"),
        ("por campo", "/[HPF]"),
        ("mg/día", "mg/(24.h)"),
        ("GPL-U/mL", "[GPL'U]/mL"),
        ("nmol BCE/mmol", "nmol/mmol"),
        ("ng/mL RBC", "ng/mL"),
        ("% of total", "%"),
    ],
)
def test_spellings_of_other_countries_are_read(printed: str, ucum: str) -> None:
    assert normalize_unit(printed) == ucum


def test_mil_may_be_a_million_or_a_thousand() -> None:
    assert parse_printed_unit("mil/mm3") == ("10*6/uL", "10*3/uL")


@pytest.mark.parametrize(
    ("ucum", "shown"),
    [
        ("10*3/uL", "10³/µL"),
        ("10*12/L", "10¹²/L"),
        ("u[IU]/mL", "µIU/mL"),
        ("m[IU]/L", "mIU/L"),
        ("umol/L", "µmol/L"),
        ("ug/dL", "µg/dL"),
        ("mL/min/{1.73_m2}", "mL/min/1.73 m²"),
        ("mg/g{creat}", "mg/g creat"),
        ("{ratio}", "ratio"),
        ("[pH]", "pH"),
        ("mm[Hg]", "mmHg"),
        ("[arb'U]/mL", "arb. U/mL"),
        ("/[HPF]", "/HPF"),
        ("U/L", "U/L"),
        ("units", "units"),
        ("", ""),
    ],
)
def test_a_unit_is_shown_as_people_read_it(ucum, shown):
    assert format_unit(ucum) == shown
