"""A platform at its worst: each refused or resumed, nothing lost and nothing double."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.core.management import CommandError, call_command

from tests.clients import ApiClient
from tests.factories.accounts import make_api_key
from tests.outbox import emitted
from tests.users.gateways.moving import servers
from tests.users.gateways.moving.servers import (
    OPEN_WEARABLES,
    OpenWearablesServer,
    connection,
    sample,
)
from users.models import Connection, MovedUser, User

pytestmark = pytest.mark.django_db
IDS = [f"0a000000-0000-4000-8000-00000000000{n}" for n in range(5)]


@pytest.fixture
def theirs(monkeypatch, time_machine, _one_connection):
    """Five users with two samples each, a page for each sample."""
    time_machine.move_to("2026-03-09T12:00:00Z", tick=False)
    server = OpenWearablesServer(page_size=1)
    for n, id in enumerate(IDS):
        server.add_user(
            id,
            f"u-{n}",
            connections=[connection("oura")],
            timeseries=[
                sample("heart_rate", "2026-03-01T08:00:00Z", 60 + n),
                sample("heart_rate", "2026-03-01T08:01:00Z", 70 + n),
            ],
        )
    servers.serve(monkeypatch, server)
    return server


@pytest.fixture
def move_in(alice_tenant, capsys):
    def run(*more):
        capsys.readouterr()
        team = ("--team", alice_tenant.team.slug)
        try:
            call_command(
                "import_from", "open-wearables", "--url", OPEN_WEARABLES, *team
            )
        except CommandError as error:
            return str(error).split(".")[0], capsys.readouterr().out.splitlines()
        return "", capsys.readouterr().out.splitlines()

    return run


def samples_here(tenant):
    """The heart rates of each user that is here, by the team's own ID."""
    api = ApiClient(make_api_key(tenant=tenant))
    found = {}
    for user in User.objects.for_tenant(tenant).live().order_by("client_user_id"):
        answer = api.get(
            f"/v2/timeseries/{user.uuid}/heartrate/grouped",
            {"start_date": "2026-01-01", "end_date": "2026-12-31"},
        ).json()["groups"]
        found[user.client_user_id] = [
            each["value"] for group in answer.get("oura", ()) for each in group["data"]
        ]
    return found


WHOLE = {f"u-{n}": [60.0 + n, 70.0 + n] for n in range(5)}


def refuse(theirs, response, *, user=2, path="timeseries", from_call=1):
    """Answer calls for a user and a list so, from the nth on."""
    calls = iter(range(1, 10_000))

    def before(_number):
        last = theirs.calls[-1]
        if f"{IDS[user]}/{path}" in last and next(calls) >= from_call:
            return response() if callable(response) else response
        return None

    theirs.before = before


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (httpx.Response(500), "no_answer"),
        (httpx.Response(429, headers={"retry-after": "1"}), "no_answer"),
        (httpx.Response(200, text='{"data": ['), "no_json"),
        (httpx.Response(200, json={"data": [{"type": 1}], "pagination": {}}), None),
        (httpx.Response(200, json=[]), None),
    ],
    ids=["500", "429", "broken", "other fields", "a list"],
)
def test_one_bad_answer_costs_one_user_until_the_next_run(
    theirs, move_in, alice_tenant, answer, reason
):
    refuse(theirs, answer, from_call=2)

    failed, said = move_in()
    left = samples_here(alice_tenant)
    theirs.before = lambda _number: None
    healed = move_in()

    assert failed == "1 users were not read to the end"
    assert f"Users not read to the end {reason or 'unexpected_answer'}: 1" in said
    assert {name for name in left if left[name] != WHOLE[name]} == {"u-2"}
    assert healed[0] == ""
    assert healed[1][0] == "Users: 5, done before: 4"
    assert samples_here(alice_tenant) == WHOLE
    live = Connection.objects.for_tenant(alice_tenant).live()
    assert live.filter(provider="oura", status="error").count() == 5
    assert emitted(alice_tenant) == []


def test_a_list_without_end_is_left(theirs, move_in, alice_tenant):
    same = {
        "data": [sample("heart_rate", "2026-03-01T08:00:00Z", 62)],
        "pagination": {"next_cursor": "again", "has_more": True},
    }
    refuse(theirs, lambda: httpx.Response(200, json=same))
    failed, said = move_in()
    theirs.before = lambda number: (
        httpx.Response(
            200,
            json={
                "items": [{"id": IDS[0], "external_user_id": "u-0"}],
                "has_next": True,
            },
        )
        if theirs.calls[-1] == "/api/v1/users"
        else None
    )
    of_users = move_in()
    theirs.before = lambda _number: None
    healed = move_in()

    assert failed == "1 users were not read to the end"
    assert "Users not read to the end page_repeated: 1" in said
    assert of_users[0] == "page_repeated"
    assert healed[0] == ""
    assert samples_here(alice_tenant) == WHOLE


def test_a_user_who_is_deleted_there_meanwhile_costs_nobody_else(
    theirs, move_in, alice_tenant
):
    refuse(theirs, httpx.Response(404), from_call=2)

    failed, said = move_in()
    del theirs.users[IDS[2]]
    theirs.before = lambda _number: None
    again = move_in()

    assert failed == "1 users were not read to the end"
    assert "Users not read to the end status_404: 1" in said
    assert again == ("", ["Users: 4, done before: 4"])
    kept = samples_here(alice_tenant)
    assert {name for name in kept if kept[name] == WHOLE[name]} == set(WHOLE) - {"u-2"}


def test_a_key_that_is_revoked_in_the_middle_ends_it_and_a_new_one_goes_on(
    theirs, move_in, alice_tenant
):
    theirs.before = lambda number: httpx.Response(401) if number > 30 else None

    failed, _said = move_in()
    whole = MovedUser.objects.for_tenant(alice_tenant).exclude(finished_at=None)
    before, asked = whole.count(), len(theirs.calls)
    theirs.before = lambda _number: None
    healed = move_in()

    assert failed == "status_401"
    assert asked == 31
    assert 0 < before < 5
    assert healed[1][0] == f"Users: 5, done before: {before}"
    assert samples_here(alice_tenant) == WHOLE
    assert whole.count() == 5


def test_a_platform_that_is_down_is_asked_for_three_users_and_left(
    theirs, move_in, alice_tenant
):
    theirs.before = lambda _number: (
        httpx.Response(502) if theirs.calls[-1] != "/api/v1/users" else None
    )

    failed, _said = move_in()

    assert failed == "no_answer"
    asked = {call.split("/")[4] for call in theirs.calls if call.count("/") > 4}
    assert asked == set(IDS[:3])
    theirs.before = lambda _number: None
    assert move_in()[0] == ""
    assert samples_here(alice_tenant) == WHOLE


def test_what_arrives_after_a_user_was_read_is_picked_up(
    theirs, move_in, alice_tenant, time_machine
):
    move_in()
    first = theirs.users[IDS[0]]
    first["timeseries"][0]["value"] = 61
    first["timeseries"].append(sample("heart_rate", "2026-02-01T08:00:00Z", 55))
    first["timeseries"].append(
        sample("steps", "2026-03-02T08:00:00Z", 9, source=servers.source("polar"))
    )
    theirs.users[IDS[1]]["connections"] = []
    theirs.add_user("0b000000-0000-4000-8000-000000000000", "u-9")
    time_machine.shift(timedelta(hours=13))
    rows = Connection.objects.for_tenant(alice_tenant)

    picked_up = move_in()
    time_machine.shift(timedelta(hours=13))
    sources = rows.count()
    unchanged = move_in()

    assert picked_up[0] == ""
    assert [line for line in picked_up[1] if line.startswith(("Users", "New"))] == [
        "Users: 6, done before: 0",
        "New or changed heartrate: 2",
        "New or changed steps: 1",
    ]
    assert not [line for line in unchanged[1] if line.startswith("New")]
    assert samples_here(alice_tenant) == WHOLE | {"u-0": [55, 61, 70], "u-9": []}
    # A source that was disconnected there is ended here; one of data alone was held
    # while its data was new, and never again.
    assert rows.count() == sources
    assert sorted(rows.live().values_list("user__client_user_id", flat=True)) == [
        *("u-0", "u-2", "u-3", "u-4"),
    ]
    assert rows.filter(provider="polar").count() == 1
    assert emitted(alice_tenant) == []
