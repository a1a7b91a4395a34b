from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from accounts.webhooks.signing import (
    SecretInvalid,
    SignatureInvalid,
    decode_signing_secret,
    generate_signing_secret,
    sign_webhook_message,
    verify_webhook_signature,
)

BODY = '{"name":"Müller","big":12345678901234567890}'.encode()
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOW = int(NOON.timestamp())


def headers(secret_keys, *, at=NOW, message_id="msg_1"):
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": sign_webhook_message(secret_keys, message_id, at, BODY),
    }


@pytest.mark.time_machine(NOON)
def test_the_public_librarys_receiver_takes_the_signature():
    secret = generate_signing_secret()

    Webhook(secret).verify(BODY, headers([decode_signing_secret(secret)]))


@pytest.mark.time_machine(NOON)
def test_old_and_new_secret_both_verify_after_a_rotation():
    old, new = generate_signing_secret(), generate_signing_secret()
    sent = headers([decode_signing_secret(new), decode_signing_secret(old)])

    Webhook(old).verify(BODY, sent)
    Webhook(new).verify(BODY, sent)
    with pytest.raises(WebhookVerificationError):
        Webhook(generate_signing_secret()).verify(BODY, sent)


def test_the_specifications_own_example_gives_its_signature():
    key = decode_signing_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

    signature = sign_webhook_message(
        [key], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
    )

    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("text"),
    [
        "",
        "secret",
        "whsec_",
        "whsec_not base64",
        "whsec_" + base64.b64encode(b"x" * 23).decode(),
        "whsec_" + base64.b64encode(b"x" * 65).decode(),
    ],
)
def test_what_is_no_secret_is_refused(text):
    with pytest.raises(SecretInvalid):
        decode_signing_secret(text)


@pytest.mark.parametrize(
    "change",
    [
        {"body": BODY + b" "},
        {"message_id": "msg_2"},
        {"timestamp": str(NOW + 1)},
        {"timestamp": "soon"},
        {"signature": "v1,AAAA"},
        {"signature": ""},
        {"now": NOW + 301},
        {"now": NOW - 301},
    ],
    ids=lambda change: next(iter(change)),
)
def test_our_own_check_takes_what_was_signed_and_nothing_else(change):
    key = decode_signing_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    sent = {
        "message_id": "msg_1",
        "timestamp": str(NOW),
        "signature": "v1,AAAA " + sign_webhook_message([key], "msg_1", NOW, BODY),
        "body": BODY,
        "now": NOW + 300,
    }

    verify_webhook_signature(key, **sent)
    with pytest.raises(SignatureInvalid):
        verify_webhook_signature(key, **{**sent, **change})
