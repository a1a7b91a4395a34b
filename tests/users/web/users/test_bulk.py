from __future__ import annotations

import pytest
from django.test import Client

from accounts.states import Role
from tests.audit import audited
from tests.clients import confirm
from tests.factories.accounts import ACTOR, make_member
from tests.factories.users import make_user
from users.models import UserExport
from users.operations.users.export import request_user_export

pytestmark = pytest.mark.django_db
LIST = "/t/alice-health/sandbox/users/"
PLAN = f"{LIST}selected/"


@pytest.fixture
def users(alice_tenant):
    return [
        make_user(tenant=alice_tenant, client_user_id=f"mbr_{at}") for at in range(3)
    ]


def verbs(tenant):
    return [verb for verb, _subject, _id in audited(tenant) if verb != "read"]


def test_archives_are_asked_for_after_the_member_confirmed_who_they_are(
    alice, alice_web, alice_tenant, charlie_tenant, users
):
    request_user_export(user=users[0], actor=ACTOR)
    stranger = make_user(tenant=charlie_tenant)
    chosen = [str(one.uuid) for one in (*users, stranger)] + ["x"]
    sent = {"action": "export", "user": chosen}

    assert "/accounts/confirm/?next=" in alice_web.get(PLAN, sent)["Location"]
    assert alice_web.post(PLAN, sent).status_code == 302
    assert UserExport.unscoped.count() == 1

    confirm(alice_web)
    plan = alice_web.get(PLAN, sent)
    assert [each.name for each in plan.context["doing"]] == ["mbr_0", "mbr_1", "mbr_2"]
    reply = alice_web.post(PLAN, sent, follow=True)

    # The first has one already, which is said.
    assert UserExport.objects.for_tenant(alice_tenant).count() == 3
    assert UserExport.objects.for_tenant(charlie_tenant).count() == 0
    assert "Skipped: mbr_0" in reply.content.decode()
    assert reply.content.decode().count('form="bulk"') == 3


def test_a_refresh_is_for_who_may_change_users_and_an_archive_for_who_may_delete(
    alice_web, alice_team, alice_tenant, users
):
    sent = {"action": "refresh", "user": [str(users[0].uuid)]}
    viewer, developer = Client(), Client()
    viewer.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))
    developer.force_login(make_member(team=alice_team, roles=(Role.DEVELOPER,)))
    before = verbs(alice_tenant)

    assert viewer.post(PLAN, sent).status_code == 403
    assert developer.post(PLAN, {**sent, "action": "export"}).status_code == 403
    assert verbs(alice_tenant) == before
    assert UserExport.unscoped.count() == 0
    page = viewer.get(LIST, {"view": "all"}).content.decode()
    assert "mbr_0" in page
    assert 'id="bulk"' not in page

    alice_web.get(PLAN, sent)
    done = alice_web.post(PLAN, sent, follow=True)
    assert "Refresh sources. Done for 1 row." in done.content.decode()
