"""What lower apps need from higher ones, handed over in `AppConfig.ready`.

The registers, and the values their entries give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from rest_framework.request import Request

    from accounts.models import Tenant
    from accounts.states import Area
    from portal.lib.actor import Actor

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
class UserBook:
    """Live users of a tenant by their ids, for pages of apps below.

    `names` gives the client_user_id of each uuid that is known, `find` the uuid of a
    whole client_user_id.
    """

    names: Callable[[Tenant, Sequence[UUID]], Mapping[UUID, str]]
    find: Callable[[Tenant, str], UUID | None]


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A fictional user of the demo data, whose sources have sent nothing for a while.

    That while is `quiet_days`, mostly none.
    """

    user_uuid: UUID
    client_user_id: str
    sources: tuple[str, ...]
    time_zone: str | None
    birth_date: date | None
    quiet_days: int = 0


@dataclass(frozen=True, slots=True)
class DemoScene:
    """Whose demo data to write, and in whose name."""

    tenant: Tenant
    actor: Actor
    people: tuple[DemoPerson, ...]


@dataclass(frozen=True, slots=True)
class MarkerReading:
    """A person's value that no order brought, as its source wrote it.

    `value` is the number of `text`, None of what is no number; `low` and `high` bound
    its own range; `source_id` names where it is from, in the app that read it.
    """

    name: str
    loinc: str
    type: str
    text: str
    value: float | None
    unit: str
    reference_range: str
    low: float | None
    high: float | None
    interpretation: str
    is_above: bool | None
    is_below: bool | None
    at: datetime
    lab: str
    source_id: UUID


@dataclass(frozen=True, slots=True)
class MarkerSource:
    """An app's values of a person, for members who may read its area.

    `read` takes LOINC codes, or None for all of the person's.
    """

    area: Area
    read: Callable[[Tenant, UUID, Collection[str] | None], list[MarkerReading]]


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


@dataclass(frozen=True, slots=True)
class PersonTest:
    """A lab test as the person's portal shows it; `status` is a key of PILLS."""

    name: str
    status: str
    ordered_at: datetime
    updated_at: datetime


# By app: the latest tests of a live user (tenant, user uuid), newest first, that of the
# order (if one is given) before all.
person_tests: Register[Callable[[Tenant, UUID, UUID | None], list[PersonTest]]] = (
    Register()
)

# By app: a person's values beside those of lab orders.
marker_sources: Register[MarkerSource] = Register()

# By app: lays what each tenant of a new team starts with, in the team's transaction.
tenant_layers: Register[Callable[[Sequence[Tenant]], None]] = Register()

# By the name under which a team's choice is kept.
data_classes: Register[DataClass] = Register()

# Each eraser removes all that its app keeps of one user: (tenant key, user uuid).
user_erasers: Register[Callable[[int, UUID], None]] = Register()

# Each eraser removes what its app keeps of a tenant besides its rows, which go by
# themselves after it: users with their files, samples and grants.
tenant_erasers: Register[Callable[[Tenant, Actor], None]] = Register()


# How pages of apps below name users.
user_books: Register[UserBook] = Register()

# By app: adds its part to the demo people where it is missing. Runs in a job, and may
# run twice.
demo_loaders: Register[Callable[[DemoScene], None]] = Register()

# Each is told of a call of the API when it is answered: the request with its key, the
# status, and when it came (seconds of time.time). They must be quick and never raise.
call_observers: list[Callable[[Request, int, float], None]] = []
