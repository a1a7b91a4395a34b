"""Who is admitted as an assistant, and what is kept of its questions."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts import jobs
from accounts.models import AssistantCall, Tenant
from accounts.operations.api_keys.api_keys import (
    KeyRules,
    create_api_key,
    revoke_api_key,
)
from accounts.operations.assistants import (
    AssistantQuestion,
    admit_assistant,
    record_assistant_call,
)
from portal.lib.errors import NotAllowed
from tests.factories.accounts import ACTOR

pytestmark = pytest.mark.django_db
HERE = "10.1.2.3"


def make_key(tenant, *scopes, networks=()):
    scoped = frozenset(scopes) if scopes else None
    rules = KeyRules(scopes=scoped, networks=networks)
    return create_api_key(tenant=tenant, actor=ACTOR, label="a", rules=rules)


def refused(key):
    with pytest.raises(NotAllowed) as caught:
        admit_assistant(key=key, address=HERE)
    return caught.value.code


def test_an_assistant_needs_its_scope_its_network_and_the_switch(alice_tenant):
    stored, key = make_key(alice_tenant, "assistant:read")
    _, full = make_key(alice_tenant)
    _, other = make_key(alice_tenant, "users:read")
    _, elsewhere = make_key(alice_tenant, "assistant:read", networks=("10.9.0.0/16",))

    assert refused(key) == "assistants_off"
    Tenant.objects.filter(pk=alice_tenant.pk).update(assistants_enabled=True)
    assert admit_assistant(key=key, address=HERE).tenant == alice_tenant
    assert [refused(each) for each in (full, other)] == ["scope_missing"] * 2
    assert refused(elsewhere) == "address_not_allowed"
    assert admit_assistant(key="sk_us_none", address=HERE) is None
    revoke_api_key(key=stored, actor=ACTOR)
    assert admit_assistant(key=key, address=HERE) is None


def test_a_question_is_kept_for_ninety_days_cut_to_its_columns(alice_tenant):
    Tenant.objects.filter(pk=alice_tenant.pk).update(assistants_enabled=True)
    _, key = make_key(alice_tenant, "assistant:read")
    grant = admit_assistant(key=key, address=HERE)
    question = AssistantQuestion(
        tool="find_user",
        detail="d" * 900,
        client="c" * 900,
        user_uuid=uuid4(),
        calls=1,
        ms=12,
        refusal="r" * 900,
    )
    for _twice in range(2):
        record_assistant_call(grant=grant, question=question)
    kept = AssistantCall.objects.for_tenant(alice_tenant).order_by("pk")
    first = kept.first()
    AssistantCall.unscoped.filter(pk=first.pk).update(
        at=timezone.now() - timedelta(days=91)
    )

    jobs.delete_old_api_calls()

    (left,) = kept.all()
    assert left.pk != first.pk
    assert (len(left.detail), len(left.client), len(left.refusal)) == (120, 60, 64)
