from __future__ import annotations

from datetime import date

import pytest
import time_machine

from portal.lib.birth_dates import require_plausible_birth_date
from portal.lib.errors import Invalid


@pytest.mark.parametrize(
    ("day", "code"),
    [
        (date(1899, 12, 31), "dob_too_early"),
        (date(1900, 1, 1), None),
        (date(2026, 3, 2), None),
        (date(2026, 3, 3), "dob_in_future"),
    ],
)
@time_machine.travel("2026-03-02T12:00:00Z", tick=False)
def test_a_birth_date_is_from_1900_up_to_today(day, code):
    if code is None:
        require_plausible_birth_date(day)
        return
    with pytest.raises(Invalid) as refused:
        require_plausible_birth_date(day, "fallback_birth_date")
    assert (refused.value.code, refused.value.field) == (code, "fallback_birth_date")
