from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from uuid import uuid4

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts.models import MemberSession
from accounts.web.sign_in.sessions import describe_user_agent
from tests.factories.accounts import PASSWORD

PAGE = "/t/alice-health/sandbox/profile/"
MAC_CHROME = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36"
    " (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


def sign_in(member, client=None, **headers):
    client = client or Client(headers=headers)
    client.post("/accounts/login/", {"login": member.email, "password": PASSWORD})
    return client


def rows(client):
    return [
        (device, session.address, is_here)
        for session, device, is_here in client.get(PAGE).context["sessions"]
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MAC_CHROME, "Chrome on Mac"),
        (f"{MAC_CHROME} Edg/141.0.0.0", "Edge on Mac"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0", "Firefox on Linux"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/141.0", "Chrome on Android"),
        ("curl/8.5.0", "Unknown device"),
        ("", "Unknown device"),
    ],
)
def test_a_device_is_told_in_words(text, words):
    assert describe_user_agent(text) == words


def test_the_profile_lists_where_the_member_is_signed_in(alice, alice_team, bob):
    sign_in(alice, user_agent="Firefox/140.0 Windows")
    sign_in(bob)
    here = sign_in(alice, user_agent=MAC_CHROME)

    assert rows(here) == [
        ("Chrome on Mac", "127.0.0.1", True),
        ("Firefox on Windows", "127.0.0.1", False),
    ]


def test_a_lost_device_is_signed_out_alone(alice, alice_team):
    lost, kept, here = sign_in(alice), sign_in(alice), sign_in(alice)
    session = MemberSession.objects.get(session_key=lost.session.session_key)

    with time_machine.travel(timezone.now() + timedelta(minutes=16), tick=False):
        for action in (f"sessions/{session.pk}/end/", "sign-out-elsewhere/"):
            reply = here.post(f"{PAGE}{action}")
            assert reply["Location"].startswith("/accounts/confirm/")
        assert lost.get(PAGE).status_code == HTTPStatus.OK
    reply = here.post(f"{PAGE}sessions/{session.pk}/end/")

    assert reply["Location"] == PAGE
    assert lost.get(PAGE)["Location"].startswith("/accounts/login/")
    assert kept.get(PAGE).status_code == HTTPStatus.OK
    assert len(rows(here)) == 2


@pytest.mark.parametrize("path", [f"{uuid4()}", "none"], ids=["unknown", "no id"])
def test_an_unknown_session_is_not_found(alice, alice_team, path):
    reply = sign_in(alice).post(f"{PAGE}sessions/{path}/end/")

    assert reply.status_code == HTTPStatus.NOT_FOUND


def test_signing_out_leaves_no_row(alice, alice_team):
    client = sign_in(alice)

    client.post("/accounts/logout/")

    assert not MemberSession.objects.exists()


def test_signing_out_everywhere_leaves_this_device_in_the_list(alice, alice_team):
    sign_in(alice)
    here = sign_in(alice, user_agent=MAC_CHROME)

    here.post(f"{PAGE}sign-out-elsewhere/")

    assert rows(here) == [("Chrome on Mac", "127.0.0.1", True)]


def test_a_session_planted_before_sign_in_is_not_the_one_after(alice, alice_team):
    planted = Client()
    planted.get("/accounts/login/")
    session = planted.session
    session["planted"] = True
    session.save()
    before = str(session.session_key)
    planted.cookies["sessionid"] = before

    sign_in(alice, planted)

    thief = Client()
    thief.cookies["sessionid"] = before
    assert planted.session.session_key != before
    assert thief.get(PAGE)["Location"].startswith("/accounts/login/")


def test_a_made_up_session_is_not_taken_over(alice, alice_team):
    client = Client()
    client.cookies["sessionid"] = made_up = "a" * 32

    sign_in(alice, client)

    assert client.session.session_key != made_up
