"""The gateway Protocol of cloud sources.

Calls may take seconds and fail: never inside a transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from users.states import ConnectionFault, SourceType
from users.states.terms import Permission, SourceUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from users.gateways.applications import ClientCredentials, CredentialField
    from users.gateways.pushes import Notice, PushRequest
    from users.models import User

# For a whole call to a source, from the look-up of its name to the last byte.
CALL_TIMEOUT = timedelta(seconds=60)


class SourceUnavailable(Exception):
    """The source did not answer or answered invalidly; the call can be retried.

    `retry_after` is how long it asks to be left alone. `reason` is a short code of ours
    (`timeout`, `http_503`, `rate_limited`, `not_json`), never text of the source.
    """

    def __init__(self, reason: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class ComesLater(SourceUnavailable):
    """The source will push what it was asked for; other resources go on."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__("awaiting_pushes", retry_after=wait)


class ClientRejected(SourceUnavailable):
    """The source rejects our application; no user can change that."""

    def __init__(self) -> None:
        super().__init__("client_rejected")


class AccessExpired(Exception):
    """The access token expired; renew it."""


class ResourceRefused(Exception):
    """The source refuses this resource; it may provide others.

    `reason` is a short code of ours, as of SourceUnavailable.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SourceRefused(Exception):
    """The source refuses all access; the connection fails until the user acts."""

    def __init__(self, fault: ConnectionFault) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Grant:
    """Tokens to read a user's data at a source; stored encrypted, never logged.

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
class CallLimit:
    """At most `calls` of one application in any `seconds`, or of each of its users.

    Where the source counts the days of data that calls ask for, `counts_days`.
    """

    calls: int
    seconds: int
    is_per_user: bool = False
    counts_days: bool = False


@dataclass(frozen=True, slots=True)
class SourceTerms:
    """What the public terms of a source at `url` say of uses of its data.

    `effective_on` is when they took effect, None where they do not say, `checked_on`
    when they were last looked up. A use that `permissions` lack is unknown. A source
    whose name must stand wherever its data is shown `must_be_named`. An agreement of a
    team's own with the source counts before them.
    """

    url: str
    checked_on: date
    effective_on: date | None = None
    permissions: Mapping[SourceUse, Permission] = field(default_factory=dict)
    must_be_named: bool = False

    @property
    def are_known(self) -> bool:
        """Whether any use is known to be allowed or not."""
        return any(one != Permission.UNKNOWN for one in self.permissions.values())

    def list_uses(self) -> list[tuple[SourceUse, Permission]]:
        """Return each use with its permission."""
        return [
            (use, self.permissions.get(use, Permission.UNKNOWN)) for use in SourceUse
        ]


class Meter(Protocol):
    """Holds back calls of one application to a source."""

    def take(self, account: str = "", *, units: int = 1) -> None:
        """Count a call that is about to go out. Raises: SourceUnavailable.

        `account` is the user's ID at the source, empty for a call of nobody. `units`
        is what it counts for where the source does not count calls.
        """
        ...

    def block(self, wait: timedelta | None) -> None:
        """Hold back all calls for a while: the source said that they are too many."""
        ...


class NoMeter:
    """A Meter that counts nothing and holds nothing back."""

    def take(self, account: str = "", *, units: int = 1) -> None:
        """As of Meter."""

    def block(self, wait: timedelta | None) -> None:
        """As of Meter."""


NO_METER = NoMeter()


class PushKeys(Protocol):
    """Keeps the key by which a source signs its pushes to an application."""

    def read(self) -> str:
        """Return the key; empty where there is none."""
        ...

    def store(self, key: str, *, asked_at: datetime) -> None:
        """Keep a key that was asked for at a time, in place of an earlier one."""
        ...


class NoPushKeys:
    """A PushKeys that keeps nothing."""

    def read(self) -> str:
        """As of PushKeys."""
        return ""

    def store(self, key: str, *, asked_at: datetime) -> None:
        """As of PushKeys."""


NO_PUSH_KEYS = NoPushKeys()


@dataclass(frozen=True, slots=True)
class PulledDevice:
    """A device as the source describes it; absent details are None.

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
    """One page of a source's data, and the position of the next.

    `position` is the gateway's own word, empty on the last page; it holds no token.
    `first` to `last` are the days that were asked for, None for a resource without
    days. With `is_complete` the source has nothing else of them.
    """

    batches: tuple[PulledBatch, ...]
    position: str = ""
    first: date | None = None
    last: date | None = None
    is_complete: bool = False


class PushProtocol(Protocol):
    """How a source pushes to an application.

    Calls to the source raise as of SourceGateway.pull. Where the address
    `is_registered_by_hand`, nobody but a push can say that it was.
    """

    @property
    def is_registered_by_hand(self) -> bool: ...

    def subscribe(self, *, url: str, token: str, grant: Grant) -> None:
        """Have the source push the grant's data to `url`; repeatable."""
        ...

    def unsubscribe(self, *, url: str, grant: Grant) -> None:
        """End the pushes of the grant's data; repeatable."""
        ...

    def answer_check(self, request: PushRequest) -> dict[str, Any]:
        """Return the JSON by which the source verifies our address.

        Raises: PushRejected.
        """
        ...

    def read(self, request: PushRequest, *, at: datetime) -> tuple[Notice, ...]:
        """Verify and parse a push received at `at`. Raises: PushRejected."""
        ...


class SourceGateway(Protocol):
    """A gateway to one cloud source, such as Oura's."""

    @property
    def name(self) -> str:
        """Return the slug of the provider."""
        ...

    @property
    def auth_type(self) -> str:
        """Return the auth type of contract 3.1, such as oauth."""
        ...

    @property
    def resources(self) -> tuple[str, ...]:
        """Return the resources that can be pulled, by names of contract 3.4."""
        ...

    @property
    def history(self) -> timedelta:
        """Return how far back the first pull reads."""
        ...

    def find_reach(self, resource: str) -> timedelta:
        """Return how far back a resource is read at all: less, where it lists less."""
        ...

    @property
    def credentials(self) -> ClientCredentials:
        """Return the application that is used, by default the installation's.

        Its client_id is empty where there is none.
        """
        ...

    @property
    def credential_fields(self) -> tuple[CredentialField, ...]:
        """Return what an application has beside its client ID and secret."""
        ...

    @property
    def limits(self) -> tuple[CallLimit, ...]:
        """Return the limits of calls of one application."""
        ...

    @property
    def proven_by(self) -> str:
        """Return the client of others that passes against our twin, empty for none."""
        ...

    @property
    def terms(self) -> SourceTerms | None:
        """Return what its public terms say of uses of its data; None if unread."""
        ...

    @property
    def reuses_refresh_tokens(self) -> bool:
        """Return whether a refresh token still works once it was exchanged.

        Until its successor is used: then an exchange whose answer was lost is repeated.
        """
        ...

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return what a team has to know before it registers, each a sentence."""
        ...

    @property
    def pushes(self) -> PushProtocol | None:
        """Return how the source announces changes; None if it has to be asked."""
        ...

    @property
    def is_push_only(self) -> bool:
        """Return whether the source sends data and can't be asked for it.

        Its history is asked for once, and comes as pushes too.
        """
        ...

    @property
    def push_max_bytes(self) -> int:
        """Return how long a push may be."""
        ...

    @property
    def push_status(self) -> int:
        """Return the HTTP status by which a push is accepted."""
        ...

    def with_credentials(
        self,
        credentials: ClientCredentials,
        meter: Meter = NO_METER,
        keys: PushKeys = NO_PUSH_KEYS,
    ) -> SourceGateway:
        """Return this gateway for another application.

        `meter` is of all its calls, `keys` of the pushes to it.
        """
        ...

    def check_credentials(self, *, redirect_url: str) -> bool:
        """Return whether the source accepts the application.

        Raises: SourceUnavailable.
        """
        ...

    def authorise_url(self, *, state: str, redirect_url: str, challenge: str) -> str:
        """Return the URL of the source's sign-in; `challenge` is of PKCE (S256)."""
        ...

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """Exchange the code of a completed sign-in for tokens.

        Raises: SourceUnavailable, SourceRefused.
        """
        ...

    def refresh_tokens(self, grant: Grant) -> Grant:
        """Exchange the refresh token for new tokens; the old ones may become invalid.

        Raises: SourceUnavailable, SourceRefused.
        """
        ...

    def revoke(self, grant: Grant) -> None:
        """Revoke the grant; repeatable. Raises: SourceUnavailable."""
        ...

    @property
    def all_scopes(self) -> tuple[str, ...]:
        """Return all scopes that resources need: for tokens of unknown scopes."""
        ...

    def granted_resources(self, grant: Grant) -> frozenset[str]:
        """Return the resources that the grant's scopes allow."""
        ...

    def find_granted_scopes(self, grant: Grant) -> tuple[str, ...]:
        """Ask the source what is still granted.

        Raises: SourceUnavailable, AccessExpired; SourceRefused (nothing).
        """
        ...

    def fetch_pushed(self, content: bytes, *, grant: Grant) -> bytes:
        """Return what a push carries, fetched first where it names but an address.

        Raises: SourceUnavailable, AccessExpired, ResourceRefused (it is gone).
        """
        ...

    def read_pushed(self, user: User, resource: str, content: bytes) -> PulledPage:
        """Return what a push carries of a resource."""
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
        """Yield pages of data from `since` to `until`, starting at `position`.

        Asks for the next page only when it is wanted, so that each can be stored first.
        Raises: SourceUnavailable, AccessExpired, ResourceRefused, SourceRefused.
        """
        ...
