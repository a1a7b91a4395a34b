from __future__ import annotations

from datetime import date

import pytest

from users.analysis.heart_rate import (
    age_on_day,
    max_heart_rate,
    sum_seconds_in_heart_rate_zones,
)

DAY = date(2026, 2, 28)


@pytest.mark.parametrize(
    ("birth_date", "age"),
    [
        (date(1986, 2, 28), 40),
        (date(1986, 3, 1), 39),
        (date(2004, 2, 29), 21),
        (date(2026, 2, 28), 0),
        (date(2026, 3, 1), -1),
    ],
    ids=str,
)
def test_an_age_is_in_whole_years_on_the_day(birth_date, age):
    assert age_on_day(DAY, birth_date) == age


@pytest.mark.parametrize(
    ("birth_date", "most"),
    [
        (date(1986, 2, 28), 180),
        (date(1986, 3, 1), 181),
        (date(1906, 2, 28), 100),
        (date(1905, 2, 28), None),
        (date(2026, 3, 1), None),
    ],
    ids=str,
)
def test_the_maximum_heart_rate_is_220_minus_the_age(birth_date, most):
    assert max_heart_rate(DAY, birth_date) == most


def test_seconds_fall_into_zones_by_tenths_of_the_maximum():
    seconds = {
        *((89, 1000), (90, 1), (107, 2)),
        *((108, 10), (126, 100), (144, 1000), (161, 2000)),
        *((162, 10_000), (180, 20_000), (200, 40_000)),
    }

    assert sum_seconds_in_heart_rate_zones(dict(seconds), 180) == [
        3,
        10,
        100,
        3000,
        70_000,
    ]
