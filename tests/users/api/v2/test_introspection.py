from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.models import Pull
from users.operations.sources.pulls import (
    end_data_pull,
    record_completed_backfill,
    record_pull_attempt,
    start_data_pull,
)
from users.operations.sources.sources import (
    connect_source,
    disconnect_source,
    record_data_arrival,
)

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
START = NOON - timedelta(days=30)
RESOURCES = "/v2/introspect/resources"
HISTORIES = "/v2/introspect/historical_pull"


@pytest.fixture
def source(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    user = make_user(tenant=alice_tenant)
    return connect_source(user=user, actor=ACTOR, provider="ultrahuman")


def test_resources_say_what_came_and_when_it_was_last_asked_for(
    source, alice_api, alice_tenant
):
    record_data_arrival(
        user=source.user,
        provider="ultrahuman",
        resource="heartrate",
        at=NOON,
        received=9,
        created=7,
        updated=1,
        dropped=0,
        oldest=START,
        newest=NOON,
    )
    record_pull_attempt(
        user=source.user,
        provider="ultrahuman",
        resource="sleep",
        at=NOON,
        failed=True,
    )

    reply = alice_api.get(RESOURCES)

    assert reply.status_code == 200
    assert reply.json() == {
        "data": [
            {
                "user_id": str(source.user.uuid),
                "provider": {
                    "ultrahuman": {
                        "heartrate": {
                            "last_attempt": {
                                "timestamp": "2026-03-09T12:00:00+00:00",
                                "status": "success",
                            },
                            "sent_count": 8,
                            "oldest_data": "2026-02-07T12:00:00+00:00",
                            "newest_data": "2026-03-09T12:00:00+00:00",
                        },
                        "sleep": {
                            "last_attempt": {
                                "timestamp": "2026-03-09T12:00:00+00:00",
                                "status": "failure",
                            },
                            "sent_count": 0,
                        },
                    }
                },
            }
        ],
        "next": None,
        "next_cursor": None,
    }
    assert audited(alice_tenant)[-1] == ("read", "introspected_resources", "users=1")


def test_backfills_say_how_they_went_and_what_was_never_pulled(source, alice_api):
    record_completed_backfill(
        connection=source,
        actor=ACTOR,
        resource="sleep",
        range_start=START,
        range_end=NOON,
        days_with_data=28,
    )
    pull = Pull(
        tenant=source.tenant,
        connection=source,
        user=source.user,
        provider="ultrahuman",
        resource="glucose",
        is_history=True,
    )
    pull.save()
    start_data_pull(pull=pull)
    end_data_pull(pull=pull, actor=ACTOR, error_type="http_503")

    [found] = alice_api.get(HISTORIES, {"provider": "Ultrahuman"}).json()["data"]

    at = "2026-03-09T12:00:00+00:00"
    timeline = {"scheduled_at": at, "started_at": at, "ended_at": at}
    history = found["provider"]["ultrahuman"]
    traces = [history["pulled"][each].pop("trace_id") for each in ("sleep", "glucose")]
    assert len(set(traces)) == 2
    assert history == {
        "pulled": {
            "sleep": {
                "status": "success",
                "timeline": timeline,
                "release": "1",
                "range_start": "2026-02-07T12:00:00+00:00",
                "range_end": at,
                "days_with_data": 28,
            },
            "glucose": {
                "status": "failure",
                "timeline": timeline,
                "release": "1",
                "error_details": "http_503",
            },
        },
        "not_pulled": ["heartrate"],
    }


def test_a_source_that_is_gone_has_nothing_left_to_pull(source, alice_api):
    disconnect_source(user=source.user, actor=ACTOR, provider="ultrahuman")

    [found] = alice_api.get(HISTORIES).json()["data"]

    assert found["provider"] == {"ultrahuman": {"pulled": {}, "not_pulled": []}}


@pytest.mark.parametrize("path", [RESOURCES, HISTORIES])
@pytest.mark.parametrize("name", ["next_cursor", "cursor"])
def test_users_come_in_pages_that_the_cursor_joins(
    source, alice_api, alice_tenant, path, name
):
    users = [source.user, *(make_user(tenant=alice_tenant) for _ in range(2))]
    for user in users[1:]:
        connect_source(user=user, actor=ACTOR, provider="oura")
    make_user(tenant=alice_tenant)  # without a source

    with CaptureQueriesContext(database) as few:
        first = alice_api.get(path, {"user_limit": 2}).json()
    second = alice_api.get(path, {"user_limit": 2, name: first["next_cursor"]}).json()

    found = [each["user_id"] for each in (*first["data"], *second["data"])]
    assert sorted(found) == sorted(str(user.uuid) for user in users)
    assert first["next"] == first["next_cursor"]
    assert (second["next"], second["next_cursor"]) == (None, None)
    with CaptureQueriesContext(database) as many:
        alice_api.get(path, {"user_limit": 3})
    assert len(few) == len(many)


@pytest.mark.parametrize("path", [RESOURCES, HISTORIES])
def test_one_user_or_source_is_chosen_and_a_stranger_finds_nothing(
    source, alice_api, charlie_api, path
):
    mine = {"user_id": str(source.user.uuid)}

    assert len(alice_api.get(path, mine).json()["data"]) == 1
    assert alice_api.get(path, {**mine, "provider": "oura"}).json()["data"] == []
    assert alice_api.get(path, {"user_id": str(uuid4())}).json()["data"] == []
    assert charlie_api.get(path, mine).json()["data"] == []


@pytest.mark.parametrize("cursor", ["x", "WyJhIiwiYiJd", "WyIyMDI2LTAzLTA5IiwiYiJd"])
def test_a_bad_cursor_is_422(source, alice_api, cursor):
    reply = alice_api.get(RESOURCES, {"next_cursor": cursor})

    assert reply.status_code == 422
    assert error_lines(reply) == [(["query", "next_cursor"], "value_error")]
