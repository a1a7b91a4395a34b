"""The engine of cloud sources: a provider is a folder that declares a CloudGateway.

A provider names its resources, limits and scopes, how tokens are had (TokenProtocol)
and how its pages are read; windows, their order and credentials are the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from django.utils import timezone

from portal.lib.periods import find_time_zone_by_name
from users.gateways.base import (
    NO_METER,
    NO_PUSH_KEYS,
    ComesLater,
    PulledBatch,
    PulledPage,
)
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from users.gateways.applications import ClientCredentials, CredentialField
    from users.gateways.base import (
        CallLimit,
        Grant,
        Meter,
        PulledDevice,
        PushKeys,
        PushProtocol,
        SourceTerms,
    )
    from users.gateways.http import SourceHttp
    from users.models import User

# Elements by what measured them.
Elements = Mapping[SourceType, list[dict[str, Any]]]
_DAY = timedelta(days=1)
# Ours: a push-only source does not say when all of the past was sent. What comes later
# is stored like what is new.
HISTORY_WAIT = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Window:
    """A window of days to read, `first` and `last` inclusive.

    `client` is what the provider's `open_client` returned. `scopes` are the names of
    what was granted. `zone` is the user's fallback. A reader adds to `unsettled` what
    the source still computes: then what is missing was not removed.
    """

    client: Any
    first: date
    last: date
    scopes: frozenset[str]
    zone: tzinfo
    unsettled: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CloudResource:
    """How a resource is read from a provider.

    Any one of the sets of scopes in `scopes` suffices. One that is not `is_dated` is
    read whole. One that `is_complete` answers with all that there is in a window, so
    that what is missing was removed. `reach` is how far back the source has it at all.
    """

    read: Callable[[Any], Elements]
    scopes: tuple[frozenset[str], ...]
    is_dated: bool = True
    is_complete: bool = False
    reach: timedelta | None = None

    def is_allowed(self, granted: frozenset[str]) -> bool:
        """Return whether these scopes allow it."""
        return any(granted >= needed for needed in self.scopes)


class TokenProtocol(Protocol):
    """How an application has tokens of a provider; methods as of SourceGateway."""

    def authorise_url(
        self, *, state: str, redirect_url: str, challenge: str
    ) -> str: ...

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant: ...

    def refresh_tokens(self, grant: Grant) -> Grant: ...

    def revoke(self, grant: Grant) -> None: ...

    def check_credentials(self, *, redirect_url: str) -> bool: ...


class CloudGateway(ABC):
    """The SourceGateway of a provider, for one application there."""

    auth_type = "oauth"
    name: ClassVar[str]
    # By name of contract 3.4, in the order in which they are asked for.
    cloud_resources: ClassVar[Mapping[str, CloudResource]]
    history: ClassVar[timedelta]
    limits: ClassVar[tuple[CallLimit, ...]]
    reuses_refresh_tokens: ClassVar[bool]
    proven_by: ClassVar[str] = ""
    terms: ClassVar[SourceTerms | None] = None
    conditions: ClassVar[tuple[str, ...]] = ()
    credential_fields: ClassVar[tuple[CredentialField, ...]] = ()
    is_push_only: ClassVar[bool] = False
    # Ours: a push names an account and a time.
    push_max_bytes: ClassVar[int] = 64 * 1024
    push_status: ClassVar[int] = 200
    # The longest time that a call may ask for.
    window_days: ClassVar[int]

    def __init__(self) -> None:
        self._credentials: ClientCredentials | None = None
        self._meter: Meter = NO_METER
        self._keys: PushKeys = NO_PUSH_KEYS

    @property
    @abstractmethod
    def default_credentials(self) -> ClientCredentials:
        """Return the installation's application."""

    @property
    @abstractmethod
    def tokens(self) -> TokenProtocol:
        """Return how tokens are had."""

    @property
    def all_scopes(self) -> tuple[str, ...]:
        """As of SourceGateway; a gateway adds what is for no single resource."""
        needed = (each.scopes for each in self.cloud_resources.values())
        return tuple(sorted({name for ways in needed for one in ways for name in one}))

    @abstractmethod
    def granted_scopes(self, grant: Grant) -> frozenset[str]:
        """Return what was granted, by the names that resources use."""

    @abstractmethod
    def open_client(self, http: SourceHttp, grant: Grant) -> Any:
        """Return what resources read with."""

    def find_devices(
        self,
        client: Any,  # noqa: ARG002 - for providers that tell devices
    ) -> Mapping[SourceType, PulledDevice]:
        """Return the user's device of each kind, where there is exactly one."""
        return {}

    @property
    def pushes(self) -> PushProtocol | None:
        """As of SourceGateway."""
        return None

    @property
    def resources(self) -> tuple[str, ...]:
        """As of SourceGateway."""
        return tuple(self.cloud_resources)

    def find_reach(self, resource: str) -> timedelta:
        """As of SourceGateway: of a list, the days that are whole in every zone."""
        reach = self.cloud_resources[resource].reach
        return self.history if reach is None else min(self.history, reach - _DAY)

    @property
    def credentials(self) -> ClientCredentials:
        """As of SourceGateway."""
        return self._credentials or self.default_credentials

    def with_credentials(
        self,
        credentials: ClientCredentials,
        meter: Meter = NO_METER,
        keys: PushKeys = NO_PUSH_KEYS,
    ) -> Self:
        """As of SourceGateway."""
        other = copy(self)
        other._credentials, other._meter, other._keys = credentials, meter, keys
        return other

    def authorise_url(self, *, state: str, redirect_url: str, challenge: str) -> str:
        """As of SourceGateway."""
        return self.tokens.authorise_url(
            state=state, redirect_url=redirect_url, challenge=challenge
        )

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        return self.tokens.connect(
            code=code, redirect_url=redirect_url, verifier=verifier
        )

    def refresh_tokens(self, grant: Grant) -> Grant:
        """As of SourceGateway."""
        return self.tokens.refresh_tokens(grant)

    def revoke(self, grant: Grant) -> None:
        """As of SourceGateway."""
        self.tokens.revoke(grant)

    def check_credentials(self, *, redirect_url: str) -> bool:
        """As of SourceGateway."""
        return self.tokens.check_credentials(redirect_url=redirect_url)

    def granted_resources(self, grant: Grant) -> frozenset[str]:
        """As of SourceGateway."""
        scopes = self.granted_scopes(grant)
        return frozenset(
            name
            for name, each in self.cloud_resources.items()
            if each.is_allowed(scopes)
        )

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
        """As of SourceGateway: a page is a window of days, the newest first.

        A position is the last day that is still to be read. Who connects sees this week
        before last year; and what is cut off has the days that people look at. Of a
        source that is push-only it is when the past was asked for: it is waited for.
        """
        if self.is_push_only:
            yield from self._await_history(resource, since, until, grant, position)
            return
        wanted = self.cloud_resources[resource]
        # A day more at both ends: users may be ahead of UTC, or behind it.
        first = since.astimezone(UTC).date() - _DAY
        last = until.astimezone(UTC).date() + _DAY
        if wanted.reach is not None:
            today = timezone.now().astimezone(UTC).date()
            first = max(first, today - wanted.reach + _DAY)
        if position:
            last = date.fromisoformat(position)
        with self.open_http(grant.external_user_id) as http:
            client = self.open_client(http, grant)
            devices = self.find_devices(client)
            while first <= last:
                starts = max(first, last - (self.window_days - 1) * _DAY)
                window = Window(
                    client=client,
                    first=starts if wanted.is_dated else first,
                    last=last,
                    scopes=self.granted_scopes(grant),
                    zone=find_time_zone_by_name(user.fallback_time_zone or "UTC"),
                )
                found = wanted.read(window)
                last = window.first - _DAY
                yield PulledPage(
                    batches=tuple(
                        PulledBatch(
                            resource,
                            elements,
                            source_type,
                            device=devices.get(source_type),
                        )
                        for source_type, elements in found.items()
                        if elements
                    ),
                    position=last.isoformat() if first <= last else "",
                    first=window.first if wanted.is_dated else None,
                    last=window.last if wanted.is_dated else None,
                    is_complete=wanted.is_complete and not window.unsettled,
                )

    def find_granted_scopes(self, grant: Grant) -> tuple[str, ...]:
        """As of SourceGateway; what was granted, where the source can't be asked."""
        return grant.scopes

    def fetch_pushed(self, content: bytes, *, grant: Grant) -> bytes:  # noqa: ARG002 - for those that send addresses
        """As of SourceGateway."""
        return content

    def read_pushed(self, user: User, resource: str, content: bytes) -> PulledPage:  # noqa: ARG002 - for those that push data
        """As of SourceGateway."""
        return PulledPage(())

    def request_history(
        self, resource: str, since: datetime, until: datetime, grant: Grant
    ) -> None:
        """Ask a push-only source for past data; repeatable. Raises: as of pull."""
        raise NotImplementedError

    def _await_history(
        self,
        resource: str,
        since: datetime,
        until: datetime,
        grant: Grant,
        position: str,
    ) -> Iterator[PulledPage]:
        now = timezone.now()
        if not position:
            self.request_history(resource, since, until, grant)
            position = now.isoformat()
            yield PulledPage((), position=position)
        left = datetime.fromisoformat(position) + HISTORY_WAIT - now
        if left > timedelta(0):
            raise ComesLater(left)

    def open_http(self, account: str = "") -> SourceHttp:
        """Return an HTTP client whose calls are metered, those of a user by user."""
        from users.gateways.http import SourceHttp  # httpx loads with the first call

        return SourceHttp(meter=self._meter, account=account)
