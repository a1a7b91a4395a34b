"""What a cloud source is asked for, whoever answers, and who can be asked.

Calls may take seconds and fail: never inside a transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from portal.lib.registry import Register
from users.states import ConnectionFault, SourceType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime, timedelta

    from users.models import User


class SourceUnavailable(Exception):
    """The source did not answer, or not in its own terms; the call may be repeated.

    `retry_after` is how long it asks to be left alone. `reason` is a short code of ours
    (`timeout`, `http_503`, `rate_limited`, `not_json`), never text of the source.
    """

    def __init__(self, reason: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class AccessExpired(Exception):
    """The access token is not taken any more: new ones may be."""


class ResourceRefused(Exception):
    """The source does not give this one resource; it may give others.

    `reason` is a short code of ours, as of SourceUnavailable.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SourceRefused(Exception):
    """The source says no for good: the connection is broken until somebody acts."""

    def __init__(self, fault: ConnectionFault) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Grant:
    """What lets us read a user's data at a source; kept encrypted, never logged.

    `expires_at` is when the access token ends, None where the source does not say.
    `refresh_token` is empty where there is none. `scopes` are those that were granted,
    `external_user_id` the user's id at the source, empty if it is not told.
    """

    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: datetime | None = None
    scopes: tuple[str, ...] = ()
    external_user_id: str = ""


@dataclass(frozen=True, slots=True)
class PulledDevice:
    """A device as the source names it; what it does not tell is None.

    `device_id` is the source's own id of it.
    """

    device_id: str
    manufacturer: str | None = None
    model: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class PulledBatch:
    """Elements of one resource as contract 5.4 takes them; `resource` is of 3.4."""

    resource: str
    elements: Sequence[dict[str, Any]]
    source_type: str = SourceType.UNKNOWN
    app_id: str | None = None
    device: PulledDevice | None = None


@dataclass(frozen=True, slots=True)
class PulledPage:
    """One answer of the source, and where to go on once it is stored.

    `position` is the gateway's own word, empty on the last page; it holds no token.
    """

    batches: tuple[PulledBatch, ...]
    position: str = ""


class SourceGateway(Protocol):
    """One source that we fetch from, such as Oura's cloud."""

    @property
    def name(self) -> str:
        """The slug of the provider."""
        ...

    @property
    def auth_type(self) -> str:
        """As of contract 3.1, such as oauth."""
        ...

    @property
    def resources(self) -> tuple[str, ...]:
        """What can be pulled: names of contract 3.4."""
        ...

    @property
    def history(self) -> timedelta:
        """How far back a first pull asks."""
        ...

    @property
    def is_configured(self) -> bool:
        """Whether this installation may ask the source; it is not offered else."""
        ...

    def authorise_url(self, *, state: str, redirect_url: str, challenge: str) -> str:
        """Where to send the user to allow it; `challenge` is of PKCE (S256)."""
        ...

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """Trade the code that the user came back with.

        Raises: SourceUnavailable, SourceRefused.
        """
        ...

    def refresh_tokens(self, grant: Grant) -> Grant:
        """Trade the refresh token for new ones; the old ones may be dead then.

        Raises: SourceUnavailable, SourceRefused.
        """
        ...

    def revoke(self, grant: Grant) -> None:
        """Give the permission back; twice does no harm. Raises: SourceUnavailable."""
        ...

    def granted_resources(self, grant: Grant) -> frozenset[str]:
        """Which of `resources` the scopes allow."""
        ...

    def pull(
        self,
        user: User,
        resource: str,
        since: datetime,
        *,
        until: datetime,
        grant: Grant,
        position: str = "",
    ) -> Iterator[PulledPage]:
        """What is dated from `since` to `until`, page by page, from `position` on.

        Asks for the next page only when it is wanted, so that each can be stored first.
        Raises: SourceUnavailable, AccessExpired, ResourceRefused, SourceRefused.
        """
        ...


# By slug of the provider; entered in AppConfig.ready.
source_gateways: Register[SourceGateway] = Register()


def find_gateway(provider: str) -> SourceGateway | None:
    """The gateway of a source that this installation may ask, if there is one."""
    for name, gateway in source_gateways:
        if name == provider and gateway.is_configured:
            return gateway
    return None
