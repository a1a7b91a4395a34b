from __future__ import annotations

import datetime

import pytest
import time_machine

from accounts.jobs import erase_team_data
from accounts.models import ApiKey, AuditEntry, Membership, Team
from accounts.operations.teams.deletion import (
    UNDO_GRACE,
    delete_team,
    enqueue_due_team_erasures,
    undo_delete_team,
)
from accounts.states import ManagementRole, Role
from labs.models import CatalogueUpdate, Lab, ServiceCenter
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.clients import ApiClient
from tests.factories.accounts import (
    ACTOR,
    make_api_key,
    make_management_key,
    make_member,
)
from tests.factories.appointments import make_center
from tests.factories.labs import make_lab_account
from tests.factories.results import make_order_awaiting_results
from tests.factories.users import make_user
from tests.factories.webhooks import make_delivery, make_endpoint
from tests.labs.operations.catalogue.conftest import update as update_catalogue
from users.models import User

pytestmark = pytest.mark.django_db
NOW = datetime.datetime(2026, 3, 2, 9, tzinfo=datetime.UTC)


def as_actor(member):
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


def test_a_deleted_team_is_shut_until_the_deletion_is_undone(
    alice_team, alice_tenant, alice, alice_web
):
    key = ApiClient(make_api_key(tenant=alice_tenant))
    home = f"/t/{alice_team.slug}/sandbox/"
    assert key.get("/v2/user").status_code == 200

    with time_machine.travel(NOW, tick=False):
        deleted = delete_team(team=alice_team, actor=as_actor(alice))
        # What this process remembers of keys goes with the commit.
        shut = [ApiClient(make_api_key(tenant=alice_tenant)).get("/v2/user")]
        shut.append(alice_web.get(home))
        with pytest.raises(DomainError, match="team_deleted"):
            delete_team(team=alice_team, actor=as_actor(alice))
        undo_delete_team(team=alice_team, actor=as_actor(alice))

    assert deleted.deleted_at == NOW
    assert [reply.status_code for reply in shut] == [401, 404]
    assert alice_web.get(home).status_code == 200
    lines = AuditEntry.unscoped.filter(subject="team", verb__endswith="delete_team")
    assert sorted(lines.values_list("verb", flat=True)) == [
        "delete_team",
        "delete_team",
        "undo_delete_team",
        "undo_delete_team",
    ]
    with pytest.raises(DomainError, match="team_not_deleted"):
        undo_delete_team(team=alice_team, actor=as_actor(alice))


def test_owners_and_keys_of_the_whole_organisation_delete_teams_and_nobody_else(
    alice_team, charlie
):
    admin = make_member(team=alice_team, roles=(Role.ADMIN,))
    make_management_key(team=alice_team)
    bound = alice_team.management_keys.get()
    of_key = Actor(ActorKind.MANAGEMENT_KEY, str(bound.pk), "key")
    before = AuditEntry.unscoped.count()

    for actor in (as_actor(admin), as_actor(charlie), of_key):
        with pytest.raises(DomainError, match="not_allowed"):
            delete_team(team=alice_team, actor=actor)

    assert Team.objects.get(pk=alice_team.pk).deleted_at is None
    assert AuditEntry.unscoped.count() == before
    bound.role = ManagementRole.ORG_ADMIN
    bound.save()
    assert delete_team(team=alice_team, actor=of_key).deleted_at is not None


def test_what_a_team_kept_is_erased_once_the_undo_is_over(
    alice_team, alice_tenant, alice, charlie_tenant
):
    user = make_user(tenant=alice_tenant)
    order = make_order_awaiting_results(tenant=alice_tenant, user=user)
    make_lab_account(tenant=alice_tenant, lab=order.lab)
    make_delivery(endpoint=make_endpoint(tenant=alice_tenant))
    make_api_key(tenant=alice_tenant)
    theirs = make_user(tenant=charlie_tenant)
    update_catalogue(owner=alice_tenant)
    update_catalogue(owner=charlie_tenant)
    for lab in Lab.objects.exclude(owner=None):
        make_center(lab=lab)
    with time_machine.travel(NOW, tick=False):
        delete_team(team=alice_team, actor=ACTOR)
        early = enqueue_due_team_erasures()
        erase_team_data(tenant_pk=alice_tenant.pk)
    assert early == 0
    assert User.unscoped.filter(tenant=alice_tenant).count() == 1

    with time_machine.travel(NOW + UNDO_GRACE, tick=False):
        due = enqueue_due_team_erasures()
        with pytest.raises(DomainError, match="undo_grace_over"):
            undo_delete_team(team=alice_team, actor=as_actor(alice))
        erase_team_data(tenant_pk=alice_tenant.pk)
        again = enqueue_due_team_erasures()

    assert (due, again) == (1, 0)
    assert list(User.unscoped.values_list("pk", flat=True)) == [theirs.pk]
    assert set(Lab.objects.exclude(owner=None).values_list("owner", flat=True)) == {
        charlie_tenant.pk
    }
    assert CatalogueUpdate.objects.get().owner == charlie_tenant
    center = ServiceCenter.objects.exclude(lab__owner=None).get()
    assert center.lab.owner == charlie_tenant
    assert not ApiKey.unscoped.filter(tenant__team=alice_team).exists()
    assert not Membership.objects.filter(team=alice_team).exists()
    kept = AuditEntry.unscoped.filter(tenant=alice_tenant)
    assert {"create_team", "delete_user", "erase_user", "erase_team"} <= set(
        kept.values_list("verb", flat=True)
    )
    assert Team.objects.get(pk=alice_team.pk).erased_at == NOW + UNDO_GRACE
