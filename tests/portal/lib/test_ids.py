from __future__ import annotations

from uuid import UUID

import pytest

from portal.lib.ids import id_bounds, is_whole_id

WHOLE = UUID("5b1f4c7e-0000-4000-8000-00000000b436")


@pytest.mark.parametrize("text", [str(WHOLE), WHOLE.hex, str(WHOLE).upper()])
def test_a_whole_id_is_its_own_bounds(text):
    assert id_bounds(text) == (WHOLE, WHOLE)
    assert is_whole_id(text, WHOLE)


def test_a_beginning_gives_the_lowest_and_the_highest():
    assert id_bounds("5B1F4C7E-0") == (
        UUID("5b1f4c7e-0000-0000-0000-000000000000"),
        UUID("5b1f4c7e-0fff-ffff-ffff-ffffffffffff"),
    )
    assert not is_whole_id("5B1F4C7E-0", WHOLE)


@pytest.mark.parametrize(
    "text",
    ["", "5b1f4c7", "5b1f4c7g", "mbr_20418", f"{WHOLE.hex}0", "--------", "٣٣٣٣٣٣٣٣"],
)
def test_other_text_is_no_id(text):
    assert id_bounds(text) is None
