"""A row of one user in every table, its texts with a word that stands nowhere else.

Rows are made from the models' fields, so that a table is planted by existing. They need
not make sense: nothing reads them but what counts, exports and erases.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, models
from django.utils import timezone
from psycopg import sql

from accounts.models import Tenant
from users.models import User
from users.queries.users.data_map import list_tables_with_user_data

if TYPE_CHECKING:
    from pathlib import Path

_numbers = count(1)
# What the database itself asks of a row: a place is booked or held, not both.
_GIVEN: dict[str, dict[str, Any]] = {
    "labs.SlotPlace": {"expires_at": None, "reference": None},
}
_TABLES = """
SELECT oid::regclass::text FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition
    AND relnamespace = 'public'::regnamespace
"""


class Planter:
    """Plants `word` in every table of a user; `rows` is what it made, by model."""

    def __init__(self, user: User, word: str) -> None:
        self.user, self.word = user, word
        self.mapped = {table.model: table for table in list_tables_with_user_data()}
        self.rows: dict[Any, Any] = {User: user, Tenant: user.tenant}

    def plant_all(self) -> None:
        for model, table in self.mapped.items():
            if not table.why:
                self.plant(model)

    def plant(self, model: Any) -> Any:
        if model not in self.rows:
            is_mine = model in self.mapped
            if not is_mine and (kept := model._base_manager.first()):
                return kept
            values = {
                field.name: self._value(field, is_mine=is_mine)
                for field in model._meta.concrete_fields
                if not isinstance(field, models.AutoField)
            }
            row = model(**values | _GIVEN.get(model._meta.label, {}))
            row.save(force_insert=True)
            self.rows[model] = row
        return self.rows[model]

    def _value(self, field: Any, *, is_mine: bool) -> Any:
        if field.is_relation:
            to = field.related_model
            if to is field.model or (field.null and to not in self.mapped):
                return None
            return self.plant(to)
        word = self.word if is_mine else f"nobody-{next(_numbers)}"
        if field.name == "user_uuid":
            return self.user.uuid
        if field.name == "client_user_id":
            return self.word
        if field.name == "user_id":
            return self.user.pk
        if field.name == "scope":  # of a replay, by the customer's id
            return {"user": self.word}
        if field.name == "stored_as":
            return default_storage.save(f"canaries/{word}", ContentFile(word.encode()))
        if field.flatchoices:
            return field.flatchoices[0][0]
        return _plain(field, word)


def _plain(field: Any, word: str) -> Any:
    match field:
        case models.UUIDField():
            return uuid.uuid4()
        case models.JSONField():
            return {"canary": word}
        case models.BinaryField():
            return word.encode()
        case models.DateTimeField():
            return timezone.now()
        case models.DateField():
            return timezone.localdate()
        case models.DurationField():
            return timedelta(hours=1)
        case models.BooleanField():
            return False
        case models.GenericIPAddressField():
            return "192.0.2.1"
        case models.FloatField():
            return 1.0
        case models.IntegerField():
            return next(_numbers)
        case models.CharField():
            return f"{word}{next(_numbers)}"[: field.max_length]
        case models.TextField():
            return word
        case _ if hasattr(field, "base_field"):  # an array
            return [_plain(field.base_field, word)]
        case _:
            raise NotImplementedError(field)


def tables_with(text: str) -> set[str]:
    """The tables that hold `text` in any column, in bytes too."""
    found = set()
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        for (name,) in cursor.fetchall():
            cursor.execute(
                sql.SQL(
                    "SELECT EXISTS (SELECT FROM {} AS kept WHERE"
                    " strpos(kept::text, %s) > 0 OR strpos(kept::text, %s) > 0)"
                ).format(sql.SQL(name)),
                [text, text.encode().hex()],
            )
            if cursor.fetchone()[0]:
                found.add(name)
    return found


def files_with(text: str, *folders: Path) -> set[str]:
    """The names of files that hold `text`."""
    return {
        path.name
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    }
