from __future__ import annotations

import pytest

from portal.ui.gauges import draw_percentage_bar


@pytest.mark.parametrize(
    ("percent", "width"), [(-5, "0.0"), (0, "0.0"), (50, "18.0"), (130, "36.0")]
)
def test_a_meter_is_as_long_as_its_share(percent, width):
    assert f'class="meter-ok" width="{width}"' in draw_percentage_bar(
        percent, is_enough=True
    )
