"""Which part of a range is for the patient: by sex, by age, or undecided."""

from __future__ import annotations

import pytest

from reports.parser.text.range_groups import choose_range_for_patient
from reports.parser.text.ranges import Bounds, parse_range_bounds

SEXES = [
    ("Male 4.8-5.5 Female 4.3-4.8", "male", "4.8-5.5"),
    ("Male 4.8-5.5 Female 4.3-4.8", "female", "4.3-4.8"),
    ("13.5-17.5 (M) 12-15.5 (F)", "female", "12-15.5"),
    ("M: 13.0-17.0; F: 12.0-15.0", "female", "12.0-15.0"),
    ("Männer: 13,5 - 17,5 Frauen: 12,0 - 16,0", "female", "12,0 - 16,0"),
    ("Hommes : 13 à 17 Femmes : 12 à 16", "male", "13 à 17"),
    ("Hombres: 13-17 Mujeres: 12-16", "female", "12-16"),
    ("H: 13-17 M: 12-16", "female", "12-16"),
    ("H: 13-17 F: 12-16", "male", "13-17"),
    ("Homens: 13 a 17 Mulheres: 12 a 15", "male", "13 a 17"),
    ("Uomini 13-17 Donne 12-16", "female", "12-16"),
    ("Adult Male: 13-17", "male", "13-17"),
    ("13 - 17 Male", "male", "13 - 17"),
]
UNDECIDED = [
    ("Male 4.8-5.5 Female 4.3-4.8", None),
    ("13 - 17 Male", "female"),
    ("Female: 12-15", "male"),
    ("Male: 13-17", None),
]
AGES = [
    ("<6 years:up to 50 / >6 years:up to 40", 4.0, "up to 50"),
    ("<6 years:up to 50 / >6 years:up to 40", 30.0, "up to 40"),
    ("18 - 60 yrs: 0.3-1.2 61 - 90 yrs: 0.4-1.5", 60.5, "0.3-1.2"),
    ("0 - 1 month: 10-30 1 - 12 months: 5-20", 0.9, "5-20"),
    ("Children: 5-20 Adults: 3-12", 44.0, "3-12"),
    ("Children: 5-20 Adults: 3-12", 7.0, "5-20"),
    ("Erwachsene: 3-12 Kinder: 5-20", 44.0, "3-12"),
]


@pytest.mark.parametrize(("text", "sex", "part"), SEXES)
def test_the_sex_of_the_header_chooses(text, sex, part):
    assert choose_range_for_patient(text, sex=sex, age=None) == part


@pytest.mark.parametrize(("text", "sex"), UNDECIDED)
def test_a_part_for_others_is_not_taken(text, sex):
    assert choose_range_for_patient(text, sex=sex, age=None) is None


@pytest.mark.parametrize(("text", "age", "part"), AGES)
def test_the_age_of_the_header_chooses(text, age, part):
    assert choose_range_for_patient(text, sex=None, age=age) == part


def test_without_an_age_no_part_by_age_is_taken():
    text = "<6 years:up to 50 / >6 years:up to 40"

    assert choose_range_for_patient(text, sex="male", age=None) is None


def test_sex_and_age_choose_together():
    text = "Male 18-60 years: 10-20 Male >60 years: 12-25 Female: 8-15"

    assert choose_range_for_patient(text, sex="male", age=65.0) == "12-25"
    assert choose_range_for_patient(text, sex="female", age=65.0) == "8-15"
    assert choose_range_for_patient(text, sex=None, age=65.0) is None


@pytest.mark.parametrize(
    "text",
    ["13 - 17", "3.8-5.1 M/uL", "4.2 - 5.4 M", "Negative", "0-20 mm/1st hr", "< 5"],
)
def test_a_range_for_all_is_left_whole(text):
    assert choose_range_for_patient(text, sex=None, age=None) == text


def test_bands_within_the_chosen_part_leave_it_undecided():
    text = "Men: 25.8-60.7 Women cyclic: 12.4-398 Menopausal: <5-138"

    assert parse_range_bounds(text, sex="male") == Bounds(25.8, 60.7)
    assert parse_range_bounds(text, sex="female") == Bounds()
