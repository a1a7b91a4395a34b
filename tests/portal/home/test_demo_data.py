from __future__ import annotations

from http import HTTPStatus

import pytest
from django.test import Client

from accounts.states import Role
from portal.demo.models import DemoData
from portal.demo.sandbox import (
    find_demo_data,
    mark_demo_loading_finished,
    request_demo_data,
)
from tests.factories.accounts import ACTOR, make_member
from tests.factories.users import make_user
from tests.jobs import queued

pytestmark = pytest.mark.django_db

HOME = "/t/alice-health/sandbox/"
PAGE = f"{HOME}demo-data/"


def as_role(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    return client


@pytest.fixture
def loaded(alice_tenant):
    request_demo_data(tenant=alice_tenant, actor=ACTOR)
    mark_demo_loading_finished(tenant_pk=alice_tenant.pk)


def test_the_button_asks_for_demo_data(alice_web, alice_tenant):
    reply = alice_web.post(f"{PAGE}load/")

    assert reply["Location"] == HOME
    assert find_demo_data(tenant=alice_tenant).is_busy
    assert len(queued()) == 1


def test_with_htmx_the_browser_is_sent_on(alice_web):
    reply = alice_web.post(f"{PAGE}load/", headers={"HX-Request": "true"})

    assert (reply.status_code, reply["HX-Redirect"]) == (HTTPStatus.NO_CONTENT, HOME)


def test_loading_is_shown_and_asked_after_soon(alice_web, alice_tenant):
    request_demo_data(tenant=alice_tenant, actor=ACTOR)

    html = alice_web.get(HOME).content.decode()

    assert "Loading demo data." in html
    assert 'hx-trigger="every 2s"' in html


def test_demo_data_that_is_there_can_be_removed(alice_web, alice_tenant, loaded):
    make_user(tenant=alice_tenant)
    assert "This sandbox has demo data" in alice_web.get(HOME).content.decode()

    reply = alice_web.post(f"{PAGE}remove/")

    assert reply["Location"] == HOME
    assert find_demo_data(tenant=alice_tenant).removal_asked_at is not None
    assert "Removing the demo data." in alice_web.get(HOME).content.decode()


def test_the_page_offers_what_can_be_done(alice_web, alice_tenant):
    assert f"{PAGE}load/" in alice_web.get(PAGE).content.decode()

    request_demo_data(tenant=alice_tenant, actor=ACTOR)
    busy = alice_web.get(PAGE).content.decode()
    assert (f"{PAGE}load/" in busy, f"{PAGE}remove/" in busy) == (False, False)

    mark_demo_loading_finished(tenant_pk=alice_tenant.pk)
    assert f"{PAGE}remove/" in alice_web.get(PAGE).content.decode()


def test_a_refusal_says_that_nothing_was_changed(alice_web, alice_tenant):
    request_demo_data(tenant=alice_tenant, actor=ACTOR)

    reply = alice_web.post(f"{PAGE}remove/", follow=True)

    assert "Nothing was changed." in reply.content.decode()
    assert len(queued()) == 1


def test_removing_what_is_not_there_is_not_found(alice_web, alice_tenant):
    assert alice_web.post(f"{PAGE}remove/").status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    "role", [Role.CLINICIAN, Role.LAB_STAFF, Role.DEVELOPER, Role.VIEWER]
)
def test_only_owners_and_admins_may(alice_team, alice_tenant, role):
    client = as_role(alice_team, role)

    assert client.get(PAGE).status_code == HTTPStatus.FORBIDDEN
    for verb in ("load", "remove"):
        assert client.post(f"{PAGE}{verb}/").status_code == HTTPStatus.FORBIDDEN
    assert DemoData.objects.for_tenant(alice_tenant).count() == 0
    assert queued() == []


def test_an_admin_may(alice_team, alice_tenant):
    assert as_role(alice_team, Role.ADMIN).post(f"{PAGE}load/")["Location"] == HOME
    assert find_demo_data(tenant=alice_tenant) is not None


def test_there_is_no_such_page_in_production(alice_web, alice_production):
    page = "/t/alice-health/production/demo-data/"

    assert alice_web.get(page).status_code == HTTPStatus.NOT_FOUND
    assert alice_web.post(f"{page}load/").status_code == HTTPStatus.NOT_FOUND
    assert find_demo_data(tenant=alice_production) is None


def test_loading_takes_a_post(alice_web):
    assert alice_web.get(f"{PAGE}load/").status_code == HTTPStatus.METHOD_NOT_ALLOWED
