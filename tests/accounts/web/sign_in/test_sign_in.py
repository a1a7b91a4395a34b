from __future__ import annotations

import re
from http import HTTPStatus

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core import mail
from django.core.cache import cache

from accounts.models import AuditEntry, Member
from accounts.operations.members.passwords import create_password_reset_link
from tests.factories.accounts import PASSWORD, make_member

LOGIN = "/accounts/login/"
RESET = "/accounts/password/reset/"
NEW_PASSWORD = "an entirely new sentence"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


def sign_in(client, email, password, **more):
    return client.post(LOGIN, {"login": email, "password": password, **more})


def test_signing_in_leads_to_the_start(client, alice):
    reply = sign_in(client, alice.email, PASSWORD)

    assert (reply.status_code, reply["Location"]) == (HTTPStatus.FOUND, "/")
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_the_address_is_taken_in_any_case(client, alice):
    sign_in(client, alice.email.upper(), PASSWORD)

    assert client.session["_auth_user_id"] == str(alice.pk)


def test_who_signs_in_is_in_the_audit_and_who_can_not_in_the_log(
    client, alice, alice_tenant, caplog
):
    for email in (alice.email, "nobody@assay.example"):
        sign_in(client, email, "wrong")
    sign_in(client, alice.email, PASSWORD)

    lines = AuditEntry.objects.for_tenant(alice_tenant).filter(actor_key=str(alice.pk))
    assert list(lines.values_list("verb", "subject_id", "address")) == [
        ("sign_in", str(alice.pk), "127.0.0.1")
    ]
    refused = [r.message for r in caplog.records if "wrong password" in r.message]
    assert refused == [
        f"wrong password: member {alice.pk}",
        "wrong password: member unknown",
    ]
    assert alice.email not in caplog.text


def test_signing_in_leads_to_where_one_was_going(client, alice):
    reply = sign_in(
        client, alice.email, PASSWORD, next="/t/alice-health/sandbox/users/"
    )

    assert reply["Location"] == "/t/alice-health/sandbox/users/"


def test_signing_in_leads_to_no_other_site(client, alice):
    reply = sign_in(client, alice.email, PASSWORD, next="https://elsewhere.example/")

    assert reply["Location"] == "/"


def test_without_the_tick_the_session_ends_with_the_browser(client, alice):
    sign_in(client, alice.email, PASSWORD)

    assert client.session.get_expire_at_browser_close()


def test_with_the_tick_the_session_stays_two_weeks(client, alice):
    sign_in(client, alice.email, PASSWORD, remember="on")

    assert client.session.get_expiry_age() == 14 * 24 * 3600


def test_a_wrong_password_and_an_unknown_address_look_alike(
    client, alice, bob, monkeypatch
):
    hashed = []
    for name in ("encode", "verify"):
        plain = getattr(Argon2PasswordHasher, name)

        def counted(*args, plain=plain):
            hashed.append(1)
            return plain(*args)

        monkeypatch.setattr(Argon2PasswordHasher, name, counted)
    bob.set_unusable_password()
    bob.save(update_fields=["password"])
    known = sign_in(client, alice.email, "wrong")
    work = [len(hashed)]
    unknown = sign_in(client, "nobody@assay.example", "wrong")
    work.append(len(hashed))
    sign_in(client, bob.email, "wrong")
    work.append(len(hashed))

    assert known.status_code == unknown.status_code == HTTPStatus.OK
    assert known.context["form"].errors == unknown.context["form"].errors
    assert (known.wsgi_request.tries_left, unknown.wsgi_request.tries_left) == (4, 4)
    # One hash each: the time an answer takes tells nobody who is a member.
    assert work == [1, 2, 3]
    assert "_auth_user_id" not in client.session


def test_after_five_wrong_tries_even_the_right_password_waits(client, alice):
    # Whatever they say of where they come from.
    left = [
        client.post(
            LOGIN,
            {"login": alice.email, "password": "wrong"},
            headers={"X-Forwarded-For": f"198.51.100.{number}"},
        ).wsgi_request.tries_left
        for number in range(5)
    ]

    reply = sign_in(client, alice.email, PASSWORD)

    assert left == [4, 3, 2, 1, 0]
    [fault] = reply.context["form"].errors.as_data()["__all__"]
    assert (fault.code, fault.message) == (
        "too_many_login_attempts",
        "Too many attempts. Wait 10 seconds, or reset your password.",
    )
    assert "_auth_user_id" not in client.session


def test_naming_the_server_otherwise_gives_no_more_tries(client, alice):
    for port in range(5):
        client.post(
            LOGIN,
            {"login": alice.email, "password": "wrong"},
            headers={"Host": f"testserver:{8000 + port}"},
        )

    reply = sign_in(client, alice.email, PASSWORD)

    assert reply.context["form"].errors.as_data()["__all__"][0].code == (
        "too_many_login_attempts"
    )


def test_ten_wrong_tries_from_one_place_wait_whoever_they_name(client, alice):
    for number in range(10):
        client.post(
            LOGIN,
            {"login": f"member{number}@assay.example", "password": "wrong"},
            headers={"X-Forwarded-For": f"198.51.100.{number}"},
        )

    reply = sign_in(client, alice.email, PASSWORD)

    assert reply.context["form"].errors.as_data()["__all__"][0].code == (
        "too_many_login_attempts"
    )
    assert "_auth_user_id" not in client.session


def test_one_address_waiting_leaves_others_free(client, alice, bob):
    for _ in range(6):
        sign_in(client, alice.email, "wrong")

    sign_in(client, bob.email, PASSWORD)

    assert client.session["_auth_user_id"] == str(bob.pk)


def test_nobody_signs_up(client, db):
    reply = client.post(
        "/accounts/signup/",
        {"email": "new@assay.example", "password1": PASSWORD, "password2": PASSWORD},
    )

    assert [t.name for t in reply.templates][:1] == ["account/signup_closed.html"]
    assert Member.objects.count() == 0


def test_signing_out_ends_the_session(alice_web):
    reply = alice_web.post("/accounts/logout/")

    assert (reply.status_code, reply["Location"]) == (HTTPStatus.FOUND, "/")
    assert "_auth_user_id" not in alice_web.session


def test_a_link_alone_signs_nobody_out(alice_web):
    alice_web.get("/accounts/logout/")

    assert "_auth_user_id" in alice_web.session


def test_a_forgotten_password_is_reset_by_mail(client, alice):
    client.post(RESET, {"email": alice.email})

    [letter] = mail.outbox
    assert (letter.to, letter.subject) == (
        ["alice@assay.example"],
        "Set your Assay password",
    )
    link = re.search(r"https?://[^/]+(\S+)", letter.body).group(1)
    form = client.get(link, follow=True)
    client.post(
        form.request["PATH_INFO"],
        {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD},
    )
    alice.refresh_from_db()
    assert alice.check_password(NEW_PASSWORD)
    assert [letter.subject for letter in mail.outbox[1:]] == [
        "Your Assay password was set"
    ]
    assert client.get(link).context["token_fail"]


def test_asking_for_an_unknown_address_looks_the_same(client, alice):
    known = client.post(RESET, {"email": alice.email})
    unknown = client.post(RESET, {"email": "nobody@assay.example"})

    assert known["Location"] == unknown["Location"] == "/accounts/password/reset/sent/"
    assert [letter.to for letter in mail.outbox] == [
        ["alice@assay.example"],
        ["nobody@assay.example"],
    ]
    assert "/reset/" not in mail.outbox[1].body


def test_a_link_for_a_new_member_sets_their_first_password(client):
    member = make_member()
    member.set_unusable_password()
    member.save()

    link = create_password_reset_link(member)
    form = client.get(re.sub("^https?://[^/]+", "", link), follow=True)
    client.post(
        form.request["PATH_INFO"],
        {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD},
    )

    assert sign_in(client, member.email, NEW_PASSWORD).status_code == HTTPStatus.FOUND


def test_a_short_password_is_refused(client, alice):
    form = client.get(
        re.sub("^https?://[^/]+", "", create_password_reset_link(alice)), follow=True
    )

    reply = client.post(
        form.request["PATH_INFO"], {"password1": "short", "password2": "short"}
    )

    assert reply.context["form"].errors.as_data()["password1"][0].code == (
        "password_too_short"
    )
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


def test_confirming_it_is_you_takes_the_password(alice_web):
    wrong = alice_web.post("/accounts/confirm/", {"password": "wrong"})
    right = alice_web.post("/accounts/confirm/", {"password": PASSWORD})

    assert wrong.status_code == HTTPStatus.OK
    assert wrong.context["form"].errors.as_data()["password"][0].code == (
        "incorrect_password"
    )
    assert (right.status_code, right["Location"]) == (HTTPStatus.FOUND, "/")


def test_passwords_are_stored_with_argon2(alice):
    assert alice.password.startswith("argon2$argon2id$")
