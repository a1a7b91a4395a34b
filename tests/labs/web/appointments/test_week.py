from __future__ import annotations

from datetime import date

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labs.operations.appointments.changes import cancel_appointment
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.appointments import (
    make_appointment,
    make_bookable_order,
    make_center,
)
from tests.labs.web.appointments.test_days import NOW, at, visit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clock(time_machine):
    time_machine.move_to(NOW, tick=False)


def calendar(client, tenant, **query):
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return client.get(reverse("labs:visit_week", kwargs=place), query)


def drawn(page):
    """The visits of each site: name, day, local time and kind."""
    return [
        (site.name, f"{each.starts:%d %H:%M}", each.kind)
        for site in page.context["sites"]
        for day in site.days
        for each in day.visits
    ]


def test_a_week_has_a_row_for_each_site_on_its_own_clock(
    alice_web, alice_tenant, charlie_tenant
):
    """Monday 2 March: Tuesday has begun in New York and not yet in Phoenix."""
    phoenix = make_center(name="Belmont")
    new_york = make_center(name="Atlantic", time_zone="America/New_York")
    visit(alice_tenant, phoenix, **at(2, 16))
    visit(alice_tenant, phoenix, **at(3, 6))
    visit(alice_tenant, new_york, **at(3, 14))
    visit(alice_tenant, phoenix, **at(9, 6))  # Sunday evening there
    visit(alice_tenant, phoenix, **at(9, 8))  # Monday of the next week
    visit(charlie_tenant, phoenix, **at(3, 15))
    called_off = make_bookable_order(tenant=alice_tenant)
    make_appointment(order=called_off, center=phoenix)
    cancel_appointment(order=called_off, actor=ACTOR, reason_id="other")

    page = calendar(alice_web, alice_tenant)

    assert drawn(page) == [
        ("Atlantic", "03 09:00", "confirmed"),
        ("Belmont", "02 09:00", "missed"),
        ("Belmont", "02 23:00", "confirmed"),
        ("Belmont", "08 23:00", "confirmed"),
    ]
    assert page.context["counts"] == [2, 1, 0, 0, 0, 0, 1]
    atlantic, belmont = page.context["sites"]
    assert (atlantic.offset, belmont.offset) == ("5 h behind you", "7 h behind you")
    assert [
        [day.on.day for day in site.days if day.is_today]
        for site in (atlantic, belmont)
    ] == [[3], [2]]
    assert audited(alice_tenant)[-1] == ("read", "visit_list", "week 2026-03-02")
    assert drawn(calendar(alice_web, alice_tenant, on="2026-03-11")) == [
        ("Belmont", "09 01:00", "confirmed")
    ]
    one = calendar(alice_web, alice_tenant, site=atlantic.key)
    assert drawn(one) == [("Atlantic", "03 09:00", "confirmed")]


def test_a_day_is_shown_alone_and_what_is_no_day_is_today(alice_web, alice_tenant):
    center = make_center()
    visit(alice_tenant, center, **at(3, 15))
    page = calendar(alice_web, alice_tenant, view="day", on="2026-03-03")

    assert drawn(page) == [("Test Center", "03 08:00", "confirmed")]
    for text in ("", "x", "0001-01-01", "9999-12-31", "2026-02-30"):
        day = calendar(alice_web, alice_tenant, view="day", on=text)
        assert day.context["days"] == [date(2026, 3, 3)]


@pytest.mark.parametrize("number", [1, 4])
def test_the_calendar_costs_the_same_at_any_size(alice_web, alice_tenant, number):
    center = make_center(places=9)
    for _ in range(number):
        visit(alice_tenant, center, **at(3, 15))
    calendar(alice_web, alice_tenant)

    with CaptureQueriesContext(connection) as queries:
        calendar(alice_web, alice_tenant)

    assert len(queries) == WEEK_QUERIES


# Session, member, visits, those that wait. The place, the sidebar's numbers and the
# switcher go by rows, which Django does not count.
WEEK_QUERIES = 4
