from __future__ import annotations

import pytest

from portal.lib.api.errors import RequestInvalid
from portal.lib.api.pagination import (
    OFFSET_LIMIT_MAX,
    OFFSET_MAX,
    OffsetInputs,
    decode_page_cursor,
    encode_page_cursor,
)


def test_offset_and_limit_have_their_defaults():
    inputs = OffsetInputs(data={})

    assert inputs.is_valid()
    assert inputs.validated_data == {"offset": 0, "limit": 100}


def test_the_bounds_are_the_specifications():
    assert OFFSET_LIMIT_MAX == 500
    for limit, valid in ((0, False), (1, True), (500, True), (501, False)):
        assert OffsetInputs(data={"limit": limit}).is_valid() is valid
    for offset, valid in ((-1, False), (OFFSET_MAX, True), (OFFSET_MAX + 1, False)):
        assert OffsetInputs(data={"offset": offset}).is_valid() is valid


def test_a_cursor_gives_back_its_parts():
    parts = ["created_at", "asc", "é", ""]

    assert decode_page_cursor(encode_page_cursor(parts), length=4) == parts


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "é", "!!!!", encode_page_cursor(["one"]), "eyJhIjoxfQ", "WzEsMl0"],
    ids=["empty", "short", "letters", "signs", "length", "object", "numbers"],
)
def test_what_is_no_cursor_is_refused(cursor):
    with pytest.raises(RequestInvalid) as caught:
        decode_page_cursor(cursor, length=2)

    assert [line.loc for line in caught.value.errors] == [("query", "next_cursor")]
