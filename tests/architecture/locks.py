"""What a migration may not do to a table that is in use: rules, read off operations.

PostgreSQL lets readers and writers wait while an index is built, a column checked or a
table written anew, which on a table of millions of rows is an outage. A table that the
same migration makes holds nothing yet and is free. A migration that must do it all the
same says why: `locks_because = "…"`, a sentence, as an attribute of its class. Source:
PostgreSQL's pages on ALTER TABLE and explicit locking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations
from django.db.models import CheckConstraint, Field, ForeignKey, GeneratedField
from django.db.models.expressions import Value
from django.db.models.fields import AutoFieldMixin
from django.db.models.functions import Now

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from django.db.migrations.migration import Migration
    from django.db.migrations.operations.base import Operation
    from django.db.migrations.state import ProjectState

REASON = "locks_because"
# Of a field, but not of its column.
OF_PYTHON = {*Field.non_db_attrs, "default"}
CONCURRENTLY = (AddIndexConcurrently, RemoveIndexConcurrently)


def locks_of(migration: Migration, state: ProjectState) -> list[str]:
    """What it does that locks or breaks, a sentence each; moves `state` past it."""
    made: set[str] = set()
    found: list[str] = []
    for operation in migration.operations:
        parts: Sequence[Operation] = [operation]
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            parts = operation.database_operations
        for part in parts:
            if isinstance(part, migrations.CreateModel):
                made.add(part.name_lower)
            elif getattr(part, "model_name_lower", None) not in made:
                found += _faults(part, migration, state)
        operation.state_forwards(migration.app_label, state)
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            made |= {
                each.name_lower
                for each in operation.state_operations
                if isinstance(each, migrations.CreateModel)
            }
    return found


def _faults(
    operation: Operation, migration: Migration, state: ProjectState
) -> Iterator[str]:
    what = operation.describe()
    match operation:
        case AddIndexConcurrently() | RemoveIndexConcurrently():
            others = [
                o for o in migration.operations if not isinstance(o, CONCURRENTLY)
            ]
            if others:
                yield f"{what}: in a migration of its own, as it can't be rolled back"
        case migrations.AddIndex():
            yield f"{what}: writers wait; use AddIndexConcurrently"
        case migrations.RemoveIndex():
            yield f"{what}: all wait; use RemoveIndexConcurrently"
        case AddConstraintNotValid():
            return
        case migrations.AddConstraint():
            yield (
                f"{what}: rows are checked while all wait; use AddConstraintNotValid,"
                " and ValidateConstraint in the next migration"
                if isinstance(operation.constraint, CheckConstraint)
                else f"{what}: its index is built while writers wait; build it by"
                " CREATE UNIQUE INDEX CONCURRENTLY and add the constraint USING it"
            )
        case migrations.AddField():
            for fault in _faults_of_column(operation.field):
                yield f"{what}: {fault}"
        case migrations.AlterField():
            model = state.models[migration.app_label, operation.model_name_lower]
            for fault in _faults_of_change(
                model.fields[operation.name], operation.field
            ):
                yield f"{what}: {fault}"
        case migrations.RemoveField() | migrations.DeleteModel():
            yield f"{what}: code of before still asks for it; only once none does"
        case migrations.RenameField() | migrations.RenameModel():
            yield f"{what}: code of before asks by the old name; add, copy, then remove"
        case migrations.AlterModelTable():
            yield f"{what}: code of before asks by the old name"
        case migrations.RunPython():
            if migration.atomic is not False or len(migration.operations) > 1:
                yield (
                    f"{what}: rows are moved in batches, each in a transaction of its"
                    " own: alone in a migration with atomic = False"
                )
        case migrations.RunSQL():
            yield f"{what}: say what it locks, and for how long"


def _faults_of_column(field: Field[Any, Any]) -> Iterator[str]:
    if isinstance(field, (AutoFieldMixin, GeneratedField)):
        yield "every row is written anew while all wait"
        return
    if field.has_db_default():
        if not isinstance(field.db_default, (Value, Now, str, int, float, bool)):
            yield "a default that differs by row writes the table anew"
    elif not field.null:
        yield "code of before inserts rows without it; null=True or a db_default"
    if field.unique or field.db_index:
        kind = "a foreign key's index" if isinstance(field, ForeignKey) else "its index"
        yield f"{kind} is built while writers wait; db_index=False, then concurrently"


def _faults_of_change(old: Field[Any, Any], new: Field[Any, Any]) -> Iterator[str]:
    before, after = _column(old), _column(new)
    if type(old) is not type(new):
        yield "a change of type writes the table anew while all wait"
        return
    for name in sorted(before.keys() | after.keys()):
        was, is_now = before.get(name), after.get(name)
        if was == is_now:
            continue
        match name:
            case "null":
                if was:
                    yield "rows are checked while all wait; a check, not valid, first"
            case "db_index" | "unique":
                if is_now:
                    yield "its index is built while writers wait"
            case "max_length":
                if is_now is not None and (was is None or is_now < was):
                    yield "a shorter text writes the table anew while all wait"
            case "db_default" | "db_comment":
                continue
            case _:
                yield f"{name} changes"


def _column(field: Field[Any, Any]) -> Mapping[str, Any]:
    options = field.deconstruct()[3]
    return {name: value for name, value in options.items() if name not in OF_PYTHON}
