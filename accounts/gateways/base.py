"""What an OpenID provider may answer, and how asking one fails.

Calls may take seconds and fail: never inside a transaction. No text of a failure holds
an address, a token or a byte of an answer. Must not be here: a call (openid_http).
"""

from __future__ import annotations

from dataclasses import dataclass, field


class ProviderFailed(Exception):
    """Nothing came of asking; `reason` is a short code of ours."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProviderUnavailable(ProviderFailed):
    """It did not answer, or not in its own terms; it may be asked again."""


class ProviderRefused(ProviderFailed):
    """It gave nothing for this code."""


class NotVouched(ProviderFailed):
    """What came back is not to be trusted."""


@dataclass(frozen=True, slots=True)
class Client:
    """Who we are at a provider."""

    client_id: str
    client_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Provider:
    """What a provider says of itself (OpenID Connect Discovery 1.0, 3).

    `takes_basic`: the secret goes into a header, else into the form.
    """

    issuer: str
    sign_in_url: str
    token_url: str
    keys_url: str
    userinfo_url: str
    takes_basic: bool
    algorithms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claims:
    """Whom a provider vouches for.

    `email_verified` None: it does not say. `auth_time` is when they last signed in
    there, in Unix seconds, None where it does not say.
    """

    subject: str
    email: str
    email_verified: bool | None
    name: str
    auth_time: int | None
