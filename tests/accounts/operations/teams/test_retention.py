from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from accounts.declarations.data_classes import load_data_classes
from accounts.models import ApiCall, AuditEntry, RetentionRule
from accounts.operations.api_keys.call_log import Call, write_api_call_log
from accounts.operations.teams import retention
from accounts.operations.teams.retention import apply_retention, change_data_retention
from accounts.queries.retention import list_retention_settings, preview_retention
from portal.lib.errors import DomainError
from portal.lib.table_rules import list_table_rules
from portal.lib.tenancy import across_tenants
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from users.queries.users.data_map import list_tables_with_user_data

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
# What no team sets a time for, and why.
WITHOUT_CLASS = {
    "stays, and names users by uuid alone": "accounts.AuditEntry users.ErasureReceipt",
    "tells who the user is and what is connected": (
        "users.User users.UserInfo users.Connection users.ConnectionEntry"
        " users.SourceGrant users.Device users.Supply users.Origin users.DemoUser"
        " users.Cadence users.ImportJob users.SourceDay users.SourcePriority"
        " users.SourceGap users.Phone users.MovedUser labs.UserInsurance"
    ),
    "goes with the record whose number it is": "users.RecordNumber",
    "goes after a time that is the same for all": (
        "users.Announcement users.Arrival users.Pull users.Refresh users.UserExport"
        " users.LinkSession users.PushedContent users.PairingCode"
        " users.PhoneUpload users.PhonePiece labs.Hl7OutboundMessage"
        " accounts.AssistantCall exchange.SharedLink exchange.SharedFile"
    ),
}


def call(tenant, *, days):
    """A call of a key so many days ago."""
    write_api_call_log(
        [
            Call(
                tenant.pk,
                uuid4(),
                NOW - days * DAY,
                "GET",
                "/v2/user",
                200,
                1,
                "",
                None,
                None,
            )
        ]
    )


def days_of(team):
    return {each.name: each.days for each in list_retention_settings(team)}


def ages(tenant):
    calls = ApiCall.objects.for_tenant(tenant).order_by("at")
    return [(NOW - at).days for at in calls.values_list("at", flat=True)]


def test_a_team_says_how_long_data_is_kept_and_takes_it_back(
    alice_team, alice_tenant, charlie_team
):
    usual = days_of(charlie_team)
    chosen = {"events": 90, "samples": 400, "api_calls": 7}

    for _ in range(2):
        change_data_retention(team=alice_team, actor=ACTOR, days=chosen)

    alice_team.refresh_from_db()
    assert usual == {
        **dict.fromkeys(load_data_classes()),
        "events": 30,
        "api_calls": 30,
    }
    assert days_of(alice_team) == {**usual, **chosen}
    assert alice_team.event_retention_days == 90
    assert changes_of(alice_tenant, "change_retention") == {
        "events": [30, 90],
        "samples": [None, 400],
        "api_calls": [30, 7],
    }
    change_data_retention(team=alice_team, actor=ACTOR, days=dict.fromkeys(chosen))
    alice_team.refresh_from_db()
    assert days_of(alice_team) == usual == days_of(charlie_team)


@pytest.mark.parametrize(
    ("name", "days", "code"),
    [
        ("events", 366, "retention_invalid"),
        ("events", 0, "retention_invalid"),
        ("api_calls", 31, "retention_invalid"),
        ("samples", 30, "retention_invalid"),
        ("orders", 3652, "retention_invalid"),
        ("reports", 3652, "retention_invalid"),
        ("audit", 9, "data_class_unknown"),
    ],
)
def test_what_no_class_allows_is_refused(alice_team, name, days, code):
    before = AuditEntry.unscoped.count()

    with pytest.raises(DomainError) as refused:
        change_data_retention(
            team=alice_team, actor=ACTOR, days={"lab_messages": 200, name: days}
        )

    assert (refused.value.code, refused.value.field) == (code, name)
    assert not RetentionRule.objects.exists()
    assert AuditEntry.unscoped.count() == before


def test_the_installation_s_word_holds_over_an_older_one_of_the_team(
    alice_team, settings, monkeypatch
):
    settings.HEALTH_RECORD_LEAST_DAYS = 730
    change_data_retention(
        team=alice_team, actor=ACTOR, days={"reports": 730, "api_calls": 20}
    )
    settings.HEALTH_RECORD_LEAST_DAYS = 3653
    shorter = replace(load_data_classes()["api_calls"], most_days=10)
    monkeypatch.setattr(
        "accounts.queries.retention.load_data_classes",
        lambda: {**load_data_classes(), "api_calls": shorter},
    )

    kept = days_of(alice_team)

    assert (kept["reports"], kept["api_calls"]) == (3653, 10)


def test_what_is_older_goes_and_the_audit_says_how_much(
    alice_team, alice_tenant, charlie_tenant, monkeypatch
):
    monkeypatch.setattr(retention, "MOST_OF_ONE_RUN", 1)
    for days in (6, 8, 9, 20):
        call(alice_tenant, days=days)
        call(charlie_tenant, days=days)
    change_data_retention(team=alice_team, actor=ACTOR, days={"api_calls": 7})
    shown = preview_retention(tenant=alice_tenant, days={"api_calls": 7}, at=NOW)

    with across_tenants(why="a test"):
        removed = [apply_retention(at=NOW) for _ in range(2)]

    aged = shown["api_calls"].aged
    assert (aged.number, aged.oldest) == (3, NOW - 20 * DAY)
    assert removed == [3, 0]
    assert (ages(alice_tenant), ages(charlie_tenant)) == ([6], [20, 9, 8, 6])
    assert changes_of(alice_tenant, "remove_old_data") == {
        "rows": 3,
        "before": (NOW - 7 * DAY).isoformat(),
    }


def test_every_class_is_counted_and_every_table_of_users_is_in_one(alice_tenant):
    every = dict.fromkeys(load_data_classes(), 4000)

    shown = preview_retention(tenant=alice_tenant, days=every, at=NOW)

    assert {name: each.aged.number for name, each in shown.items()} == (
        dict.fromkeys(every, 0)
    )
    named = {
        model._meta.label for model, rules in list_table_rules() if rules.data_classes
    }
    assert {table.label for table in list_tables_with_user_data()} - named == {
        label for labels in WITHOUT_CLASS.values() for label in labels.split()
    }
