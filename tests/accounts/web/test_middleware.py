from __future__ import annotations

from http import HTTPStatus
from unittest.mock import Mock

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.http import HttpResponse
from django.test import RequestFactory

from accounts.models import Membership
from accounts.states import Role
from accounts.web.middleware import TenantMiddleware
from accounts.web.requests import Rights
from accounts.web.settings import views as settings_pages
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import NotAllowed, NotFound
from portal.lib.tenancy import ALL_TENANTS

HOME = "/t/alice-health/sandbox/"


def test_a_stranger_to_the_team_finds_nothing(charlie_web, alice_team):
    reply = charlie_web.get(HOME)

    assert reply.status_code == HTTPStatus.NOT_FOUND


def test_a_member_finds_no_unknown_team(alice_web):
    assert alice_web.get("/t/nobody/sandbox/").status_code == HTTPStatus.NOT_FOUND


def test_a_member_finds_no_unknown_environment(alice_web):
    assert alice_web.get("/t/alice-health/moon/").status_code == HTTPStatus.NOT_FOUND


def test_without_a_session_one_is_asked_to_sign_in(client, alice_team):
    reply = client.get(f"{HOME}users/?q=a")

    assert reply.status_code == HTTPStatus.FOUND
    assert reply["Location"] == (
        "/accounts/login/?next=/t/alice-health/sandbox/users/%3Fq%3Da"
    )


def test_without_a_session_htmx_is_told_so(client, alice_team):
    reply = client.get(HOME, headers={"HX-Request": "true"})

    assert reply.status_code == HTTPStatus.UNAUTHORIZED


def test_a_switched_off_member_is_signed_out(alice_web, alice):
    alice.is_active = False
    alice.save(update_fields=["is_active"])

    reply = alice_web.get(HOME)

    assert reply["Location"].startswith("/accounts/login/")


def test_leaving_the_team_shuts_the_door_at_once(alice_web, alice):
    Membership.objects.filter(member=alice).delete()

    assert alice_web.get(HOME).status_code == HTTPStatus.NOT_FOUND


def enter(member, path, view=lambda _request: HttpResponse("seen")):
    """Pass the gate as `member`; gives the request as the view saw it."""
    request = RequestFactory().get(path)
    request.user = member
    request.session = SessionStore()
    TenantMiddleware(view)(request)
    return request


def tenant_on_connection():
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(current_setting('assay.tenant', true), '')")
        return cursor.fetchone()[0]


def test_a_view_gets_tenant_member_rights_and_actor(alice, alice_production):
    request = enter(alice, "/t/alice-health/production/")

    assert request.tenant == alice_production
    assert request.member == alice
    assert request.rights == Rights(frozenset({Role.OWNER}), "production")
    assert request.actor == Actor(
        ActorKind.MEMBER, str(alice.pk), "alice@assay.example", "127.0.0.1"
    )
    assert request.session["last_visited"] == ["alice-health", "production"]


def test_the_view_runs_as_the_tenant_and_nothing_stays_behind(alice, alice_tenant):
    inside = []

    def look(_request):
        inside.append(tenant_on_connection())
        return HttpResponse()

    enter(alice, HOME, view=look)

    assert inside == [str(alice_tenant.pk)]
    assert tenant_on_connection() == ALL_TENANTS


def test_pages_are_kept_out_of_caches(alice_web, alice_team):
    reply = alice_web.get(HOME)

    assert {"no-store", "private"} <= set(reply["Cache-Control"].split(", "))


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (NotFound("not_found", "Nothing here."), HTTPStatus.NOT_FOUND),
        (NotAllowed("feature_off", "Off."), HTTPStatus.FORBIDDEN),
    ],
)
def test_what_an_operation_refuses_becomes_a_page(
    alice_web, alice_team, monkeypatch, refusal, status
):
    monkeypatch.setattr(
        settings_pages, "list_latest_audited_changes", Mock(side_effect=refusal)
    )

    assert alice_web.get(f"{HOME}settings/").status_code == status


def test_the_switcher_lists_each_environment_of_each_team(alice, charlie_team):
    Membership(member=alice, team=charlie_team, roles=[Role.VIEWER]).save()

    request = enter(alice, HOME)

    assert [(place.team.slug, place.environment) for place in request.places] == [
        ("alice-health", "sandbox"),
        ("alice-health", "production"),
        ("charlie-care", "sandbox"),
        ("charlie-care", "production"),
    ]
