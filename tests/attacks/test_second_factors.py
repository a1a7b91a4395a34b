"""Who replays, guesses or clones a second factor, or weakens a passkey's proof."""

from __future__ import annotations

import json

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core import mail
from django.core.cache import cache
from django.test import Client

from accounts.models import AuditEntry
from tests.clients import confirm
from tests.factories.accounts import PASSWORD
from tests.factories.passkeys import ADD, SIGN_IN, Device, challenge, plain

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("as_web_role")]
APP, CODE = "/accounts/second-factor/app/", "/accounts/second-factor/code/"


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


@pytest.fixture
def device(alice_web, alice_team):
    confirm(alice_web)
    device = Device()
    device.add_to(alice_web)
    mail.outbox.clear()
    return device


def is_signed_in(client):
    return "_auth_user_id" in client.session


def after_password(member):
    client = Client()
    client.post("/accounts/login/", {"login": member.email, "password": PASSWORD})
    return client


def refusals():
    return AuditEntry.unscoped.filter(verb="refuse_second_factor").count()


def test_a_code_of_an_app_counts_once_and_in_its_half_minute_alone(alice, alice_web):
    def code_at(step):
        counter = next(iter(yield_hotp_counters_from_time())) + step
        return format_hotp_value(hotp_value(secret, counter))

    with time_machine.travel("2026-03-02T09:00:10Z", tick=False) as clock:
        confirm(alice_web)
        secret = alice_web.get(APP).context["form"].secret
        set_up = code_at(0)
        alice_web.post(APP, {"code": set_up})
        outcomes = {}
        for name, code in (
            ("the code of the set-up", set_up),
            ("the next half minute's", code_at(1)),
            ("the last half minute's", code_at(-1)),
        ):
            thief = after_password(alice)
            thief.post(CODE, {"code": code})
            outcomes[name] = is_signed_in(thief)
        clock.shift(30)
        owner, thief = after_password(alice), after_password(alice)
        seen = code_at(0)
        owner.post(CODE, {"code": seen})
        assert is_signed_in(owner)
        for spelled in (seen, f"{seen[:3]} {seen[3:]}", f" {seen}"):
            thief.post(CODE, {"code": spelled})
            outcomes[f"seen over a shoulder {len(spelled)}"] = is_signed_in(thief)
        confirming = Client()
        confirming.force_login(alice)
        confirming.post("/accounts/second-factor/confirm/", {"code": seen})
        outcomes["for another page"] = bool(
            confirming.session.get("account_authentication_methods")
        )

    assert outcomes == dict.fromkeys(outcomes, False)


def test_a_copied_passkey_is_refused_when_its_count_goes_back(alice, device):
    """Web Authentication 3, 7.2, step 22."""
    device.count = 5
    device.sign_in(Client())
    outcomes = []
    for count in (5, 4, 0, 6, 6, 7):
        device.count = count
        client = Client()
        device.sign_in(client)
        outcomes.append(is_signed_in(client))
    # The same where it is asked for after the password, and to confirm.
    device.count = 7
    second = after_password(alice)
    asked = json.loads(json.dumps(second.get(CODE).context["js_data"]))
    second.post(CODE, {"credential": device.get(asked["request_options"])})
    confirming = Client()
    confirming.force_login(alice)
    page = confirming.get(ADD)["Location"]
    options = plain(confirming.get(page).context["options"])
    confirming.post(page, {"credential": device.get(options)})

    assert outcomes == [False, False, False, True, False, True]
    assert not is_signed_in(second)
    assert not confirming.session.get("account_authentication_methods")
    assert refusals() == 6 * alice.memberships.get().team.tenants.count()


def test_a_passkey_that_counts_nothing_is_always_taken(device):
    """Those that devices share through a cloud say 0 each time."""
    device.count = 0
    for _ in range(2):
        client = Client()
        device.sign_in(client)
        assert is_signed_in(client)


def test_an_open_session_is_not_enough_to_confirm_by_a_touch(alice, device):
    """A key that only felt a finger, whose PIN nobody entered."""
    stolen = Client()
    stolen.force_login(alice)
    page = stolen.get(ADD)["Location"]
    options = plain(stolen.get(page).context["options"])
    touched = Device(verified=False)
    touched.key, touched.id, touched.user_handle = (
        device.key,
        device.id,
        device.user_handle,
    )
    touched.count = 9

    stolen.post(page, {"credential": touched.get(options)})
    second = after_password(alice)
    asked = json.loads(json.dumps(second.get(CODE).context["js_data"]))
    second.post(CODE, {"credential": touched.get(asked["request_options"])})

    assert options["publicKey"]["userVerification"] == "required"
    assert not stolen.session.get("account_authentication_methods")
    assert not is_signed_in(second)


def test_an_answer_to_another_question_signs_nobody_in(alice, device):
    """Each signed by the right key, on the right page: but not what was asked."""
    client = Client()
    asked = challenge(client)
    other = challenge(Client())
    another_host = {"publicKey": {**asked["publicKey"], "rpId": "elsewhere.example"}}
    embedded = json.loads(device.get(asked))
    of_creation = Device()
    of_creation.key, of_creation.id = device.key, device.id
    of_creation.user_handle, of_creation.kind = device.user_handle, "webauthn.create"

    for answer in (
        device.get(other),
        device.get(another_host),
        of_creation.get(asked),
        json.dumps({**embedded, "id": "AAAA", "rawId": "AAAA"}),
        json.dumps({**embedded, "response": {**embedded["response"], "userHandle": 5}}),
        json.dumps({**embedded, "response": [embedded["response"]]}),
        json.dumps({**embedded, "response": {**embedded["response"], "signature": ""}}),
        json.dumps(
            {
                **embedded,
                "response": {**embedded["response"], "authenticatorData": "AAAA"},
            }
        ),
        json.dumps(
            {**embedded, "response": {**embedded["response"], "userHandle": "__8"}}
        ),
    ):
        reply = client.post(SIGN_IN, {"credential": answer})
        assert reply.status_code == 302
        assert not is_signed_in(client)
    passkey = Authenticator.objects.get(type=Authenticator.Type.WEBAUTHN)
    assert passkey.last_used_at is None
