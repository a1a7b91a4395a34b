from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import ApiKey
from accounts.operations.api_keys.api_keys import (
    OVERLAPS,
    KeyRules,
    create_api_key,
    rotate_api_key,
)
from accounts.states import Role
from tests.factories.accounts import ACTOR, make_api_key, make_member, make_tenant
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox/"
ITEM = ("No active API key", f"{PLACE}api-keys/")


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def attention(client):
    overview = client.get(PLACE).context["overview"]
    return [(item.title, item.url) for item in overview.attention]


def test_a_place_without_a_key_needs_one(alice_web, user, alice_production):
    make_api_key(tenant=alice_production)

    assert attention(alice_web) == [ITEM]


@pytest.mark.parametrize("ended", ["revoked_at", "expires_at"])
def test_a_key_that_has_ended_does_not_count(alice_web, user, alice_tenant, ended):
    make_api_key(tenant=alice_tenant)
    assert attention(alice_web) == []

    ApiKey.objects.for_tenant(alice_tenant).update(
        **{ended: timezone.now() - timedelta(seconds=1)}
    )

    assert attention(alice_web) == [ITEM]


def test_a_key_that_soon_expires_is_to_be_rotated(alice_web, user, alice_tenant):
    now = timezone.now()
    keys = []
    with time_machine.travel(now - timedelta(days=60), tick=False):
        for days in (14, 15):
            rules = KeyRules(expires_at=now + timedelta(days=days))
            key, _ = create_api_key(
                tenant=alice_tenant, actor=ACTOR, label=f"{days} days", rules=rules
            )
            keys.append(key)
    before = attention(alice_web)

    rotate_api_key(key=keys[0], actor=ACTOR, overlap=OVERLAPS[-1])

    assert before == [("An API key expires soon", f"{PLACE}api-keys/{keys[0].pk}/")]
    assert attention(alice_web) == []


def test_who_can_make_no_key_is_not_asked_to(alice_team, user):
    client = Client()
    client.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))

    assert attention(client) == []


def test_a_developer_is_asked_in_the_sandbox_alone(alice_team, user):
    production = make_tenant(team=alice_team, environment="production")
    make_user(tenant=production)
    client = Client()
    client.force_login(make_member(team=alice_team, roles=(Role.DEVELOPER,)))

    assert attention(client) == [ITEM]
    there = client.get("/t/alice-health/production/").context["overview"]
    assert list(there.attention) == []
