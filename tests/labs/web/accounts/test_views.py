from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.states import Role
from labs.models import Lab, LabAccount
from labs.states.accounts import US_STATES, LabAccountStatus
from tests.factories.accounts import make_member
from tests.factories.labs import make_lab, make_lab_account
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db
ENTERED = {
    "provider_account_id": " 0042 ",
    "account_name": "Main",
    "delegated_flow": "order_delegated",
    "default_clinical_notes": "Call the clinic",
    "business_units": "North, South,",
    "bill_client_bill": "all",
    "bill_patient_bill": "az ca",
}


def url(tenant, name, account=None):
    named = {"account_id": account.pk} if account else {}
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"labs:{name}", kwargs={**place, **named})


def signed_in(tenant, *roles):
    client = Client()
    client.force_login(make_member(team=tenant.team, roles=roles))
    return client


@pytest.fixture
def account(alice_tenant):
    return make_lab_account(
        tenant=alice_tenant, lab=make_lab(name="Northgate"), account_name="Clinic"
    )


def test_a_team_without_accounts_is_told_what_they_are_for(alice_web, alice_tenant):
    page = alice_web.get(url(alice_tenant, "accounts"))

    assert page.status_code == 200
    assert page.context["rows"] == []
    assert "No lab accounts yet" in page.text


def test_accounts_are_listed_with_lab_status_and_billing(
    alice_web, alice_tenant, account, charlie_tenant
):
    make_lab_account(tenant=charlie_tenant, lab=make_lab())

    page = alice_web.get(url(alice_tenant, "accounts"))

    (row,) = page.context["rows"]
    assert row.account == account
    assert row.billing == (("Client bill", "in every state"),)
    assert row.teams == (alice_tenant.team.name,)
    for words in ("Clinic", "Northgate", "Active", account.provider_account_id):
        assert words in page.text


def test_accounts_are_found_by_name_number_lab_status_and_state(
    alice_web, alice_tenant, account
):
    other = make_lab_account(
        tenant=alice_tenant,
        lab=make_lab(name="Cedar", slug="cedar"),
        account_name="Desk",
        provider_account_id="X-77",
        status=LabAccountStatus.PENDING,
        allowed_billing={"patient_bill": ["AZ"]},
    )

    def found(query):
        page = alice_web.get(f"{url(alice_tenant, 'accounts')}?{query}")
        return {row.account for row in page.context["rows"]}

    assert found("q=CLIN") == {account}
    assert found("q=x-7") == {other}
    assert found("lab=cedar") == found("status=pending") == {other}
    assert found("state=AZ") == {account, other}
    assert found("state=CA&status=active") == {account}
    assert found("state=CA&lab=cedar") == set()
    assert found("state=Nowhere&status=fine") == {account, other}


def test_a_list_takes_as_many_queries_for_ten_as_for_one(
    alice_web, alice_tenant, account
):
    alice_web.get(url(alice_tenant, "accounts"))  # the first request does more
    with CaptureQueriesContext(connection) as one:
        alice_web.get(url(alice_tenant, "accounts"))
    for _ in range(9):
        make_lab_account(tenant=alice_tenant, lab=make_lab())
    with CaptureQueriesContext(connection) as ten:
        alice_web.get(url(alice_tenant, "accounts"))

    assert len(one) == len(ten) == 6


def test_an_account_is_added_as_entered(alice_web, alice_tenant):
    quest = Lab.objects.get(slug="quest")

    reply = alice_web.post(
        url(alice_tenant, "add_account"), {**ENTERED, "lab": quest.pk}
    )

    account = LabAccount.objects.linked_to(alice_tenant).get()
    assert (reply.status_code, reply["Location"]) == (
        302,
        url(alice_tenant, "accounts"),
    )
    assert (account.lab, account.status) == (quest, LabAccountStatus.PENDING)
    assert (account.provider_account_id, account.account_name) == ("0042", "Main")
    assert account.delegated_flow == "order_delegated"
    assert account.default_clinical_notes == "Call the clinic"
    assert account.business_units == ["North", "South"]
    assert account.allowed_billing == {
        "client_bill": sorted(US_STATES),
        "patient_bill": ["AZ", "CA"],
    }


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"lab": ""}, "lab"),
        ({"provider_account_id": " "}, "provider_account_id"),
        ({"bill_client_bill": "AZ, XX"}, "bill_client_bill"),
        ({"default_clinical_notes": "n" * 1001}, "default_clinical_notes"),
        ({"delegated_flow": "x"}, "delegated_flow"),
    ],
)
def test_what_can_not_be_added_comes_back_with_its_field(
    alice_web, alice_tenant, change, field
):
    before = holdings(alice_tenant)
    fields = {**ENTERED, "lab": Lab.objects.get(slug="quest").pk, **change}

    page = alice_web.post(url(alice_tenant, "add_account"), fields)

    assert page.status_code == 422
    assert list(page.context["form"].errors) == [field]
    assert holdings(alice_tenant) == before


def test_a_number_that_is_taken_is_said_at_its_field(alice_web, alice_tenant, account):
    fields = {
        **ENTERED,
        "lab": account.lab_id,
        "provider_account_id": account.provider_account_id,
    }

    page = alice_web.post(url(alice_tenant, "add_account"), fields)

    assert page.status_code == 422
    assert list(page.context["form"].errors) == ["provider_account_id"]
    assert list(LabAccount.objects.linked_to(alice_tenant)) == [account]


def test_an_account_is_edited_from_what_it_holds(alice_web, alice_tenant, account):
    path = url(alice_tenant, "edit_account", account)

    form = alice_web.get(path).context["form"]
    reply = alice_web.post(path, {**form.initial, "account_name": "Renamed"})

    held = account.allowed_billing
    account = LabAccount.objects.linked_to(alice_tenant).get()
    assert reply.status_code == 302
    assert account.account_name == "Renamed"
    assert account.allowed_billing == held


def test_an_account_says_how_its_lab_wants_hl7_orders(alice_web, alice_tenant, account):
    path = url(alice_tenant, "edit_account", account)
    initial = alice_web.get(path).context["form"].initial

    alice_web.post(path, {**initial, "hl7_one_message_per_test": "on"})

    account = LabAccount.objects.linked_to(alice_tenant).get()
    assert account.hl7_one_message_per_test is True
    assert account.hl7_payer_in_in1 is False
    assert alice_web.get(path).context["form"].initial["hl7_one_message_per_test"]


def test_an_account_says_what_its_lab_is_sent_for_lines_in_doubt(
    alice_web, alice_tenant, account
):
    path = url(alice_tenant, "edit_account", account)
    initial = alice_web.get(path).context["form"].initial
    refused = alice_web.post(path, {**initial, "held_lines_answer": "AR"})
    before = LabAccount.objects.linked_to(alice_tenant).get().held_lines_answer

    alice_web.post(path, {**initial, "held_lines_answer": "AE"})

    assert (refused.status_code, before) == (422, "AA")
    assert LabAccount.objects.linked_to(alice_tenant).get().held_lines_answer == "AE"


def test_only_statuses_that_may_follow_are_offered(alice_web, alice_tenant, account):
    path = url(alice_tenant, "account_status", account)

    offered = alice_web.get(path).context["form"].fields["status"].choices
    refused = alice_web.post(path, {"status": "pending"})
    moved = alice_web.post(path, {"status": "suspended"})

    assert [value for value, _ in offered] == ["suspended"]
    assert (refused.status_code, moved.status_code) == (422, 302)
    account = LabAccount.objects.linked_to(alice_tenant).get()
    assert account.status == LabAccountStatus.SUSPENDED


def test_teams_of_the_organisation_alone_are_linked(
    alice_web, alice_tenant, account, charlie_team
):
    path = url(alice_tenant, "account_teams", account)

    refused = alice_web.post(path, {"teams": [str(charlie_team.pk)]})
    still = LabAccount.objects.linked_to(alice_tenant).count()
    unlinked = alice_web.post(path, {})

    assert (refused.status_code, still) == (422, 1)
    assert unlinked.status_code == 302
    assert LabAccount.objects.linked_to(alice_tenant).count() == 0
    assert LabAccount.objects.of_organisation(alice_tenant).get() == account


def test_who_only_reads_sees_no_actions_and_may_not_post(alice_tenant, account):
    client = signed_in(alice_tenant, Role.CLINICIAN)

    page = client.get(url(alice_tenant, "accounts"))
    added = client.post(url(alice_tenant, "add_account"), ENTERED)

    assert page.status_code == 200
    assert url(alice_tenant, "edit_account", account) not in page.text
    assert added.status_code == 403
    assert LabAccount.objects.linked_to(alice_tenant).count() == 1
