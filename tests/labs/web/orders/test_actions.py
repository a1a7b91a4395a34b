from __future__ import annotations

from datetime import date

import pytest
import time_machine
from django.utils.html import escape

from accounts.states import Role
from labs.models import Order
from labs.operations.order_status.status import advance_order
from labs.operations.orders.kits import KitRequest, order_kit
from labs.operations.orders.placing import cancel_order
from labs.queries.orders.history import find_last_order_event_id
from labs.states.catalogue import CollectionMethod
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    make_lab_account,
    make_lab_test,
    make_order,
)
from tests.factories.users import make_user
from tests.jobs import queued
from tests.labs.holdings import holdings
from tests.labs.web.orders.test_order_page import HTMX, signed_in, url
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db

_ACTIONS = (
    "cancel_order",
    "recreate_order",
    "advance_order",
    "report_future",
    "register_kit",
    "reschedule_order",
    "note_draw",
    "resend_order",
)
READY = "received.walk_in_test.requisition_created"


def kept(order):
    return Order.objects.for_tenant(order.tenant).get(pk=order.pk)


def goes_to(reply, order):
    return (reply.status_code, reply.headers.get("Location")) == (302, url(order))


@pytest.fixture
def order(alice_tenant):
    return make_order(tenant=alice_tenant)


@pytest.fixture
def kit(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)
    return order_kit(
        tenant=alice_tenant,
        actor=ACTOR,
        request=KitRequest(
            user_id=make_user(tenant=alice_tenant).uuid,
            lab_test_id=panel.pk,
            shipping_address={**ADDRESS, "receiver_name": "Ada Example"},
        ),
    )


def test_an_order_is_cancelled_after_a_question(alice_web, alice, order):
    asked = alice_web.get(url(order, "cancel_order"))
    reply = alice_web.post(url(order, "cancel_order"), {"why": "Moved away"})

    assert "This can't be undone" in asked.text
    assert goes_to(reply, order)
    assert kept(order).status == "cancelled.walk_in_test.cancelled"
    event = kept(order).events.last()
    assert (event.why, event.actor_label) == ("Moved away", alice.email)


def test_the_second_of_two_tabs_is_told_that_the_order_is_cancelled(alice_web, order):
    cancel_order(order=order, actor=ACTOR)
    before = holdings(order.tenant)

    reply = alice_web.post(url(order, "cancel_order"), headers=HTMX)

    assert reply.status_code == 422
    assert "cancelled.walk_in_test.cancelled to cancelled" in reply.context["refusal"]
    assert escape(reply.context["refusal"]) in reply.text
    assert holdings(order.tenant) == before


def test_a_sandbox_order_advances_to_what_is_chosen(alice_web, order):
    asked = alice_web.get(url(order, "advance_order"))
    reply = alice_web.post(
        url(order, "advance_order"),
        {"final_status": READY, "seen": find_last_order_event_id(order)},
    )

    groups = dict(asked.context["form"].fields["final_status"].choices)
    assert ("Requisition ready (1 step)") in dict(groups["Usual steps"]).values()
    assert "failed.walk_in_test.sample_error" in dict(groups["Problems"])
    assert goes_to(reply, order)
    assert kept(order).status == READY


def test_the_second_of_two_tabs_is_told_that_the_order_has_moved(alice_web, order):
    seen = find_last_order_event_id(order)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    before = holdings(order.tenant)

    reply = alice_web.post(
        url(order, "advance_order"),
        {"final_status": "completed.walk_in_test.completed", "seen": seen},
    )

    assert reply.status_code == 422
    assert READY in reply.context["refusal"]
    assert reply.context["seen"] == find_last_order_event_id(order)
    assert holdings(order.tenant) == before


def test_a_status_that_is_out_of_reach_is_refused_beside_its_field(alice_web, order):
    before = holdings(order.tenant)

    reply = alice_web.post(
        url(order, "advance_order"),
        {
            "final_status": "received.walk_in_test.ordered",
            "seen": find_last_order_event_id(order),
        },
    )

    assert reply.status_code == 422
    assert list(reply.context["form"].errors) == ["final_status"]
    assert holdings(order.tenant) == before


def test_results_of_the_sandbox_lie_as_asked_for(alice_web, alice_tenant, order):
    reply = alice_web.post(
        url(order, "advance_order"),
        {
            "final_status": "completed.walk_in_test.completed",
            "seen": find_last_order_event_id(order),
            "interpretation": "critical",
        },
        follow=True,
    )

    # No step is skipped unsaid.
    assert (
        "Advanced to Completed. Steps on the way: Requisition ready,"
        in reply.content.decode()
    )
    assert Order.objects.for_tenant(alice_tenant).get().interpretation == "critical"


def test_an_order_advances_later_where_a_delay_is_given(alice_web, order):
    alice_web.post(
        url(order, "advance_order"),
        {"final_status": READY, "seen": find_last_order_event_id(order), "delay": 60},
    )

    assert kept(order).status == "received.walk_in_test.ordered"
    assert [job.name for job in queued()] == ["labs.simulate"]


def test_production_is_not_advanced(alice_web, alice_production):
    order = make_order(tenant=alice_production)
    before = holdings(alice_production)

    asked = alice_web.get(url(order, "advance_order"))
    future = alice_web.post(url(order, "report_future"), {"status": "received.x.y"})

    assert goes_to(asked, order)
    assert future.status_code == 422
    assert holdings(alice_production) == before


def test_a_value_of_the_future_is_kept_shown_and_answered_raw(
    alice_web, alice_api, order
):
    raw = "collecting_sample.walk_in_test.pooled"

    reply = alice_web.post(
        url(order, "report_future"), {"status": raw, "detail": "too_new"}
    )

    answer = alice_api.get(f"/v3/order/{order.pk}").json()
    assert goes_to(reply, order)
    assert raw in alice_web.get(url(order)).text
    assert answer["last_event"]["status"] == raw
    assert answer["last_event"]["status_detail"] == "too_new"
    assert answer["status"] == "collecting_sample"


@pytest.mark.parametrize("status", ["", "a b", READY])
def test_what_is_no_value_of_the_future_is_refused(alice_web, order, status):
    before = holdings(order.tenant)

    reply = alice_web.post(url(order, "report_future"), {"status": status})

    assert reply.status_code == 422
    assert list(reply.context["future"].errors) == ["status"]
    assert holdings(order.tenant) == before


def test_recreating_shows_first_what_stays_and_what_changes(alice_web, alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    make_lab_account(tenant=alice_tenant, lab=panel.lab, account_name="Old")
    order = make_order(tenant=alice_tenant, lab_test=panel)
    make_lab_account(tenant=alice_tenant, lab=panel.lab, account_name="New")
    before = holdings(alice_tenant)

    reply = alice_web.post(
        url(order, "recreate_order"), {"reason": "INCORRECT_LAB", "comments": "Careful"}
    )

    changes = {c.what: (c.before, c.after, c.why) for c in reply.context["changes"]}
    assert reply.status_code == 200
    assert changes["Lab account"] == (
        "Old",
        "New",
        "Only other active account for this lab",
    )
    assert changes["Comment"] == ("None", "Careful", "")
    assert changes["Test"] == (panel.name, panel.name, "")
    assert holdings(alice_tenant) == before


def test_a_recreated_order_opens_with_what_was_put_right(alice_web, alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    other = make_lab_test(tenant=alice_tenant)
    order = make_order(tenant=alice_tenant, lab_test=panel)

    reply = alice_web.post(
        url(order, "recreate_order"),
        {
            "reason": "INCORRECT_TEST",
            "lab_test": str(other.pk),
            "last_name": "Sample",
            "dob": "1991-02-03",
            "physician_first_name": "Mina",
            "physician_last_name": "Sample",
            "physician_npi": "1234567893",
            "recreate": "1",
        },
    )

    (new,) = Order.objects.for_tenant(alice_tenant).filter(parent=order)
    assert goes_to(reply, new)
    assert (new.lab_test_id, new.lab_id) == (other.pk, other.lab_id)
    assert new.patient_details == {
        **PATIENT,
        "last_name": "Sample",
        "dob": "1991-02-03",
    }
    assert new.patient_address == ADDRESS
    assert new.physician == {
        "first_name": "Mina",
        "last_name": "Sample",
        "npi": "1234567893",
    }
    assert kept(order).status == "cancelled.walk_in_test.cancelled"


def test_a_preview_names_what_is_corrected_and_nothing_of_the_patient(alice_web, order):
    reply = alice_web.post(
        url(order, "recreate_order"),
        {"reason": "INCORRECT_PATIENT_DETAILS", "last_name": "Sample"},
    )

    changes = {c.what: c.after for c in reply.context["changes"]}
    assert changes["Patient"] == "Changed: last name"
    assert PATIENT["first_name"] not in reply.text


@pytest.mark.parametrize("step", [{}, {"recreate": "1"}])
def test_a_refused_recreation_says_why_and_changes_nothing(
    alice_web, alice_tenant, step
):
    panel = make_lab_test(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=panel.lab)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    before = holdings(alice_tenant)

    reply = alice_web.post(
        url(order, "recreate_order"),
        {"reason": "INCORRECT_LAB", "account": str(account.pk), **step},
    )

    assert reply.status_code == 422
    assert escape(reply.context["refusal"]) in reply.text
    assert "original order used this one" in reply.context["refusal"]
    assert holdings(alice_tenant) == before


def test_an_order_past_cancelling_says_so_before_anything_is_typed(alice_web, order):
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    advance_order(order=order, actor=ACTOR, to="completed")

    page = alice_web.get(url(order, "recreate_order"))

    assert page.status_code == 200
    assert "completed.walk_in_test.completed" in page.context["refusal"]
    assert "Preview changes" not in page.text


def test_a_kit_is_registered_to_its_person(alice_web, kit):
    offered = alice_web.get(url(kit)).context["actions"].register

    reply = alice_web.post(url(kit, "register_kit"), {**PATIENT, **ADDRESS})

    assert offered is True
    assert goes_to(reply, kit)
    assert kept(kit).status == "received.testkit.registered"
    assert kept(kit).patient_details == PATIENT
    assert alice_web.get(url(kit)).context["actions"].register is False


def test_a_kit_is_not_registered_to_half_a_person(alice_web, kit):
    before = holdings(kit.tenant)

    reply = alice_web.post(
        url(kit, "register_kit"), {**PATIENT, **ADDRESS, "dob": "", "zip": "1"}
    )

    assert reply.status_code == 422
    assert set(reply.context["form"].errors) == {"dob", "zip"}
    assert holdings(kit.tenant) == before


def test_an_order_without_a_kit_is_not_registered(alice_web, order):
    assert goes_to(alice_web.get(url(order, "register_kit")), order)


def test_the_start_of_a_scheduled_order_is_moved(alice_web, alice_production):
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False):
        order = make_order(tenant=alice_production, activate_by=date(2026, 3, 9))

        past = alice_web.post(url(order, "reschedule_order"), {"day": "2026-03-01"})
        reply = alice_web.post(url(order, "reschedule_order"), {"day": "2026-03-10"})

        assert past.status_code == 422
        assert list(past.context["form"].errors) == ["day"]
        assert goes_to(reply, order)
        assert kept(order).activate_by == date(2026, 3, 10)
        assert "10 Mar 2026" in alice_web.get(url(order)).context["next_step"]


def test_a_draw_on_site_is_noted(alice_web, alice_tenant):
    panel = make_lab_test(
        tenant=alice_tenant, method=CollectionMethod.ON_SITE_COLLECTION
    )
    order = make_order(tenant=alice_tenant, lab_test=panel)
    early = alice_web.get(url(order)).context["actions"].complete_draw
    advance_order(order=order, actor=ACTOR, to="requisition_created")

    reply = alice_web.post(url(order, "note_draw"))

    assert early is False
    assert goes_to(reply, order)
    assert kept(order).status == "sample_with_lab.on_site_collection.draw_completed"


def test_the_last_event_is_sent_again(alice_web, order):
    reply = alice_web.post(url(order, "resend_order"))

    assert goes_to(reply, order)
    assert emitted_types(order.tenant) == ["labtest.order.created"] * 2


def test_who_may_only_read_does_nothing_to_an_order(order):
    viewer = signed_in(order.tenant, Role.VIEWER)
    before = holdings(order.tenant)

    answers = {name: viewer.post(url(order, name)).status_code for name in _ACTIONS}

    assert answers == dict.fromkeys(_ACTIONS, 403)
    assert holdings(order.tenant) == before
