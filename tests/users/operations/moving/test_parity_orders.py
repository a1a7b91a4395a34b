"""The original's orders, results and streams: moved in, and compared field by field."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command

from accounts.models import AuditEntry
from labs.models import CriticalAlert, Order, OrderEvent, ResultVersion
from labs.operations.erasure import delete_orders
from portal.lib.tenancy import acting_for
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR, make_api_key
from tests.factories.labs import make_lab, make_lab_test, make_marker
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.streams import make_workout, stream_body
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.users.gateways.moving import servers
from users.models import Connection
from users.operations.data.streams import record_workout_stream

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.fixture
def move(
    charlie_tenant, alice_tenant, monkeypatch, time_machine, tmp_path, _one_connection
):
    """A team of the original with an order, its results and a workout with a stream."""
    time_machine.move_to(NOW, tick=False)
    theirs = servers.OriginalServer()
    servers.serve(monkeypatch, theirs)
    user = make_user(tenant=charlie_tenant, client_user_id="u-1")
    workout = make_workout(user, provider_id="w-1", source={"provider": "garmin"})
    record_workout_stream(workout=workout, actor=ACTOR, body=stream_body())
    lab = make_lab("quest_of_test", tenant=charlie_tenant)
    markers = [make_marker(lab=lab, name=name) for name in ("Glucose", "Iron")]
    panel = make_lab_test(tenant=charlie_tenant, lab=lab, markers=markers)
    order = make_order_awaiting_results(
        tenant=charlie_tenant, user=user, lab_test=panel, comments="Fasting"
    )
    make_results(
        order=order,
        results=(
            make_reported_result(
                name="Glucose",
                provider_id=markers[0].provider_id,
                text="412",
                interpretation="critical",
            ),
            make_reported_result(name="Remark", text="Hemolysed.", notes="See above"),
        ),
    )
    monkeypatch.setenv("IMPORT_FROM_KEY", make_api_key(tenant=charlie_tenant))
    monkeypatch.setenv("PARITY_KEY", make_api_key(tenant=alice_tenant))
    team = ("original", "--url", servers.ORIGINAL, "--team", alice_tenant.team.slug)

    def run(command, *more):
        if command == "parity_report":
            more += ("--base-url", servers.ASSAY, "--output", str(tmp_path))
        call_command(command, *team, *more)

    run("import_from", "--dry-run")
    theirs.is_closed = True
    with acting_for(charlie_tenant):
        gone = Order.objects.for_tenant(charlie_tenant).all()
        delete_orders(charlie_tenant.pk, gone)
    return run, theirs, order, lab, tmp_path


def read(folder):
    return json.loads((folder / "parity.json").read_text())


def said(capsys):
    return [
        line
        for line in capsys.readouterr().out.splitlines()
        if not line.startswith("Read")
    ]


def counts(folder):
    return {
        name: (each["theirs"], each["ours"], each["equal"], each["unexplained"])
        for name, each in read(folder)["resources"].items()
    }


def test_orders_results_and_streams_move_in_as_history(move, alice_tenant, capsys):
    run, _theirs, order, lab, folder = move
    capsys.readouterr()

    run("import_from")
    first = said(capsys)
    run("parity_report")

    api = ApiClient(make_api_key(tenant=alice_tenant))
    here = api.get(f"/v3/order/{order.pk}").json()
    results = api.get(f"/v3/order/{order.pk}/result").json()
    [row] = Order.objects.for_tenant(alice_tenant).select_related("lab_test")
    assert first == [
        "Users: 1, done before: 0",
        "Stored orders: 1",
        "Stored workout_streams: 1",
        "Stored workouts: 1",
        "New or changed orders: 1",
        "New or changed workout_streams: 1",
        "New or changed workouts: 1",
    ]
    assert counts(folder) == {
        "connections": (1, 1, 0, 0),
        "order_results": (3, 3, 3, 0),
        "orders": (1, 1, 1, 0),
        "users": (1, 1, 1, 0),
        "workout_streams": (1, 1, 1, 0),
        "workouts": (1, 1, 1, 0),
    }
    assert {name: rule["count"] for name, rule in read(folder)["rules"].items()} == {
        "needs_consent": 1,
        "no_requisition": 1,
        "own_ids": 1,
    }
    assert (here["moved_from"], here["clinical_notes"]) == ("original", "Fasting")
    assert [each["status"].split(".")[-1] for each in here["events"]] == [
        "ordered",
        "requisition_created",
        "completed",
    ]
    assert (here["interpretation"], here["requisition_form_url"]) == ("critical", None)
    assert [each["result"] for each in results["results"]] == ["412", "Hemolysed."]
    assert results["results"][1]["notes"] == "Hemolysed.\nSee above"
    assert (row.lab_id, row.lab_test.status) == (lab.pk, "inactive")
    # No event, no alert of a critical result: the platform's users were told.
    assert emitted(alice_tenant) == []
    assert not CriticalAlert.objects.for_tenant(alice_tenant).exists()
    changes = AuditEntry.objects.for_tenant(alice_tenant).exclude(verb="read")
    verbs = changes.filter(subject="order")
    assert list(verbs.values_list("verb", flat=True)) == ["move_order_in"]


def test_what_changes_there_afterwards_is_picked_up_once(
    move, alice_tenant, time_machine, capsys
):
    run, theirs, order, _lab, folder = move
    run("import_from")
    events = OrderEvent.objects.for_tenant(alice_tenant)
    versions = ResultVersion.objects.for_tenant(alice_tenant)

    def correct(page):
        [changed] = page["orders"]
        step = changed["events"][-1]
        later = {"id": step["id"] + 1, "created_at": "2026-03-10T08:00:00+00:00"}
        step = step | later | {"status": "completed.walk_in_test.corrected"}
        changed["events"].append(step)
        changed |= {"updated_at": step["created_at"], "last_event": step}

    theirs.change("/v3/orders", correct)
    theirs.change(
        f"/v3/order/{order.pk}/result",
        lambda found: found["results"][0].update(result="112"),
    )
    capsys.readouterr()
    theirs.calls.clear()

    run("import_from")
    time_machine.shift(timedelta(hours=13))
    within = said(capsys), list(theirs.calls)
    run("import_from")
    again = said(capsys)
    asked = [call for call in theirs.calls if call.startswith("/v3/orders")]
    run("import_from", "--again-after", "0")
    third = said(capsys)
    run("parity_report")

    assert within == (["Users: 1, done before: 1"], ["/v2/user?offset=0&limit=500"])
    assert [line for line in again if line.startswith("New")] == [
        "New or changed orders: 1"
    ]
    assert "updated_start_date=2026-03-09T12%3A00%3A00" in asked[0]
    assert [line for line in third if line.startswith("New")] == []
    assert [each.status.split(".")[-1] for each in events.order_by("pk")] == [
        "ordered",
        "requisition_created",
        "completed",
        "corrected",
    ]
    assert [
        (each.number, each.is_current, each.is_correction, each.results.count())
        for each in versions.order_by("number")
    ] == [(1, False, False, 2), (2, True, True, 2)]
    assert read(folder)["unexplained"] == 0
    assert emitted(alice_tenant) == []
    live = Connection.objects.for_tenant(alice_tenant)
    assert list(live.values_list("provider", "status")) == [("garmin", "error")]


def test_each_difference_of_orders_results_and_streams_is_listed(
    move, alice_tenant, capsys
):
    run, theirs, order, lab, folder = move
    run("import_from")

    def differ(page):
        page["orders"][0]["sample_id"] = "of tomorrow"
        page["orders"][0]["lab_test"]["markers"][1]["provider_id"] = "unheard"

    theirs.change("/v3/orders", differ)
    theirs.change(
        f"/v3/order/{order.pk}/result",
        lambda found: found["results"][1].update(notes=None),
    )
    theirs.change(
        "/v2/timeseries/workouts", lambda stream: stream["heartrate"].append(120)
    )

    with pytest.raises(CommandError, match=r"^4 "):
        run("parity_report")
    listed = [(each["resource"], each["field"]) for each in read(folder)["differences"]]
    explained = read(folder)["resources"]["orders"]["explained"]
    lab.slug = "renamed"
    lab.save(update_fields=["slug"])
    with pytest.raises(CommandError, match=r"^2 "):
        run("parity_report")

    assert listed == [
        ("orders", "markers"),
        ("orders", "sample_id"),
        ("order_results", "notes"),
        ("workout_streams", "heartrate"),
    ]
    assert explained == {"marker_not_in_catalogue": 1}
    orders = read(folder)["resources"]["orders"]
    assert orders["explained"] == {"lab_not_in_catalogue": 1}
