from __future__ import annotations

import pytest

from accounts.operations.teams.teams import create_team
from labs.states.accounts import LabAccountStatus
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab, make_lab_account

pytestmark = pytest.mark.django_db
PATH = "/v3/lab_test/lab_account"


def ids(reply):
    return {account["id"] for account in reply.json()["data"]}


def test_an_account_is_told_whole(alice_api, alice_tenant):
    account = make_lab_account(
        tenant=alice_tenant,
        lab=make_lab(),
        provider_account_id="0042",
        allowed_billing={"client_bill": ["AZ", "CA"]},
        default_clinical_notes="Call the clinic",
        business_units=["North"],
    )

    reply = alice_api.get(PATH)

    assert reply.json() == {
        "data": [
            {
                "id": str(account.pk),
                "lab": account.lab.slug,
                "org_id": str(alice_tenant.team.organisation_id),
                "status": "active",
                "delegated_flow": "not_delegated",
                "provider_account_id": "0042",
                "account_name": None,
                "default_clinical_notes": "Call the clinic",
                "business_units": ["North"],
                "allowed_billing": {"client_bill": ["AZ", "CA"]},
                "team_id_allowlist": [str(alice_tenant.team_id)],
            }
        ]
    }
    check_answer(reply, "get", PATH)


def test_accounts_are_found_by_id_and_by_either_spelling_of_a_status(
    alice_api, alice_tenant
):
    lab = make_lab()
    active = make_lab_account(tenant=alice_tenant, lab=lab)
    pending = make_lab_account(
        tenant=alice_tenant, lab=lab, status=LabAccountStatus.PENDING
    )

    def found(query):
        return ids(alice_api.get(f"{PATH}?{query}"))

    assert found("") == {str(active.pk), str(pending.pk)}
    assert found(f"lab_account_id={active.pk}") == {str(active.pk)}
    assert found("status=PENDING") == {str(pending.pk)}
    assert found("status=active") == {str(active.pk)}
    assert found(f"status=active&lab_account_id={pending.pk}") == set()


def test_only_linked_accounts_of_the_environment_are_told(
    alice_api, alice_tenant, alice_production, charlie_tenant
):
    lab = make_lab()
    make_lab_account(tenant=alice_production, lab=lab)
    make_lab_account(tenant=charlie_tenant, lab=lab)
    unlinked = make_lab_account(tenant=alice_tenant, lab=lab)
    sister = create_team(name="Sister", actor=ACTOR)
    unlinked.team_links.update(team=sister)

    assert alice_api.get(PATH).json() == {"data": []}


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("status=gone", (["query", "status"], "enum")),
        ("lab_account_id=x", (["query", "lab_account_id"], "uuid_parsing")),
    ],
)
def test_a_query_that_can_not_be_read_is_refused(alice_api, query, line):
    assert error_lines(alice_api.get(f"{PATH}?{query}")) == [line]


def test_accounts_take_as_many_queries_for_many_as_for_one(
    alice_api, alice_tenant, django_assert_num_queries
):
    make_lab_account(tenant=alice_tenant, lab=make_lab())
    alice_api.get(PATH)  # the key is looked up the first time
    for _ in range(5):
        make_lab_account(tenant=alice_tenant, lab=make_lab())

    with django_assert_num_queries(3):
        reply = alice_api.get(PATH)

    assert len(ids(reply)) == 6
