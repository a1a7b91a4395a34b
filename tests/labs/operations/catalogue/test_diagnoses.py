from __future__ import annotations

import pytest

from labs.operations.catalogue.diagnoses import (
    FOUND_AT_MOST,
    load_diagnoses_by_code,
    search_diagnoses,
    validate_diagnosis_codes,
)

pytestmark = pytest.mark.django_db


def found(text):
    return [one.code for one in search_diagnoses(text)]


def test_the_set_holds_well_formed_codes_in_their_order():
    codes = list(load_diagnoses_by_code())

    assert len(codes) >= 100
    assert codes == sorted(codes)
    assert validate_diagnosis_codes([c for c in codes if c[:3] < "Z79"]).is_valid


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("E11", ["E11.65", "E11.9"]),
        ("e119", ["E11.9"]),
        ("diabetes screening", ["Z13.1"]),
        ("Thyroid nod", ["E04.1"]),
        ("no such illness", []),
        ("  ", []),
    ],
)
def test_codes_are_found_by_their_beginning_or_by_words(text, codes):
    assert found(text) == codes


def test_a_search_gives_so_many_at_most():
    assert len(found("e")) == FOUND_AT_MOST


@pytest.mark.parametrize(
    ("codes", "is_valid", "faults"),
    [
        (["e119", "Z79.4"], True, []),
        (["Z79.4", "E11.9"], False, [("Z79.4", "secondary_first")]),
        (["E11.9", "E119"], False, [("E11.9", "repeated")]),
        (["sugar"], False, [("sugar", "malformed")]),
        (["C50.911"], True, [("C50.911", "unknown")]),
        ([], True, []),
    ],
)
def test_codes_are_checked_as_an_insurer_reads_them(codes, is_valid, faults):
    checked = validate_diagnosis_codes(codes)

    said = (*checked.errors, *checked.violations, *checked.warnings)
    assert checked.is_valid is is_valid
    assert [(fault.diagnosis_code, fault.code) for fault in said] == faults
