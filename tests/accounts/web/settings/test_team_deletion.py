from __future__ import annotations

import pytest
from django.core import mail

from accounts.models import Membership, Team
from accounts.states import Role
from tests.clients import confirm

pytestmark = pytest.mark.django_db
DELETE = "/t/alice-health/sandbox/settings/delete-team/"
DELETED = "/accounts/deleted-teams/"


def test_an_owner_deletes_a_team_by_its_name_and_brings_it_back(
    alice_web, alice_team, bob, charlie_web
):
    unsure = alice_web.post(DELETE, {"typed_name": "Alice Health"})
    assert unsure["Location"].startswith("/accounts/confirm/")
    confirm(alice_web)
    asked = alice_web.get(DELETE)
    mistyped = alice_web.post(DELETE, {"typed_name": "alice"})
    assert Team.objects.get(pk=alice_team.pk).deleted_at is None

    gone = alice_web.post(DELETE, {"typed_name": "Alice Health"})

    assert asked.status_code == 200
    assert mistyped.status_code == 422
    assert gone["Location"] == DELETED
    assert alice_web.get(DELETE).status_code == 404
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (
        ["alice@assay.example"],
        "The team Alice Health was deleted",
    )
    assert DELETED in sent.body
    assert b"Restore Alice Health" in alice_web.get(DELETED).content
    assert b"Alice Health" not in charlie_web.get(DELETED).content
    fields = {"team_id": str(alice_team.pk)}
    assert charlie_web.post(DELETED, fields).status_code == 404
    assert alice_web.post(DELETED, {"team_id": "1"}).status_code == 404

    back = alice_web.post(DELETED, fields)

    assert back.status_code == 302
    assert alice_web.get(back["Location"]).status_code == 200


def test_an_admin_deletes_no_team(alice_web, alice, alice_team):
    Membership.objects.filter(member=alice).update(roles=[Role.ADMIN])
    confirm(alice_web)

    assert alice_web.post(DELETE, {"typed_name": "Alice Health"}).status_code == 403
    settings = alice_web.get("/t/alice-health/sandbox/settings/")
    assert b"delete-team" not in settings.content
    assert Team.objects.get(pk=alice_team.pk).deleted_at is None
