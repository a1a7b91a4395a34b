from __future__ import annotations

import pytest
from django.test import Client

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.operations.import_files import BODY_MAX_BYTES
from users.operations.link_sessions import create_link_session, link_token

pytestmark = pytest.mark.django_db

PAGE_MAX = 2_621_440


class Unread:
    """A body that may not be asked for a byte."""

    def read(self, *_size):
        raise AssertionError("the body was read")

    readline = read


def send(client, path, length):
    return client.post(
        path,
        content_type="multipart/form-data; boundary=x",
        **{"CONTENT_LENGTH": str(length), "wsgi.input": Unread()},
    )


def test_a_page_that_takes_little_reads_nothing_of_much(alice_web):
    for path in ("/accounts/login/", "/t/alice-health/sandbox/users/import/"):
        assert send(alice_web, path, PAGE_MAX + 1).status_code == 413


def test_files_are_taken_of_who_is_known_and_up_to_their_bound(alice_web, alice_tenant):
    user = make_user(tenant=alice_tenant)
    imports = f"/t/alice-health/sandbox/users/{user.uuid}/imports/"
    reports = "/t/alice-health/sandbox/reports/upload/"

    assert send(Client(), imports, PAGE_MAX + 1).status_code == 302  # to sign in
    assert send(alice_web, imports, BODY_MAX_BYTES + 1).status_code == 413
    assert send(alice_web, reports, 2 * 10_485_760 + 1).status_code == 413
    for path, length in ((imports, BODY_MAX_BYTES), (reports, 2 * 10_485_760)):
        with pytest.raises(AssertionError, match="was read"):
            send(alice_web, path, length)


def test_a_link_takes_a_file_of_its_holder_alone(alice_tenant):
    session = create_link_session(user=make_user(tenant=alice_tenant), actor=ACTOR)
    path = f"/connect/{session.uuid}/apple_health_kit/file/"
    holder = Client()
    holder.get("/connect/", {"token": link_token(session)})

    assert send(Client(), path, PAGE_MAX + 1).status_code == 413
    with pytest.raises(AssertionError, match="was read"):
        send(holder, path, PAGE_MAX + 1)


def test_a_length_that_is_no_number_is_nothing_to_read(alice_web):
    reply = alice_web.post("/accounts/login/", CONTENT_LENGTH="many")

    assert reply.status_code in {200, 302}
