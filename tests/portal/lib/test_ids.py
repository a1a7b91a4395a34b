from __future__ import annotations

from uuid import UUID

import pytest

from portal.lib.ids import find_uuid_range_of_prefix, is_complete_uuid

WHOLE = UUID("5b1f4c7e-0000-4000-8000-00000000b436")


@pytest.mark.parametrize("text", [str(WHOLE), WHOLE.hex, str(WHOLE).upper()])
def test_a_whole_id_is_its_own_bounds(text):
    assert find_uuid_range_of_prefix(text) == (WHOLE, WHOLE)
    assert is_complete_uuid(text, WHOLE)


def test_a_beginning_gives_the_lowest_and_the_highest():
    assert find_uuid_range_of_prefix("5B1F4C7E-0") == (
        UUID("5b1f4c7e-0000-0000-0000-000000000000"),
        UUID("5b1f4c7e-0fff-ffff-ffff-ffffffffffff"),
    )
    assert not is_complete_uuid("5B1F4C7E-0", WHOLE)


@pytest.mark.parametrize(
    "text",
    ["", "5b1f4c7", "5b1f4c7g", "mbr_20418", f"{WHOLE.hex}0", "--------", "٣٣٣٣٣٣٣٣"],
)
def test_other_text_is_no_id(text):
    assert find_uuid_range_of_prefix(text) is None
