from __future__ import annotations

import re
from pathlib import Path

from labs.states.order_drivers import ORDER_DRIVERS, Driver
from labs.states.orders import ORDER_STATUSES

PAGE = Path("docs/reference/order-statuses.md")


def test_every_status_is_reached_in_production():
    assert set(ORDER_DRIVERS) == set(ORDER_STATUSES)
    assert all(ORDER_DRIVERS.values())


def test_every_driver_reaches_something():
    assert {one for drivers in ORDER_DRIVERS.values() for one in drivers} == set(Driver)


def test_the_page_of_statuses_says_what_the_code_says():
    rows = re.findall(
        r"^\| `([\w.]+\.\w+)` \| (.+) \|$", PAGE.read_text(), re.MULTILINE
    )

    assert rows == [
        (status, "; ".join(str(one.label) for one in ORDER_DRIVERS[status]))
        for status in ORDER_STATUSES
    ]
