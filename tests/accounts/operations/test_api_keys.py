from __future__ import annotations

import datetime
import re

import pytest
import time_machine
from django.utils import timezone

from accounts.models import ApiKey, AuditEntry
from accounts.operations.api_keys import (
    create_api_key,
    digest_of,
    find_grant,
    revoke_api_key,
)
from accounts.states import Environment
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, make_team, make_tenant

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("environment", "letters"), [("sandbox", "sk"), ("production", "pk")]
)
def test_a_key_says_its_environment_and_region(environment, letters):
    tenant = make_tenant(environment=environment)

    key, text = create_api_key(tenant=tenant, actor=ACTOR, label=" ci ")

    assert re.fullmatch(rf"{letters}_us_[\w-]{{43}}", text)
    assert key.label == "ci"
    assert key.masked == f"{text[:10]}...{text[-4:]}"


def test_only_a_digest_of_a_key_is_stored():
    tenant = make_tenant()

    key, text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")

    stored = ApiKey.objects.for_tenant(tenant).values().get()
    assert bytes(stored["digest"]) == digest_of(text)
    assert text not in str(stored)
    assert text not in str(AuditEntry.objects.for_tenant(tenant).values())
    assert key.last_used_at is None


@pytest.mark.parametrize(
    ("label", "code"), [("  ", "label_missing"), ("x" * 81, "label_too_long")]
)
def test_a_refused_key_leaves_nothing_behind(label, code):
    tenant = make_tenant()
    audited = AuditEntry.unscoped.count()

    with pytest.raises(DomainError) as refused:
        create_api_key(tenant=tenant, actor=ACTOR, label=label)

    assert refused.value.code == code
    assert not ApiKey.objects.for_tenant(tenant).exists()
    assert AuditEntry.unscoped.count() == audited


def test_a_key_gives_its_own_environment_alone():
    team = make_team()
    production = make_tenant(team=team, environment=Environment.PRODUCTION)
    _, text = create_api_key(tenant=production, actor=ACTOR, label="ci")

    grant = find_grant(text)

    assert grant is not None
    assert grant.tenant == production
    assert grant.actor.label == "ci"


def test_use_is_noted_at_most_once_a_minute():
    tenant = make_tenant()
    key, text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")
    start = timezone.now()

    with time_machine.travel(start, tick=False) as clock:
        find_grant(text)
        clock.shift(datetime.timedelta(seconds=59))
        find_grant(text)
        key.refresh_from_db()
        first = key.last_used_at
        clock.shift(datetime.timedelta(seconds=1))
        find_grant(text)
        key.refresh_from_db()

    assert first == start
    assert key.last_used_at == start + datetime.timedelta(seconds=60)


def test_a_revoked_key_gives_nothing_and_can_not_be_revoked_twice():
    tenant = make_tenant()
    key, text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")

    revoke_api_key(key=key, actor=ACTOR)
    with pytest.raises(DomainError) as refused:
        revoke_api_key(key=key, actor=ACTOR)

    assert find_grant(text) is None
    assert refused.value.code == "api_key_revoked"
    verbs = AuditEntry.objects.for_tenant(tenant).values_list("verb", flat=True)
    assert list(verbs.order_by("id")) == [
        "create_team",
        "create_api_key",
        "revoke_api_key",
    ]
