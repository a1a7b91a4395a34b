from __future__ import annotations

import pytest
from django.test import Client

from accounts.states import Role
from labs.models import Hl7Connection
from tests.clients import confirm
from tests.factories.accounts import make_member
from tests.factories.connections import make_hl7_connection
from tests.factories.labs import make_lab, make_lab_account
from tests.labs.gateways.hl7.mllp.peers import make_identity

pytestmark = pytest.mark.django_db


@pytest.fixture
def account(alice_tenant):
    return make_lab_account(
        tenant=alice_tenant, lab=make_lab(name="Northgate"), account_name="Clinic"
    )


def place(account, rest=""):
    return f"/t/alice-health/sandbox/lab-accounts/{account.pk}/connection/{rest}"


@pytest.fixture
def entered(tmp_path):
    return {
        "transport": "mllp",
        "host": "lab.example",
        "port": "6661",
        "peer_certificates": make_identity(tmp_path, "lab").pem,
    }


def test_an_account_without_a_connection_has_its_folder(alice_web, account):
    page = alice_web.get(place(account)).text

    assert "Connection of Clinic" in page
    assert "Files are exchanged in the account's folder." in page


def test_a_connection_is_entered_and_shows_its_port(alice_web, account, entered):
    confirm(alice_web)

    page = alice_web.post(place(account, "save/"), entered, follow=True).text

    assert "Connection saved." in page
    assert "2575" in page
    assert "No process handles this connection." in page
    assert Hl7Connection.unscoped.get().host == "lab.example"


def test_what_is_refused_stays_in_the_form_without_its_secret(alice_web, account):
    confirm(alice_web)

    reply = alice_web.post(
        place(account, "save/"),
        {"transport": "sftp", "host": "sftp.example", "secret": "correct horse"},
    )

    assert reply.status_code == 422
    assert reply.context["form"].errors == {
        "user_name": ["Enter the user name on the SFTP server."]
    }
    assert "sftp.example" in reply.text
    assert "correct horse" not in reply.text
    assert not Hl7Connection.unscoped.exists()


def test_a_change_needs_a_confirmed_identity(alice_web, account, entered):
    reply = alice_web.post(place(account, "save/"), entered)

    assert reply.status_code == 302
    assert not Hl7Connection.unscoped.exists()


def test_who_may_not_change_the_catalog_sees_no_button(account, alice_tenant, entered):
    viewer = Client()
    viewer.force_login(make_member(team=alice_tenant.team, roles=(Role.VIEWER,)))

    page = viewer.get(place(account))
    saved = viewer.post(place(account, "save/"), entered)

    assert "Save connection" not in page.text
    assert saved.status_code == 403
    assert not Hl7Connection.unscoped.exists()


def test_a_check_says_what_is_wrong(alice_web, account):
    make_hl7_connection(tenant=account_tenant(account), account=account)

    page = alice_web.post(place(account, "check/"), follow=True).text

    assert "Not connected: The address is private and not in LAB_NETWORKS." in page
    assert Hl7Connection.unscoped.get().fault == "not_allowed"


def account_tenant(account):
    from accounts.models import Tenant

    return Tenant.objects.get(team__slug="alice-health", environment="sandbox")


@pytest.mark.parametrize("rest", ["", "save/", "check/"])
def test_an_account_of_another_team_is_not_found(
    alice_web, charlie_tenant, rest, entered
):
    confirm(alice_web)
    stranger = make_lab_account(tenant=charlie_tenant, lab=make_lab())
    call = alice_web.post if rest else alice_web.get

    assert call(place(stranger, rest), entered).status_code == 404
    assert not Hl7Connection.unscoped.exists()
