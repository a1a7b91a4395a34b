from __future__ import annotations

from http import HTTPStatus

import pytest
from django.test import Client

from accounts.models import Membership
from accounts.states import Role
from tests.factories.accounts import make_member

pytestmark = pytest.mark.django_db


def test_a_member_lands_in_their_first_team(alice_web):
    assert alice_web.get("/")["Location"] == "/t/alice-health/sandbox/"


def test_a_member_lands_where_they_were_last(alice_web, alice, charlie_team):
    Membership(member=alice, team=charlie_team, roles=[Role.VIEWER]).save()
    alice_web.get("/t/charlie-care/production/")

    assert alice_web.get("/")["Location"] == "/t/charlie-care/production/"


def test_a_team_one_has_left_is_not_returned_to(alice_web, alice, charlie_team):
    visit = Membership(member=alice, team=charlie_team, roles=[Role.VIEWER])
    visit.save()
    alice_web.get("/t/charlie-care/production/")
    visit.delete()

    assert alice_web.get("/")["Location"] == "/t/alice-health/sandbox/"


def test_a_member_of_no_team_is_told_so():
    client = Client()
    client.force_login(make_member())

    reply = client.get("/")

    assert reply.status_code == HTTPStatus.FORBIDDEN
    assert [t.name for t in reply.templates][:1] == ["portal/no_team.html"]


def test_a_visitor_is_asked_to_sign_in(client):
    assert client.get("/")["Location"] == "/accounts/login/?next=/"
