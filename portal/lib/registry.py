"""What lower apps need from higher ones, handed over in `AppConfig.ready`.

The registers, and the values their entries give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from rest_framework.request import Request

    from accounts.models import Tenant

T = TypeVar("T")


class Register(Generic[T]):
    """Named entries in the order of their names; a name is taken once."""

    def __init__(self) -> None:
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> None:
        """Enter `entry` under `name`."""
        if self._entries.setdefault(name, entry) is not entry:
            raise ValueError(f"{name} is registered already")

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return iter(sorted(self._entries.items()))


@dataclass(frozen=True, slots=True)
class Aged:
    """How many rows are older than a moment, up to a bound, and since when at most."""

    number: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class DataClass:
    """Data that a team may say how long it keeps.

    `title` and `says` tell what it is. It is kept `usual_days` without a word of the
    team, None: as long as what it belongs to; and between `least_days` and `most_days`,
    None: no limit. A record that law wants kept (`is_record`) is kept as long as the
    installation says, at least. `count` takes a tenant and a moment; so does `remove`,
    which commits in bounded steps and yields the rows of each. `remove` None: its app's
    job `removed_by` sees to it. Its tables name it (portal.lib.table_rules).
    """

    rank: int
    title: str
    says: str
    count: Callable[[Tenant, datetime], Aged]
    remove: Callable[[Tenant, datetime], Iterator[int]] | None = None
    usual_days: int | None = None
    least_days: int = 1
    most_days: int | None = None
    is_record: bool = False
    removed_by: str = ""


# By the name under which a team's choice is kept.
data_classes: Register[DataClass] = Register()


# Each is told of a call of the API when it is answered: the request with its key, the
# status, and when it came (seconds of time.time). They must be quick and never raise.
call_observers: list[Callable[[Request, int, float], None]] = []
