"""A cloud source for tests: it says yes to the code `good`, and asks nobody."""

from __future__ import annotations

from copy import copy
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    NO_METER,
    NO_PUSH_KEYS,
    Grant,
    Meter,
    PulledPage,
    PushKeys,
    SourceRefused,
    SourceUnavailable,
)
from users.states import ConnectionFault

if TYPE_CHECKING:
    from collections.abc import Iterator


class FakeSource:
    """A SourceGateway; `connected` holds what it was asked to trade.

    It rejects the secret `wrong`, and does not answer to `slow`.
    """

    auth_type = "oauth"
    resources = ("sleep", "activity")
    all_scopes = ("daily",)
    history = timedelta(days=90)
    limits = ()
    reuses_refresh_tokens = False
    proven_by = ""
    terms = None
    conditions = ()
    credential_fields = ()
    pushes = None
    is_push_only = False
    push_max_bytes = 1024
    push_status = 200

    def __init__(self, name: str) -> None:
        self.name = name
        self.credentials = ClientCredentials("fake-id", "fake-secret")
        self.connected: list[tuple[str, str]] = []

    def find_reach(self, _resource: str) -> timedelta:
        return self.history

    def with_credentials(
        self,
        credentials: ClientCredentials,
        meter: Meter = NO_METER,
        keys: PushKeys = NO_PUSH_KEYS,
    ) -> FakeSource:
        other = copy(self)
        other.credentials = credentials
        return other

    def check_credentials(self, *, redirect_url: str) -> bool:
        if self.credentials.client_secret == "slow":
            raise SourceUnavailable("timeout")
        return self.credentials.client_secret != "wrong"

    def authorise_url(self, *, state: str, redirect_url: str, challenge: str) -> str:
        fields = {"state": state, "redirect_uri": redirect_url, "challenge": challenge}
        return f"https://cloud.example/authorise?{urlencode(fields)}"

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        if code == "slow":
            raise SourceUnavailable("timeout")
        if code != "good" or not verifier:
            raise SourceRefused(ConnectionFault.PROVIDER_CREDENTIAL_ERROR)
        self.connected.append((code, redirect_url))
        return Grant(access_token="access", external_user_id="cloud-7")

    def refresh_tokens(self, grant: Grant) -> Grant:
        return grant

    def revoke(self, grant: Grant) -> None: ...

    def granted_resources(self, grant: Grant) -> frozenset[str]:
        return frozenset(self.resources)

    def pull(self, *_: object, **__: object) -> Iterator[PulledPage]:
        return iter(())
