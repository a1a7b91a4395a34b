"""Load rows of a model by a statement that stays the same, for lists read often.

On a page of 50 rows building the ORM's query, planning it anew and fetching text cost
several times what PostgreSQL does; here a statement is text that stays the same, so it
is prepared, and rows come in binary (performance.md 2b). What it gives are instances as
the ORM would give them, so that payloads are built by the same code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, models
from django.db.models.base import ModelState

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_Row = TypeVar("_Row", bound=models.Model)


@dataclass(frozen=True, slots=True, init=False)
class Columns(Generic[_Row]):
    """Some columns of a model's table, in the order in which a statement selects them.

    `sql` is what it selects of the table by the name given. Columns left out are
    deferred, as by `only`. Fields whose values the ORM converts are refused, and models
    that do more than Django when an instance is made.
    """

    model: type[_Row]
    names: tuple[str, ...]
    sql: str

    def __init__(
        self, model: type[_Row], table: str, names: Collection[str] = ()
    ) -> None:
        fields = [
            field
            for field in model._meta.concrete_fields
            if not names or field.attname in names
        ]
        kept = tuple(field.attname for field in fields)
        if unknown := set(names).difference(kept):
            raise ValueError(f"{model._meta.label} has no {sorted(unknown)}")
        own = set(model.__mro__).difference(models.Model.__mro__)
        if any(vars(kind).keys() & _MAKING for kind in own):
            raise ValueError(f"{model._meta.label} makes instances in its own way")
        for field in fields:
            if hasattr(field, "from_db_value") and type(field) not in _AS_READ:
                raise ValueError(f"{field} is converted by the ORM")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "names", kept)
        sql = ", ".join(f'{table}."{field.column}"' for field in fields)
        object.__setattr__(self, "sql", sql)

    def __len__(self) -> int:
        return len(self.names)

    def build(self, values: Sequence[Any]) -> _Row:
        """Build an instance of the values of these columns, in their order.

        As `from_db` does without its signals, of which it costs an eighth: setting a
        field through Django's descriptors costs more than reading it did.
        """
        row = self.model.__new__(self.model)
        state = vars(row)["_state"] = ModelState()
        state.adding, state.db = False, DEFAULT_DB_ALIAS
        vars(row).update(zip(self.names, values, strict=True))
        return row


# In binary, psycopg gives what these fields' own conversion would.
_AS_READ = (models.JSONField,)
_MAKING = {"__init__", "__new__", "from_db"}


def keep_related(owner: models.Model, name: str, row: models.Model | None) -> None:
    """Let an instance give this row as its related one, without asking for it."""
    owner._state.fields_cache[name] = row


def keep_all_related(
    owner: models.Model, name: str, found: Sequence[models.Model]
) -> None:
    """Let an instance give these rows as if prefetched; a list can't be filtered."""
    vars(owner).setdefault("_prefetched_objects_cache", {})[name] = found


def find_kept_rows(owner: models.Model, name: str) -> Sequence[Any] | None:
    """Return rows that were kept or prefetched, without the manager that has them.

    None where there are none yet. A manager is made for each look, at 10 microseconds.
    """
    kept: dict[str, Sequence[Any]] = vars(owner).get("_prefetched_objects_cache", {})
    return kept.get(name)
