"""Classes of data whose retention a team chooses.

Each app declares its own as `DATA_CLASSES` in its module `data_classes`, which is
imported when one is first needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from portal.lib.app_modules import import_declarations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from accounts.models import Tenant
    from portal.lib.database.retention import Aged


@dataclass(frozen=True, slots=True)
class DataClass:
    """Data for which a team may choose how long it is stored.

    `title` and `says` name and describe it. It is kept `usual_days` if the team chooses
    nothing, None: as long as what it belongs to; and between `least_days` and
    `most_days`, None: no limit. A record that law wants kept (`is_record`) is kept as
    long as the installation says, at least. `count` takes a tenant and a moment; so
    does `remove`, which commits in bounded steps and yields the rows of each. `remove`
    None: its app's job `removed_by` sees to it. Its tables name it
    (portal.lib.table_rules).
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


@cache
def load_data_classes() -> Mapping[str, DataClass]:
    """Return the classes of all apps by the name under which a choice is stored.

    In the order of names. Raises: ValueError if two of them have one name.
    """
    declared = [
        entry
        for classes in import_declarations("data_classes", "DATA_CLASSES").values()
        for entry in classes.items()
    ]
    by_name = dict(sorted(declared, key=lambda entry: entry[0]))
    if len(by_name) < len(declared):
        raise ValueError("two classes of data have one name")
    return MappingProxyType(by_name)
