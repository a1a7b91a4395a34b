from __future__ import annotations

from uuid import uuid4

import pytest

from accounts.models import AuditEntry, Organisation, Team
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.operations.teams.teams import create_team
from accounts.states import ManagementRole, Role
from tests.clients import ManagementClient, error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR, make_management_key

pytestmark = pytest.mark.django_db

ORG = "/v1/org/{org_id}"
TEAMS = f"{ORG}/team"
TEAM = f"{TEAMS}/{{team_id}}"
DEFAULTS = {
    "partial_webhooks_enabled": False,
    "minor_ordering_enabled": False,
    "reject_duplicate_connection": False,
    "sdk_per_device_activity_timeseries": False,
    "lab_tests_patient_sms_communication_enabled": True,
    "lab_tests_patient_email_communication_enabled": True,
    "critical_result_notification_email": None,
    "brand_information": None,
    "logo_url": None,
    "lab_report_parsing_enabled": False,
    "lab_report_human_review_enabled": False,
    "early_psc_booking_enabled": False,
}
IN_SANDBOX = {
    **DEFAULTS,
    "lab_report_parsing_enabled": True,
    "lab_report_human_review_enabled": True,
    "early_psc_booking_enabled": True,
}


@pytest.fixture
def second_team(alice_team):
    return create_team(
        name="Alice Labs", actor=ACTOR, organisation=alice_team.organisation
    )


@pytest.fixture
def api(alice_team):
    """An org_admin's."""
    _, text = create_management_key(
        team=alice_team, actor=ACTOR, label="all", role=ManagementRole.ORG_ADMIN
    )
    return ManagementClient(text)


@pytest.fixture
def team_api(alice_team):
    """A team_admin's, of Alice's first team."""
    return ManagementClient(make_management_key(team=alice_team))


@pytest.fixture
def org(alice_team):
    return ORG.format(org_id=alice_team.organisation_id)


def test_an_organisation_is_read_and_renamed(api, org, alice_team):
    read = api.get(org)
    renamed = api.patch(org, {"name": " Alice Group "})

    check_answer(read, "get", ORG)
    check_answer(renamed, "patch", ORG)
    fields = {"id": str(alice_team.organisation_id), "expires_at": None}
    assert read.json() == {**fields, "name": "Alice Health"}
    assert renamed.json() == {**fields, "name": "Alice Group"}
    lines = AuditEntry.unscoped.filter(verb="rename_organisation")
    assert {line.tenant.environment for line in lines} == {"sandbox", "production"}


def test_a_team_admin_changes_nothing_of_the_organisation(team_api, org):
    renamed = team_api.patch(org, {"name": "Mine"})
    made = team_api.post(f"{org}/team", {"name": "Mine", "region": "us"})

    assert [reply.status_code for reply in (renamed, made)] == [403, 403]
    assert Organisation.objects.get().name == "Alice Health"
    assert Team.objects.count() == 1


def test_a_key_lists_the_teams_it_manages(
    api, team_api, org, alice_team, second_team, charlie_team
):
    all_teams = api.get(f"{org}/team")
    found = api.get(f"{org}/team", {"search_query": "LABS", "region": "us"})
    bound = team_api.get(f"{org}/team")

    check_answer(all_teams, "get", TEAMS)
    first = {
        "id": str(alice_team.pk),
        "name": "Alice Health",
        "created_on": alice_team.created_at.isoformat(),
        "region": "us",
        "integration_team_id": None,
    }
    assert bound.json() == {"teams": [first], "next_cursor": None}
    assert all_teams.json()["teams"][0] == first
    assert [team["id"] for team in all_teams.json()["teams"]] == [
        str(alice_team.pk),
        str(second_team.pk),
    ]
    assert [team["id"] for team in found.json()["teams"]] == [str(second_team.pk)]
    assert api.get(f"{org}/team", {"region": "eu"}).json()["teams"] == []


def test_a_list_of_teams_takes_three_queries(
    api, org, alice_team, second_team, django_assert_num_queries
):
    api.get(f"{org}/team")

    with django_assert_num_queries(3):
        api.get(f"{org}/team")


def test_a_team_is_told_with_the_settings_asked_for(api, org, alice_team):
    path = f"{org}/team/{alice_team.pk}"

    both = api.get(path)
    one = api.get(path, {"include_environment": ["production"]})

    check_answer(both, "get", TEAM)
    line = {
        "id": str(alice_team.pk),
        "name": "Alice Health",
        "created_on": alice_team.created_at.isoformat(),
        "region": "us",
        "integration_team_id": None,
        "environments": ["sandbox", "production"],
    }
    assert both.json() == {**line, "sandbox": IN_SANDBOX, "production": DEFAULTS}
    assert one.json() == {**line, "sandbox": None, "production": DEFAULTS}


def test_a_new_team_has_the_settings_and_the_owners(api, org, alice_team, alice, bob):
    team_id = uuid4()

    reply = api.post(
        f"{org}/team",
        {
            "id": str(team_id),
            "name": "Alice Health",
            "region": "eu",
            "minor_ordering_enabled": True,
        },
    )

    check_answer(reply, "post", TEAMS)
    team = Team.objects.get(pk=team_id)
    assert reply.json()["production"] == {**DEFAULTS, "minor_ordering_enabled": True}
    assert reply.json()["sandbox"] == {**IN_SANDBOX, "minor_ordering_enabled": True}
    assert (team.organisation_id, team.region) == (alice_team.organisation_id, "eu")
    assert team.slug == f"alice-health-{team_id.hex[:8]}"
    assert list(team.memberships.values_list("member", "roles")) == [
        (alice.pk, [Role.OWNER])
    ]


def test_a_team_id_that_is_taken_is_409(api, org, charlie_team):
    reply = api.post(
        f"{org}/team", {"id": str(charlie_team.pk), "name": "Mine", "region": "us"}
    )

    assert (reply.status_code, reply.json()["code"]) == (409, "team_id_taken")
    assert not Team.objects.filter(name="Mine").exists()


def test_a_team_and_its_settings_change(team_api, org, alice_team, alice_tenant):
    brand = {"company_name": "Alice", "brand_color": "#0a0b0c"}

    reply = team_api.patch(
        f"{org}/team/{alice_team.pk}",
        {
            "name": "Alice Care",
            "sandbox": {
                "brand_information": brand,
                "critical_result_notification_email": "lab@alice.example",
                "early_psc_booking_enabled": False,
            },
        },
    )

    check_answer(reply, "patch", TEAM)
    fields = {
        "company_website": None,
        "support_email": None,
        "support_contact": None,
        "company_address": None,
        **brand,
    }
    assert reply.json()["name"] == "Alice Care"
    assert reply.json()["production"] == DEFAULTS
    assert reply.json()["sandbox"] == {
        **IN_SANDBOX,
        "brand_information": fields,
        "critical_result_notification_email": "lab@alice.example",
        "early_psc_booking_enabled": False,
    }
    line = AuditEntry.objects.for_tenant(alice_tenant).get(verb="change_settings")
    assert line.changes["early_psc_booking_enabled"] == [True, False]


def test_null_takes_a_setting_away(api, org, alice_team, alice_tenant):
    path = f"{org}/team/{alice_team.pk}"
    logo = {"logo_url": "https://alice.example/logo.svg"}
    api.patch(
        path, {"production": {**logo, "brand_information": {"company_name": "A"}}}
    )

    reply = api.patch(
        path, {"production": {"logo_url": None, "brand_information": None}}
    )

    assert reply.json()["production"] == DEFAULTS


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"name": "x" * 81}, (["body", "name"], "string_too_long")),
        (
            {"sandbox": {"minor_ordering_enabled": "yes"}},
            (["body", "sandbox", "minor_ordering_enabled"], "bool_parsing"),
        ),
        (
            {"sandbox": {"brand_information": {"brand_color": "#000000"}}},
            (["body", "sandbox", "brand_information", "company_name"], "missing"),
        ),
        (
            {"production": {"logo_url": "http://alice.example/logo.svg"}},
            (["body", "production", "logo_url"], "value_error"),
        ),
        (
            {"production": {"critical_result_notification_email": "nobody"}},
            (
                ["body", "production", "critical_result_notification_email"],
                "value_error",
            ),
        ),
    ],
)
def test_a_malformed_change_is_422_and_changes_nothing(
    api, org, alice_team, body, line
):
    reply = api.patch(f"{org}/team/{alice_team.pk}", {"name": "Other", **body})

    assert error_lines(reply) == [line]
    assert Team.objects.get().name == "Alice Health"
    assert not AuditEntry.unscoped.filter(verb="change_settings").exists()


def test_a_team_admin_finds_no_other_team_of_the_organisation(
    team_api, org, second_team
):
    path = f"{org}/team/{second_team.pk}"

    replies = [team_api.get(path), team_api.patch(path, {"name": "Mine"})]

    assert [reply.status_code for reply in replies] == [404, 404]
    assert Team.objects.get(pk=second_team.pk).name == "Alice Labs"


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ({"region": "mars"}, (["query", "region"], "enum")),
        ({"team_id": "7"}, (["query", "team_id"], "uuid_parsing")),
        ({"next_cursor": "x"}, (["query", "next_cursor"], "value_error")),
    ],
)
def test_a_malformed_query_is_422(api, org, query, line):
    assert error_lines(api.get(f"{org}/team", query)) == [line]


def test_an_integration_id_is_once_in_an_organisation(
    api, org, alice_team, second_team
):
    paths = [f"{org}/team/{team.pk}" for team in (alice_team, second_team)]
    set_one = api.patch(paths[0], {"integration_team_id": "north-1"})
    taken = api.patch(paths[1], {"integration_team_id": "north-1"})
    made = api.post(
        f"{org}/team",
        {"name": "More", "region": "us", "integration_team_id": "north-1"},
    )
    freed = api.patch(paths[0], {"integration_team_id": None})
    moved = api.patch(paths[1], {"integration_team_id": "north-1"})

    assert set_one.json()["integration_team_id"] == "north-1"
    assert [reply.status_code for reply in (taken, made)] == [409, 409]
    assert taken.json()["code"] == "integration_id_taken"
    assert not Team.objects.filter(name="More").exists()
    assert freed.json()["integration_team_id"] is None
    assert moved.json()["integration_team_id"] == "north-1"
    empty = api.patch(paths[0], {"integration_team_id": ""})
    assert empty.json()["integration_team_id"] is None


def test_a_team_is_deleted_and_brought_back(api, team_api, org, alice_team):
    path = f"{org}/team/{alice_team.pk}"
    assert team_api.delete(path).status_code == 403
    assert team_api.post(f"{path}/undo_delete").status_code == 403
    assert api.post(f"{path}/undo_delete").json()["code"] == "team_not_deleted"

    deleted = api.delete(path)

    check_answer(deleted, "delete", TEAM)
    assert deleted.json() is None
    assert [api.get(path).status_code, team_api.get(path).status_code] == [404, 404]
    assert api.get(f"{org}/team").json()["teams"] == []
    undone = api.post(f"{path}/undo_delete")
    check_answer(undone, "post", f"{TEAM}/undo_delete")
    assert undone.json()["id"] == str(alice_team.pk)
    assert team_api.get(path).status_code == 200
