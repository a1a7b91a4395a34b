from __future__ import annotations

from datetime import UTC, datetime

import pytest

from accounts.models import Member, Team
from portal.home.greeting import greet_member


@pytest.mark.parametrize(
    ("own", "team", "hour", "words", "day"),
    [
        ("", "UTC", 8, "Good morning, Noor", "Saturday 21 November"),
        ("", "UTC", 12, "Good afternoon, Noor", "Saturday 21 November"),
        ("", "UTC", 18, "Good evening, Noor", "Saturday 21 November"),
        ("", "Asia/Kolkata", 8, "Good afternoon, Noor", "Saturday 21 November"),
        ("Australia/Sydney", "UTC", 20, "Good morning, Noor", "Sunday 22 November"),
    ],
)
def test_a_member_is_greeted_by_the_clock_of_their_place(own, team, hour, words, day):
    greeting = greet_member(
        member=Member(name="Noor", time_zone=own),
        team=Team(time_zone=team),
        now=datetime(2026, 11, 21, hour, tzinfo=UTC),
    )

    assert (greeting.words, greeting.day) == (words, day)


def test_a_member_without_a_name_is_greeted_too():
    greeting = greet_member(
        member=Member(),
        team=Team(time_zone="UTC"),
        now=datetime(2026, 11, 21, 8, tzinfo=UTC),
    )

    assert greeting.words == "Good morning"
