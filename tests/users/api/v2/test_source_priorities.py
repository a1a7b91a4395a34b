"""Which sources count first: by team and by user, and in aggregates."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.audit import audited
from tests.contract.typed_client import read_as_client
from tests.factories.users import make_user
from tests.users.api.v2.test_aggregates import get, watch_and_phone
from users.models import SourcePriority

pytestmark = pytest.mark.django_db
PATH = "/v2/team/source/priorities"


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def ranked(reply):
    assert reply.status_code == 200
    (found,) = reply.json()
    return found["source_priority"], found["is_own"]


def write(api, sources, **more):
    body = {"source_priority": sources} | more
    return api.patch(PATH, body, format="json")


def test_a_team_ranks_its_sources_and_reads_it_again(alice_api, alice_tenant):
    before = alice_api.get(PATH)
    written = write(alice_api, ["Oura", "apple_health_kit"], data_type="timeseries")
    read = alice_api.get(PATH, {"data_type": "timeseries"})

    assert ranked(before) == ([], False)
    assert (
        read.json()
        == written.json()
        == [
            {
                "data_type": "timeseries",
                "user_id": None,
                "source_priority": ["oura", "apple_health_kit"],
                "is_own": True,
            }
        ]
    )
    read_as_client(read.json(), "get", PATH)
    read_as_client(written.json(), "patch", PATH)
    assert alice_api.get(PATH, {"data_type": "workouts"}).json() == []
    (line,) = audited(alice_tenant)
    assert line == ("rank_sources", "source_priority", str(alice_tenant.pk))


def test_a_user_has_a_ranking_of_its_own_or_the_team_s(alice_api, user):
    mine = {"user_id": str(user.uuid)}
    write(alice_api, ["oura"])
    inherited = alice_api.get(PATH, mine)
    write(alice_api, ["withings"], **mine)
    own = alice_api.get(PATH, mine)
    removed = write(alice_api, [], **mine)

    assert ranked(inherited) == (["oura"], False)
    assert ranked(own) == (["withings"], True)
    assert ranked(removed) == (["oura"], False)
    assert SourcePriority.objects.for_tenant(user.tenant).count() == 1


def test_totals_follow_the_ranking_from_the_next_call(alice_api, user):
    watch_and_phone(user)
    first_of_all = get(alice_api, user).json()["data"][0]["sum"]
    write(alice_api, ["apple_health_kit"])
    by_team = get(alice_api, user).json()["data"][0]["sum"]
    write(alice_api, ["fitbit"], user_id=str(user.uuid))
    by_user = get(alice_api, user).json()["data"][0]["sum"]
    asked = get(alice_api, user, priority="apple_health_kit").json()["data"][0]["sum"]

    assert first_of_all == by_user != by_team == asked


def test_an_absent_ranking_changes_nothing(alice_api, alice_tenant):
    write(alice_api, ["oura"])

    assert ranked(alice_api.patch(PATH, {}, format="json")) == (["oura"], True)


@pytest.mark.parametrize(
    "body",
    [
        {"source_priority": ["oura", "nobody"]},
        {"source_priority": ["oura", "OURA"]},
        {"source_priority": "oura"},
        {"source_priority": ["oura"], "data_type": "workouts"},
        {"source_priority": ["oura"], "user_id": "none"},
    ],
    ids=["unknown", "twice", "no list", "another type", "no ID"],
)
def test_what_is_no_ranking_is_refused_and_written_nowhere(
    alice_api, alice_tenant, body
):
    reply = alice_api.patch(PATH, body, format="json")

    assert reply.status_code == 422
    assert not SourcePriority.unscoped.exists()


def test_a_stranger_s_user_is_not_found(alice_api, charlie_tenant):
    stranger = str(make_user(tenant=charlie_tenant).uuid)

    assert alice_api.get(PATH, {"user_id": stranger}).status_code == 404
    assert write(alice_api, ["oura"], user_id=stranger).status_code == 404
    assert alice_api.get(PATH, {"user_id": str(uuid4())}).status_code == 404
    assert not SourcePriority.unscoped.exists()
