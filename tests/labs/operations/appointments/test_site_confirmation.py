from __future__ import annotations

import re
import threading
from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.test import Client

from labs.models import Appointment, SlotPlace
from labs.operations.appointments.booking import BookingRequest, book_appointment
from labs.operations.appointments.changes import reschedule_appointment
from labs.operations.appointments.site_confirmation import (
    MailNotAccepted,
    confirm_visit_by_staff,
    mail_visit_to_site,
)
from labs.operations.appointments.slots import SlotTaken
from labs.operations.appointments.upkeep import (
    confirm_or_cancel_unconfirmed_appointment,
)
from labs.queries.orders.orders import get_order_with_details
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.appointments import free_slots, make_bookable_order, make_center
from tests.jobs import queued

pytestmark = pytest.mark.django_db
NOW = "2026-11-24T15:00:00Z"
CANCELLED = "collecting_sample.walk_in_test.appointment_cancelled"
PENDING = "collecting_sample.walk_in_test.appointment_pending"
SCHEDULED = "collecting_sample.walk_in_test.appointment_scheduled"


@pytest.fixture(autouse=True)
def now():
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


@pytest.fixture
def center(alice_production):
    return make_center(
        tenant=alice_production, confirmed_by="mail", email="desk@site.example"
    )


def book(tenant, center, slot=-1, order=None):
    order = order or make_bookable_order(tenant=tenant)
    key = free_slots(tenant, center)[slot].booking_key
    return book_appointment(
        order=order, actor=ACTOR, request=BookingRequest(booking_key=key)
    )


def mailed_path(visit):
    """The path of the link in the one mail that goes to the site."""
    mail.outbox.clear()
    mail_visit_to_site(tenant=visit.tenant, appointment_id=visit.pk)
    [sent] = mail.outbox
    [link] = re.findall(r"https?://\S+", sent.body)
    return "/" + link.split("/", 3)[3]


def read(visit):
    found = Appointment.objects.for_tenant(visit.tenant).get(pk=visit.pk)
    order = get_order_with_details(tenant=visit.tenant, order_id=visit.order_id)
    return found, order.status


def states(visit):
    found, status = read(visit)
    return found.status, status


def test_a_visit_waits_for_its_site_whose_one_press_confirms_it(
    alice_production, center
):
    visit = book(alice_production, center)
    assert states(visit) == ("pending", PENDING)
    assert [job.inputs["appointment_id"] for job in queued() if "site" in job.name] == [
        str(visit.pk)
    ]
    site = Client()
    path = mailed_path(visit)
    [sent] = mail.outbox
    assert sent.to == ["desk@site.example"]
    assert "don't forward it outside your site" in sent.body
    assert "MST" in sent.body
    for secret in ("Ada", "Example Lab Panel", "1990"):
        assert secret not in f"{sent.body}{sent.subject}"

    # What mail scanners do: open the link, again and again.
    opened = [site.get(path), site.head(path), site.get(path), site.post(path)]
    assert {page.status_code for page in opened} == {200}
    assert "Ada" not in opened[0].content.decode()
    assert opened[0]["Referrer-Policy"] == "same-origin"
    assert states(visit) == ("pending", PENDING)

    done = site.post(path, {"answer": "confirm"})
    again = site.post(path, {"answer": "decline"})

    assert (done.status_code, again.status_code) == (200, 410)
    assert site.get(path).status_code == 410
    found, status = read(visit)
    assert (found.status, status) == ("confirmed", SCHEDULED)
    assert found.event_data == {"origin": "booking", "confirmed_by": "site"}
    assert found.external_id == visit.reference.hex[:8].upper()
    assert found.events.last().actor_label == "Test Center"


def test_a_form_from_elsewhere_confirms_nothing(alice_production, center):
    visit = book(alice_production, center)
    path = mailed_path(visit)

    forged = Client(enforce_csrf_checks=True).post(path, {"answer": "confirm"})

    assert forged.status_code == 403
    assert states(visit) == ("pending", PENDING)


def test_a_declined_visit_is_cancelled_and_its_place_is_free(alice_production, center):
    visit = book(alice_production, center)
    before = len(free_slots(alice_production, center))

    Client().post(mailed_path(visit), {"answer": "decline"})

    assert states(visit) == ("cancelled", CANCELLED)
    assert read(visit)[0].cancellation_reason == "site_declined"
    assert len(free_slots(alice_production, center)) == before + 1


def test_without_an_answer_nobody_expects_the_patient(alice_production, center, now):
    visit = book(alice_production, center)
    path = mailed_path(visit)
    settle = {"tenant": alice_production, "appointment_id": visit.pk}

    now.shift(timedelta(hours=47, minutes=59))
    confirm_or_cancel_unconfirmed_appointment(**settle)
    assert states(visit) == ("pending", PENDING)
    now.shift(timedelta(minutes=1))
    late = Client().post(path, {"answer": "confirm"})
    confirm_or_cancel_unconfirmed_appointment(**settle)

    assert late.status_code == 410
    assert states(visit) == ("cancelled", CANCELLED)
    assert read(visit)[0].cancellation_reason == "not_confirmed"


@pytest.mark.parametrize("token", ["", "x", "a:b", "eyJhIjoxfQ:AAAA"])
def test_a_link_that_is_none_of_ours_is_not_there(db, token):
    assert Client().get("/site-visit/", {"token": token}).status_code == 404


def test_staff_records_who_confirmed_and_nobodys_yes_is_no_confirmation(
    alice_production,
):
    center = make_center(tenant=alice_production, confirmed_by="staff")
    visit = book(alice_production, center)
    assert [job for job in queued() if "site" in job.name] == []
    order = get_order_with_details(tenant=visit.tenant, order_id=visit.order_id)
    with pytest.raises(DomainError) as nobody:
        confirm_visit_by_staff(order=order, actor=ACTOR, confirmed_with="  ")
    assert nobody.value.code == "confirmed_with_missing"
    assert states(visit) == ("pending", PENDING)

    confirm_visit_by_staff(
        order=order, actor=ACTOR, confirmed_with="Front desk", external_id="B-7"
    )

    found, status = read(visit)
    assert (found.status, status, found.external_id) == ("confirmed", SCHEDULED, "B-7")
    assert found.event_data["confirmed_with"] == "Front desk"
    with pytest.raises(DomainError) as twice:
        confirm_visit_by_staff(order=order, actor=ACTOR, confirmed_with="Front desk")
    assert twice.value.code == "visit_not_waiting"


def test_a_visit_is_not_moved_past_its_site(alice_production, center):
    own = make_center(tenant=alice_production)
    visit = book(alice_production, own)
    order = get_order_with_details(tenant=visit.tenant, order_id=visit.order_id)
    key = free_slots(alice_production, center)[0].booking_key

    with pytest.raises(DomainError) as refusal:
        reschedule_appointment(order=order, actor=ACTOR, booking_key=key)

    assert refusal.value.code == "site_confirms_visits"
    assert states(visit) == ("confirmed", SCHEDULED)
    assert SlotPlace.objects.filter(site_code=center.site_code).count() == 0


def test_a_mail_that_is_not_taken_is_tried_again(alice_production, center, monkeypatch):
    visit = book(alice_production, center)

    def fail(_mail):
        raise OSError

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)

    with pytest.raises(MailNotAccepted):
        mail_visit_to_site(tenant=alice_production, appointment_id=visit.pk)


@pytest.mark.django_db(transaction=True)
def test_of_two_answers_at_once_one_holds(alice_production):
    center = make_center(
        tenant=alice_production, confirmed_by="mail", email="desk@site.example"
    )
    visit = book(alice_production, center)
    path = mailed_path(visit)
    start, found = threading.Barrier(2), {}

    def answer(word):
        try:
            start.wait()
            found[word] = Client().post(path, {"answer": word}).status_code
        finally:
            connection.close()

    threads = [
        threading.Thread(target=answer, args=(word,)) for word in ("confirm", "decline")
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(found.values()) == [200, 410]
    wanted = "confirmed" if found["confirm"] == 200 else "cancelled"
    assert read(visit)[0].status == wanted


@pytest.mark.django_db(transaction=True)
def test_the_last_place_of_a_mailed_site_is_asked_for_once(alice_production):
    center = make_center(
        tenant=alice_production, confirmed_by="mail", email="desk@site.example"
    )
    orders = [make_bookable_order(tenant=alice_production) for _ in range(4)]
    key = free_slots(alice_production, center)[0].booking_key
    start, outcomes = threading.Barrier(len(orders)), []

    def run(order):
        try:
            start.wait()
            book_appointment(
                order=order, actor=ACTOR, request=BookingRequest(booking_key=key)
            )
            outcomes.append("booked")
        except SlotTaken:
            outcomes.append("taken")
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(order,)) for order in orders]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(outcomes) == ["booked", "taken", "taken", "taken"]
    assert len([job for job in queued() if "site" in job.name]) == 1
    assert SlotPlace.objects.filter(site_code=center.site_code).count() == 1
