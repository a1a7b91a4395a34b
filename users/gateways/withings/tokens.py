"""Tokens of Withings: its own form of OAuth, with signed calls.

Verified in public references on 2026-11-23:
- Token calls carry a nonce, had from Signature v2 - Getnonce, and a signature: HMAC
  SHA-256 with the client secret of action, client_id and nonce (timestamp for the nonce
  itself), in this order, between commas (developer.withings.com, Sign your requests).
- A code lives for 30 seconds; scopes are separated by commas (FAQ; get access).
- An access token lives for 3 hours, a refresh token for a year; the one before works
  for 8 hours more, or until the new access token is used (get access, Access and
  refresh tokens).
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.utils import timezone

from users.gateways.base import (
    AccessExpired,
    ClientRejected,
    Grant,
    ResourceRefused,
    SourceRefused,
    SourceUnavailable,
)
from users.gateways.withings.client import INVALID_PARAMS, WithingsClient
from users.states import ConnectionFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from users.gateways.applications import ClientCredentials
    from users.gateways.base import (
        Meter,
    )

SCOPES = ("user.metrics", "user.activity")


@dataclass(frozen=True, slots=True)
class WithingsTokens:
    """The TokenProtocol of Withings. It knows no PKCE and ignores the challenge."""

    api_url: str
    sign_in_url: str
    credentials: ClientCredentials
    meter: Meter

    def authorise_url(self, *, state: str, redirect_url: str, challenge: str) -> str:
        """As of SourceGateway."""
        parameters = {
            "response_type": "code",
            "client_id": self.credentials.client_id,
            "redirect_uri": redirect_url,
            "scope": ",".join(SCOPES),
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.sign_in_url}/oauth2_user/authorize2?{urlencode(parameters)}"

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        return self._exchange(
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": redirect_url,
                "code_verifier": verifier,
            },
            ConnectionFault.PROVIDER_CREDENTIAL_ERROR,
        )

    def refresh_tokens(self, grant: Grant) -> Grant:
        """As of SourceGateway."""
        new = self._exchange(
            {"grant_type": "refresh_token", "refresh_token": grant.refresh_token},
            ConnectionFault.TOKEN_REFRESH_FAILED,
        )
        return replace(
            new,
            refresh_token=new.refresh_token or grant.refresh_token,
            scopes=new.scopes or grant.scopes,
            external_user_id=new.external_user_id or grant.external_user_id,
        )

    def revoke(self, grant: Grant) -> None:
        """As of SourceGateway, by the user's ID."""
        if grant.external_user_id:
            try:
                self._call_signed("revoke", {"userid": grant.external_user_id})
            except (AccessExpired, ResourceRefused):
                return  # it is revoked already

    def check_credentials(self, *, redirect_url: str) -> bool:  # noqa: ARG002 - not asked
        """As of SourceGateway: a nonce is given to a right signature alone."""
        try:
            self._get_nonce()
        except ClientRejected:
            return False
        return True

    def _exchange(self, form: Mapping[str, str], fault: ConnectionFault) -> Grant:
        try:
            body = self._call_signed("requesttoken", form)
        except AccessExpired:
            raise SourceRefused(fault) from None
        except ResourceRefused as refused:
            if refused.reason == f"status_{INVALID_PARAMS}":
                raise SourceRefused(fault) from None
            # Not understood: no reason to have the user connect anew.
            raise SourceUnavailable(refused.reason) from None
        return _read_grant(body)

    def _call_signed(self, action: str, form: Mapping[str, str]) -> Any:
        nonce = self._get_nonce()
        return self._call(
            "v2/oauth2",
            action,
            {
                **form,
                "client_id": self.credentials.client_id,
                "nonce": nonce,
                "signature": self._sign(action, nonce),
            },
        )

    def _get_nonce(self) -> str:
        """Return a nonce. Raises: SourceUnavailable, of which ClientRejected."""
        timestamp = str(int(timezone.now().timestamp()))
        try:
            body = self._call(
                "v2/signature",
                "getnonce",
                {
                    "client_id": self.credentials.client_id,
                    "timestamp": timestamp,
                    "signature": self._sign("getnonce", timestamp),
                },
            )
        except (AccessExpired, ResourceRefused):
            raise ClientRejected from None
        nonce = body.get("nonce")
        if not isinstance(nonce, str) or not nonce:
            raise SourceUnavailable("not_nonce")
        return nonce

    def _sign(self, action: str, salt: str) -> str:
        said = f"{action},{self.credentials.client_id},{salt}"
        key = self.credentials.client_secret.encode()
        return hmac.new(key, said.encode(), hashlib.sha256).hexdigest()

    def _call(self, service: str, action: str, form: Mapping[str, str]) -> Any:
        from users.gateways.http import SourceHttp  # httpx loads with the first call

        with SourceHttp(meter=self.meter) as http:
            client = WithingsClient(http=http, api_url=self.api_url)
            return client.call(service, action, form)


def _read_grant(body: Mapping[str, Any]) -> Grant:
    """Parse the tokens of an answer. Raises: SourceUnavailable."""
    access, refresh = body.get("access_token"), body.get("refresh_token")
    if not isinstance(access, str) or not access or not isinstance(refresh, str):
        raise SourceUnavailable("not_tokens")
    seconds, scopes = body.get("expires_in"), body.get("scope")
    is_life = type(seconds) in (int, float)
    return Grant(
        access_token=access,
        refresh_token=refresh,
        expires_at=timezone.now() + timedelta(seconds=float(seconds or 0))
        if is_life
        else None,
        scopes=tuple(scopes.replace(",", " ").split())
        if isinstance(scopes, str)
        else (),
        # A number in some versions, a text in others.
        external_user_id=str(body.get("userid") or ""),
    )
