from __future__ import annotations

import re

import pytest

from portal.ui.charts import (
    draw_days_with_data_strip,
    draw_hourly_arrivals_strip,
    draw_hourly_delivery_outcomes,
    draw_reference_range_bar,
    draw_route,
    draw_segmented_bar,
    draw_source_priority_chart,
    draw_sparkline,
)


def zones(svg):
    return re.findall(r'class="rb-(\w+)" x="([\d.]+)" y="5" width="([\d.]+)"', svg)


def mark(svg):
    return float(re.search(r'cx="([\d.]+)"', svg).group(1))


def test_both_bounds_give_three_zones_of_fixed_width():
    svg = draw_reference_range_bar(4.2, low=3.5, high=5.1, unit="mmol/L")

    assert zones(svg) == [
        ("off", "0.8", "52.5"),
        ("ok", "54.8", "70.5"),
        ("off", "126.8", "52.5"),
    ]
    assert 'aria-label="4.2 mmol/L, reference 3.5 to 5.1"' in svg
    assert mark(svg) == 85.5


@pytest.mark.parametrize(
    ("low", "high", "label", "names"),
    [
        (40, None, "64, reference 40 and above", ["off", "ok"]),
        (None, 90, "64, reference up to 90", ["ok", "off"]),
    ],
)
def test_a_missing_bound_drops_its_side(low, high, label, names):
    svg = draw_reference_range_bar(64, low=low, high=high)

    assert [name for name, _, _ in zones(svg)] == names
    assert f'aria-label="{label}"' in svg


def test_without_bounds_there_is_no_bar():
    assert draw_reference_range_bar(1, low=None, high=None) == ""


@pytest.mark.parametrize("value", [30, 100, 99.99, 30.01])
def test_a_value_on_or_inside_a_bound_is_drawn_within(value):
    assert 54 < mark(draw_reference_range_bar(value, low=30, high=100)) < 126


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [(29.999, 0, 54), (-5, 0, 54), (100.001, 126, 180), (1e9, 126, 180)],
)
def test_a_value_past_a_bound_is_drawn_wholly_outside(value, least, most):
    assert (
        least + 6 < mark(draw_reference_range_bar(value, low=30, high=100)) < most - 6
    )


@pytest.mark.parametrize(("low", "high"), [(0, 0), (None, 0), (0, None), (5, 5)])
def test_a_range_without_width_is_drawn_all_the_same(low, high):
    assert 0 < mark(draw_reference_range_bar(3, low=low, high=high)) < 180


def test_a_unit_is_escaped():
    assert 'aria-label="1 &lt;b&gt;, reference 0 to 2"' in draw_reference_range_bar(
        1, low=0, high=2, unit="<b>"
    )


def test_a_sparkline_spans_its_height_from_lowest_to_highest():
    svg = draw_sparkline((10, 30, 20), says="<up>")

    assert 'd="M0.0 36.0 L52.0 4.0 L104.0 20.0"' in svg
    assert 'aria-label="&lt;up&gt;"' in svg


def test_a_number_that_never_moved_is_a_line_at_the_bottom():
    assert 'd="M0.0 36.0 L104.0 36.0"' in draw_sparkline((7, 7), says="steady")


def test_one_value_draws_no_sparkline():
    assert draw_sparkline((7,), says="alone") == ""


def test_a_strip_is_darker_where_more_arrived_and_empty_where_nothing_did():
    svg = draw_hourly_arrivals_strip((0, 1, 4, 5, 8, 12, 16), says="<some>")

    assert re.findall(r'class="h(\d)" x="(\d+)"', svg) == [
        ("0", "0"),
        ("1", "10"),
        ("1", "20"),
        ("2", "30"),
        ("2", "40"),
        ("3", "50"),
        ("4", "60"),
    ]
    assert 'aria-label="&lt;some&gt;"' in svg
    assert 'viewBox="0 0 70 12"' in svg


def test_a_strip_of_silent_hours_is_all_empty():
    assert re.findall(
        r'class="h(\d)"', draw_hourly_arrivals_strip((0, 0), says="none")
    ) == [
        "0",
        "0",
    ]


def test_a_bar_shows_shares_in_order_and_says_the_numbers():
    svg = draw_segmented_bar([("Ordered", 3), ("<Lab>", 0), ("Done", 1)], says="Orders")

    assert re.findall(r'class="(seg-\d)" x="([\d.]+)" y="0" width="([\d.]+)"', svg) == [
        ("seg-1", "0.0", "567.0"),
        ("seg-3", "570.0", "187.0"),
    ]
    assert 'aria-label="Orders: Ordered 3; &lt;Lab&gt; 0; Done 1"' in svg


def test_a_small_share_is_seen_and_an_empty_bar_is_nothing():
    small = draw_segmented_bar([("Few", 1), ("Many", 100_000)], says="Orders")

    assert 'class="seg-1" x="0.0" y="0" width="2.0"' in small
    assert draw_segmented_bar([("Few", 0)], says="Orders") == ""


def test_outcomes_stack_with_the_failed_on_top_and_an_empty_hour_is_a_tick():
    svg = draw_hourly_delivery_outcomes([(30, 10, 2), (0, 0, 0)], says="Messages <b>")

    bars = r'class="u-(\w+)" x="([\d.]+)" y="([\d.]+)" width="378.0" height="([\d.]+)"'
    assert re.findall(bars, svg) == [
        ("ok", "0.0", "14.0", "29.0"),
        ("warn", "0.0", "4.0", "9.0"),
        ("bad", "0.0", "1.5", "1.5"),
        ("none", "380.0", "41.0", "3"),
    ]
    assert 'aria-label="Messages &lt;b&gt;"' in svg


def test_a_strip_of_days_is_full_where_there_is_something():
    svg = draw_days_with_data_strip([True, False, True], says="2 of 3 days")

    assert re.findall(r'class="(h\d)"', svg) == ["h3", "h0", "h3"]
    assert 'aria-label="2 of 3 days"' in svg


def test_a_ledger_shows_who_won_and_each_who_did_not_beneath():
    svg = draw_source_priority_chart(
        [(0, 50, 1, "Ring: 5")],
        [(0, 50, 2, "Phone: 4"), (0, 50, 3, "<App>")],
        start=0,
        end=100,
        ticks=[(50, "12:00")],
        says="Ring",
    )

    assert re.findall(r'seg-(\d)" x="0.0" width="380.0" y="(\d+)"', svg) == [
        ("1", "0"),
        ("2", "37"),
        ("3", "43"),
    ]
    assert "&lt;App&gt;" in svg
    assert ">12:00</text>" in svg


def test_a_route_is_north_up_and_as_wide_as_it_is():
    svg = draw_route([(60.0, 10.0), (60.1, 10.2)], says="Route")

    ((path),) = re.findall(r'd="M([^"]+)"', svg)
    start, end = [tuple(map(float, part.split())) for part in path.split("L")][::2]
    assert start[1] > end[1]
    # At 60 degrees north a degree of longitude is half one of latitude.
    assert (end[0] - start[0]) / (start[1] - end[1]) == pytest.approx(1, abs=0.01)
