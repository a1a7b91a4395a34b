from __future__ import annotations

from portal.lib.api.pagination import OFFSET_LIMIT_MAX, OFFSET_MAX, OffsetInputs


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
