from __future__ import annotations

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.states import Role
from tests.factories.accounts import make_member
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import User
from users.web.users import csv_import

PATH = "/t/alice-health/sandbox/users/import/"
CONTENT = "client_user_id\na\nhere\n=b\n"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def here(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="here")


def upload(client, content=CONTENT):
    file = SimpleUploadedFile("users.csv", content.encode(), "text/csv")
    return client.post(PATH, {"file": file})


def ids(tenant):
    return set(User.objects.for_tenant(tenant).values_list("client_user_id", flat=True))


def test_a_file_is_checked_and_nothing_stored(alice_web, alice_tenant):
    assert alice_web.get(PATH).status_code == 200
    before = stored_rows(alice_tenant)

    reply = upload(alice_web)

    found = reply.context["found"]
    assert (found.rows, found.created, found.existing, found.refused) == (3, 1, 1, 1)
    assert [(note.line, note.code) for note in reply.context["notes"]] == [
        (3, "exists"),
        (4, "id_formula"),
    ]
    assert stored_rows(alice_tenant) == before


def test_a_checked_file_is_created_and_what_is_refused_stays_in_sight(
    alice_web, alice_tenant
):
    content = upload(alice_web).context["content"]

    reply = alice_web.post(PATH, {"content": content, "action": "create"})

    assert reply.context["done"] is True
    assert [note.code for note in reply.context["notes"]] == ["exists", "id_formula"]
    assert ids(alice_tenant) == {"here", "a"}


def test_a_file_without_a_fault_leads_to_the_list(alice_web, alice_tenant):
    reply = alice_web.post(PATH, {"content": "client_user_id\na\n", "action": "create"})

    assert reply.headers["Location"] == "/t/alice-health/sandbox/users/"
    assert ids(alice_tenant) == {"here", "a"}


def test_what_is_left_out_can_be_downloaded(alice_web, alice_tenant):
    before = stored_rows(alice_tenant)

    reply = alice_web.post(PATH, {"content": CONTENT, "action": "notes"})

    rows = list(csv.reader(io.StringIO(reply.content.decode())))
    assert [row[:4] for row in rows] == [
        ["line", "outcome", "column", "code"],
        ["3", "exists", "client_user_id", "exists"],
        ["4", "refused", "client_user_id", "id_formula"],
    ]
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("content", ["", "name\na\n", "client_user_id\na\nb\nc\n"])
def test_a_file_that_is_none_is_said_at_the_field(alice_web, monkeypatch, content):
    monkeypatch.setattr(csv_import, "ROWS_MAX", 2)

    reply = upload(alice_web, content)

    assert reply.status_code == 422
    assert "file" in reply.context["form"].errors


def test_a_file_too_large_is_not_read(alice_web, monkeypatch):
    monkeypatch.setattr(csv_import, "BYTES_MAX", 10)

    assert upload(alice_web).status_code == 422


def test_who_may_only_look_cannot_import(client, alice_tenant):
    viewer = make_member(team=alice_tenant.team, roles=(Role.VIEWER,))
    client.force_login(viewer)

    assert client.get(PATH).status_code == 403
    assert upload(client).status_code == 403
    assert ids(alice_tenant) == {"here"}
