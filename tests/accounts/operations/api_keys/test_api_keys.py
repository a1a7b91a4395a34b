from __future__ import annotations

import dataclasses
import datetime
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from accounts.models import ApiKey, AuditEntry
from accounts.operations.api_keys.api_keys import (
    OVERLAPS,
    KeyRules,
    change_api_key,
    create_api_key,
    find_api_key_grant,
    get_api_key_rules,
    hash_api_key,
    revoke_api_key,
    rotate_api_key,
)
from accounts.states import Environment
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, make_member, make_team, make_tenant

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
    assert bytes(stored["digest"]) == hash_api_key(text)
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

    grant = find_api_key_grant(text)

    assert grant is not None
    assert grant.tenant == production
    assert grant.actor.label == "ci"


def test_use_is_noted_at_most_once_a_minute():
    tenant = make_tenant()
    key, text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")
    start = timezone.now()

    with time_machine.travel(start, tick=False) as clock:
        find_api_key_grant(text)
        clock.shift(datetime.timedelta(seconds=59))
        find_api_key_grant(text)
        key.refresh_from_db()
        first = key.last_used_at
        clock.shift(datetime.timedelta(seconds=1))
        find_api_key_grant(text)
        key.refresh_from_db()

    assert first == start
    assert key.last_used_at == start + datetime.timedelta(seconds=60)


def test_a_revoked_key_gives_nothing_and_can_not_be_revoked_twice():
    tenant = make_tenant()
    key, text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")

    revoke_api_key(key=key, actor=ACTOR)
    with pytest.raises(DomainError) as refused:
        revoke_api_key(key=key, actor=ACTOR)

    assert find_api_key_grant(text) is None
    assert refused.value.code == "api_key_revoked"
    verbs = AuditEntry.objects.for_tenant(tenant).values_list("verb", flat=True)
    assert list(verbs.order_by("id")) == [
        "create_team",
        "create_api_key",
        "revoke_api_key",
    ]


def live_labels(tenant):
    keys = ApiKey.objects.for_tenant(tenant).filter(revoked_at=None, expires_at=None)
    return sorted(keys.values_list("label", flat=True))


def test_a_key_made_by_a_member_says_so():
    tenant = make_tenant()
    member = make_member(team=tenant.team)
    actor = Actor(ActorKind.MEMBER, str(member.pk), member.email)

    key, _ = create_api_key(tenant=tenant, actor=actor, label="ci")

    assert key.created_by == member


@pytest.mark.parametrize("overlap", OVERLAPS[1:])
def test_a_rotated_key_works_until_the_overlap_ends(overlap):
    tenant = make_tenant()
    start = timezone.now()
    old, old_text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")

    with time_machine.travel(start, tick=False) as clock:
        new, text = rotate_api_key(key=old, actor=ACTOR, overlap=overlap)
        clock.shift(overlap - datetime.timedelta(seconds=1))
        before = find_api_key_grant(old_text)
        clock.shift(datetime.timedelta(seconds=1))
        after = find_api_key_grant(old_text)

    old.refresh_from_db()
    assert (new.label, new.replaces, old.expires_at) == ("ci", old, start + overlap)
    assert find_api_key_grant(text) is not None
    assert before.expires_at == start + overlap
    assert after is None


def test_a_key_rotated_with_no_overlap_ends_at_once():
    tenant = make_tenant()
    old, old_text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")

    rotate_api_key(key=old, actor=ACTOR, overlap=OVERLAPS[0])

    assert find_api_key_grant(old_text) is None


def test_a_rotation_is_audited_without_either_text():
    tenant = make_tenant()
    old, old_text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")

    new, text = rotate_api_key(key=old, actor=ACTOR, overlap=OVERLAPS[1])

    entry = AuditEntry.objects.for_tenant(tenant).get(verb="rotate_api_key")
    assert entry.subject_id == str(old.id)
    assert entry.changes["replaced_by"] == [None, str(new.id)]
    written = str(list(AuditEntry.unscoped.values()))
    assert old_text not in written
    assert text not in written


@pytest.mark.parametrize("ended", ["rotated", "revoked"])
def test_a_key_that_ends_is_not_rotated(ended):
    tenant = make_tenant()
    key, _ = create_api_key(tenant=tenant, actor=ACTOR, label="ci")
    if ended == "rotated":
        rotate_api_key(key=key, actor=ACTOR, overlap=OVERLAPS[1])
    else:
        revoke_api_key(key=key, actor=ACTOR)
    before = sorted(map(str, ApiKey.unscoped.values()))
    audited = AuditEntry.unscoped.count()

    with pytest.raises(DomainError) as refused:
        rotate_api_key(key=key, actor=ACTOR, overlap=OVERLAPS[1])

    assert refused.value.code == "api_key_ended"
    assert sorted(map(str, ApiKey.unscoped.values())) == before
    assert AuditEntry.unscoped.count() == audited


def test_an_overlap_of_one_s_own_is_refused():
    tenant = make_tenant()
    key, text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")

    with pytest.raises(DomainError) as refused:
        rotate_api_key(key=key, actor=ACTOR, overlap=datetime.timedelta(days=365))

    assert refused.value.code == "overlap_unknown"
    assert live_labels(tenant) == ["ci"]
    assert find_api_key_grant(text).expires_at is None


def test_an_overlap_is_ended_early_and_the_new_key_goes_on():
    tenant = make_tenant()
    old, old_text = create_api_key(tenant=tenant, actor=ACTOR, label="ci")
    _, text = rotate_api_key(key=old, actor=ACTOR, overlap=OVERLAPS[-1])

    revoke_api_key(key=old, actor=ACTOR)

    assert find_api_key_grant(old_text) is None
    assert find_api_key_grant(text) is not None


@pytest.mark.django_db(transaction=True)
def test_two_rotations_at_once_make_one_key():
    tenant = make_tenant()
    key, _ = create_api_key(tenant=tenant, actor=ACTOR, label="ci")
    together = Barrier(2)

    def rotate(overlap):
        try:
            together.wait()
            rotate_api_key(key=key, actor=ACTOR, overlap=overlap)
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()
        return "rotated"

    with ThreadPoolExecutor(2) as pool:
        found = sorted(pool.map(rotate, OVERLAPS[1:3]))

    assert found == ["api_key_ended", "rotated"]
    assert live_labels(tenant) == ["ci"]


NOON = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
TIGHT = KeyRules(
    scopes=frozenset({"users:read", "orders:write"}),
    networks=("192.0.2.7/32", "2001:db8::/32"),
    calls_per_minute=60,
    expires_at=NOON + datetime.timedelta(days=30),
)


@time_machine.travel(NOON, tick=False)
def test_a_key_is_made_with_rules_and_its_grant_holds_them():
    tenant = make_tenant()

    key, text = create_api_key(tenant=tenant, actor=ACTOR, label="ci", rules=TIGHT)

    grant = find_api_key_grant(text, address="192.0.2.7")
    entry = AuditEntry.objects.for_tenant(tenant).get(verb="create_api_key")
    key.refresh_from_db()
    assert get_api_key_rules(key) == TIGHT
    assert (grant.key_id, grant.scopes) == (key.id, TIGHT.scopes)
    assert (grant.calls_per_minute, grant.expires_at) == (60, TIGHT.expires_at)
    assert entry.changes["scopes"] == [None, ["users:read", "orders:write"]]
    admitted = [
        address
        for address in ("192.0.2.7", "192.0.2.8", "::ffff:192.0.2.7", "2001:db8::9")
        if grant.admits(address)
    ]
    assert admitted == ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::9"]
    assert not any(map(grant.admits, (None, "", "nowhere", "2001:db9::")))
    assert (key.last_used_at, key.last_used_address) == (NOON, "192.0.2.7")


def test_a_key_without_rules_is_for_all_from_anywhere():
    _, text = create_api_key(tenant=make_tenant(), actor=ACTOR, label="ci")

    grant = find_api_key_grant(text, address="192.0.2.7")

    assert (grant.scopes, grant.calls_per_minute, grant.expires_at) == (None,) * 3
    assert grant.admits(None)


def test_use_from_an_address_that_is_not_allowed_is_not_noted():
    key, text = create_api_key(
        tenant=make_tenant(),
        actor=ACTOR,
        label="ci",
        rules=KeyRules(networks=("192.0.2.7",)),
    )

    find_api_key_grant(text, address="192.0.2.8")

    key.refresh_from_db()
    assert (key.last_used_at, key.last_used_address) == (None, None)


@time_machine.travel(NOON, tick=False)
@pytest.mark.parametrize(
    ("rules", "code"),
    [
        (KeyRules(scopes=frozenset()), "scopes_missing"),
        (KeyRules(scopes=frozenset({"users:delete"})), "scope_unknown"),
        (KeyRules(networks=("10.0.0.1/8",)), "network_malformed"),
        (KeyRules(networks=("fe80::1%eth0",)), "network_malformed"),
        (KeyRules(networks=("192.0.2.7",) * 51), "too_many_networks"),
        (KeyRules(calls_per_minute=0), "calls_per_minute_out_of_range"),
        (KeyRules(calls_per_minute=1_000_001), "calls_per_minute_out_of_range"),
        (KeyRules(expires_at=NOON), "expiry_past"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rules_that_mean_nothing_make_and_change_no_key(rules, code):
    tenant = make_tenant()
    key, _ = create_api_key(tenant=tenant, actor=ACTOR, label="ci")
    before = sorted(map(str, ApiKey.unscoped.values()))
    audited = AuditEntry.unscoped.count()

    with pytest.raises(DomainError) as making:
        create_api_key(tenant=tenant, actor=ACTOR, label="new", rules=rules)
    with pytest.raises(DomainError) as changing:
        change_api_key(key=key, actor=ACTOR, label="ci", rules=rules)

    assert (making.value.code, changing.value.code) == (code, code)
    assert sorted(map(str, ApiKey.unscoped.values())) == before
    assert AuditEntry.unscoped.count() == audited


@time_machine.travel(NOON, tick=False)
def test_a_key_is_changed_and_the_audit_says_what():
    tenant = make_tenant()
    key, _ = create_api_key(tenant=tenant, actor=ACTOR, label="ci", rules=TIGHT)
    wider = KeyRules(networks=TIGHT.networks, expires_at=TIGHT.expires_at)

    change_api_key(key=key, actor=ACTOR, label="server", rules=wider)
    change_api_key(key=key, actor=ACTOR, label="server", rules=wider)

    key.refresh_from_db()
    entry = AuditEntry.objects.for_tenant(tenant).get(verb="change_api_key")
    assert (key.label, get_api_key_rules(key)) == ("server", wider)
    assert entry.changes == {
        "label": ["ci", "server"],
        "scopes": [["users:read", "orders:write"], None],
        "calls_per_minute": [60, None],
    }


@pytest.mark.parametrize("ended", ["rotated", "revoked", "expired"])
def test_a_key_that_ends_is_not_changed(ended):
    with time_machine.travel(NOON, tick=False) as clock:
        key, _ = create_api_key(
            tenant=make_tenant(), actor=ACTOR, label="ci", rules=TIGHT
        )
        if ended == "rotated":
            rotate_api_key(key=key, actor=ACTOR, overlap=OVERLAPS[1])
        elif ended == "revoked":
            revoke_api_key(key=key, actor=ACTOR)
        else:
            clock.shift(datetime.timedelta(days=30))

        with pytest.raises(DomainError) as refused:
            change_api_key(key=key, actor=ACTOR, label="x", rules=KeyRules())

    assert refused.value.code == "api_key_ended"
    assert not AuditEntry.unscoped.filter(verb="change_api_key").exists()


def test_a_rotated_key_passes_on_its_rules_and_as_long_a_time():
    with time_machine.travel(NOON, tick=False) as clock:
        old, old_text = create_api_key(
            tenant=make_tenant(), actor=ACTOR, label="ci", rules=TIGHT
        )
        clock.shift(datetime.timedelta(days=29))
        new, _ = rotate_api_key(key=old, actor=ACTOR, overlap=OVERLAPS[-1])
        clock.shift(datetime.timedelta(days=1))
        after = find_api_key_grant(old_text)

    old.refresh_from_db()
    assert old.expires_at == TIGHT.expires_at
    assert after is None
    new.refresh_from_db()
    assert get_api_key_rules(new) == dataclasses.replace(
        TIGHT, expires_at=NOON + datetime.timedelta(days=59)
    )
