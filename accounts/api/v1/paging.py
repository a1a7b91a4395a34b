"""Page the rows of an organization in the order they were created."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from django.db.models import Q

from portal.lib.api.pagination import (
    build_invalid_cursor_error,
    decode_page_cursor,
    encode_page_cursor,
)

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound="Model")
PAGE_SIZE = 100  # Ours: contract 9.1 names no limit


def read_page_after_cursor(
    rows: QuerySet[Row], cursor: str | None, *, size: int = PAGE_SIZE
) -> tuple[list[Row], str | None]:
    """Return up to `size` rows after a cursor, oldest first, and the next cursor.

    Rows have `created_at` and a uuid as their key. Raises: 422 at `next_cursor`.
    """
    if cursor is not None:
        at, key = _read_cursor(cursor)
        rows = rows.filter(Q(created_at__gt=at) | Q(created_at=at, pk__gt=key))
    found = list(rows.order_by("created_at", "pk")[: size + 1])
    page = found[:size]
    if len(found) == len(page):
        return page, None
    made: datetime = getattr(page[-1], "created_at")  # noqa: B009 - of no common base
    return page, encode_page_cursor([made.isoformat(), str(page[-1].pk)])


def _read_cursor(cursor: str) -> tuple[datetime, UUID]:
    at, key = decode_page_cursor(cursor, length=2)
    try:
        moment, found = datetime.fromisoformat(at), UUID(key)
    except ValueError:
        raise build_invalid_cursor_error() from None
    if moment.tzinfo is None:
        raise build_invalid_cursor_error()
    return moment, found
