from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from labs.models import ServiceCenter
from labs.operations.appointments.slots import list_center_slots
from portal.lib.errors import DomainError
from tests.factories.appointments import free_slots, make_center
from tests.statements import count_statements

PHOENIX = ZoneInfo("America/Phoenix")
pytestmark = pytest.mark.django_db


def at(hour, minute=0, day=2):
    """A moment of early March 2026, as clocks show it in Phoenix."""
    return datetime(2026, 3, day, hour, minute, tzinfo=PHOENIX).astimezone(UTC)


def days(tenant, center, **wanted):
    return list_center_slots(
        tenant=tenant,
        lab_slug=center.lab.slug,
        site_codes=[center.site_code],
        **wanted,
    ).days


def span(day):
    """The first and the last start of a day, as the site's clocks show them."""
    starts = [slot.start.astimezone(ZoneInfo(day.site.time_zone)) for slot in day.slots]
    return tuple(f"{starts[end]:%H:%M}" for end in (0, -1)) if starts else ()


@pytest.mark.parametrize(
    ("now", "today"),
    [
        (at(9, 10), ("10:00", "16:40")),
        (at(15, 59), ("16:00", "16:40")),
        (at(16), ()),
        (at(3), ("07:00", "16:40")),
    ],
)
def test_a_sandbox_has_slots_by_the_contract(alice_tenant, time_machine, now, today):
    time_machine.move_to(now, tick=False)
    center = make_center()

    found = days(alice_tenant, center)

    assert [day.day for day in found] == [
        date(2026, 3, 2) + timedelta(days=step) for step in range(14)
    ]
    assert span(found[0]) == today
    assert {span(day) for day in found[1:]} == {("07:00", "11:40")}


def test_slots_keep_to_the_hours_of_the_site(alice_tenant, time_machine):
    time_machine.move_to(at(9), tick=False)
    center = make_center(hours="mon-fri 08:00-11:00; sat 06:00-08:00")

    found = days(alice_tenant, center)

    assert [span(day) for day in found[:7]] == [
        ("10:00", "10:40"),
        *[("08:00", "10:40")] * 4,
        ("07:00", "07:40"),
        (),
    ]


def test_production_has_all_the_hours_of_its_directory(alice_production, time_machine):
    time_machine.move_to(at(9), tick=False)

    found = days(alice_production, make_center(tenant=alice_production))

    assert (span(found[0]), span(found[1])) == (("10:00", "18:40"), ("07:00", "18:40"))


def test_a_first_day_is_of_the_clock_of_the_site(alice_tenant, time_machine):
    time_machine.move_to(datetime(2026, 3, 3, 5, tzinfo=UTC), tick=False)
    center = make_center()

    found = days(alice_tenant, center, start=date(2026, 3, 2))

    assert (found[0].day, span(found[0])) == (date(2026, 3, 2), ())
    with pytest.raises(DomainError) as refused:
        days(alice_tenant, center, start=date(2026, 3, 1))
    assert refused.value.code == "start_date_past"


def test_across_both_clock_changes_the_site_opens_by_its_own_clock(
    alice_tenant, time_machine
):
    denver = make_center(time_zone="America/Denver")

    for day, before, after in ((4, 14, 13), (28, 13, 14)):
        month = 3 if day == 4 else 10
        time_machine.move_to(datetime(2026, month, day, 23, 30, tzinfo=UTC), tick=False)
        found = days(alice_tenant, denver)
        assert {span(one) for one in found[1:]} == {("07:00", "11:40")}
        opens = [one.slots[0].start.hour for one in found[1:]]
        assert (opens[0], opens[-1]) == (before, after)


def test_places_come_from_one_query_however_many_sites(alice_tenant):
    ServiceCenter.objects.all().delete()
    for _ in range(5):
        make_center()

    with count_statements() as sent:
        found = list_center_slots(
            tenant=alice_tenant, lab_slug="quest", zip_code="85004"
        )

    assert (len(found.days), len(sent)) == (70, 3)


def test_a_center_that_is_not_booked_here_has_no_slots(alice_tenant):
    center = make_center(capabilities=["stat"])

    assert free_slots(alice_tenant, center) == []
    assert [day.site for day in days(alice_tenant, center)] == [None] * 14
