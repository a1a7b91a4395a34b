"""Types and errors of calls to an OpenID provider.

Calls may take seconds and fail: never inside a transaction. No text of a failure holds
an address, a token or a byte of an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field


class ProviderFailed(Exception):
    """A call to the provider failed; `reason` is a short code set by Assay."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProviderUnavailable(ProviderFailed):
    """The provider did not answer properly; the call can be repeated."""


class ProviderRefused(ProviderFailed):
    """The provider refused the code."""


class NotVouched(ProviderFailed):
    """The provider's response failed verification."""


@dataclass(frozen=True, slots=True)
class Client:
    """Assay's registration at a provider."""

    client_id: str
    client_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider's metadata (OpenID Connect Discovery 1.0, 3).

    `takes_basic`: the secret goes into a header, else into the form. `names_itself`:
    its answers to a browser say whose they are (RFC 9207).
    """

    issuer: str
    sign_in_url: str
    token_url: str
    keys_url: str
    userinfo_url: str
    takes_basic: bool
    algorithms: tuple[str, ...]
    names_itself: bool = False


@dataclass(frozen=True, slots=True)
class Claims:
    """The person that a provider has authenticated.

    `email_verified` None: it does not say. `auth_time` is when they last signed in
    there, in Unix seconds, None where it does not say.
    """

    subject: str
    email: str
    email_verified: bool | None
    name: str
    auth_time: int | None
