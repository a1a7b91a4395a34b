"""A small OpenID provider on this machine: real discovery, keys and signatures."""

from __future__ import annotations

import json
import secrets
import time
from base64 import b64decode, urlsafe_b64encode
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

from accounts.models import SignInRules, SingleSignOn
from portal.lib.secrets.encryption import encrypt_secret

CLIENT_ID = "assay-at-alices"
CLIENT_SECRET = "a secret with: signs & more"


class OpenIdProvider:
    """`person` is who is signed in there; the rest is what a bad one would do.

    `claims` go over those of the token, `key` signs it, `without` are left out.
    """

    def __init__(self) -> None:
        self.key = self.own_key = generate_private_key(SECP256R1())
        self.key_id = "one"
        self.person: dict[str, Any] = {
            "sub": "p-1",
            "email": "dana@north.example",
            "email_verified": True,
            "name": "Dana Reyes",
        }
        self.claims: dict[str, Any] = {}
        self.without: set[str] = set()
        self.algorithm = "ES256"
        self.about: dict[str, Any] = {}
        self.userinfo: dict[str, Any] | None = None
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []

    def token(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "auth_time": now,
            "nonce": asked["nonce"],
            **self.person,
            **self.claims,
        }
        claims = {k: v for k, v in claims.items() if k not in self.without}
        key: Any = self.key if self.algorithm == "ES256" else CLIENT_SECRET * 2
        if self.algorithm == "none":
            key = None
        return jwt.encode(
            claims, key, algorithm=self.algorithm, headers={"kid": self.key_id}
        )

    def answer(self, path: str, form: dict[str, str], auth: str) -> tuple[int, Any]:
        match path:
            case "/.well-known/openid-configuration":
                return 200, {
                    "issuer": self.issuer,
                    "authorization_endpoint": f"{self.issuer}/authorize",
                    "token_endpoint": f"{self.issuer}/token",
                    "jwks_uri": f"{self.issuer}/keys",
                    "userinfo_endpoint": f"{self.issuer}/userinfo",
                    "id_token_signing_alg_values_supported": ["ES256"],
                    **self.about,
                }
            case "/keys":
                numbers = self.own_key.public_key().public_numbers()
                x, y = (
                    urlsafe_b64encode(n.to_bytes(32)).decode().rstrip("=")
                    for n in (numbers.x, numbers.y)
                )
                key = {"kty": "EC", "crv": "P-256", "x": x, "y": y, "use": "sig"}
                return 200, {"keys": [{**key, "kid": "one"}]}
            case "/token":
                return self._trade(form, auth)
            case "/userinfo":
                return 200, self.userinfo or self.person
            case _:
                return 404, {}

    def _trade(self, form: dict[str, str], auth: str) -> tuple[int, Any]:
        asked = self.codes.pop(form.get("code", ""), None)
        told = b64decode(auth.removeprefix("Basic ")).decode()
        wanted = urlencode({CLIENT_ID: CLIENT_SECRET}).replace("=", ":")
        challenge = sha256(form.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or told.replace("%20", "+") != wanted
            or form["redirect_uri"] != asked["redirect_uri"]
            or asked["code_challenge_method"] != "S256"
            or urlsafe_b64encode(challenge).decode().rstrip("=")
            != asked["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        return 200, {
            "access_token": "at-1",
            "token_type": "Bearer",
            "id_token": self.token(asked),
        }

    def sign_in(self, url: str) -> str:
        """Where a person who is sent to `url` is sent back to."""
        fields = {k: v[0] for k, v in parse_qs(urlsplit(url).query).items()}
        code = secrets.token_urlsafe(16)
        self.codes[code] = fields
        query = urlencode({"code": code, "state": fields["state"], "iss": self.issuer})
        return f"{fields['redirect_uri']}?{query}"


@contextmanager
def serve_openid(kind: type[OpenIdProvider] = OpenIdProvider):
    """The provider, listening on a port of its own."""
    provider = kind()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path == "/authorize":
                url = f"{provider.issuer}{self.path}"
                self.send_response(302)
                self.send_header("Location", provider.sign_in(url))
                self.end_headers()
                return
            self._answer({})

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            text = self.rfile.read(size).decode()
            self._answer({k: v[0] for k, v in parse_qs(text).items()})

        def _answer(self, form: dict[str, str]) -> None:
            path = urlsplit(self.path).path
            provider.asked.append(path)
            auth = self.headers.get("Authorization", "")
            status, told = provider.answer(path, form, auth)
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def make_single_sign_on(
    *,
    team: Any,
    issuer: str = "https://id.north.example",
    domains: tuple[str, ...] = ("north.example",),
    roles: tuple[str, ...] = (),
    is_required: bool = False,
) -> SingleSignOn:
    """A team's provider, which nobody asks."""
    if is_required:
        SignInRules.objects.create(team=team, requires_single_sign_on=True)
    return SingleSignOn.objects.create(
        team=team,
        issuer=issuer,
        client_id=CLIENT_ID,
        client_secret=encrypt_secret(CLIENT_SECRET),
        domains=list(domains),
        roles=list(roles),
    )
