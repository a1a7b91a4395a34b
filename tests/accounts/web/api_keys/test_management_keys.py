from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import AuditEntry, ManagementKey
from accounts.operations.api_keys.management_keys import (
    create_management_key,
    find_management_key_grant,
)
from accounts.states import ManagementRole, Role
from tests.clients import confirm
from tests.factories.accounts import ACTOR, make_member

KEYS = "/t/alice-health/sandbox/api-keys/"
CREATE = "/t/alice-health/sandbox/management-keys/create/"

pytestmark = pytest.mark.django_db


@pytest.fixture
def key(alice_team):
    return create_management_key(team=alice_team, actor=ACTOR, label="Terraform")[0]


def revoke_path(key_id):
    return f"/t/alice-health/sandbox/management-keys/{key_id}/revoke/"


def client_with(team, role):
    client = Client()
    client.force_login(make_member(team=team, roles=(role,)))
    return client


def test_a_new_management_key_is_shown_once_and_is_for_this_team(
    alice, alice_web, alice_team
):
    confirm(alice_web)

    reply = alice_web.post(CREATE, {"label": "Terraform"})

    text = reply.context["text"]
    made = ManagementKey.objects.get()
    assert reply.status_code == 200
    assert "no-store" in reply["Cache-Control"]
    assert text in reply.content.decode()
    assert find_management_key_grant(text).team_ids == {alice_team.pk}
    assert made.created_by == alice
    again = alice_web.get(KEYS).content.decode()
    assert text not in again
    assert made.masked in again


def test_a_management_key_without_a_name_is_refused(alice_web):
    confirm(alice_web)

    reply = alice_web.post(CREATE, {"label": " "})

    assert reply.status_code == 422
    assert not ManagementKey.objects.exists()


def test_a_form_sent_twice_makes_one_management_key(alice_web, key):
    confirm(alice_web)

    reply = alice_web.post(CREATE, {"label": key.label})

    assert reply.status_code == 422
    assert list(reply.context["form"].errors) == ["label"]
    assert ManagementKey.objects.get() == key


def test_a_management_key_is_revoked_by_typing_its_name(alice_web, key):
    wrong = alice_web.post(revoke_path(key.pk), {"typed_name": "terraform"})
    kept = ManagementKey.objects.get().revoked_at
    right = alice_web.post(revoke_path(key.pk), {"typed_name": "Terraform"})

    assert (wrong.status_code, kept) == (422, None)
    assert right.headers["Location"] == KEYS
    assert ManagementKey.objects.get().revoked_at is not None
    assert "Revoked" in alice_web.get(KEYS).content.decode()


def test_the_key_of_a_whole_organisation_says_so(alice_web, alice_team):
    whole, _ = create_management_key(
        team=alice_team, actor=ACTOR, label="Ops", role=ManagementRole.ORG_ADMIN
    )

    asked = alice_web.get(revoke_path(whole.pk)).content.decode()

    assert "all teams of your organization" in asked
    assert str(ManagementRole.ORG_ADMIN.label) in alice_web.get(KEYS).content.decode()


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.LAB_STAFF, Role.VIEWER])
def test_who_may_not_change_the_team_sees_and_ends_none(alice_team, key, role):
    client = client_with(alice_team, role)
    audited = AuditEntry.unscoped.count()

    made = client.post(CREATE, {"label": "Mine"})
    ended = client.post(revoke_path(key.pk), {"typed_name": "Terraform"})

    assert (made.status_code, ended.status_code) == (403, 403)
    assert key.masked not in client.get(KEYS).content.decode()
    assert ManagementKey.objects.get().revoked_at is None
    assert AuditEntry.unscoped.count() == audited


@pytest.mark.parametrize("key_id", ["7", "0d9e2c3a-6f1b-4f7e-9a51-1c2d3e4f5a6b"])
def test_an_unknown_management_key_is_not_found(alice_web, key_id):
    assert alice_web.get(revoke_path(key_id)).status_code == 404
