"""OAuth 2.0 with a source: sign-in URL, token exchange and revocation.

The authorisation code grant with PKCE (RFC 6749, 4.1; RFC 7636).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.utils import timezone

from users.gateways.base import (
    NO_METER,
    ClientRejected,
    Grant,
    SourceRefused,
    SourceUnavailable,
)
from users.states import ConnectionFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from users.gateways.applications import ClientCredentials
    from users.gateways.base import (
        Meter,
    )

logger = logging.getLogger(__name__)

# Ours: longer than any token known; what claims to be longer is no token.
_TOKEN_MAX_LENGTH = 8192
_NO_VERIFIER = "0" * 43
_LONGEST_LIFE = timedelta(days=3650)


def _get_error(said: Mapping[str, Any]) -> object:
    return said.get("error")


@dataclass(frozen=True, slots=True)
class OAuthServer:
    """A source's OAuth endpoints, and the client's credentials."""

    authorise_url: str
    token_url: str
    credentials: ClientCredentials
    # As they are asked for; empty where the application has them.
    scopes: tuple[str, ...]
    # RFC 7009; empty: of the older kind below.
    revoke_url: str = ""
    # Takes the access token alone, as a field of that name.
    old_revoke_url: str = ""
    # Asked for again with each refresh (RFC 6749, 6); empty where it is left out.
    refresh_scope: str = ""
    # The client authenticates by HTTP Basic instead of fields (RFC 6749, 2.3.1).
    is_basic: bool = False
    # Of an answer with tokens, the field with the user's ID at the source.
    user_id_field: str = ""
    # Of the sign-in page, what a source asks for beside RFC 6749.
    sign_in_fields: Mapping[str, str] = field(default_factory=dict)
    # What a refusal's fields mean, by the errors of RFC 6749, 5.2.
    find_error: Callable[[Mapping[str, Any]], object] = _get_error
    meter: Meter = NO_METER

    @property
    def client_fields(self) -> dict[str, str]:
        """Return the fields that authenticate the client (RFC 6749, 2.3.1)."""
        if self.is_basic:
            return {}
        return {
            "client_id": self.credentials.client_id,
            "client_secret": self.credentials.client_secret,
        }


def build_oauth_sign_in_url(
    server: OAuthServer, *, state: str, redirect_url: str, challenge: str
) -> str:
    """Return the URL of a source's sign-in page (RFC 6749, 4.1.1).

    A server that knows no PKCE has to ignore the challenge (RFC 6749, 3.1).
    """
    parameters = {
        "response_type": "code",
        "client_id": server.credentials.client_id,
        "redirect_uri": redirect_url,
        **({"scope": " ".join(server.scopes)} if server.scopes else {}),
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        **server.sign_in_fields,
    }
    return f"{server.authorise_url}?{urlencode(parameters)}"


def exchange_oauth_code_for_tokens(
    server: OAuthServer, *, code: str, redirect_url: str, verifier: str
) -> Grant:
    """Exchange a code for tokens (RFC 6749, 4.1.3).

    Raises: SourceUnavailable, of which ClientRejected; SourceRefused (the code is
    spent, or not ours).
    """
    return _exchange(
        server,
        {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_url,
            "code_verifier": verifier,
        },
        ConnectionFault.PROVIDER_CREDENTIAL_ERROR,
    )


def check_oauth_client(server: OAuthServer, *, redirect_url: str) -> bool:
    """Return whether a server accepts the client, by exchanging a code of nobody.

    A server authenticates the client before it looks at the code (RFC 6749, 5.2:
    invalid_client or invalid_grant). Raises: SourceUnavailable.
    """
    try:
        exchange_oauth_code_for_tokens(
            server, code="none", redirect_url=redirect_url, verifier=_NO_VERIFIER
        )
    except SourceRefused:
        return True
    except ClientRejected:
        return False
    raise SourceUnavailable("not_tokens")


def exchange_oauth_refresh_token(server: OAuthServer, grant: Grant) -> Grant:
    """Exchange a refresh token for new tokens (RFC 6749, 6); it may become invalid.

    What the answer leaves out stays as it was. Raises: SourceUnavailable;
    SourceRefused (token_refresh_failed).
    """
    new = _exchange(
        server,
        {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
        | ({"scope": server.refresh_scope} if server.refresh_scope else {}),
        ConnectionFault.TOKEN_REFRESH_FAILED,
    )
    return Grant(
        access_token=new.access_token,
        refresh_token=new.refresh_token or grant.refresh_token,
        expires_at=new.expires_at,
        scopes=new.scopes or grant.scopes,
        external_user_id=grant.external_user_id,
    )


def revoke_oauth_grant(server: OAuthServer, grant: Grant) -> None:
    """Revoke a grant (RFC 7009); invalid tokens are accepted.

    Raises: SourceUnavailable.
    """
    from users.gateways.http import SourceHttp  # httpx loads with the first call

    form = {
        "token": grant.refresh_token or grant.access_token,
        **server.client_fields,
    }
    if not server.revoke_url:
        form = {"access_token": grant.access_token}
    with SourceHttp(meter=server.meter) as http:
        answer = http.post_form(server.revoke_url or server.old_revoke_url, form)
    if not answer.is_success:
        logger.warning("a source answered %s to a revocation", answer.status)


class OAuthTokens:
    """The TokenProtocol of RFC 6749."""

    def __init__(self, server: OAuthServer) -> None:
        self.server = server

    def authorise_url(self, *, state: str, redirect_url: str, challenge: str) -> str:
        """As of SourceGateway."""
        return build_oauth_sign_in_url(
            self.server, state=state, redirect_url=redirect_url, challenge=challenge
        )

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        return exchange_oauth_code_for_tokens(
            self.server, code=code, redirect_url=redirect_url, verifier=verifier
        )

    def refresh_tokens(self, grant: Grant) -> Grant:
        """As of SourceGateway."""
        return exchange_oauth_refresh_token(self.server, grant)

    def revoke(self, grant: Grant) -> None:
        """As of SourceGateway."""
        revoke_oauth_grant(self.server, grant)

    def check_credentials(self, *, redirect_url: str) -> bool:
        """As of SourceGateway."""
        return check_oauth_client(self.server, redirect_url=redirect_url)


def _exchange(
    server: OAuthServer, form: Mapping[str, str], fault: ConnectionFault
) -> Grant:
    from users.gateways.http import SourceHttp

    with SourceHttp(meter=server.meter) as http:
        answer = http.post_form(
            server.token_url,
            {**form, **server.client_fields},
            basic=(server.credentials.client_id, server.credentials.client_secret)
            if server.is_basic
            else None,
        )
    said = answer.body if isinstance(answer.body, dict) else {}
    if answer.is_success:
        return _read_grant(said, server.user_id_field)
    refusal = server.find_error(said)
    if refusal == "invalid_grant":
        raise SourceRefused(fault)
    # Not this user's fault but that of our registration: to break every connection for
    # it would have all users connect anew.
    logger.error("a token server answered %s to our application", answer.status)
    if refusal == "invalid_client":
        raise ClientRejected
    raise SourceUnavailable(f"http_{answer.status}")


def _read_grant(fields: Mapping[str, Any], user_id_field: str) -> Grant:
    """Parse the tokens of an answer (RFC 6749, 5.1). Raises: SourceUnavailable."""
    access_token = _token(fields.get("access_token"))
    if not access_token:
        raise SourceUnavailable("not_tokens")
    return Grant(
        access_token=access_token,
        refresh_token=_token(fields.get("refresh_token")),
        expires_at=_end(fields.get("expires_in")),
        scopes=parse_oauth_scopes(fields.get("scope")),
        external_user_id=str(fields.get(user_id_field) or ""),
    )


def parse_oauth_scopes(told: object) -> tuple[str, ...]:
    """Parse scopes separated by spaces; () if absent."""
    return tuple(told.split()) if isinstance(told, str) else ()


def _token(told: object) -> str:
    is_token = isinstance(told, str) and len(told) <= _TOKEN_MAX_LENGTH
    return str(told) if is_token else ""


def _end(seconds: object) -> datetime | None:
    if type(seconds) not in (int, float):
        return None
    life = min(float(seconds), _LONGEST_LIFE.total_seconds())  # type: ignore[arg-type]  # one of the two
    return timezone.now() + timedelta(seconds=life) if life > 0 else None
