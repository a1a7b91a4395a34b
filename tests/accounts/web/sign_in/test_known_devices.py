"""Lock-outs slow who guesses, and leave the member alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import pytest
import time_machine
from django.core import mail
from django.core.cache import cache
from django.test import Client

from accounts.operations.members.invitations import (
    build_mailed_invitation_link,
    invite_member,
)
from accounts.operations.sign_in.attempts import FREE_TRIES, NEWCOMERS
from accounts.states import Role
from accounts.web.sign_in.known_devices import LIFE
from tests.clients import confirm
from tests.factories.accounts import ACTOR, PASSWORD
from tests.factories.passkeys import Device

LOGIN = "/accounts/login/"
CODE = "/accounts/second-factor/code/"
HOME = "/t/alice-health/sandbox/"
NEW_PASSWORD = "an entirely new sentence"
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR_S = 3600
COOKIE = "known_device"
# So many tries, each from an address of its own, and no unknown device is let through.
EXHAUSTING = FREE_TRIES + NEWCOMERS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clock():
    cache.clear()
    with time_machine.travel(NOON, tick=False) as travelled:
        yield travelled


def try_in(client, email, password=PASSWORD, address="203.0.113.1"):
    return client.post(
        LOGIN, {"login": email, "password": password}, REMOTE_ADDR=address
    )


def fault_of(reply):
    """The code and words of what a form says is wrong; nothing where all is right."""
    if reply.status_code == HTTPStatus.FOUND:
        return "", ""
    [fault] = reply.context["form"].errors.as_data()["__all__"]
    return fault.code, str(fault.message)


def is_in(client):
    return "_auth_user_id" in client.session


def guess(email, tries=EXHAUSTING, *, addresses=EXHAUSTING):
    """Wrong passwords from so many addresses in turn; how many were looked at."""
    looked_at = 0
    for number in range(tries):
        address = f"198.51.100.{number % addresses}"
        code, _ = fault_of(try_in(Client(), email, "wrong", address))
        looked_at += code == "email_password_mismatch"
    return looked_at


def known(member):
    """A browser that the member has signed in with, and out of."""
    client = Client()
    try_in(client, member.email)
    assert is_in(client)
    client.post("/accounts/logout/")
    assert not is_in(client)
    return client


def holding(token):
    """Another browser that holds this cookie."""
    client = Client()
    client.cookies[COOKIE] = token
    return client


def test_fifty_guesses_of_ten_addresses_shut_nobody_out(alice):
    device = known(alice)
    looked_at = guess(alice.email, 50, addresses=10)

    try_in(device, alice.email)
    elsewhere = Client()
    try_in(elsewhere, alice.email, address="203.0.113.99")

    assert looked_at == 10
    assert (is_in(device), is_in(elsewhere)) == (True, True)


def test_an_account_is_tried_forty_times_in_an_hour_and_32_in_the_next(alice, clock):
    """From as many addresses as one likes: five at once, waits, and 20 newcomers."""
    by_hour, number, elapsed = [0, 0], 0, 0.0
    while elapsed < 2 * HOUR_S:
        number += 1
        address = f"198.51.{number // 250}.{number % 250}"
        reply = try_in(Client(), alice.email, "wrong", address)
        code, words = fault_of(reply)
        if code == "email_password_mismatch":
            by_hour[int(elapsed // HOUR_S)] += 1
            continue
        count, unit = re.search(r"Wait (\d+) (second|minute)", words).groups()
        # Minutes are rounded up: the last of several is waited for in seconds.
        seconds = int(count) if unit == "second" else max(int(count) - 1, 1) * 60
        clock.shift(seconds)
        elapsed += seconds

    assert by_hour == [40, 32]


def test_with_a_new_device_nobody_waits_longer_than_five_minutes(alice, clock):
    guess(alice.email)
    for _ in range(7):
        clock.shift(300)
        guess(alice.email, 1)
    client = Client()
    refused = fault_of(try_in(client, alice.email, address="203.0.113.99"))
    was_in = is_in(client)
    clock.shift(300)

    try_in(client, alice.email, address="203.0.113.99")

    assert refused == (
        "too_many_login_attempts",
        "Too many attempts. Wait 5 minutes, or reset your password.",
    )
    assert (was_in, is_in(client)) == (False, True)


def test_a_password_by_mail_ends_the_wait_at_once(alice, clock):
    guess(alice.email)
    client = Client()
    assert fault_of(try_in(client, alice.email, address="203.0.113.99"))[0]
    client.post("/accounts/password/reset/", {"email": alice.email})
    link = re.search(r"https?://[^/]+(\S+)", mail.outbox[0].body).group(1)
    form = client.get(link, follow=True).request["PATH_INFO"]

    client.post(form, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
    guess(alice.email)
    try_in(client, alice.email, NEW_PASSWORD, address="203.0.113.99")

    assert is_in(client)


def test_an_unknown_account_is_answered_alike(alice):
    def answers(email):
        return [
            (fault_of(reply), reply.wsgi_request.__dict__.get("tries_left"))
            for number in range(EXHAUSTING + 2)
            if (reply := try_in(Client(), email, "wrong", f"198.51.100.{number}"))
        ]

    assert answers(alice.email) == answers("nobody@assay.example")


def test_a_known_device_is_limited_by_itself(alice, clock):
    device = known(alice)
    wrong = [try_in(device, alice.email, "wrong") for _ in range(FREE_TRIES)]
    waits = fault_of(try_in(device, alice.email))
    clock.shift(10)

    try_in(device, alice.email)

    assert [each.wsgi_request.tries_left for each in wrong] == [4, 3, 2, 1, 0]
    assert waits == (
        "too_many_login_attempts",
        "Too many attempts. Wait 10 seconds, or reset your password.",
    )
    assert is_in(device)


def test_neighbours_behind_one_address_use_up_no_known_device_s_tries(alice):
    device = known(alice)
    last = [
        try_in(Client(), f"member{n}@assay.example", "wrong") for n in range(70)
    ].pop()

    try_in(device, alice.email)

    assert last.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert is_in(device)


def test_a_cookie_says_nothing_of_its_member_and_is_the_browser_s_alone(alice):
    client = Client()

    reply = try_in(client, alice.email)

    cookie = reply.cookies[COOKIE]
    items = [cookie[name] for name in ("httponly", "samesite", "path", "domain")]
    assert items == [True, "Lax", "/", ""]
    assert cookie["max-age"] == LIFE.total_seconds() == 180 * 24 * HOUR_S
    assert "alice" not in cookie.value
    assert alice.password[-20:] not in cookie.value


def test_over_https_it_is_of_this_host_alone(alice, settings):
    settings.HTTPS = True

    reply = try_in(Client(), alice.email)

    assert reply.cookies[f"__Host-{COOKIE}"]["secure"] is True
    assert COOKIE not in reply.cookies


def forged(token):
    head, sealed, signature = token.rpartition(":")
    return f"{head}{sealed}{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"


@pytest.mark.parametrize(
    "change",
    [
        forged,
        lambda token: token.partition(":")[0],
        lambda token: "|".join([token[:-1], "", "nonsense", "."]),
        lambda token: f"{'0' * 32}{token[32:]}",
        lambda _token: "",
        lambda token: token * 100,
    ],
    ids=["signature", "unsigned", "nonsense", "nobody's", "empty", "long"],
)
def test_a_forged_cookie_gives_no_pass(alice, change):
    token = known(alice).cookies[COOKIE].value
    guess(alice.email)
    client = holding(change(token))

    reply = try_in(client, alice.email, address="203.0.113.99")

    assert fault_of(reply)[0] == "too_many_login_attempts"
    assert not is_in(client)


def test_another_member_s_cookie_gives_no_pass(alice, bob):
    device = known(bob)
    guess(alice.email)

    reply = try_in(device, alice.email, address="203.0.113.99")
    try_in(device, bob.email, address="203.0.113.99")

    assert fault_of(reply)[0] == "too_many_login_attempts"
    assert device.session["_auth_user_id"] == str(bob.pk)


def test_a_cookie_ends_after_its_life(alice, clock):
    device, older = known(alice), known(alice)
    clock.shift(LIFE - timedelta(hours=1))
    guess(alice.email)
    try_in(device, alice.email)
    clock.shift(timedelta(hours=2))
    cache.clear()
    guess(alice.email)

    reply = try_in(holding(older.cookies[COOKIE].value), alice.email)

    assert is_in(device)
    assert fault_of(reply)[0] == "too_many_login_attempts"


@pytest.mark.parametrize(
    ("page", "fields", "password"),
    [
        ("profile/password/", {"current": PASSWORD, "new": NEW_PASSWORD}, NEW_PASSWORD),
        ("profile/sign-out-elsewhere/", {}, PASSWORD),
    ],
    ids=["new password", "signed out everywhere"],
)
def test_what_ends_sessions_ends_other_devices_and_keeps_one_s_own(
    alice, page, fields, password
):
    lost, own = known(alice), Client()
    try_in(own, alice.email)
    before = own.cookies[COOKIE].value
    reply = own.post(f"{HOME}{page}", fields)
    assert reply.status_code == HTTPStatus.FOUND
    own.post("/accounts/logout/")
    guess(alice.email)

    refused = [
        try_in(client, alice.email, password, "203.0.113.99")
        for client in (lost, holding(before))
    ]
    try_in(own, alice.email, password)

    assert [fault_of(each)[0] for each in refused] == ["too_many_login_attempts"] * 2
    assert is_in(own)


def test_members_who_share_a_device_are_all_known_on_it(alice, bob):
    shared = Client()
    for member in (alice, bob):
        try_in(shared, member.email)
        shared.post("/accounts/logout/")
    for member in (alice, bob):
        guess(member.email)
        try_in(shared, member.email)
        assert shared.session["_auth_user_id"] == str(member.pk)
        shared.post("/accounts/logout/")


def test_a_password_alone_makes_no_device_known(alice, alice_web):
    confirm(alice_web)
    Device().add_to(alice_web)
    client = Client()

    reply = try_in(client, alice.email)

    assert reply["Location"].startswith("/accounts/second-factor/")
    assert not is_in(client)
    assert COOKIE not in client.cookies


def test_who_knows_the_password_shuts_no_known_device_out_of_the_second_factor(
    alice, alice_web
):
    confirm(alice_web)
    Device().add_to(alice_web)
    page = alice_web.get("/accounts/second-factor/recovery-codes/")
    first, second, third, *_ = page.context["unused_codes"]
    device = Client()
    try_in(device, alice.email)
    device.post(CODE, {"code": first})
    assert is_in(device)
    device.post("/accounts/logout/")
    for number in range(EXHAUSTING):
        thief = Client(REMOTE_ADDR=f"198.51.100.{number}")
        thief.post(LOGIN, {"login": alice.email, "password": PASSWORD})
        thief.post(CODE, {"code": "00000000"})
    late = Client()
    try_in(late, alice.email)

    refused = late.post(CODE, {"code": second})
    try_in(device, alice.email)
    device.post(CODE, {"code": third})

    [fault] = refused.context["form"].errors.as_data()["code"]
    assert (fault.code, fault.message) == (
        "too_many_login_attempts",
        "Too many attempts. Wait 10 seconds and try again.",
    )
    assert (is_in(late), is_in(device)) == (False, True)


def test_nobody_elsewhere_keeps_a_member_from_confirming_who_they_are(alice, alice_web):
    guess(alice.email)

    reply = alice_web.post("/accounts/confirm/", {"password": PASSWORD})

    assert (reply.status_code, reply["Location"]) == (HTTPStatus.FOUND, "/")


def test_who_accepts_an_invitation_is_known(alice_team):
    invitation, token = invite_member(
        team=alice_team, actor=ACTOR, email="dana@north.example", roles=[Role.VIEWER]
    )
    client = Client()
    client.get(re.sub("^https?://[^/]+", "", build_mailed_invitation_link(token)))

    client.post("/invitation/", {"name": "Dana Reyes", "password": NEW_PASSWORD})

    assert is_in(client)
    client.post("/accounts/logout/")
    guess(invitation.email)
    try_in(client, invitation.email, NEW_PASSWORD)
    assert is_in(client)
