"""Rows that have grown old: counted up to a bound, removed in steps that commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Min

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from django.db.models import QuerySet

# More are "or more": a preview must not read a whole table.
COUNTED_UP_TO = 100_000
# Rows of one step, so that none holds locks for long.
STEP = 1_000
# Steps whose keys are looked for at once.
_AHEAD = 20


@dataclass(frozen=True, slots=True)
class Aged:
    """How many rows are older than a moment, up to a bound, and since when at most."""

    number: int
    oldest: datetime | None


def count_rows_and_find_oldest(rows: QuerySet[Any], field: str) -> Aged:
    """Count rows, up to COUNTED_UP_TO, and find the least `field` of all."""
    oldest = rows.aggregate(oldest=Min(field))["oldest"]
    return Aged(rows.order_by()[:COUNTED_UP_TO].count(), oldest)


def delete_rows_in_batches(
    rows: QuerySet[Any],
    *,
    step: int = STEP,
    remove: Callable[[list[Any]], None] | None = None,
) -> Iterator[int]:
    """Delete rows by their keys, `step` in a transaction; yields how many of each.

    `remove` deletes rows of these keys where more than the rows has to go.
    """
    # Looked for ahead, and on from where it ended: finding them may read a whole table.
    left = rows.order_by("pk").values_list("pk", flat=True)
    keys: list[Any] = []
    while keys := list(
        (left.filter(pk__gt=keys[-1]) if keys else left)[: step * _AHEAD]
    ):
        for first in range(0, len(keys), step):
            with transaction.atomic():
                # What has changed since it was found may stay after all.
                chosen = list(left.filter(pk__in=keys[first : first + step]))
                if remove is None:
                    rows.model._base_manager.filter(pk__in=chosen).delete()
                else:
                    remove(chosen)
            yield len(chosen)
