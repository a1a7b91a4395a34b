from __future__ import annotations

from datetime import date

import pytest
from django.utils import timezone

from labs.models import Order
from labs.web.orders.overview import LISTED
from tests.factories.accounts import make_api_key
from tests.factories.labs import make_lab_test, make_order
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox/"
LOST = "failed.testkit.lost"


@pytest.fixture
def place(alice_tenant):
    make_api_key(tenant=alice_tenant)  # without one, that would need attention
    dana = make_user(tenant=alice_tenant, client_user_id="mbr_dana")
    panel = make_lab_test(tenant=alice_tenant, name="Metabolic Core")

    def make(**columns):
        order = make_order(tenant=alice_tenant, user=dana, lab_test=panel)
        Order.objects.for_tenant(alice_tenant).filter(pk=order.pk).update(**columns)
        return order

    return make


def attention(reply):
    return [
        (item.title, item.detail, item.family, item.url)
        for item in reply.context["overview"].attention
    ]


def nav_count(reply):
    count = reply.context["shell"].nav_counts.get("orders")
    return count and count.number


@pytest.mark.parametrize(
    ("columns", "title", "family"),
    [
        ({"status": LOST}, "A test kit or sample is lost", "bad"),
        (
            {"status": "collecting_sample.walk_in_test.redraw_available"},
            "A sample must be drawn again",
            "bad",
        ),
        (
            {"status": "collecting_sample.testkit.problem_in_transit_lab"},
            "A sample is delayed on its way to the lab",
            "warn",
        ),
        (
            {
                "status": "collecting_sample.at_home_phlebotomy.draw_completed",
                "worst_case_due_by": date(2026, 1, 2),
            },
            "Results are overdue",
            "bad",
        ),
    ],
)
def test_what_went_wrong_with_an_order_needs_attention(
    alice_web, place, columns, title, family
):
    order = place(**columns)

    reply = alice_web.get(PLACE)

    url = f"{PLACE}orders/{order.pk}/"
    assert attention(reply) == [(title, "mbr_dana, Metabolic Core", family, url)]
    assert nav_count(reply) == 1


def test_a_lost_kit_needs_attention_until_another_is_sent(alice_web, place):
    lost = place(status=LOST)
    replacement = place(parent=lost)

    replaced = alice_web.get(PLACE)
    Order.objects.for_tenant(lost.tenant).filter(pk=replacement.pk).update(
        status="cancelled.walk_in_test.cancelled"
    )
    cancelled = alice_web.get(PLACE)

    assert attention(replaced) == []
    assert [title for title, *_ in attention(cancelled)] == [
        "A test kit or sample is lost"
    ]


def test_a_critical_result_needs_attention_until_it_is_acknowledged(
    alice_web, alice_tenant, place
):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(order=order, results=(make_reported_result(text="400", flag="HH"),))

    before = alice_web.get(PLACE)
    counts = before.context["shell"].nav_counts
    order.critical_alerts.update(acknowledged_at=timezone.now())
    after = alice_web.get(PLACE)

    [(title, _, family, url)] = attention(before)
    assert (title, family) == ("A critical result is not acknowledged", "bad")
    assert url == f"{PLACE}orders/{order.pk}/results/"
    assert (counts["critical"].number, counts["orders"].number) == (1, 1)
    assert attention(after) == []
    assert "critical" not in after.context["shell"].nav_counts


def test_what_went_wrong_with_many_ends_in_their_list(alice_web, place):
    for _ in range(LISTED + 2):
        place(status=LOST)

    found = attention(alice_web.get(PLACE))

    assert len(found) == LISTED + 1
    more = ("2 more orders need attention", "", "warn", f"{PLACE}orders/?tab=attention")
    assert more in found


def test_orders_in_progress_are_counted_by_stage(alice_web, place):
    for status in (
        "received.walk_in_test.ordered",
        "received.walk_in_test.ordered",
        "sample_with_lab.walk_in_test.partial_results",
        LOST,
    ):
        place(status=status)

    reply = alice_web.get(PLACE)

    [tile] = [
        view.tile
        for view in reply.context["overview"].tiles
        if view.tile.label == "Orders in progress"
    ]
    assert (tile.number, tile.detail) == (3, "1 needs attention")
    assert tile.url == f"{PLACE}orders/?tab=in_progress"
    assert tile.trend == (0,) * 25 + (4,)
    assert f'href="{PLACE}orders/?stage=partial"' in reply.text
    assert (
        "Orders in progress, by stage: Ordered 2; Requisition or kit 0; Collecting"
        " sample 0; With the lab 0; Partial results 1"
    ) in reply.text


def test_many_orders_are_counted_up_to_a_limit(alice_web, place, monkeypatch):
    for module in ("labs.queries.orders.order_list", "labs.web.orders.overview"):
        monkeypatch.setattr(f"{module}.COUNTED_UP_TO", 1)
    for _ in range(3):
        place(updated_at=timezone.now())

    reply = alice_web.get(PLACE)

    tiles = {view.tile.label: view.tile for view in reply.context["overview"].tiles}
    assert tiles["Orders in progress"].number == 1
    assert tiles["Orders in progress"].unit == "or more"


def test_the_sidebar_counts_no_further_than_it_shows(alice_web, place, monkeypatch):
    monkeypatch.setattr("labs.web.orders.overview.BADGE_UP_TO", 2)
    monkeypatch.setattr("accounts.declarations.pages.BADGE_UP_TO", 2)
    place(status=LOST)
    place(status=LOST)

    two = alice_web.get(f"{PLACE}users/")
    for _ in range(2):
        place(status=LOST)
    many = alice_web.get(f"{PLACE}users/")
    counted = alice_web.get(f"{PLACE}orders/")

    assert (nav_count(two), nav_count(many), nav_count(counted)) == (2, 3, 4)
    assert '>2<span class="vh"> need attention' in two.text
    for reply in (many, counted):
        assert '>2+<span class="vh"> need attention' in reply.text
