"""The pagination styles of contract 1.4: query inputs, and cursors."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING

import orjson

from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import Inputs, QueryInt, QueryText

if TYPE_CHECKING:
    from collections.abc import Sequence

OFFSET_LIMIT_MAX = 500  # Spec 8
# PostgreSQL's bigint; past it there is no row to skip to.
OFFSET_MAX = 2**63 - 1 - OFFSET_LIMIT_MAX


class OffsetInputs(Inputs):
    """`offset` (default 0) and `limit` (default 100, 1 to 500); over it: 422 (D20)."""

    offset = QueryInt(default=0, min_value=0, max_value=OFFSET_MAX)
    limit = QueryInt(default=100, min_value=1, max_value=OFFSET_LIMIT_MAX)


PAGE_SIZE_MAX = 100  # Contract 1.4
PAGE_MAX = 2**31


class PageInputs(Inputs):
    """`page` (default 1) and `size` (default 50, 1 to 100); over it: 422 (D20)."""

    page = QueryInt(default=1, min_value=1, max_value=PAGE_MAX)
    size = QueryInt(default=50, min_value=1, max_value=PAGE_SIZE_MAX)


CURSOR_MAX_LENGTH = 2000
# Those that PostgreSQL's bigint holds whatever they are.
POSITION_MAX_DIGITS = 18


class CursorInputs(Inputs):
    """`next_cursor`, as an answer gave it; each endpoint names its own limit."""

    next_cursor = QueryText(required=False, max_length=CURSOR_MAX_LENGTH)


def encode_page_cursor(parts: Sequence[str]) -> str:
    """Make an opaque cursor of texts."""
    return urlsafe_b64encode(orjson.dumps(list(parts))).rstrip(b"=").decode()


def decode_page_cursor(
    cursor: str, *, length: int, name: str = "next_cursor"
) -> list[str]:
    """Return the `length` texts that a cursor was made of. Raises: 422 at `name`."""
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        parts = orjson.loads(urlsafe_b64decode(padded.encode()))
    except ValueError:
        raise build_invalid_cursor_error(name) from None
    if not isinstance(parts, list) or len(parts) != length:
        raise build_invalid_cursor_error(name)
    if not all(isinstance(part, str) for part in parts):
        raise build_invalid_cursor_error(name)
    return parts


def decode_row_cursor(cursor: str | None, *, name: str = "next_cursor") -> int:
    """Return the row key that a list continues after, 0 at its start. Raises: 422."""
    if cursor is None:
        return 0
    [text] = decode_page_cursor(cursor, length=1, name=name)
    if not (text.isascii() and text.isdecimal()) or len(text) > POSITION_MAX_DIGITS:
        raise build_invalid_cursor_error(name)
    return int(text)


def build_invalid_cursor_error(name: str = "next_cursor") -> RequestInvalid:
    """Return the refusal of a cursor that none of our answers gave for this list."""
    expected = "Use a cursor from an earlier response of this list, unchanged."
    return RequestInvalid([FieldError(("query", name), expected, "value_error")])
