from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from accounts.states import Role
from labs.models import CalendarFeed
from tests.audit import audited
from tests.clients import confirm
from tests.factories.appointments import (
    make_appointment,
    make_bookable_order,
    make_center,
)
from tests.factories.calendars import make_site_calendar
from tests.labs.web.orders.test_order_page import signed_in

pytestmark = pytest.mark.django_db


def url(tenant, name="calendars", **more):
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"labs:{name}", kwargs={**place, **more})


def addresses(reply):
    return set(re.findall(r"/calendar/visits\.ics\?token=[\w-]+", reply.text))


def works(path):
    return Client().get(path).status_code == 200


@pytest.fixture
def web(alice_tenant):
    client = signed_in(alice_tenant, Role.LAB_STAFF)
    confirm(client)
    return client


def test_an_own_address_is_shown_once_rotated_and_revoked(web, alice_tenant):
    empty = web.get(url(alice_tenant))
    [first] = addresses(web.post(url(alice_tenant, "create_calendar")))
    asked = web.get(url(alice_tenant, "create_calendar"))
    [second] = addresses(web.post(url(alice_tenant, "create_calendar")))
    after = web.get(url(alice_tenant))
    worked = works(first), works(second)
    web.post(url(alice_tenant, "revoke_calendar"))
    web.post(url(alice_tenant, "revoke_calendar"))

    assert "No calendars of centers" in empty.text
    assert "The old address stops working at once" in asked.text
    assert addresses(after) == set()
    assert worked == (False, True)
    assert not works(second)
    assert [line[0] for line in audited(alice_tenant)] == [
        *("create_calendar", "rotate_calendar", "read", "revoke_calendar")
    ]


def test_a_center_gets_an_address_of_its_own(web, alice_tenant):
    center = make_center(tenant=alice_tenant)
    make_appointment(order=make_bookable_order(tenant=alice_tenant), center=center)
    create = url(alice_tenant, "create_site_calendar")

    refused = web.post(create, {"site": "quest T999"})
    [first] = addresses(web.post(create, {"site": f"quest {center.site_code}"}))
    feed = CalendarFeed.objects.for_tenant(alice_tenant).get()
    rotate = url(alice_tenant, "rotate_site_calendar", feed_id=feed.pk)
    [second] = addresses(web.post(rotate))
    worked = works(first), works(second)
    listed = web.get(url(alice_tenant))
    web.post(url(alice_tenant, "revoke_site_calendar", feed_id=feed.pk))

    assert refused.status_code == 422
    assert "Choose a listed service center." in refused.text
    assert worked == (False, True)
    assert "Test Center" in listed.text
    assert "Add center" not in listed.text
    assert not works(second)
    assert not CalendarFeed.objects.for_tenant(alice_tenant).exists()


def test_who_only_reads_visits_changes_no_centers_calendar(alice_tenant):
    feed = make_site_calendar(tenant=alice_tenant)
    client = signed_in(alice_tenant, Role.VIEWER)
    confirm(client)

    shown = client.get(url(alice_tenant))
    denied = [
        client.post(url(alice_tenant, name, feed_id=feed.pk)).status_code
        for name in ("rotate_site_calendar", "revoke_site_calendar")
    ]

    assert "Test Center" in shown.text
    assert "Revoke" not in shown.text
    assert denied == [403, 403]
    assert works("/calendar/visits.ics?token=hers")


def test_an_address_is_created_only_by_who_proved_who_they_are(alice_tenant):
    client = signed_in(alice_tenant, Role.OWNER)

    reply = client.post(url(alice_tenant, "create_calendar"))

    assert reply.status_code == 302
    assert not CalendarFeed.objects.for_tenant(alice_tenant).exists()
