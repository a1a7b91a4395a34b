from __future__ import annotations

from http import HTTPStatus

import pytest

from accounts.models import RetentionRule
from accounts.states import Role
from tests.clients import confirm
from tests.factories.accounts import make_member

PAGE = "/t/alice-health/sandbox/settings/retention/"

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(alice_web):
    confirm(alice_web)
    return alice_web


def rules():
    return dict(RetentionRule.objects.values_list("data_class", "days"))


def test_a_preview_saves_nothing_and_saving_does(owner, alice_team):
    given = {"events": "90", "samples": "400"}

    shown = owner.get(PAGE, given)
    part = owner.get(PAGE, given, headers={"HX-Request": "true"})
    before = rules()
    saved = owner.post(PAGE, given)

    fields = {title: days for title, _, days in shown.context["going"]}
    assert (fields["Events"], fields["Timeseries"], fields["Summaries"]) == (
        90,
        400,
        None,
    )
    assert shown.context["is_unsaved"]
    assert "<html" not in part.content.decode()
    assert (before, saved.status_code) == ({}, HTTPStatus.FOUND)
    alice_team.refresh_from_db()
    assert (rules(), alice_team.event_retention_days) == ({"samples": 400}, 90)


def test_what_is_too_short_stays_in_the_form(owner):
    answer = owner.post(PAGE, {"orders": "30", "samples": "40"})

    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(answer.context["form"].errors) == ["orders"]
    assert rules() == {}


def test_who_may_not_change_settings_sees_them(client, alice_team):
    client.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))
    confirm(client)

    page = client.get(PAGE)
    answer = client.post(PAGE, {"samples": "400"})

    assert all(field.disabled for field in page.context["form"].fields.values())
    assert (answer.status_code, rules()) == (HTTPStatus.FORBIDDEN, {})
