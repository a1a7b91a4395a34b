from __future__ import annotations

import pytest

from labs.queries.appointments.zip_codes import (
    compute_miles_between,
    find_zip_code_location,
)


def test_a_zip_code_lies_somewhere():
    place = find_zip_code_location("85004-1234")

    assert place is not None
    assert (place.zip_code, place.city, place.state) == ("85004", "Phoenix", "AZ")
    assert (place.latitude, place.longitude) == (33.4557, -112.0686)
    assert place.time_zone == "America/Phoenix"


@pytest.mark.parametrize("zip_code", ["", "8500", "850044", "00000", "AE 12", "09001"])
def test_what_is_no_zip_code_of_the_country_lies_nowhere(zip_code):
    assert find_zip_code_location(zip_code) is None


@pytest.mark.parametrize(
    ("zip_code", "zone"),
    [
        ("86040", "America/Phoenix"),
        ("86515", "America/Denver"),
        ("37402", "America/New_York"),
        ("37380", "America/Chicago"),
    ],
)
def test_zones_meet_where_they_do(zip_code, zone):
    assert find_zip_code_location(zip_code).time_zone == zone


def test_miles_are_as_the_crow_flies():
    phoenix = (33.4484, -112.0740)

    assert compute_miles_between(*phoenix, *phoenix) == 0
    # A degree of a great circle, and one of longitude where it is half of that.
    assert round(compute_miles_between(33.0, -112.0, 34.0, -112.0), 2) == 69.09
    assert round(compute_miles_between(60.0, -112.0, 60.0, -111.0), 2) == 34.55
