"""A device that holds a passkey, in software: answers the server's challenges."""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

if TYPE_CHECKING:
    from django.test import Client

ADD = "/accounts/passkeys/add/"
SIGN_IN = "/accounts/passkeys/sign-in/"
# Of the suite's PUBLIC_URL, whatever host a test client calls.
ORIGIN = "http://localhost:8000"
FLAGS = AuthenticatorData.FLAG


class Device:
    """One passkey; `origin` and `verified` are what a forger would get wrong."""

    def __init__(self, *, origin: str = ORIGIN, verified: bool = True) -> None:
        self.origin = origin
        self.flags = FLAGS.UP | (FLAGS.UV if verified else 0)
        self.key = generate_private_key(SECP256R1())
        self.id = secrets.token_bytes(16)
        self.user_handle = ""
        self.count = 0  # of its signatures; most that devices share never count
        self.kind = "webauthn.get"

    def create(self, options: dict[str, Any]) -> str:
        """What a browser posts for a new passkey."""
        asked = options["publicKey"]
        self.user_handle = asked["user"]["id"]
        public = ES256.from_cryptography_key(self.key.public_key())
        data = AuthenticatorData.create(
            sha256(asked["rp"]["id"].encode()).digest(),
            self.flags | FLAGS.AT,
            0,
            AttestedCredentialData.create(b"\0" * 16, self.id, public),
        )
        attested = AttestationObject.create("none", data, {})
        client = self._client_data("webauthn.create", asked["challenge"])
        return self._credential(
            {
                "clientDataJSON": websafe_encode(client),
                "attestationObject": websafe_encode(attested),
            }
        )

    def get(self, options: dict[str, Any]) -> str:
        """What a browser posts to sign in, or to confirm."""
        asked = options["publicKey"]
        data = AuthenticatorData.create(
            sha256(asked["rpId"].encode()).digest(), self.flags, self.count
        )
        client = self._client_data(self.kind, asked["challenge"])
        signed = self.key.sign(data + sha256(client).digest(), ECDSA(SHA256()))
        return self._credential(
            {
                "clientDataJSON": websafe_encode(client),
                "authenticatorData": websafe_encode(data),
                "signature": websafe_encode(signed),
                "userHandle": self.user_handle,
            }
        )

    def add_to(self, client: Client, name: str = "Work laptop") -> Any:
        """Go through the page that adds a passkey, confirmed already."""
        options = client.get(ADD).context["options"]
        return client.post(
            ADD, {"name": name, "credential": self.create(plain(options))}
        )

    def sign_in(self, client: Client, **more: str) -> Any:
        """Sign in by the passkey alone."""
        return client.post(SIGN_IN, {"credential": self.get(challenge(client)), **more})

    def _client_data(self, kind: str, challenge: str) -> CollectedClientData:
        return CollectedClientData.create(kind, challenge, self.origin)

    def _credential(self, response: dict[str, str]) -> str:
        name = websafe_encode(self.id)
        return json.dumps(
            {
                "type": "public-key",
                "id": name,
                "rawId": name,
                "response": response,
                "clientExtensionResults": {"credProps": {"rk": True}},
            }
        )


def challenge(client: Client) -> dict[str, Any]:
    """What anybody is asked to sign, before it is known who they are."""
    reply = client.get(SIGN_IN, headers={"Accept": "application/json"})
    options: dict[str, Any] = reply.json()["request_options"]
    return options


def plain(options: Any) -> dict[str, Any]:
    """Options as a browser reads them from the page."""
    read: dict[str, Any] = json.loads(json.dumps(options, default=dict))
    return read
