from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from accounts.models import Tenant
from accounts.states import Role
from labs.gateways.booking_sandbox import GONE, SLOW
from labs.models import Appointment, ServiceCenter, SlotPlace
from labs.operations.appointments.changes import cancel_appointment
from labs.operations.appointments.slot_places import hold_slot_for_order
from labs.operations.orders.placing import import_order
from labs.states.catalogue import CollectionMethod
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.appointments import (
    booking_lab,
    free_slots,
    make_appointment,
    make_bookable_order,
    make_center,
)
from tests.factories.labs import (
    PHYSICIAN,
    make_lab_test,
    make_order,
    order_request,
    set_up_production,
)
from tests.factories.users import make_user
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix
HTMX = {"HX-Request": "true"}
FORM_KEY = "5f3c"


@pytest.fixture(autouse=True)
def _ground(db, time_machine):
    """A standing clock, and no center but those that a test makes."""
    time_machine.move_to(NOW, tick=False)
    ServiceCenter.objects.all().delete()


@pytest.fixture
def center():
    return make_center(name="Harborview")


@pytest.fixture
def order(alice_tenant):
    return make_bookable_order(tenant=alice_tenant)


def url(order, name="book_visit"):
    place = {
        "team_slug": order.tenant.team.slug,
        "environment": order.tenant.environment,
        "order_id": order.pk,
    }
    return reverse(f"labs:{name}", kwargs=place)


def sent(**fields):
    """What the page's form sends as it was first shown."""
    return {
        "form_key": FORM_KEY,
        "moves": "",
        "zip_code": "85004",
        "miles": "25",
        "when": "any",
        "notes": "",
        **fields,
    }


def visits(tenant):
    return list(Appointment.objects.for_tenant(tenant).order_by("created_at"))


def test_the_page_opens_at_the_nearest_place_with_fourteen_days_and_first_times(
    alice_web, alice_tenant, center, order
):
    make_center(name="Next door", latitude=33.60, places=3)

    page = alice_web.get(url(order))

    grid = page.context["grid"]
    assert [(place.number, place.name) for place in grid.places] == [
        (1, "Harborview"),
        (2, "Next door"),
    ]
    assert grid.places[0].first_free == "Today 10:00"
    assert grid.place_key == f"quest-{center.site_code}"
    assert [f"{day.on:%d}" for day in grid.days][:2] == ["02", "03"]
    assert len(grid.days) == 14
    assert [group.legend for group in grid.groups] == [
        "Monday 2 March, morning",
        "Afternoon",
    ]
    assert grid.groups[0].slots[0].time == "10:00"
    assert page.context["form"]["zip_code"].value() == "85004"
    assert audited(alice_tenant)[-1] == ("read", "order_booking", str(order.pk))


def test_a_chosen_time_is_held_and_then_booked(alice_web, alice_tenant, center, order):
    slot = free_slots(alice_tenant, center)[3]

    held = alice_web.post(
        url(order), sent(go="hold", slot=slot.booking_key), headers=HTMX
    )
    booked = alice_web.post(
        url(order), sent(go="book", slot=slot.booking_key, notes="Left arm")
    )

    assert held.status_code == 200
    assert held.context["hold"].expires_at == NOW + timedelta(minutes=5)
    assert held.context["chosen_at"] == "Mon 2 Mar, 11:00 MST"
    (visit,) = visits(alice_tenant)
    assert (visit.status, visit.start_at, visit.notes) == (
        *("confirmed", slot.start, "Left arm"),
    )
    assert booked["Location"] == url(order, "order")
    assert SlotPlace.objects.count() == 1


def test_looking_elsewhere_lets_go_of_what_was_held(
    alice_web, alice_tenant, center, order
):
    key = free_slots(alice_tenant, center)[0].booking_key
    alice_web.post(url(order), sent(go="hold", slot=key))

    page = alice_web.post(url(order), sent(go="look", slot=key, day="2026-03-03"))

    assert not SlotPlace.objects.exists()
    assert page.context["grid"].day.day == 3
    assert page.context["grid"].slot is None


def test_the_same_form_sent_twice_books_once_and_leads_to_the_order(
    alice_web, alice_tenant, center, order
):
    key = free_slots(alice_tenant, center)[0].booking_key
    form = sent(go="book", slot=key)

    replies = [alice_web.post(url(order), form) for _ in range(2)]

    assert [reply["Location"] for reply in replies] == [url(order, "order")] * 2
    (visit,) = visits(alice_tenant)
    assert [event.status for event in visit.events.all()] == ["scheduled"]


def test_a_form_that_does_not_know_of_a_visit_does_not_move_it(
    alice_web, alice_tenant, center, order
):
    first, second = free_slots(alice_tenant, center)[:2]
    booked = make_appointment(order=order, center=center)

    reply = alice_web.post(url(order), sent(go="book", slot=second.booking_key))

    booked.refresh_from_db()
    assert reply.status_code == 422
    assert reply.context["refusal"].startswith("A visit was booked in the meantime.")
    assert booked.start_at == first.start


def test_a_lost_time_is_struck_and_what_is_nearest_is_booked_by_one_press(
    alice_web, alice_tenant, center, order
):
    slot = free_slots(alice_tenant, center)[0]
    hold_slot_for_order(
        order=make_bookable_order(tenant=alice_tenant), booking_key=slot.booking_key
    )
    form = sent(go="book", slot=slot.booking_key, notes="Left arm")

    lost = alice_web.post(url(order), form)
    taken = alice_web.post(
        url(order), sent(take=lost.context["alternatives"][0]["key"], notes="Left arm")
    )

    assert lost.status_code == 422
    assert lost.context["lost"].startswith("Mon 2 Mar, 10:00 MST, at Harborview")
    struck = lost.context["grid"].groups[0].slots[0]
    assert (struck.time, struck.is_taken) == ("10:00", True)
    assert [one["when"] for one in lost.context["alternatives"]] == [
        "Mon 2 Mar, 10:20 MST",
        "Tue 3 Mar, 10:00 MST",
        "Mon 2 Mar, 10:40 MST",
    ]
    assert lost.context["form"]["notes"].value() == "Left arm"
    assert taken["Location"] == url(order, "order")
    (visit,) = visits(alice_tenant)
    assert (visit.start_at, visit.notes) == (
        *(slot.start + timedelta(minutes=20), "Left arm"),
    )


def test_a_provider_that_gives_the_time_away_is_a_lost_time(
    alice_web, alice_tenant, center, order
):
    key = free_slots(alice_tenant, center)[0].booking_key

    reply = alice_web.post(url(order), sent(go="book", slot=key, notes=GONE))

    assert reply.status_code == 422
    assert len(reply.context["alternatives"]) == 3
    times = [slot.time for slot in reply.context["grid"].groups[0].slots]
    assert times == ["10:00", "10:20", "10:40", "11:00", "11:20", "11:40"]
    assert reply.context["grid"].groups[0].slots[0].is_taken
    assert reply.context["chosen_at"] == ""
    assert visits(alice_tenant) == []


def test_a_slow_provider_leaves_the_visit_unconfirmed(
    alice_web, alice_tenant, center, order
):
    key = free_slots(alice_tenant, center)[0].booking_key

    reply = alice_web.post(
        url(order), sent(go="book", slot=key, notes=SLOW), follow=True
    )

    (visit,) = visits(alice_tenant)
    assert visit.status == "pending"
    assert "before you inform the patient" in reply.content.decode()
    assert reply.context["visit"].row.patient_message == ""


def test_nothing_is_booked_without_a_time(alice_web, alice_tenant, center, order):
    before = holdings(alice_tenant)

    reply = alice_web.post(url(order), sent(go="book"))

    assert (reply.status_code, reply.context["refusal"]) == (
        *(422, "Choose a time at the selected location."),
    )
    assert holdings(alice_tenant) == before


@pytest.mark.parametrize("go", ["hold", "book"])
def test_a_time_of_another_place_than_the_chosen_one_is_not_taken(
    alice_web, alice_tenant, center, order, go
):
    other = make_center(name="Next door", latitude=33.60)
    key = free_slots(alice_tenant, center)[0].booking_key
    site = f"quest-{other.site_code}"

    reply = alice_web.post(url(order), sent(go=go, slot=key, site=site))

    assert reply.status_code == (422 if go == "book" else 200)
    assert reply.context["grid"].site.name == "Next door"
    assert reply.context["hold"] is None
    assert not SlotPlace.objects.exists()


def test_a_visit_is_moved_and_its_old_time_is_struck(
    alice_web, alice_tenant, center, order
):
    visit = make_appointment(order=order, center=center)
    later = free_slots(alice_tenant, center)[5]

    page = alice_web.get(url(order))
    reply = alice_web.post(
        url(order), sent(go="book", moves=str(visit.pk), slot=later.booking_key)
    )

    assert page.context["visit_at"] == "Mon 2 Mar, 10:00 MST"
    assert page.context["grid"].groups[0].slots[0].is_taken
    assert reply["Location"] == url(order, "order")
    (moved,) = visits(alice_tenant)
    assert (moved.pk, moved.start_at) == (visit.pk, later.start)
    assert SlotPlace.objects.get().start_at == later.start


def test_a_visit_called_off_meanwhile_is_not_moved(
    alice_web, alice_tenant, center, order
):
    visit = make_appointment(order=order, center=center)
    cancel_appointment(order=order, actor=ACTOR, reason_id="other")
    key = free_slots(alice_tenant, center)[2].booking_key

    reply = alice_web.post(url(order), sent(go="book", moves=str(visit.pk), slot=key))

    assert reply.context["refusal"].startswith(
        "The visit was cancelled in the meantime."
    )
    assert [one.status for one in visits(alice_tenant)] == ["cancelled"]


@pytest.mark.parametrize(
    ("zip_code", "field"), [("850", "invalid"), ("00000", "unknown")]
)
def test_a_zip_code_that_is_none_is_said_at_its_field(
    alice_web, center, order, zip_code, field
):
    reply = alice_web.post(url(order), sent(go="search", zip_code=zip_code))

    assert reply.status_code == 422
    assert set(reply.context["form"].errors) == {"zip_code"}


def test_no_place_in_reach_names_those_that_are_not_booked_here(
    alice_web, alice_tenant, order
):
    make_center(name="Walk-in", capabilities=[])

    page = alice_web.get(url(order))

    grid = page.context["grid"]
    assert (grid.site, len(grid.days)) == (None, 14)
    assert [near.center.name for near in page.context["others"]] == ["Walk-in"]
    assert "No bookable location in range" in page.content.decode()


def test_mornings_and_later_days_are_looked_at(alice_web, center, order):
    page = alice_web.post(
        url(order), sent(go="from:2026-03-16", when="weekend", start="2026-03-02")
    )

    grid = page.context["grid"]
    assert f"{grid.first_day}" == "2026-03-16"
    assert [f"{day.on:%a %d}" for day in grid.days if day.free] == [
        *("Sat 21", "Sun 22", "Sat 28", "Sun 29"),
    ]
    assert f"{grid.previous_start}" == "2026-03-02"


def test_a_visit_at_home_is_booked_with_who_comes_there(alice_web, alice_tenant):
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )

    page = alice_web.get(url(order))
    slot = page.context["grid"].groups[0].slots[0]
    reply = alice_web.post(url(order), sent(go="book", slot=slot.key))

    assert reply["Location"] == url(order, "order")
    (visit,) = visits(alice_tenant)
    assert (visit.type, visit.address["first_line"]) == (
        *("phlebotomy", "1 Sample Street"),
    )


@pytest.mark.parametrize("early", [True, False])
def test_before_its_requisition_a_visit_is_reserved_where_the_team_may(
    alice_web, alice_tenant, center, early
):
    panel = make_lab_test(tenant=alice_tenant, lab=center.lab)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    Tenant.objects.filter(pk=alice_tenant.pk).update(early_psc_booking_enabled=early)
    key = free_slots(alice_tenant, center)[0].booking_key

    page = alice_web.get(url(order))
    reply = alice_web.post(url(order), sent(go="book", slot=key), follow=True)

    assert reply.redirect_chain == [(url(order, "order"), 302)]
    if early:
        assert page.context["is_early"]
        assert [visit.status for visit in visits(alice_tenant)] == ["reserved"]
    else:
        assert page["Location"] == url(order, "order")
        assert "The requisition has not been created yet." in reply.content.decode()
        assert visits(alice_tenant) == []


@pytest.mark.parametrize("role", [Role.CLINICIAN, Role.VIEWER])
def test_who_may_not_book_does_not_see_the_page(alice_team, center, order, role):
    client = Client()
    client.force_login(make_member(team=alice_team, roles=[role]))

    assert client.get(url(order)).status_code == 403
    assert client.post(url(order), sent(go="book")).status_code == 403


def test_the_page_asks_as_much_for_many_places_as_for_one(
    alice_web, center, order, django_assert_num_queries
):
    alice_web.get(url(order))
    with django_assert_num_queries(14):
        alice_web.get(url(order))
    for number in range(8):
        make_center(latitude=33.46 + number / 100)

    with django_assert_num_queries(14):
        alice_web.get(url(order))


def test_production_without_a_directory_says_so_and_books_nothing(
    alice_web, alice_production
):
    center = make_center(tenant=alice_production)
    order = make_bookable_order(tenant=alice_production)
    key = free_slots(alice_production, center)[0].booking_key
    center.is_active = False
    center.save(update_fields=["is_active"])
    before = holdings(alice_production)

    page = alice_web.get(url(order))
    held = alice_web.post(url(order), sent(go="hold", slot=key), headers=HTMX)
    booked = alice_web.post(url(order), sent(go="book", slot=key))

    words = "No service centers are imported for production."
    for reply in (page, held, booked):
        assert reply.status_code in {200, 422}
        assert words in reply.content.decode()
        assert reply.context["grid"] is None
    assert visits(alice_production) == []
    assert SlotPlace.objects.count() == 0
    assert holdings(alice_production) == before
    assert mail.outbox == []


def test_production_without_a_provider_asks_nobody_for_a_visit_at_home(
    alice_web, alice_production
):
    lab = booking_lab(tenant=alice_production)
    set_up_production(tenant=alice_production, lab=lab)
    home = CollectionMethod.AT_HOME_PHLEBOTOMY
    order = import_order(
        tenant=alice_production,
        actor=ACTOR,
        request=order_request(
            user=make_user(tenant=alice_production),
            panels=(make_lab_test(tenant=alice_production, lab=lab, method=home),),
            physician=PHYSICIAN,
        ),
        sample_id="Q-1",
    )
    before = holdings(alice_production)

    page = alice_web.get(url(order))
    asked = alice_web.post(url(order), sent(go="ask:getlabs"))

    for reply in (page, asked):
        assert reply.status_code in {200, 422}
        assert "No provider of at-home visits is set up" in reply.content.decode()
        assert 'value="ask:' not in reply.content.decode()
    assert visits(alice_production) == []
    assert holdings(alice_production) == before
    assert mail.outbox == []
