from __future__ import annotations

import pytest

from accounts.operations.members.columns import set_shown_columns
from labs.web.columns import ORDERS, USER_ORDERS

pytestmark = pytest.mark.django_db


def test_what_differs_from_usual_is_kept_for_each_list(alice):
    usual = [column.key for column in ORDERS.columns if not column.is_extra]

    set_shown_columns(member=alice, declared=USER_ORDERS, shown=["status"])
    member = set_shown_columns(
        member=alice, declared=ORDERS, shown=[*usual, "sample", "no_column"]
    )

    assert member.changed_columns == {
        "user_orders": ["tests", "collection", "result", "created_at"],
        "orders": ["sample"],
    }
    member = set_shown_columns(member=alice, declared=ORDERS, shown=usual)
    assert list(member.changed_columns) == ["user_orders"]
