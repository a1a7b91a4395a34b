from __future__ import annotations

from uuid import uuid4

import pytest

from tests.audit import audited
from tests.factories.streams import make_stream, make_workout
from tests.factories.summaries import MOST, record
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def address(user, workout_id, query=""):
    slug = user.tenant.team.slug
    start = f"/t/{slug}/{user.tenant.environment}/users/{user.uuid}"
    return f"{start}/workouts/{workout_id}/{query}"


def test_a_workout_says_what_its_source_said(alice_web, user):
    (workout_id,) = record(user, "workouts", MOST["workouts"]).ids

    reply = alice_web.get(address(user, workout_id))

    shown = reply.context["workout"]
    assert shown.name == "Evening run"
    assert shown.when == "Sat 28 Feb 2026, 12:00 to 13:00"
    assert ("Distance", "9,800.5 m") in shown.facts
    assert shown.zones[0] == ("Zone 1, 50–60%", "5 min")


def test_the_stream_is_read_only_when_opened_and_that_is_audited(
    alice_web, alice_tenant, user
):
    workout = make_workout(user)
    make_stream(workout, lat=[52.1, 52.2, None], lng=[13.1, 13.2, None])
    before = len(audited(alice_tenant))

    closed = alice_web.get(address(user, workout.id))
    opened = alice_web.get(address(user, workout.id, "?stream=on"))
    mapped = alice_web.get(address(user, workout.id, "?stream=map"))

    assert closed.context["channels"] == []
    assert [each.name for each in opened.context["channels"]] == ["Heart rate", "Speed"]
    assert opened.context["channels"][0].finding == "Low 118, high 119, mean 118.5"
    assert opened.context["route"] is None
    assert "<path" in mapped.context["route"]
    assert [subject for _, subject, _ in audited(alice_tenant)[before:]] == [
        *["workouts"],
        *["workouts", "workout_stream"],
        *["workouts", "workout_stream", "workout_route"],
    ]


def test_a_workout_without_a_stream_says_so(alice_web, user):
    workout = make_workout(user)

    reply = alice_web.get(address(user, workout.id, "?stream=on"))

    assert reply.context["has_stream"] is False
    assert b"No stream" in reply.content


def test_a_summary_of_another_kind_or_user_is_no_workout(alice_web, alice_tenant, user):
    (sleep_id,) = record(user, "sleep").ids
    others = make_workout(make_user(tenant=alice_tenant))

    for wanted in (sleep_id, others.id, uuid4(), "none"):
        assert alice_web.get(address(user, wanted)).status_code == 404


def test_a_stranger_finds_nothing(charlie_web, user):
    assert charlie_web.get(address(user, make_workout(user).id)).status_code == 404
