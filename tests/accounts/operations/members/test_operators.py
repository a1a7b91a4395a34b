from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from accounts.operations.members.operators import (
    rename_organisation,
    set_operator_access,
    set_sign_in_allowed,
)
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR

pytestmark = pytest.mark.django_db


def audited(tenant):
    entries = AuditEntry.objects.for_tenant(tenant).order_by("pk")
    return list(entries.values_list("verb", flat=True))


@pytest.mark.parametrize(
    ("name", "code"), [("  ", "name_missing"), ("x" * 81, "name_too_long")]
)
def test_an_organisation_keeps_its_name_over_a_bad_one(alice_tenant, name, code):
    organisation = alice_tenant.team.organisation
    before = audited(alice_tenant)

    with pytest.raises(DomainError) as refused:
        rename_organisation(organisation=organisation, actor=ACTOR, name=name)

    organisation.refresh_from_db()
    assert (refused.value.code, organisation.name) == (code, "Alice Health")
    assert audited(alice_tenant) == before


def test_the_same_name_writes_nothing(alice_tenant):
    before = audited(alice_tenant)

    rename_organisation(
        organisation=alice_tenant.team.organisation, actor=ACTOR, name="Alice Health"
    )

    assert audited(alice_tenant) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda member, actor: set_sign_in_allowed(
            member=member, actor=actor, allowed=False
        ),
        lambda member, actor: set_operator_access(
            member=member, actor=actor, operator=False
        ),
    ],
)
def test_nobody_locks_themselves_out(alice, alice_tenant, change):
    alice.is_staff = True
    alice.save(update_fields=["is_staff"])
    herself = Actor(ActorKind.MEMBER, str(alice.pk), alice.email)
    before = audited(alice_tenant)

    with pytest.raises(DomainError) as refused:
        change(alice, herself)

    alice.refresh_from_db()
    assert refused.value.code == "own_account"
    assert (alice.is_active, alice.is_staff) == (True, True)
    assert audited(alice_tenant) == before


def test_other_teams_hear_nothing_of_it(bob, alice_tenant, charlie_tenant):
    before = audited(charlie_tenant)

    set_sign_in_allowed(member=bob, actor=ACTOR, allowed=False)

    assert audited(alice_tenant)[-1] == "allow_sign_in"
    assert audited(charlie_tenant) == before
