"""The grammar that the fields of every row obey, whichever reader found it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.parser.pages import Word
from reports.parser.rows.grammar import (
    breaks_value_grammar,
    drop_gloss_before_value,
    list_scripts,
    settle_fields_by_grammar,
)
from reports.parser.text.fields import Fields, join_word_texts

GLOSSES = ("钠", "氯化物", "估計腎小球濾過率", "Натрий", "صوديوم", "सोडियम", "Νάτριο")
NUMBERS = ("141", "0.21", "< 0.1", "1,45,000", "6,73", ">90", "1:64")
UNITS = ("mmol/L", "g/dL", "%", "10^9/L", "mg Alb/mmol", "U/L", "mL/min/1.73m2")


def words_of(*cells):
    """Words of one line of ten-point print, each cell apart from the one before."""
    x, found = 0.0, []
    for cell in cells:
        for text in cell.split():
            found.append(Word(text, x, 0.0, x + 6.0 * len(text), 10.0, 10.0))
            x = found[-1].x1 + 3.0
        x += 20.0
    return found


def fields_of(value, *, units=None, range_=None):
    return Fields(
        value=value,
        units=units,
        range=range_,
        value_words=tuple(words_of(value)),
        units_words=tuple(words_of(units)) if units else (),
        range_words=tuple(words_of(range_)) if range_ else (),
    )


@pytest.mark.parametrize(
    "value",
    [
        "钠 141 mmol/L",
        "0.9 mg Alb/mmol",
        "sodium 141 mmol/L",
        "钠 abc",
        "00000000",
        "5.2 %x 7 g/L",
    ],
)
def test_a_phrase_with_a_number_and_its_unit_or_two_scripts_is_no_value(value):
    assert breaks_value_grammar(value)


@pytest.mark.parametrize(
    "value",
    ["141", "< 0.1", "1:64", "Non reactive", "1+", "阴性", "Pale yellow", "µ", "0 - 5"],
)
def test_numbers_titres_and_findings_are_values(value):
    assert not breaks_value_grammar(value)


@given(
    st.sampled_from(GLOSSES), st.sampled_from(NUMBERS[:-1]), st.sampled_from(UNITS[:4])
)
def test_a_gloss_in_another_script_is_left_out_of_the_value(gloss, number, unit):
    words = drop_gloss_before_value(words_of(gloss, f"{number} {unit}"))

    assert join_word_texts(words) == f"{number} {unit}"


@given(
    st.sampled_from(("Natrium", "Kreatinin im Serum")), st.sampled_from(NUMBERS[:-1])
)
def test_a_gloss_that_stands_apart_is_left_out_of_the_value(gloss, number):
    words = drop_gloss_before_value(words_of(gloss, f"{number} mmol/L"))

    assert join_word_texts(words) == f"{number} mmol/L"


@pytest.mark.parametrize(
    "cell", ["Not below 3", "阴性", "Negative", "Reactive 1:64", "pending"]
)
def test_what_is_no_gloss_stays(cell):
    words = words_of(cell)

    assert drop_gloss_before_value(words) == words


@given(st.sampled_from(NUMBERS[:2]), st.sampled_from(("mg Alb/mmol", "ng FEU/mL")))
def test_a_unit_with_a_name_in_it_is_taken_out_of_the_value(number, unit):
    settled = settle_fields_by_grammar(fields_of(f"{number} {unit}"))

    assert (settled.value, settled.units) == (number, unit)


@pytest.mark.parametrize(
    ("before", "after", "flag"),
    [
        ("High 40 - 50", "40 - 50", "High"),
        ("Borderline 150000 - 410000", "150000 - 410000", "Borderline"),
        ("Critical low 13.0 - 17.0", "13.0 - 17.0", "Critical low"),
    ],
)
def test_a_flag_before_a_range_is_the_flag(before, after, flag):
    settled = settle_fields_by_grammar(fields_of("57.5", range_=before))

    assert (settled.range, settled.flag) == (after, flag)
    assert join_word_texts(settled.range_words) == after


@pytest.mark.parametrize(
    "text", ["High risk", "Normal 4.0 - 5.6 High 5.7", "Low 1 High 2"]
)
def test_a_range_in_bands_keeps_its_words(text):
    assert settle_fields_by_grammar(fields_of("5", range_=text)).range == text


def test_a_percent_sign_alone_in_a_range_is_the_unit():
    settled = settle_fields_by_grammar(
        fields_of("7.1", range_="Rango de referencia % para adulto: 4.0% - 5.6%")
    )

    assert settled.units == "%"
    assert settled.range == "Rango de referencia para adulto: 4.0% - 5.6%"


def test_a_unit_behind_a_range_with_a_remark_is_the_unit_and_ends_the_range():
    settled = settle_fields_by_grammar(
        fields_of("71", range_="43-180 pg/mL Premeno-luteal or ERT")
    )

    assert settled.units == "pg/mL"
    assert settled.range == "43-180 pg/mL"


@pytest.mark.parametrize("unit", ["mm/1", "mm/1 hr", "/1", "10^9/1"])
def test_one_hour_is_no_litre(unit):
    assert settle_fields_by_grammar(fields_of("15", units=unit)).units == unit


@given(st.text(max_size=24), st.text(max_size=24), st.text(max_size=40))
def test_the_rules_settle_at_once_and_use_no_digit_twice(value, unit, spread):
    once = settle_fields_by_grammar(fields_of(value, units=unit or None, range_=spread))

    assert settle_fields_by_grammar(once) == once
    printed = f"{value}{unit}{spread}"
    for digit in "0123456789":
        # A unit that is also told beside a range is the one text that is read twice.
        told = f"{once.value}{once.range or ''}"
        assert told.count(digit) <= printed.count(digit)


@given(st.text(max_size=30))
def test_every_text_has_scripts_and_a_verdict(text):
    assert breaks_value_grammar(text) in (True, False)
    assert len(list_scripts(text)) <= max(1, len(text))
