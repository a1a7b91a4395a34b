from __future__ import annotations

import json
import stat

import pytest
from django.core.management import CommandError, call_command

from tests.factories.accounts import ACTOR, make_api_key
from tests.users.gateways.moving.servers import ASSAY, OPEN_WEARABLES, sample
from users.models import ParityReport, User
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.moving import parity_counts
from users.wearables.timeseries import TIMESERIES

pytestmark = pytest.mark.django_db


@pytest.fixture
def compare(theirs, alice_tenant, monkeypatch, tmp_path):
    team = ("--team", alice_tenant.team.slug)
    call_command("import_from", "open-wearables", "--url", OPEN_WEARABLES, *team)
    monkeypatch.setenv("PARITY_KEY", make_api_key(tenant=alice_tenant))

    def run():
        call_command(
            "parity_report",
            "open-wearables",
            *("--url", OPEN_WEARABLES, "--base-url", ASSAY, *team),
            *("--output", str(tmp_path)),
        )

    return run


def read(tmp_path):
    return json.loads((tmp_path / "parity.json").read_text())


def test_what_moved_in_has_no_unexplained_difference(
    compare, theirs, alice_tenant, tmp_path, capsys
):
    del theirs.users["0a000000-0000-4000-8000-000000000004"]

    compare()

    report = read(tmp_path)
    counts = {
        name: (each["theirs"], each["ours"], each["equal"])
        for name, each in report["resources"].items()
    }
    assert (report["platform"], report["users"]) == ("open-wearables", 3)
    assert report["unexplained"] == 0
    assert report["differences"] == []
    assert counts == {
        "activity": (1, 1, 1),
        "blood_pressure": (1, 1, 1),
        "body_weight": (1, 1, 1),
        "connections": (2, 2, 0),
        "glucose": (1, 1, 1),
        "heartrate": (3, 2, 2),
        "menstrual_cycle": (1, 1, 1),
        "samples": (3, 0, 0),
        "scores": (4, 0, 0),
        "sleep": (1, 1, 1),
        "sleep_cycle": (1, 1, 1),
        "steps": (3, 3, 3),
        "users": (3, 3, 3),
        "workouts": (1, 1, 1),
    }
    assert {name: rule["count"] for name, rule in report["rules"].items()} == {
        "daily_total": 1,
        "half_of_a_blood_pressure": 1,
        "needs_consent": 2,
        "one_second_interval": 3,
        "other_unit": 1,
        "out_of_range": 1,
        "score_of_the_platform": 4,
        "series_without_resource": 1,
    }
    assert all(rule["sentence"] for rule in report["rules"].values())
    assert stat.S_IMODE((tmp_path / "parity.json").stat().st_mode) == 0o600
    assert "No difference is unexplained." in (tmp_path / "parity.html").read_text()
    kept = ParityReport.objects.for_tenant(alice_tenant).get()
    assert kept.counts == {k: v for k, v in report.items() if k != "differences"}
    assert "No difference is unexplained." in capsys.readouterr().out


def test_each_field_that_differs_is_listed(
    compare, theirs, alice_tenant, tmp_path, monkeypatch
):
    monkeypatch.setattr(parity_counts, "LISTED_MAX", 6)
    first, _second, _third, shared = theirs.users
    lists = theirs.users[first]
    lists["events/sleep"][0]["efficiency_percent"] = 12.5
    lists["timeseries"][0]["value"] = 60
    lists["timeseries"].append(sample("heart_rate", "2026-03-04T08:00:00Z", 70))
    theirs.users[shared]["external_user_id"] = "<never> moved"
    person = User.objects.for_tenant(alice_tenant).get(client_user_id="empty")
    person.tenant = alice_tenant
    record_samples(
        user=person,
        actor=ACTOR,
        resource=TIMESERIES["water"],
        batch=SampleBatch(
            "manual", [{"timestamp": "2026-03-02T08:00:00Z", "value": 250}]
        ),
    )

    with pytest.raises(CommandError, match=r"^6 "):
        compare()

    report = read(tmp_path)
    assert report["unexplained"] == 6
    heart, night = "oura ring 2026-03-0", "oura 2026-03-02T21:00:00+00:00"
    water = "manual unknown 2026-03-02T08:00:00+00:00"
    assert [tuple(each.values()) for each in report["differences"]] == [
        ("team/u 1", "heartrate", f"{heart}1T08:00:00+00:00", "value", 60, 61.0),
        ("team/u 1", "heartrate", f"{heart}4T08:00:00+00:00", "", "present", None),
        ("team/u 1", "sleep", night, "efficiency", 12.5, 93.8),
        ("empty", "connections", "manual", "", None, "connected"),
        ("empty", "water", water, "", None, "present"),
        ("<never> moved", "users", "<never> moved", "", shared, None),
    ]
    assert report["fields"] == [
        {"resource": "connections", "field": "", "count": 1},
        {"resource": "heartrate", "field": "", "count": 1},
        {"resource": "heartrate", "field": "value", "count": 1},
        {"resource": "sleep", "field": "efficiency", "count": 1},
        {"resource": "users", "field": "", "count": 1},
        {"resource": "water", "field": "", "count": 1},
    ]
    page = (tmp_path / "parity.html").read_text()
    assert "&lt;never&gt; moved" in page
    assert "<never>" not in page


def test_a_key_that_is_refused_ends_it_in_one_sentence(compare, monkeypatch, tmp_path):
    monkeypatch.setenv("PARITY_KEY", "sk_us_wrong")

    with pytest.raises(CommandError, match="status_401"):
        compare()

    assert list(tmp_path.iterdir()) == []
