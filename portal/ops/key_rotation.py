"""Re-encrypt stored secrets with the newest key, for `rotate_encryption_keys`.

Their columns are in the rules of their tables (portal.lib.table_rules).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from portal.lib.secrets.encryption import UnreadableSecret, reencrypt_with_newest_key
from portal.lib.table_rules import list_table_rules
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from django.db.models import Model

    from portal.lib.table_rules import TableRules

# Rows that one transaction holds; who wants one of them waits some milliseconds.
BATCH = 200


@dataclass(slots=True)
class Rotation:
    """What became of a table's rows: each counts once, unreadable before renewed."""

    table: str
    rows: int = 0
    renewed: int = 0
    unreadable: int = 0


def reencrypt_stored_secrets(*, check_only: bool = False) -> Iterator[Rotation]:
    """Put every stored secret under the newest key, table by table.

    In batches of BATCH rows, each a transaction of its own, so that a run that was cut
    short is simply run again: what is under the newest key is left alone. What no key
    opens is counted and left too. `check_only` writes nothing. Source: Ours.
    """
    for model, rules in list_table_rules():
        if rules.encrypted or rules.encrypted_members:
            with across_tenants(why="keys are the installation's, not a tenant's"):
                yield _rotate_table(model, rules, check_only=check_only)


def find_secrets_under_old_keys(*, limit: timedelta) -> bool | None:
    """Return whether a stored secret is not under the newest key; lock nothing.

    None if none of those read within `limit` was, and there are more. Source: Ours: a
    page asks, so that it is bounded in time and ends at the first one found.
    """
    until = time.monotonic() + limit.total_seconds()
    for model, rules in list_table_rules():
        if not (rules.encrypted or rules.encrypted_members):
            continue
        with across_tenants(why="keys are the installation's, not a tenant's"):
            rows = model._base_manager.only(
                "pk", *rules.encrypted, *rules.encrypted_members
            )
            for row in rows.iterator(chunk_size=BATCH):
                try:
                    if any(_renewed(row, rules)):
                        return True
                except UnreadableSecret:
                    return True
                if time.monotonic() > until:
                    return None
    return False


def _rotate_table(
    model: type[Model], rules: TableRules, *, check_only: bool
) -> Rotation:
    done = Rotation(model._meta.label)
    last = None
    while True:
        with transaction.atomic():
            rows = model._base_manager.order_by("pk").select_for_update()
            if last is not None:
                rows = rows.filter(pk__gt=last)
            batch = list(rows[:BATCH])
            for row in batch:
                _rotate_row(row, rules, done, check_only=check_only)
        if len(batch) < BATCH:
            return done
        last = batch[-1].pk


def _rotate_row(
    row: Model, rules: TableRules, done: Rotation, *, check_only: bool
) -> None:
    done.rows += 1
    try:
        changed = dict(_renewed(row, rules))
    except UnreadableSecret:
        done.unreadable += 1
        return
    if changed:
        done.renewed += 1
        if not check_only:
            type(row)._base_manager.filter(pk=row.pk).update(**changed)


def _renewed(row: Model, rules: TableRules) -> Iterator[tuple[str, Any]]:
    """The columns whose secrets are under an older key, as they should be."""
    for name in rules.encrypted:
        stored = getattr(row, name)
        if stored and (new := reencrypt_with_newest_key(stored)) != stored:
            yield name, new
    for name, members in rules.encrypted_members.items():
        stored = getattr(row, name)
        new = stored | {key: _renew(stored[key]) for key in members if key in stored}
        if new != stored:
            yield name, new


def _renew(stored: str | list[str]) -> str | list[str]:
    return (
        reencrypt_with_newest_key(stored)
        if isinstance(stored, str)
        else [reencrypt_with_newest_key(each) for each in stored]
    )
