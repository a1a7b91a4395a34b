"""What a platform that a team leaves has: users, connections, and pages of data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from users.states import SourceType

# Resources besides those of the registries: a stream of each workout, and lab orders.
WORKOUT_STREAMS = "workout_streams"
ORDERS = "orders"

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class PlatformUnavailable(Exception):
    """The platform did not answer, or refused the key; `reason` is a short code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ResourceNames:
    """What Assay has: slugs of timeseries, and of summaries with their key in answers.

    A summary without a key is one object, not a list.
    """

    summaries: Mapping[str, str | None]
    timeseries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MovedUser:
    """A user there: `id` is the platform's, `client_user_id` the team's own."""

    id: str
    client_user_id: str
    fallback_time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class MovedConnection:
    """A source of a user; one that is not `is_live` was disconnected there."""

    provider: str
    is_live: bool
    external_user_id: str = ""


@dataclass(frozen=True, slots=True)
class MovedPart:
    """Elements of one resource and origin, as a push of contract 5.4 has them.

    `resource` is a slug of a summary or, where `is_samples`, of a timeseries. Those of
    WORKOUT_STREAMS are {"workout": a summary, "stream": as contract 5.3 has it}, those
    of ORDERS {"order", "result": None without any} of contract 6.10 and 6.15.
    """

    resource: str
    provider: str
    elements: list[dict[str, Any]]
    is_samples: bool = False
    source_type: str = SourceType.UNKNOWN


def join_parts(parts: Iterable[MovedPart]) -> list[MovedPart]:
    """Return parts with those of one resource and origin joined, in order."""
    joined: dict[tuple[str, str, str, bool], list[dict[str, Any]]] = {}
    for part in parts:
        key = (part.resource, part.provider, part.source_type, part.is_samples)
        joined.setdefault(key, []).extend(part.elements)
    return [
        MovedPart(resource, provider, elements, is_samples, source_type)
        for (resource, provider, source_type, is_samples), elements in joined.items()
    ]


@dataclass(slots=True)
class MovedPage:
    """A page of data: its parts, and the cursor at which the next import goes on.

    The cursor of the last page is where a later reading begins: empty for the start.
    `skipped` counts what has no place in Assay, by the rule that says why, `converted`
    what is written otherwise here, by resource and the rule that says how.
    """

    parts: list[MovedPart]
    cursor: str = ""
    is_last: bool = True
    read: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    converted: Counter[tuple[str, str]] = field(default_factory=Counter)


class PageGuard:
    """Refuses a list that never ends: one that gives a cursor or a page again."""

    def __init__(self) -> None:
        self._cursors: set[str] = set()
        self._page: object = None

    def check(self, cursor: str, page: Sequence[object]) -> None:
        """Note a page and the cursor behind it. Raises: PlatformUnavailable."""
        is_again = bool(page) and page == self._page
        if is_again or (cursor and cursor in self._cursors):
            raise PlatformUnavailable("page_repeated")
        self._cursors.add(cursor)
        self._page = page


class Platform(Protocol):
    """A platform to move in from; every method may raise PlatformUnavailable.

    `feeds` are what is read of each user, one after another, each with a cursor.
    """

    name: str
    feeds: tuple[str, ...]

    def list_users(self) -> Iterator[MovedUser]:
        """Yield all users."""
        ...

    def list_connections(self, user: MovedUser) -> list[MovedConnection]:
        """Return a user's sources, disconnected ones included."""
        ...

    def read_pages(
        self, user: MovedUser, feed: str, cursor: str
    ) -> Iterator[MovedPage]:
        """Yield pages of a feed behind a cursor, from the start where it is empty."""
        ...
