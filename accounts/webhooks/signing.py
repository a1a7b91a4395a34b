"""Sign and verify messages as Standard Webhooks 1.0 does (contract 8.6). Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "whsec_"
SECRET_BYTES = 32
SECRET_BYTES_MIN, SECRET_BYTES_MAX = 24, 64
# How far a receiver lets the clocks differ, seconds.
TOLERANCE_S = 300


class SecretInvalid(ValueError):
    """A text is no signing secret; quotes nothing of it."""


class SignatureInvalid(ValueError):
    """A message was not signed with this secret, or not lately."""


def generate_signing_secret() -> str:
    """Return a new secret text, `whsec_` and base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def decode_signing_secret(text: str) -> bytes:
    """Return the HMAC key of a secret text. Raises: SecretInvalid."""
    if not text.startswith(PREFIX):
        raise SecretInvalid(_("The secret must start with whsec_."))
    try:
        key = base64.b64decode(text[len(PREFIX) :], validate=True)
    except (binascii.Error, ValueError):
        raise SecretInvalid(_("The secret must be base64 after whsec_.")) from None
    if not SECRET_BYTES_MIN <= len(key) <= SECRET_BYTES_MAX:
        raise SecretInvalid(_("The secret must have 24 to 64 bytes."))
    return key


def sign_webhook_message(
    keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes
) -> str:
    """Return the `webhook-signature`: one entry for each key, the newest first."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(
        "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        for key in keys
    )


def verify_webhook_signature(
    key: bytes,
    *,
    message_id: str,
    timestamp: str,
    signature: str,
    body: bytes,
    now: float,
) -> None:
    """Check a message as a receiver does. Raises: SignatureInvalid."""
    try:
        sent_at = int(timestamp)
    except ValueError:
        raise SignatureInvalid("the timestamp is no number") from None
    if abs(now - sent_at) > TOLERANCE_S:
        raise SignatureInvalid("the timestamp is too far from this clock")
    expected = sign_webhook_message([key], message_id, sent_at, body)
    for entry in signature.split():
        if hmac.compare_digest(entry.encode(), expected.encode()):
            return
    raise SignatureInvalid("no signature matches")
