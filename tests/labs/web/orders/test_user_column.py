from __future__ import annotations

import csv

import pytest

from accounts.web.requests import Rights
from tests.factories.labs import make_lab_test, make_order
from tests.factories.users import make_user

LIST = "/t/alice-health/sandbox/users/"


@pytest.fixture
def two_users(alice_tenant):
    """One with two orders, and a newer one with none."""
    busy = make_user(tenant=alice_tenant, client_user_id="busy")
    panel = make_lab_test(tenant=alice_tenant)
    for _ in range(2):
        make_order(tenant=alice_tenant, user=busy, lab_test=panel)
    make_user(tenant=alice_tenant, client_user_id="idle")


def test_the_users_list_and_its_file_count_orders(alice_web, two_users):
    page = alice_web.get(LIST)
    file = alice_web.get(f"{LIST}file/")

    assert [numbers for *_, numbers in page.context["users"]] == [
        [("Orders", 0)],
        [("Orders", 2)],
    ]
    assert '<td data-label="Orders" class="num">2</td>' in page.text
    rows = csv.DictReader(file.text.splitlines())
    assert [row["orders"] for row in rows] == ["0", "2"]


def test_orders_are_not_counted_for_who_may_not_read_them(
    alice_web, two_users, monkeypatch
):
    allow = Rights.allow
    monkeypatch.setattr(
        Rights,
        "allow",
        lambda self, area, **how: area != "orders" and allow(self, area, **how),
    )

    page = alice_web.get(LIST)
    file = alice_web.get(f"{LIST}file/")

    assert [numbers for *_, numbers in page.context["users"]] == [[], []]
    assert "orders" not in file.text.splitlines()[0]
