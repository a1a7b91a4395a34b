from __future__ import annotations

from http import HTTPStatus

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.cache import cache
from django.test import Client

from accounts.models import AuditEntry
from tests.clients import confirm
from tests.factories.accounts import PASSWORD
from tests.factories.passkeys import ADD, SIGN_IN, Device, challenge

PAGE = "/t/alice-health/sandbox/profile/"
CODE = "/accounts/second-factor/code/"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


@pytest.fixture
def device(alice_web, alice_team):
    """Alice's, whose passkey is added."""
    confirm(alice_web)
    device = Device()
    device.add_to(alice_web)
    mail.outbox.clear()
    return device


def is_signed_in(client):
    return "_auth_user_id" in client.session


def give_password(client, member):
    return client.post(
        "/accounts/login/", {"login": member.email, "password": PASSWORD}
    )


def test_the_first_passkey_brings_recovery_codes_and_a_mail(alice_web, alice_team):
    confirm(alice_web)

    reply = Device().add_to(alice_web)
    codes = alice_web.get(reply["Location"])

    assert reply["Location"] == "/accounts/second-factor/recovery-codes/"
    assert len(codes.context["unused_codes"]) == 10
    passkey = Authenticator.objects.get(type=Authenticator.Type.WEBAUTHN)
    assert passkey.wrap().name == "Work laptop"
    assert passkey.wrap().is_passwordless is True
    assert [letter.subject for letter in mail.outbox] == ["A passkey was added"]


@pytest.mark.parametrize(
    "device",
    [Device(verified=False), Device(origin="https://elsewhere.example")],
    ids=["nobody verified", "another site"],
)
def test_a_doubtful_passkey_is_not_added(alice_web, alice_team, device):
    confirm(alice_web)

    reply = device.add_to(alice_web)

    assert reply.context["form"].errors
    assert not Authenticator.objects.exists()
    assert mail.outbox == []


def test_adding_one_asks_who_has_not_confirmed(alice_web, alice_team):
    reply = alice_web.get(ADD)

    assert reply["Location"].startswith("/accounts/confirm/?next=")


def test_a_passkey_signs_in_alone_until_the_browser_closes(alice, device):
    client = Client()

    reply = device.sign_in(client, next=PAGE)

    assert reply["Location"] == PAGE
    assert client.session["_auth_user_id"] == str(alice.pk)
    assert client.session.get_expire_at_browser_close()


def test_signing_in_by_passkey_leads_to_no_other_site(device):
    assert device.sign_in(Client(), next="https://elsewhere.example/")["Location"] == (
        "/"
    )


def test_an_answer_is_taken_once_and_in_its_own_session_alone(device):
    thief, owner = Client(), Client()
    answer = device.get(challenge(owner))
    challenge(thief)

    thief.post(SIGN_IN, {"credential": answer})
    owner.post(SIGN_IN, {"credential": answer})
    owner.post("/accounts/logout/")
    owner.post(SIGN_IN, {"credential": answer})

    assert not is_signed_in(thief)
    assert not is_signed_in(owner)


@pytest.mark.parametrize("what", ["origin", "user", "key", "verification"])
def test_a_forged_answer_signs_nobody_in(alice, bob, device, what):
    forger = Device()
    forger.user_handle, forger.id = device.user_handle, device.id
    if what != "key":
        forger.key = device.key
    if what == "origin":
        forger.origin = "https://localhost.elsewhere.example"
    elif what == "user":
        forger.user_handle = "bm9ib2R5"
    elif what == "verification":
        forger.flags = Device(verified=False).flags
    client = Client()

    reply = forger.sign_in(client)

    assert reply["Location"] == "/accounts/login/"
    assert not is_signed_in(client)


@pytest.mark.parametrize("text", ["", "no", "[]", "{}", '{"response": {}}', "1"])
def test_nonsense_is_refused_quietly(client, db, text):
    challenge(client)

    reply = client.post(SIGN_IN, {"credential": text})

    assert reply["Location"] == "/accounts/login/"


def test_the_challenge_tells_nobody_who_is_a_member(device):
    options = challenge(Client())["publicKey"]

    assert not options.get("allowCredentials")
    assert options["userVerification"] == "required"


def test_a_switched_off_member_s_passkey_signs_nobody_in(alice, device):
    alice.is_active = False
    alice.save(update_fields=["is_active"])
    client = Client()

    device.sign_in(client)

    assert not is_signed_in(client)


def test_after_the_password_the_passkey_or_a_recovery_code_is_asked(alice, device):
    client = Client()

    reply = give_password(client, alice)
    page = client.get(reply["Location"])

    assert reply["Location"] == CODE
    assert (page.context["has_app"], page.context["has_passkey"]) == (False, True)
    assert not is_signed_in(client)


def test_after_five_wrong_codes_even_the_right_one_waits(alice, alice_web, device):
    page = alice_web.get("/accounts/second-factor/recovery-codes/")
    right = page.context["unused_codes"][0]
    client = Client()
    give_password(client, alice)
    for _ in range(5):
        client.post(CODE, {"code": "00000000"})

    reply = client.post(CODE, {"code": right})

    assert reply.context["form"].errors.as_data()["code"][0].code == (
        "too_many_login_attempts"
    )
    assert not is_signed_in(client)
    lines = AuditEntry.unscoped.filter(verb="refuse_second_factor")
    assert set(lines.values_list("actor_label", "subject_id", "address")) == {
        ("accounts.sign_in", str(alice.pk), "127.0.0.1")
    }
    assert lines.count() == 5 * alice.memberships.get().team.tenants.count()


def test_who_has_an_open_session_can_not_guess_the_password_or_a_code(
    alice, alice_web, device
):
    page = alice_web.get("/accounts/second-factor/recovery-codes/")
    right = {"password": PASSWORD, "code": page.context["unused_codes"][0]}
    stolen = Client()
    stolen.force_login(alice)
    found = {}

    for name, path in (("password", "confirm/"), ("code", "second-factor/confirm/")):
        cache.clear()
        for _ in range(10):
            stolen.post(f"/accounts/{path}", {name: "00000000"})
        found[name] = stolen.post(f"/accounts/{path}", {name: right[name]}).status_code

    assert found == {"password": 429, "code": 429}
    assert "account_authentication_methods" not in stolen.session


def test_a_passkey_confirms_that_it_is_you(alice, alice_web, device):
    client = Client()
    client.force_login(alice)
    asked = client.get(ADD)["Location"]

    options = client.get(asked).context["options"]
    reply = client.post(asked, {"credential": device.get(options)})

    assert reply["Location"] == ADD
    assert client.get(ADD).status_code == HTTPStatus.OK


def test_a_passkey_is_renamed_and_removed_with_a_mail(alice_web, device):
    passkey = Authenticator.objects.get(type=Authenticator.Type.WEBAUTHN)
    path = f"/accounts/passkeys/{passkey.pk}"

    alice_web.post(f"{path}/rename/", {"name": "Old laptop"})
    passkey.refresh_from_db()
    too_long = alice_web.post(f"{path}/rename/", {"name": "x" * 61})
    removed = alice_web.post(f"{path}/remove/")

    assert passkey.wrap().name == "Old laptop"
    assert too_long.context["form"].errors
    assert removed["Location"] == "/accounts/second-factor/"
    assert not Authenticator.objects.exists()
    assert [letter.subject for letter in mail.outbox] == ["A passkey was removed"]


def test_another_s_passkey_is_not_found(charlie_web, device):
    confirm(charlie_web)
    passkey = Authenticator.objects.get(type=Authenticator.Type.WEBAUTHN)

    statuses = [
        charlie_web.post(f"/accounts/passkeys/{passkey.pk}/{verb}/").status_code
        for verb in ("rename", "remove")
    ]

    assert statuses == [HTTPStatus.NOT_FOUND] * 2
    assert Authenticator.objects.filter(pk=passkey.pk).exists()
