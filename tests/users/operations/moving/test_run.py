from __future__ import annotations

import httpx
import pytest
from django.core.management import CommandError, call_command

from accounts.models import AuditEntry
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR, make_api_key
from tests.outbox import emitted, emitted_types
from tests.users.gateways.moving.servers import OPEN_WEARABLES
from users.models import Connection, MovedUser, User
from users.operations.data.daily_totals import update_daily_totals_of_tenant
from users.operations.moving import run
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db
SECOND = "0a000000-0000-4000-8000-000000000002"


def move_in(tenant, *more):
    call_command(
        "import_from",
        "open-wearables",
        *("--url", OPEN_WEARABLES, "--team", tenant.team.slug),
        *more,
    )


@pytest.fixture
def api(alice_tenant):
    return ApiClient(make_api_key(tenant=alice_tenant))


def ask(api, path, **query):
    days = {"start_date": "2026-01-01", "end_date": "2026-12-31"}
    reply = api.get(path, days | query)
    assert reply.status_code == 200, reply.content
    return reply.json()


def grouped(api, user_id, resource):
    groups = ask(api, f"/v2/timeseries/{user_id}/{resource}/grouped")["groups"]
    return {
        provider: [
            {**each, "type": group["source"]["type"]}
            for group in kept
            for each in group["data"]
        ]
        for provider, kept in groups.items()
    }


def test_a_team_moves_in_with_users_sources_and_data(theirs, alice_tenant, api, capsys):
    move_in(alice_tenant)

    said = capsys.readouterr().out.splitlines()
    first = api.get("/v2/user/resolve/team%2Fu%201").json()["user_id"]
    second = api.get(f"/v2/user/resolve/{SECOND}").json()["user_id"]
    assert [line for line in said if not line.startswith(("Stored", "New"))] == [
        "Users: 4, done before: 0",
        "Read activity: 1",
        "Read menstrual_cycles: 1",
        "Read samples: 13",
        "Read scores: 4",
        "Read sleep: 1",
        "Read workouts: 1",
        "Skipped daily_total: 1",
        "Skipped half_of_a_blood_pressure: 1",
        "Skipped invalid_element: 1",
        "Skipped score_of_the_platform: 4",
        "Skipped series_without_resource: 1",
        "Users refused client_user_id_shared: 1",
    ]
    assert "Stored heartrate: 2" in said
    assert "Stored steps: 3" in said
    providers = api.get(f"/v2/user/providers/{first}").json()["providers"]
    assert [(each["slug"], each["status"]) for each in providers] == [("oura", "error")]
    assert providers[0]["error_details"]["error_type"] == "required_scopes_not_granted"
    [steps] = grouped(api, first, "steps")["oura"]
    assert (steps["type"], steps["value"]) == ("ring", 240)
    assert steps["start"] == steps["timestamp"] == "2026-03-01T08:10:00+00:00"
    assert steps["end"] == "2026-03-01T08:10:01+00:00"
    assert steps["timezone_offset"] == 7200
    [pressure] = grouped(api, first, "blood_pressure")["oura"]
    assert (pressure["systolic"], pressure["diastolic"]) == (118, 76)
    [glucose] = grouped(api, first, "glucose")["oura"]
    assert glucose["value"] == pytest.approx(5.0)
    [weight] = grouped(api, first, "body_weight")["manual"]
    assert (weight["type"], weight["value"]) == ("unknown", 71.4)
    [workout] = ask(api, f"/v2/summary/workouts/{first}")["workouts"]
    assert (workout["title"], workout["average_hr"]) == ("Trail running", 141)
    [sleep] = ask(api, f"/v2/summary/sleep/{first}")["sleep"]
    assert (sleep["deep"], sleep["total"]) == (5400, 27000)
    [stages] = ask(api, f"/v2/summary/sleep_cycle/{first}")["sleep_cycle"]
    assert stages["stage_end_offset_second"] == [14400, 28800]
    assert stages["sleep_id"] == sleep["id"]
    [activity] = ask(api, f"/v2/summary/activity/{first}")["activity"]
    assert (activity["steps"], activity["medium"]) == (8432, 15)
    [cycle] = ask(api, f"/v2/summary/menstrual_cycle/{first}")["menstrual_cycle"]
    assert cycle["period_start"] == "2026-02-21"
    assert cycle["period_end"] == "2026-02-25"
    assert cycle["cycle_end"] == "2026-03-20"
    assert len(grouped(api, second, "steps")["apple_health_kit"]) == 2
    assert emitted(alice_tenant) == []
    moved_in = AuditEntry.objects.for_tenant(alice_tenant)
    assert moved_in.filter(verb="move_source_in").count() == 3

    # Data of today does not count as a sign of life, nor does what is worked out of it.
    with_totals = update_daily_totals_of_tenant(tenant=alice_tenant)

    live = Connection.objects.for_tenant(alice_tenant).live()
    assert with_totals == 0
    assert sorted(live.values_list("provider", "status", "external_user_id")) == [
        ("apple_health_kit", "error", ""),
        ("oura", "error", "oura-7"),
    ]
    assert emitted(alice_tenant) == []

    move_in(alice_tenant)

    assert capsys.readouterr().out.splitlines() == [
        "Users: 4, done before: 3",
        "Users refused client_user_id_shared: 1",
    ]


def test_an_import_that_was_killed_goes_on_and_a_source_connected_meanwhile_stays(
    theirs, alice_tenant, api, monkeypatch
):
    monkeypatch.setattr(run, "STORED_AT_ONCE", 3)

    def kill(number):
        if number == 5:
            person = User.objects.for_tenant(alice_tenant).get()
            person.tenant = alice_tenant
            connect_source(user=person, actor=ACTOR, provider="oura")
            raise KeyboardInterrupt

    theirs.before = kill
    with pytest.raises(KeyboardInterrupt):
        move_in(alice_tenant)
    moved = MovedUser.objects.for_tenant(alice_tenant).get()
    assert moved.finished_at is None
    # Its first page has the second half of a measurement on the next one.
    first_part = moved.feeds["samples"]

    theirs.before = lambda _number: None
    theirs.calls.clear()
    move_in(alice_tenant)

    moved = MovedUser.objects.for_tenant(alice_tenant).get(pk=moved.pk)
    first = str(moved.user.uuid)
    asked = [path for path in theirs.calls if path.endswith("0001/timeseries")]
    assert (first_part["cursor"], first_part["is_done"]) == ("6", False)
    assert (first_part["read"], first_part["stored"]) == (6, 4)
    assert len(asked) == 2  # of four pages
    assert moved.finished_at is not None
    assert moved.feeds["samples"]["stored"] == 6
    assert len(grouped(api, first, "heartrate")["oura"]) == 2
    live = Connection.objects.for_tenant(alice_tenant).live().filter(user=moved.user)
    assert list(live.values_list("provider", "status")) == [("oura", "connected")]
    assert emitted_types(alice_tenant) == []


def test_a_dry_run_reads_everything_and_writes_nothing(theirs, alice_tenant, capsys):
    move_in(alice_tenant, "--dry-run")

    said = capsys.readouterr().out.splitlines()
    assert "Read samples: 13" in said
    assert "Would store heartrate: 3" in said
    assert not User.objects.for_tenant(alice_tenant).exists()
    assert not MovedUser.objects.for_tenant(alice_tenant).exists()
    assert (
        not AuditEntry.objects.for_tenant(alice_tenant)
        .filter(subject="source")
        .exists()
    )


def test_one_historical_event_of_each_resource_is_emitted_if_asked(
    theirs, alice_tenant
):
    move_in(alice_tenant, "--webhooks")

    told = [
        (each["client_user_id"], each["event_type"], each["data"]["provider"])
        for each in emitted(alice_tenant)
    ]
    of_oura = "activity blood_pressure glucose heartrate menstrual_cycle sleep"
    assert sorted(told) == sorted(
        [
            *(
                ("team/u 1", f"historical.data.{name}.created", "oura")
                for name in [*of_oura.split(), "sleep_cycle", "steps", "workouts"]
            ),
            ("team/u 1", "historical.data.weight.created", "manual"),
            (SECOND, "historical.data.steps.created", "apple_health_kit"),
        ]
    )


def test_a_platform_that_refuses_or_is_not_named_ends_it_in_one_sentence(
    theirs, alice_tenant, monkeypatch
):
    theirs.before = lambda _number: httpx.Response(403)
    with pytest.raises(CommandError, match="status_403"):
        move_in(alice_tenant)
    with pytest.raises(CommandError):
        move_in(alice_tenant, "--rate", "0")
    monkeypatch.setenv("IMPORT_FROM_KEY", "")
    with pytest.raises(CommandError):
        move_in(alice_tenant)

    assert not User.objects.for_tenant(alice_tenant).exists()
