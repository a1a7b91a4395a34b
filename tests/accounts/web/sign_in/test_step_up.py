from __future__ import annotations

from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import pytest
import time_machine
from django.contrib.auth.hashers import make_password
from django.core.cache import cache
from django.test import Client

from accounts.models import ManagementKey, Member
from tests.clients import confirm
from tests.factories.accounts import PASSWORD
from tests.factories.passkeys import Device

PLACE = "/t/alice-health/sandbox"
KEYS = f"{PLACE}/api-keys/"
CREATE = f"{PLACE}/management-keys/create/"
ASKED = "/accounts/confirm/?next=%2Ft%2Falice-health%2Fsandbox%2F"
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


def test_a_page_that_needs_it_asks_and_goes_on(alice_web, alice_team):
    asked = alice_web.get(CREATE)
    wrong = alice_web.post(asked["Location"], {"password": "wrong"})
    right = alice_web.post(asked["Location"], {"password": PASSWORD})

    assert asked["Location"] == f"{ASKED}management-keys%2Fcreate%2F"
    assert wrong.context["form"].errors.as_data()["password"][0].code == (
        "incorrect_password"
    )
    assert right["Location"] == CREATE
    assert alice_web.get(CREATE).status_code == HTTPStatus.OK


def test_who_has_nothing_to_confirm_with_is_led_to_a_password(alice_web, alice_team):
    Member.objects.update(password=make_password(None))
    alice_web.force_login(Member.objects.get())

    asked = alice_web.get(CREATE)

    assert asked["Location"] == "/accounts/password/reset/"


def test_a_post_that_comes_too_late_changes_nothing_and_leads_back(
    alice_web, alice_team
):
    reply = alice_web.post(
        CREATE,
        {"label": "Terraform"},
        headers={"Referer": f"http://testserver{KEYS}?from=here"},
    )

    assert reply["Location"] == f"{ASKED}api-keys%2F%3Ffrom%3Dhere"
    assert not ManagementKey.objects.exists()
    assert "label" not in str(dict(alice_web.session))


def test_a_form_of_another_site_leads_to_the_start(alice_web, alice_team):
    reply = alice_web.post(CREATE, headers={"Referer": "https://elsewhere.example/x"})

    assert reply["Location"] == "/accounts/confirm/?next=%2F"


def test_htmx_is_led_there_as_well(alice_web, alice_team):
    reply = alice_web.get(CREATE, headers={"HX-Request": "true"})

    assert reply["HX-Redirect"] == f"{ASKED}management-keys%2Fcreate%2F"


def test_a_fresh_sign_in_is_enough_for_a_quarter_of_an_hour(alice, alice_team):
    client = Client()
    with time_machine.travel(NOW, tick=False) as clock:
        client.post("/accounts/login/", {"login": alice.email, "password": PASSWORD})
        clock.move_to(NOW + timedelta(minutes=14, seconds=59))
        soon = client.get(CREATE).status_code
        clock.move_to(NOW + timedelta(minutes=15))
        late = client.get(CREATE).status_code

    assert (soon, late) == (HTTPStatus.OK, HTTPStatus.FOUND)


def test_who_has_a_passkey_is_asked_for_it_and_offered_other_ways(
    alice_web, alice, alice_team
):
    confirm(alice_web)
    Device().add_to(alice_web)
    later = Client()
    later.force_login(alice)

    asked = later.get(CREATE)
    page = later.get(asked["Location"])

    assert asked["Location"].startswith("/accounts/passkeys/confirm/?next=")
    assert [way["id"] for way in page.context["reauthentication_alternatives"]] == [
        "mfa_reauthenticate",
        "reauthenticate",
    ]
