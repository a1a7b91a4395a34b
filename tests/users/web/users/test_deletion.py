from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from accounts.models import AuditEntry
from tests.clients import confirm
from tests.factories.users import make_user
from users.models import User
from users.models.user import UNDO_GRACE

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
PLACE = "/t/alice-health/sandbox"
DELETED = f"{PLACE}/deleted-users/"


@pytest.fixture
def user(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    return make_user(tenant=alice_tenant, client_user_id="mbr_1")


@pytest.fixture
def web(alice, user):
    client = Client()
    client.force_login(alice)
    confirm(client)
    return client


def verbs(user):
    entries = AuditEntry.objects.for_tenant(user.tenant).exclude(
        verb__in=("read", "create_user")
    )
    return list(entries.filter(subject="user").values_list("verb", flat=True))


def is_live(user):
    return User.objects.for_tenant(user.tenant).live().filter(pk=user.pk).exists()


def test_a_user_is_deleted_once_the_id_is_typed_and_comes_back_whole(web, user):
    page = f"{PLACE}/users/{user.uuid}/"

    asked = web.get(f"{page}delete/")
    wrong = web.post(f"{page}delete/", {"typed_name": "mbr_2"})
    was_live, before = is_live(user), verbs(user)
    done = web.post(f"{page}delete/", {"typed_name": " mbr_1 "})
    listed = web.get(DELETED)
    offsets = [web.get(DELETED, {"offset": n}) for n in ("1", "x", "²", "9" * 5000)]
    gone = web.get(page)
    back = web.post(f"{DELETED}{user.uuid}/undo/")

    assert (asked.status_code, wrong.status_code, was_live) == (200, 422, True)
    assert (done.status_code, done["Location"]) == (302, DELETED)
    assert [(u.pk, u.undo_ends_at) for u in listed.context["users"]] == [
        (user.pk, NOON + UNDO_GRACE)
    ]
    assert [len(reply.context["users"]) for reply in offsets] == [0, 1, 1, 1]
    assert gone.status_code == 404
    assert (back.status_code, back["Location"]) == (302, page)
    assert is_live(user)
    assert before == []
    assert sorted(verbs(user)) == ["delete_user", "undo_delete_user"]
    assert list(web.get(DELETED).context["users"]) == []


def test_who_did_not_confirm_lately_deletes_nobody(alice_web, user):
    reply = alice_web.post(
        f"{PLACE}/users/{user.uuid}/delete/", {"typed_name": "mbr_1"}
    )

    assert reply.status_code == 302
    assert is_live(user)
    assert verbs(user) == []


def test_nobody_comes_back_after_the_time_to_undo_or_under_a_taken_id(
    web, user, time_machine
):
    web.post(f"{PLACE}/users/{user.uuid}/delete/", {"typed_name": "mbr_1"})
    make_user(tenant=user.tenant, client_user_id="mbr_1")

    taken = web.post(f"{DELETED}{user.uuid}/undo/")
    User.objects.for_tenant(user.tenant).live().delete()
    time_machine.move_to(NOON + UNDO_GRACE + timedelta(seconds=1), tick=False)
    confirm(web)
    late = web.post(f"{DELETED}{user.uuid}/undo/")

    assert [(r.status_code, r["Location"]) for r in (taken, late)] == [
        (302, DELETED),
        (302, DELETED),
    ]
    assert not is_live(user)
    assert verbs(user) == ["delete_user"]


def test_a_stranger_s_user_is_neither_deleted_nor_brought_back(web, charlie_tenant):
    theirs = make_user(tenant=charlie_tenant)

    replies = [
        web.post(f"{PLACE}/users/{theirs.uuid}/delete/", {"typed_name": "x"}),
        web.post(f"{DELETED}{theirs.uuid}/undo/"),
        web.post(f"{DELETED}x/undo/"),
    ]

    assert [reply.status_code for reply in replies] == [404, 404, 404]
    assert is_live(theirs)
