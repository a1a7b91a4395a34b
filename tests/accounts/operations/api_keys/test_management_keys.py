from __future__ import annotations

import re
from uuid import uuid4

import pytest

from accounts.models import AuditEntry, ManagementKey
from accounts.operations.api_keys.api_keys import hash_api_key
from accounts.operations.api_keys.management_keys import (
    create_management_key,
    find_management_key_grant,
    revoke_management_key,
)
from accounts.queries import list_management_keys
from accounts.states import ManagementRole
from portal.lib.errors import DomainError, NotFound
from tests.factories.accounts import ACTOR

pytestmark = pytest.mark.django_db


def make_key(team, role=ManagementRole.TEAM_ADMIN):
    return create_management_key(team=team, actor=ACTOR, label="terraform", role=role)


def grant_of(text):
    grant = find_management_key_grant(text)
    assert grant is not None
    return grant


def find(grant, tenant, **changes):
    fields = {
        "organisation_id": tenant.team.organisation_id,
        "team_id": tenant.team_id,
        "environment": tenant.environment,
    }
    return grant.find_tenant(**{**fields, **changes})


def test_only_a_digest_of_a_management_key_is_stored(alice_team):
    key, text = make_key(alice_team)

    stored = ManagementKey.objects.values().get()
    assert re.fullmatch(r"mg_us_[\w-]{43}", text)
    assert bytes(stored["digest"]) == hash_api_key(text)
    assert text not in str(stored)
    assert text not in str(AuditEntry.unscoped.values())
    assert key.masked == f"{text[:10]}...{text[-4:]}"


def test_making_one_is_in_the_audit_of_both_environments(alice_team):
    key, _ = make_key(alice_team)

    lines = AuditEntry.unscoped.filter(verb="create_management_key")
    assert {line.tenant.environment for line in lines} == {"sandbox", "production"}
    assert {(line.subject, line.subject_id) for line in lines} == {
        ("management_key", str(key.id))
    }


@pytest.mark.parametrize(
    ("label", "code"), [("  ", "label_missing"), ("x" * 81, "label_too_long")]
)
def test_a_refused_management_key_leaves_nothing_behind(alice_team, label, code):
    audited = AuditEntry.unscoped.count()

    with pytest.raises(DomainError) as refused:
        create_management_key(team=alice_team, actor=ACTOR, label=label)

    assert refused.value.code == code
    assert not ManagementKey.objects.exists()
    assert AuditEntry.unscoped.count() == audited


def test_a_team_key_manages_both_environments_of_its_team_alone(
    alice_team, alice_tenant, alice_production, charlie_tenant
):
    _, text = make_key(alice_team)
    charlie_tenant.team.organisation = alice_team.organisation
    charlie_tenant.team.save()

    grant = grant_of(text)

    assert find(grant, alice_tenant) == alice_tenant
    assert find(grant, alice_production) == alice_production
    with pytest.raises(NotFound):
        find(grant, charlie_tenant)


def test_an_organisation_key_manages_its_teams_and_no_others(
    alice_team, alice_tenant, charlie_tenant
):
    _, text = make_key(alice_team, ManagementRole.ORG_ADMIN)
    grant = grant_of(text)

    assert find(grant, alice_tenant) == alice_tenant
    with pytest.raises(NotFound):
        find(grant, charlie_tenant)
    with pytest.raises(NotFound):
        find(grant, alice_tenant, organisation_id=charlie_tenant.team.organisation_id)
    with pytest.raises(NotFound):
        find(grant, alice_tenant, team_id=uuid4())


def test_a_revoked_management_key_is_found_no_more(alice_team):
    key, text = make_key(alice_team)
    grant_of(text)

    revoke_management_key(key=key, team=alice_team, actor=ACTOR)

    assert find_management_key_grant(text) is None
    assert ManagementKey.objects.get().last_used_at is not None
    with pytest.raises(DomainError) as refused:
        revoke_management_key(key=key, team=alice_team, actor=ACTOR)
    assert refused.value.code == "management_key_revoked"
    verb = "revoke_management_key"
    assert AuditEntry.unscoped.filter(verb=verb).count() == 2


def test_a_team_sees_the_keys_that_manage_it(alice_team, charlie_team):
    mine, _ = make_key(alice_team)
    whole, _ = make_key(alice_team, ManagementRole.ORG_ADMIN)
    make_key(charlie_team)

    assert list(list_management_keys(alice_team)) == [whole, mine]
