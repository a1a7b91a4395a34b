from __future__ import annotations

from types import SimpleNamespace

import pytest

from portal.ui.columns import Column, ListColumns

FRUIT = ListColumns(
    "fruit",
    (
        Column("name", "Name", "kind__name", is_fixed=True),
        Column("weight", "Weight", "weight", is_number=True, is_down_first=True),
        Column("color", "Color"),
        Column("origin", "Origin", "origin", is_extra=True),
    ),
    sort="-weight",
    indexed=frozenset({"name"}),
)


def fruit(name, weight, origin=""):
    return SimpleNamespace(
        kind=SimpleNamespace(name=name), weight=weight, origin=origin
    )


@pytest.mark.parametrize(
    ("sort", "changed", "head"),
    [
        ("", (), [("name", "", "name"), ("weight", "descending", "weight")]),
        ("name", (), [("name", "ascending", "-name"), ("weight", "", "-weight")]),
        ("-name", (), [("name", "descending", "name"), ("weight", "", "-weight")]),
        ("color", ("weight",), [("name", "", "name")]),
        ("no_column", ("weight",), [("name", "", "name")]),
    ],
)
def test_a_head_offers_the_other_order_and_hides_what_the_member_hides(
    sort, changed, head
):
    shown = FRUIT.read(sort, changed)
    sortable = [each for each in shown.head if each.column.order_by]
    found = [(each.column.key, each.aria_sort, each.next_sort) for each in sortable]
    assert found == head


def test_an_extra_column_is_shown_once_chosen_and_the_name_can_not_be_hidden():
    assert "origin" not in FRUIT.read("")
    assert "origin" in FRUIT.read("", ["origin"])
    assert [column.key for column, _ in FRUIT.read("").choices] == [
        *("weight", "color", "origin")
    ]


def test_only_a_sort_without_an_index_is_partial():
    sorts = ("", "-weight", "name", "origin")
    assert [FRUIT.read(sort).is_partial for sort in sorts] == [
        *(False, False, False, True)
    ]


def test_rows_without_a_value_come_last_in_both_orders():
    rows = [fruit("pear", None), fruit("Apple", 3), fruit("fig", 1), fruit("date", 3)]

    def names(sort):
        return [row.kind.name for row in FRUIT.read(sort).sort_rows(rows)]

    assert names("weight") == ["fig", "Apple", "date", "pear"]
    assert names("-weight") == ["Apple", "date", "fig", "pear"]
    assert names("name") == ["Apple", "date", "fig", "pear"]

    pairs = [(1, row) for row in rows]
    inside = FRUIT.read("name").sort_rows(pairs, inside="1")
    assert [row.kind.name for _, row in inside] == ["Apple", "date", "fig", "pear"]
