from __future__ import annotations

import re
from http import HTTPStatus

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import GoLiveTry
from accounts.states import Role
from accounts.webhooks.models import Delivery
from labs.models import LabTest
from tests.audit import audited
from tests.factories.accounts import make_member
from tests.factories.labs import make_lab, make_lab_account
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint

PLACE = "/t/alice-health/production/"
PAGE = f"{PLACE}settings/go-live/"
SANDBOX = "/t/alice-health/sandbox/"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_gateway(settings, alice_production):
    settings.LAB_GATEWAY = ""
    LabTest.objects.for_tenant(alice_production).delete()


@pytest.fixture
def viewer(client, alice_team):
    client.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))
    return client


def states(page):
    return {
        row.point.check.name: row.point.state.value
        for group in page.context["groups"]
        for row in group.rows
    }


def test_a_new_team_sees_what_is_missing_and_what_is_refused(alice_web):
    page = alice_web.get(PAGE)

    text = page.content.decode()
    assert states(page) == {
        "lab_account": "missing",
        "tests": "missing",
        "gateway": "missing",
        "physician": "not_tried",
        "service_centers": "not_needed",
        "home_visits": "not_needed",
        "kit_stock": "not_needed",
        "webhooks": "missing",
        "mail": "not_tried",
        "critical_results": "missing",
        "encryption_keys": "missing",
        "backup": "missing",
    }
    refusing = [point.check.name for point in page.context["report"].refusing]
    assert refusing == ["lab_account", "tests", "gateway"]
    assert "9 of 12 open" in text
    assert page.context["next_step"].url == f"{PLACE}lab-accounts/"
    assert text.count("Orders are refused.") == 3


def test_checking_again_keeps_the_result_and_shows_when_it_was_tried(
    alice_web, alice, alice_production, settings
):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"

    answer = alice_web.post(PAGE, {"check": "mail"})
    page = alice_web.get(PAGE)

    assert (answer.status_code, answer["Location"]) == (HTTPStatus.FOUND, PAGE)
    (row,) = GoLiveTry.objects.for_tenant(alice_production)
    assert (row.name, row.code, row.member) == ("mail", "connected", alice)
    assert states(page)["mail"] == "ready"
    assert f"by {alice.name or alice.email}" in page.content.decode()


def test_checking_all_again_sends_a_test_event_to_each_endpoint(
    alice_web, alice_production
):
    endpoint = make_endpoint(tenant=alice_production)
    make_endpoint(tenant=alice_production)

    alice_web.post(PAGE)

    rows = Delivery.objects.for_tenant(alice_production)
    assert rows.count() == 2
    assert all(row.event.is_test for row in rows.select_related("event"))
    assert states(alice_web.get(PAGE))["webhooks"] == "not_tried"
    endpoint.refresh_from_db()
    assert endpoint.disabled_at is None


def test_an_unknown_check_is_refused_in_words(alice_web, alice_production):
    alice_web.post(PAGE, {"check": "nothing"})
    page = alice_web.get(PAGE)

    assert "No check has this name." in page.content.decode()
    assert not GoLiveTry.objects.for_tenant(alice_production).exists()


def test_who_may_not_change_settings_sees_the_page_and_tries_nothing(
    viewer, alice_production
):
    page = viewer.get(PAGE)
    answer = viewer.post(PAGE)

    text = page.content.decode()
    assert page.status_code == HTTPStatus.OK
    assert "Check all again</button>" not in text
    assert "Only owners and admins can check again." in text
    # Webhooks are not for viewers, so that no link leads there.
    assert f'href="{PLACE}webhooks/"' not in text
    assert answer.status_code == HTTPStatus.FORBIDDEN
    assert not GoLiveTry.objects.for_tenant(alice_production).exists()
    assert ("try_go_live_checks", "go_live", "all") not in audited(alice_production)


def test_the_sandbox_points_to_production_and_tries_nothing(
    alice_web, alice_tenant, alice_production
):
    page = alice_web.get(f"{SANDBOX}settings/go-live/")
    alice_web.post(f"{SANDBOX}settings/go-live/")

    assert f'href="{PAGE}"' in page.content.decode()
    for tenant in (alice_tenant, alice_production):
        assert not GoLiveTry.objects.for_tenant(tenant).exists()


def test_a_stranger_finds_nothing(charlie_web, alice_production):
    assert charlie_web.get(PAGE).status_code == HTTPStatus.NOT_FOUND
    assert charlie_web.post(PAGE).status_code == HTTPStatus.NOT_FOUND
    assert not GoLiveTry.objects.for_tenant(alice_production).exists()


def test_production_counts_open_checks_in_its_navigation_and_a_sandbox_has_no_link(
    alice_web,
):
    production = alice_web.get(f"{PLACE}settings/").content.decode()
    sandbox = alice_web.get(f"{SANDBOX}settings/").content.decode()

    assert '9<span class="vh"> open checks</span>' in production
    assert f'class="nav__link" href="{PAGE}"' in production
    assert f'class="nav__link" href="{SANDBOX}settings/go-live/"' not in sandbox


def test_the_navigation_counts_once_a_minute_and_the_page_itself_anew(
    alice_web, alice_production
):
    def shown(path):
        text = alice_web.get(path).content.decode()
        return re.search(r'(\d+)<span class="vh"> open checks', text)[1]

    before = shown(f"{PLACE}settings/")
    make_lab_account(tenant=alice_production, lab=make_lab(name="Northgate"))
    with CaptureQueriesContext(connection) as queries:
        a_moment_later = shown(f"{PLACE}settings/")
    on_the_page = shown(PAGE)
    afterwards = shown(f"{PLACE}settings/")

    assert (before, a_moment_later) == ("9", "9")
    assert not [each for each in queries if "labs_" in each["sql"]]
    assert on_the_page == afterwards != before


def test_the_first_steps_of_production_begin_with_what_is_missing(alice_web):
    production = alice_web.get(PLACE).content.decode()
    sandbox = alice_web.get(SANDBOX).content.decode()

    assert production.index('id="h-go-live"') < production.index('id="h-what"')
    assert "9 of 12 open" in production
    assert 'id="h-go-live"' not in sandbox


def test_the_overview_of_production_has_a_card_of_open_checks(
    alice_web, alice_tenant, alice_production
):
    for tenant in (alice_tenant, alice_production):
        make_user(tenant=tenant)

    production = alice_web.get(PLACE).content.decode()
    sandbox = alice_web.get(SANDBOX).content.decode()

    assert "9 of 12 open" in production
    assert 'id="h-go-live"' not in sandbox


def test_a_check_that_is_done_is_no_longer_counted(alice_web, alice_production):
    make_lab_account(tenant=alice_production, lab=make_lab(name="Northgate"))

    page = alice_web.get(PAGE)

    text = page.content.decode()
    assert states(page)["lab_account"] == "ready"
    assert "Active accounts: Northgate." in text
    assert [point.check.name for point in page.context["report"].refusing] == [
        "tests",
        "gateway",
        "physician",
    ]
