from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from accounts.states import Role
from labs.gateways.booking_sandbox import SLOW
from labs.models import Appointment, Order
from labs.operations.appointments.changes import cancel_appointment
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.appointments import (
    make_appointment,
    make_bookable_order,
    make_center,
)

pytestmark = pytest.mark.django_db
# A Monday: nine at night in Phoenix, midnight has passed in New York.
NOW = datetime(2026, 3, 3, 5, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _clock(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def center():
    return make_center()


def url(tenant):
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse("labs:visits", kwargs=place)


def visit(tenant, center, **fields):
    made = make_appointment(
        order=make_bookable_order(tenant=tenant),
        center=center,
        **fields.pop("wanted", {}),
    )
    Appointment.objects.for_tenant(tenant).filter(pk=made.pk).update(**fields)
    made.refresh_from_db()
    return made


def at(day, hour):
    """A start and an end in UTC."""
    start = datetime(2026, 3, day, hour, tzinfo=UTC)
    return {"start_at": start, "end_at": start + timedelta(minutes=20)}


def shown(client, tenant, tab):
    page = client.get(url(tenant), {"tab": tab})
    return [row.visit.pk for row in page.context["rows"]]


def test_today_is_the_day_that_each_place_has(alice_web, alice_tenant, center):
    phoenix = visit(alice_tenant, center, **at(3, 6))  # Monday 23:00 there
    later = visit(alice_tenant, center, **at(3, 15))  # Tuesday 08:00 there
    new_york = visit(
        alice_tenant, center, time_zone="America/New_York", **at(3, 14)
    )  # Tuesday 09:00 there
    far = visit(alice_tenant, center, **at(5, 15))

    assert shown(alice_web, alice_tenant, "today") == [phoenix.pk, new_york.pk]
    assert shown(alice_web, alice_tenant, "later") == [far.pk]
    assert shown(alice_web, alice_tenant, "tomorrow") == [later.pk]
    assert audited(alice_tenant)[-1] == ("read", "visit_list", "tomorrow offset=0")


def test_an_offset_that_is_no_number_skips_nothing(alice_web, alice_tenant):
    place = url(alice_tenant)
    replies = [alice_web.get(place, {"offset": given}) for given in ("²", "9" * 5000)]

    assert [reply.status_code for reply in replies] == [200, 200]


def test_what_is_not_confirmed_comes_first_and_has_a_tab(
    alice_web, alice_tenant, center
):
    sure = visit(alice_tenant, center, **at(3, 6))
    unsure = visit(
        alice_tenant,
        center,
        wanted={"notes": SLOW, "waits_on": True},
        **at(3, 6),
    )

    assert shown(alice_web, alice_tenant, "today") == [unsure.pk, sure.pk]
    assert shown(alice_web, alice_tenant, "unconfirmed") == [unsure.pk]


def test_visits_that_passed_without_a_sample_are_listed_and_called_off_ones_nowhere(
    alice_web, alice_tenant, center
):
    passed = visit(alice_tenant, center, **at(1, 15))
    done = visit(alice_tenant, center, **at(1, 16))
    Order.objects.for_tenant(alice_tenant).filter(pk=done.order_id).update(
        status="completed.walk_in_test.completed"
    )
    called_off = make_bookable_order(tenant=alice_tenant)
    make_appointment(order=called_off, center=center)
    cancel_appointment(order=called_off, actor=ACTOR, reason_id="other")

    assert shown(alice_web, alice_tenant, "passed") == [passed.pk]
    for tab in ("today", "tomorrow", "unconfirmed"):
        assert shown(alice_web, alice_tenant, tab) == []


def test_orders_that_nobody_booked_for_three_days_are_listed(alice_web, alice_tenant):
    old, fresh = (make_bookable_order(tenant=alice_tenant) for _ in range(2))
    for order, days in ((old, 4), (fresh, 2)):
        Order.objects.for_tenant(alice_tenant).filter(pk=order.pk).update(
            updated_at=NOW - timedelta(days=days)
        )

    page = alice_web.get(url(alice_tenant), {"tab": "unbooked"})

    assert [order.pk for order, _ in page.context["orders"]] == [old.pk]
    assert page.context["tabs"][-1][2] == 1


def test_the_list_asks_as_much_for_three_as_for_one(
    alice_web, alice_tenant, center, django_assert_num_queries
):
    visit(alice_tenant, center, **at(3, 6))
    alice_web.get(url(alice_tenant))
    with django_assert_num_queries(5):
        alice_web.get(url(alice_tenant))
    for _ in range(2):
        visit(alice_tenant, center, **at(3, 6))

    with django_assert_num_queries(5):
        alice_web.get(url(alice_tenant))


def test_who_may_not_see_bookings_has_no_list(alice_team, alice_tenant):
    client = Client()
    client.force_login(make_member(team=alice_team, roles=[Role.CLINICIAN]))

    assert client.get(url(alice_tenant)).status_code == 403
