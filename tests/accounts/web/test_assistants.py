"""The page of assistants: its switch and their calls."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import AssistantCall, Tenant
from accounts.operations.api_keys.api_keys import create_api_key
from accounts.states import Role
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member

pytestmark = pytest.mark.django_db


def url(tenant, name="assistants"):
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"team:{name}", kwargs=place)


def make_call(tenant, key, **changes):
    call = AssistantCall(
        **{
            "tenant": tenant,
            "api_key": key,
            "tool": "sum_resource",
            "detail": "steps, day, 2026-11-01 to 2026-11-07",
            "client": "<b>Client</b>",
            "user_uuid": uuid4(),
            "calls": 2,
            "ms": 85,
            **changes,
        }
    )
    call.save(force_insert=True)
    return call


def test_it_shows_each_call_in_words_by_key_and_user(
    alice_web, alice_tenant, alice_production
):
    key, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="Reader")
    other, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="Other")
    mine = make_call(alice_tenant, key)
    make_call(alice_tenant, other, tool="read_order", refusal="not_found", detail="")
    make_call(alice_production, key)

    page = alice_web.get(url(alice_tenant))
    of_key = alice_web.get(url(alice_tenant), {"key": key.pk})
    of_user = alice_web.get(url(alice_tenant), {"user": mine.user_uuid})
    odd = alice_web.get(url(alice_tenant), {"key": "x", "user": "y"})

    assert [row.words for row in page.context["rows"]] == [
        "Read an order and its next step",
        "Summed measurements",
    ]
    assert "Refused: Not found" in page.text
    assert "steps, day, 2026-11-01 to 2026-11-07" in page.text
    assert "&lt;b&gt;Client" in page.text
    for shown in (of_key, of_user):
        assert [row.call.pk for row in shown.context["rows"]] == [mine.pk]
    assert len(odd.context["rows"]) == 2


def test_the_switch_is_off_until_an_owner_turns_it_on(
    alice_web, alice_tenant, alice_production, charlie_tenant
):
    before = alice_web.get(url(alice_tenant))
    alice_web.post(url(alice_tenant, "switch_assistants"), {"is_on": "on"})

    assert 'name="is_on" checked' not in before.text
    assert set(Tenant.objects.filter(assistants_enabled=True)) == {alice_tenant}
    assert audited(alice_tenant)[-1][0] == "change_settings"
    alice_web.post(url(alice_tenant, "switch_assistants"))
    assert not Tenant.objects.filter(assistants_enabled=True).exists()


def test_who_may_not_switch_changes_nothing(alice_tenant):
    viewer = Client()
    viewer.force_login(make_member(team=alice_tenant.team, roles=(Role.DEVELOPER,)))

    shown = viewer.get(url(alice_tenant))
    refused = viewer.post(url(alice_tenant, "switch_assistants"), {"is_on": "on"})

    assert (shown.status_code, refused.status_code) == (200, 403)
    assert not Tenant.objects.filter(assistants_enabled=True).exists()
