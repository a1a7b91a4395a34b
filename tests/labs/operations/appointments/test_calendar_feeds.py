"""Feeds as a calendar fetches them, read by a library that is not their writer's."""

from __future__ import annotations

import logging
import re
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
import vobject
from django.test import Client

from accounts.models import AuditEntry, Membership
from accounts.operations.api_keys.call_limits import clear_rate_limit_cache
from accounts.states import Role
from labs.models import Appointment, CalendarFeed
from labs.operations.appointments.calendar_feeds import (
    READS_PER_MINUTE,
    create_member_calendar,
    create_site_calendar,
    revoke_member_calendar,
)
from labs.operations.appointments.changes import (
    cancel_appointment,
    reschedule_appointment,
)
from portal.lib.logs import LineFormatter, RouteFilter
from tests.factories.accounts import ACTOR, make_member
from tests.factories.appointments import (
    free_slots,
    make_appointment,
    make_bookable_order,
    make_center,
)

pytestmark = pytest.mark.django_db
NOW = "2026-11-24T15:00:00Z"


@pytest.fixture(autouse=True)
def now():
    clear_rate_limit_cache()
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock
    clear_rate_limit_cache()


@pytest.fixture
def member(alice_tenant):
    return make_member(team=alice_tenant.team, roles=(Role.LAB_STAFF,))


@pytest.fixture
def center(alice_tenant):
    return make_center(tenant=alice_tenant)


def own(tenant, member):
    """The path of a member's new address, as a calendar asks for it."""
    issued = create_member_calendar(tenant=tenant, actor=ACTOR, member=member)
    return path_of(issued)


def of_site(tenant, member, center):
    issued = create_site_calendar(
        tenant=tenant,
        actor=ACTOR,
        member=member,
        provider=center.lab.slug,
        site_code=center.site_code,
    )
    return path_of(issued)


def path_of(issued):
    return "/" + issued.address.split("/", 3)[3]


def fetch(path, **headers):
    return Client().get(path, headers=headers)


def events(path):
    reply = fetch(path)
    assert reply.status_code == 200
    assert all(len(line) <= 75 for line in reply.content.split(b"\r\n"))
    calendar = vobject.readOne(reply.content.decode())
    return calendar.contents.get("vevent", [])


def test_a_member_subscribes_to_visits_that_name_nobody(alice_tenant, member, center):
    visit = make_appointment(
        order=make_bookable_order(tenant=alice_tenant), center=center
    )
    home = Appointment.objects.for_tenant(alice_tenant).get(pk=visit.pk)

    reply = fetch(own(alice_tenant, member))
    [event] = events(own(alice_tenant, member))

    assert reply["Content-Type"] == "text/calendar; charset=utf-8"
    assert reply["Cache-Control"] == "private, no-cache"
    assert reply["Referrer-Policy"] == "no-referrer"
    assert event.uid.value == f"{visit.pk}@127.0.0.1"
    assert event.dtstart.value == visit.start_at
    assert event.dtend.value == visit.end_at
    assert event.dtstamp.value == home.updated_at.replace(microsecond=0)
    assert (event.status.value, event.sequence.value) == ("CONFIRMED", "0")
    assert event.summary.value == "Visit, Test Center"
    assert event.location.value == "Test Center, 1 Sample Street, Phoenix, AZ 85004"
    assert re.fullmatch(r"Local time: \d\d:\d\d MST\.", event.description.value)
    assert event.url.value.endswith(f"/orders/{visit.order_id}/")
    order = visit.order
    for said in (
        *order.patient_details.values(),
        order.user.client_user_id,
        order.lab_test.name,
        "fasting",
    ):
        assert str(said) not in reply.content.decode()


def test_a_visit_at_home_has_no_address(alice_tenant, member, center):
    visit = make_appointment(
        order=make_bookable_order(tenant=alice_tenant), center=center
    )
    Appointment.objects.for_tenant(alice_tenant).filter(pk=visit.pk).update(
        type="phlebotomy", provider="getlabs", site_code="85004", site_name="Getlabs"
    )

    [event] = events(own(alice_tenant, member))

    assert event.summary.value == "Visit at home"
    assert "location" not in event.contents


def test_a_moved_and_a_cancelled_visit_keep_their_name(alice_tenant, member, now):
    center = make_center(tenant=alice_tenant, time_zone="America/New_York")
    order = make_bookable_order(tenant=alice_tenant)
    make_appointment(order=order, center=center, start=date(2026, 11, 25))
    path = own(alice_tenant, member)
    [first] = events(path)

    now.shift(timedelta(hours=1))
    key = free_slots(alice_tenant, center)[-1].booking_key
    reschedule_appointment(order=order, actor=ACTOR, booking_key=key)
    [moved] = events(path)
    now.shift(timedelta(hours=1))
    cancel_appointment(order=order, actor=ACTOR, reason_id="patient_request")
    [cancelled] = events(path)
    # A cancelled visit gives way to a new one, under a name of its own.
    make_appointment(order=order, center=center)
    both = events(path)

    assert [each.uid.value for each in (moved, cancelled)] == [first.uid.value] * 2
    assert [each.sequence.value for each in (first, moved, cancelled)] == [*"012"]
    assert [each.status.value for each in (first, moved, cancelled)] == [
        *("CONFIRMED", "CONFIRMED", "CANCELLED")
    ]
    assert moved.dtstart.value > first.dtstart.value
    assert cancelled.dtstart.value == moved.dtstart.value
    stamps = [each.dtstamp.value for each in (first, moved, cancelled)]
    assert stamps == [datetime(2026, 11, 24, hour, tzinfo=UTC) for hour in (15, 16, 17)]
    assert {each.status.value for each in both} == {"CONFIRMED", "CANCELLED"}
    assert len({each.uid.value for each in both}) == 2


def test_a_visit_that_nobody_confirmed_is_tentative(alice_production):
    center = make_center(
        tenant=alice_production, confirmed_by="mail", email="desk@site.example"
    )
    make_appointment(order=make_bookable_order(tenant=alice_production), center=center)
    member = make_member(team=alice_production.team, roles=(Role.ADMIN,))

    [event] = events(own(alice_production, member))

    assert event.status.value == "TENTATIVE"


def test_a_site_sees_its_own_visits_by_number(alice_tenant, member, center):
    elsewhere = make_center(tenant=alice_tenant)
    visit = make_appointment(
        order=make_bookable_order(tenant=alice_tenant), center=center
    )
    make_appointment(order=make_bookable_order(tenant=alice_tenant), center=elsewhere)

    [event] = events(of_site(alice_tenant, member, center))

    assert event.uid.value.startswith(str(visit.pk))
    assert event.summary.value == f"Visit {visit.external_id}"
    assert not {"location", "url"} & set(event.contents)


def test_a_feed_has_nothing_of_other_teams_environments_and_deleted_users(
    alice_tenant, alice_production, charlie_tenant, member
):
    for tenant in (alice_production, charlie_tenant):
        make_appointment(order=make_bookable_order(tenant=tenant))
    deleted = make_bookable_order(tenant=alice_tenant)
    make_appointment(order=deleted)
    deleted.user.deleted_at = datetime(2026, 11, 24, tzinfo=UTC)
    deleted.user.save(update_fields=["deleted_at"])

    assert events(own(alice_tenant, member)) == []


def test_text_of_a_directory_can_not_add_lines(alice_tenant, member, center):
    visit = make_appointment(
        order=make_bookable_order(tenant=alice_tenant), center=center
    )
    name = (
        "Lab; of, \\n\r\nATTENDEE:mailto:x@evil.example\rURL:x\nEND:VEVENT " + "é" * 60
    )
    Appointment.objects.for_tenant(alice_tenant).filter(pk=visit.pk).update(
        site_name=name
    )

    [event] = events(own(alice_tenant, member))

    assert "attendee" not in event.contents
    assert len(event.contents["url"]) == 1
    assert event.summary.value.startswith("Visit, Lab; of, \\n")
    assert event.summary.value.endswith("é" * 60)


@pytest.mark.parametrize(
    "ended",
    [
        "rotated",
        "revoked",
        "role",
        "left",
        "disabled",
        "team deleted",
        "never",
        "empty",
    ],
)
def test_an_address_that_ended_is_as_one_that_never_was(
    alice_tenant, member, center, ended
):
    path = own(alice_tenant, member)
    assert fetch(path).status_code == 200
    membership = Membership.objects.filter(member=member)
    match ended:
        case "rotated":
            assert fetch(own(alice_tenant, member)).status_code == 200
        case "revoked":
            revoke_member_calendar(tenant=alice_tenant, actor=ACTOR, member=member)
        case "role":
            membership.update(roles=[Role.DEVELOPER])
        case "left":
            membership.delete()
        case "disabled":
            member.is_active = False
            member.save(update_fields=["is_active"])
        case "team deleted":
            alice_tenant.team.deleted_at = datetime(2026, 11, 24, tzinfo=UTC)
            alice_tenant.team.save(update_fields=["deleted_at"])
        case "never":
            path = f"{path[:-4]}AAAA"
        case "empty":
            path = path.partition("?")[0]

    reply = fetch(path)

    assert (reply.status_code, b"VCALENDAR" in reply.content) == (404, False)


def test_a_site_keeps_its_address_when_who_created_it_leaves(
    alice_tenant, member, center
):
    make_appointment(order=make_bookable_order(tenant=alice_tenant), center=center)
    path = of_site(alice_tenant, member, center)

    member.delete()

    assert len(events(path)) == 1


def test_the_secret_is_stored_hashed_and_reaches_no_log(
    alice_tenant, member, center, caplog
):
    path = own(alice_tenant, member)
    token = path.partition("token=")[2]
    caplog.set_level(logging.DEBUG)

    fetch(path)
    fetch(f"{path}x")
    Client().post(path)

    [feed] = CalendarFeed.objects.for_tenant(alice_tenant)
    assert token.encode() not in bytes(feed.digest)
    assert len(bytes(feed.digest)) == 32
    RouteFilter().filter(caplog.records[-1])
    lines = [LineFormatter().format(record) for record in caplog.records]
    assert any("calendar" in line for line in lines)
    assert not [line for line in lines if token[:12] in line]


def test_an_unchanged_feed_is_not_sent_again_and_read_once_an_hour(
    alice_tenant, member, center, now
):
    make_appointment(order=make_bookable_order(tenant=alice_tenant), center=center)
    path = own(alice_tenant, member)
    reads = AuditEntry.unscoped.filter(verb="read", subject="calendar")

    tag = fetch(path)["ETag"]
    again = fetch(path, if_none_match=tag)
    assert (again.status_code, again.content) == (304, b"")
    assert again["Cache-Control"] == "private, no-cache"
    assert reads.count() == 1
    now.shift(timedelta(hours=1))
    fetch(path)

    assert reads.count() == 2
    [feed] = CalendarFeed.objects.for_tenant(alice_tenant)
    assert feed.last_read_at == datetime(2026, 11, 24, 16, tzinfo=UTC)
    line = reads.first()
    assert (line.actor_label, line.subject_id) == ("calendar_feed", str(feed.pk))


def test_an_address_that_is_asked_too_often_waits(alice_tenant, member, now):
    path = own(alice_tenant, member)
    answers = [fetch(path).status_code for _ in range(READS_PER_MINUTE)]

    over = fetch(path)
    now.shift(timedelta(minutes=1))

    assert answers == [200] * READS_PER_MINUTE
    assert (over.status_code, over["Retry-After"]) == (429, "60")
    assert fetch(path).status_code == 200
