"""Sort a long list by a column that has no index: the newest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import F

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Model, QuerySet
    from django.db.models.expressions import OrderBy

M = TypeVar("M", bound="Model")

# Ours: 10,000 rows are sorted within a page's time; millions are not.
SORTED_UP_TO = 10_000


def sort_newest(
    rows: QuerySet[M, Any], *, order_by: str, newest: Sequence[str]
) -> QuerySet[M, Any]:
    """Sort the SORTED_UP_TO newest rows; `newest` is the order that says which.

    One query: the rows are found by the index of `newest`. `order_by` is a path, with a
    minus for downwards; rows without a value come last, equal ones newest first.
    """
    keys = rows.order_by(*newest).values("pk")[:SORTED_UP_TO]
    return rows.filter(pk__in=keys).order_by(build_order(order_by), *newest)


def build_order(order_by: str) -> OrderBy:
    """Return the order of a path, with a minus for downwards; NULL comes last."""
    path = F(order_by.removeprefix("-"))
    if order_by.startswith("-"):
        return path.desc(nulls_last=True)
    return path.asc(nulls_last=True)


def sort_as_asked(
    rows: QuerySet[M, Any], *, order_by: str, newest: Sequence[str]
) -> QuerySet[M, Any]:
    """Return rows as they come for an empty `order_by`, else the newest, sorted."""
    if not order_by:
        return rows
    return sort_newest(rows, order_by=order_by, newest=newest)
