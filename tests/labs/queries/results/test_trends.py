from __future__ import annotations

from datetime import UTC, datetime

import pytest

from labs.queries.results.trends import list_result_trends_of_user
from tests.factories.labs import make_lab, make_lab_test
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
GLUCOSE = "2345-7"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def result_of(alice_tenant, user):
    """Give the user an order at a new lab with one result, taken on a day of March."""

    def give(day, name="Glucose", text="85", **fields):
        panel = make_lab_test(tenant=alice_tenant, lab=make_lab(name=f"Lab of {day}"))
        order = make_order_awaiting_results(
            tenant=alice_tenant, user=user, lab_test=panel
        )
        at = datetime(2026, 3, day, tzinfo=UTC)
        one = make_reported_result(name, text, observed_at=at, **fields)
        make_results(order=order, results=(one,))
        return order

    return give


def trends(tenant, user, *measures):
    return list_result_trends_of_user(
        tenant=tenant, user_uuid=user.uuid, measures=measures or None
    )


def test_points_are_oldest_first_in_the_newest_unit_and_say_what_was_converted(
    alice_tenant, user, result_of
):
    result_of(9, text="90", loinc=GLUCOSE)
    result_of(2, text="5.0", unit="mmol/L", reference_range="3.9-5.5", loinc="14749-6")

    trend = trends(alice_tenant, user, GLUCOSE)[GLUCOSE]

    early, late = trend.points
    assert (trend.unit, trend.name) == ("mg/dL", "Glucose")
    assert (late.value, late.low, late.high, late.converted_from) == (90, 65, 99, "")
    assert early.converted_from == "mmol/L"
    assert early.value == pytest.approx(90.078)
    assert (early.low, early.high) == pytest.approx((70.26084, 99.0858))
    assert (early.result.lab, late.result.lab) == ("Lab of 2", "Lab of 9")


def test_what_is_no_number_or_has_another_unit_is_listed_and_not_drawn(
    alice_tenant, user, result_of
):
    result_of(2, text="<5", loinc=GLUCOSE)
    result_of(3, text="7", unit="%", loinc=GLUCOSE)
    result_of(4, text="85", loinc=GLUCOSE)

    trend = trends(alice_tenant, user, GLUCOSE)[GLUCOSE]

    assert [point.result.text for point in trend.points] == ["<5", "7", "85"]
    assert [point.value for point in trend.drawn] == [85]


def test_without_a_loinc_code_results_of_one_labs_own_code_are_compared(
    alice_tenant, user, result_of
):
    order = result_of(2, name="Odd marker")
    result_of(3, name="Odd marker")

    found = trends(alice_tenant, user)

    first = f"{order.lab.slug}:ODD MARKER"
    assert len(found) == 2
    assert [len(trend.points) for trend in found.values()] == [1, 1]
    assert set(trends(alice_tenant, user, first)) == {first}


def test_of_an_order_only_what_it_says_now_counts_and_of_others_nothing(
    alice_tenant, user, result_of
):
    order = result_of(2, text="85", loinc=GLUCOSE)
    make_results(order=order, results=(make_reported_result(text="95", loinc=GLUCOSE),))
    other = make_order_awaiting_results(tenant=alice_tenant)
    make_results(order=other, results=(make_reported_result(loinc=GLUCOSE),))

    trend = trends(alice_tenant, user)[GLUCOSE]

    assert [point.result.text for point in trend.points] == ["95"]


def test_all_trends_take_one_query(
    alice_tenant, user, result_of, django_assert_num_queries
):
    for day in (2, 3):
        result_of(day, loinc=GLUCOSE)

    with django_assert_num_queries(1):
        trends(alice_tenant, user)
