from __future__ import annotations

from uuid import uuid4

import pytest

from accounts.models import AuditEntry
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.operations.teams.teams import create_team
from accounts.states import ManagementRole
from labs.models import LabAccountTeam
from tests.clients import ManagementClient, error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR, make_management_key, make_tenant
from tests.factories.labs import make_lab, make_lab_account

pytestmark = pytest.mark.django_db

ACCOUNTS = "/v1/org/{org_id}/lab_account/{environment}/{region}"
ACCOUNT = f"{ACCOUNTS}/{{account_id}}"


@pytest.fixture
def second_team(alice_team):
    return create_team(
        name="Alice Labs", actor=ACTOR, organisation=alice_team.organisation
    )


@pytest.fixture
def api(alice_team):
    _, text = create_management_key(
        team=alice_team, actor=ACTOR, label="all", role=ManagementRole.ORG_ADMIN
    )
    return ManagementClient(text)


@pytest.fixture
def base(alice_team):
    return ACCOUNTS.format(
        org_id=alice_team.organisation_id, environment="sandbox", region="us"
    )


@pytest.fixture
def account(alice_tenant):
    return make_lab_account(tenant=alice_tenant, lab=make_lab())


def told(reply):
    return [each["id"] for each in reply.json()["data"]]


def test_accounts_are_listed_by_team_and_status(
    api, base, account, alice_production, second_team, charlie_tenant
):
    lab = account.lab
    other = make_lab_account(
        tenant=make_tenant(team=second_team), lab=lab, status="pending"
    )
    for tenant in (alice_production, charlie_tenant):
        make_lab_account(tenant=tenant, lab=lab)

    everything = api.get(base)

    check_answer(everything, "get", ACCOUNTS)
    mine, theirs = str(account.pk), str(other.pk)
    assert told(everything) == [mine, theirs]
    assert told(api.get(base, {"team_id": str(second_team.pk)})) == [theirs]
    assert told(api.get(base, {"status": "active"})) == [mine]
    assert told(api.get(base, {"lab_account_id": theirs})) == [theirs]
    assert told(api.get(base.replace("/us", "/eu"))) == []


def test_a_team_admin_sees_what_its_team_may_use_and_links_nothing(
    base, account, alice_team, second_team
):
    client = ManagementClient(make_management_key(team=alice_team))
    other = make_lab_account(tenant=make_tenant(team=second_team), lab=account.lab)

    listed = client.get(base)
    replies = [
        client.patch(f"{base}/{pk}", {"team_id_allowlist": []})
        for pk in (account.pk, other.pk)
    ]

    assert told(listed) == [str(account.pk)]
    assert [reply.status_code for reply in replies] == [403, 404]
    assert LabAccountTeam.objects.count() == 2


def test_an_allow_list_is_replaced(api, base, account, alice_tenant, second_team):
    teams = [str(second_team.pk)]

    reply = api.patch(f"{base}/{account.pk}", {"team_id_allowlist": teams})

    check_answer(reply, "patch", ACCOUNT)
    assert reply.json()["lab_account"]["id"] == str(account.pk)
    assert reply.json()["lab_account"]["team_id_allowlist"] == teams
    line = AuditEntry.objects.for_tenant(alice_tenant).get(verb="link_lab_account")
    assert line.changes == {"team_id_allowlist": [[str(alice_tenant.team_id)], teams]}


def test_a_foreign_team_is_not_linked(api, base, account, alice_team, charlie_team):
    items = [str(alice_team.pk), str(charlie_team.pk)]

    reply = api.patch(f"{base}/{account.pk}", {"team_id_allowlist": items})

    assert (reply.status_code, reply.json()["code"]) == (400, "team_unknown")
    assert LabAccountTeam.objects.get().team_id == alice_team.pk


def test_a_malformed_or_unknown_account_is_refused(api, base, account):
    unknown = api.patch(f"{base}/{uuid4()}", {"team_id_allowlist": []})
    wrong = api.patch(f"{base}/{account.pk}", {"team_id_allowlist": ["7"]})

    assert unknown.status_code == 404
    assert error_lines(wrong) == [(["body", "team_id_allowlist", 0], "uuid_parsing")]
    assert LabAccountTeam.objects.count() == 1
