from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.states import Role
from labs.operations.catalogue.panels import archive_lab_test
from labs.operations.order_status.status import (
    advance_order,
    audit_order_change,
    store_reported_status,
)
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.recreations import RecreationRequest, recreate_order
from labs.operations.orders.redraws import place_redraw_order
from labs.queries.orders.history import find_last_order_event_id
from labs.states.catalogue import CollectionMethod
from labs.states.orders import UpdateReason
from portal.lib.actor import Actor, ActorKind
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.labs import (
    PATIENT,
    comment_lab,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def url(order, name="order"):
    tenant = order.tenant
    return reverse(
        f"labs:{name}",
        kwargs={
            "team_slug": tenant.team.slug,
            "environment": tenant.environment,
            "order_id": order.pk,
        },
    )


def signed_in(tenant, *roles):
    client = Client()
    client.force_login(make_member(team=tenant.team, roles=roles))
    return client


def labels(page, which):
    return [(row.label, row.state) for row in page.context[which]]


@pytest.fixture
def order(alice_tenant):
    return make_order(tenant=alice_tenant)


def test_a_new_order_shows_where_it_stands_and_what_comes_next(alice_web, order):
    page = alice_web.get(url(order))

    assert labels(page, "stages") == [
        ("Ordered", "done"),
        ("Requisition ready", "now"),
        ("Collecting sample", ""),
        ("With the lab", ""),
        ("Results", ""),
    ]
    (group,) = page.context["history"]
    (step,) = group.steps
    assert (step.label, step.raw) == ("Ordered", "received.walk_in_test.ordered")
    assert (group.who, group.roles) == ("Assay", [])
    assert "the requisition is created" in page.context["next_step"]
    assert page.context["account_reason"] == ("Uses the platform's account")
    assert page.context["relatives"] == []
    assert audited(order.tenant)[-1][:2] == ("read", "order")


def test_the_account_says_why_it_was_chosen_and_how_the_comment_prints(
    alice_web, alice_tenant
):
    panel = make_lab_test(tenant=alice_tenant, lab=comment_lab())
    make_lab_account(
        tenant=alice_tenant,
        lab=panel.lab,
        account_name="Clinic",
        default_clinical_notes="Call us",
    )
    order = make_order(tenant=alice_tenant, lab_test=panel, comments="Fasting draw")

    page = alice_web.get(url(order))

    assert page.context["account"] == "Clinic"
    assert page.context["account_reason"] == "Only active account for this lab"
    assert page.context["comment"] == "Call us\nFasting draw"


def test_answers_stand_beside_their_questions_in_words(alice_web, alice_tenant):
    lab = make_lab()
    question = {
        "id": 7,
        "code": "fasting_status",
        "required": True,
        "type": "choice",
        "value": "Has the patient fasted?",
        "answers": [{"id": 1, "code": "Y", "value": "Yes, 12 hours"}],
    }
    marker = make_marker(lab=lab, name="Glucose", aoe_questions=[question])
    panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=(marker,))
    fields = {"marker_id": marker.pk, "question_id": 7, "answer": "Y"}
    order = make_order(tenant=alice_tenant, lab_test=panel, aoe_answers=(fields,))

    (answer,) = alice_web.get(url(order)).context["answers"]

    assert (answer.marker, answer.question, answer.answer) == (
        "Glucose",
        "Has the patient fasted?",
        "Yes, 12 hours",
    )


def test_an_archived_panel_is_said_to_be_one(alice_web, alice_tenant, order):
    archive_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=order.lab_test_id)

    assert "This test is archived for new orders." in alice_web.get(url(order)).text


def test_patient_details_are_hidden_until_they_are_asked_for(alice_web, order):
    page = alice_web.get(url(order))
    assert PATIENT["last_name"] not in page.text
    assert PATIENT["email"] not in page.text

    shown = alice_web.post(url(order, "order_patient"))

    patient = shown.context["patient"]
    assert (patient["Name"], patient["Birth date"]) == ("Ada Example", "17 May 1990")
    assert PATIENT["email"] in shown.text
    assert ("read", "order_patient") in {line[:2] for line in audited(order.tenant)}


def test_a_request_for_the_patient_alone_gets_the_patient_alone(alice_web, order):
    shown = alice_web.post(url(order, "order_patient"), headers=HTMX)

    assert PATIENT["email"] in shown.text
    assert "<h1" not in shown.text


def test_who_may_not_see_patients_is_not_offered_them(order):
    viewer = signed_in(order.tenant, Role.VIEWER)

    page = viewer.get(url(order))
    refused = viewer.post(url(order, "order_patient"))

    assert "Your role can't see patient details." in page.text
    assert url(order, "order_patient") not in page.text
    assert refused.status_code == 403
    assert [line for line in audited(order.tenant) if line[1] == "order_patient"] == []


def test_who_may_only_read_is_offered_nothing_to_do(order):
    page = signed_in(order.tenant, Role.VIEWER).get(url(order))

    actions = page.context["actions"]
    assert not any(
        (actions.cancel, actions.recreate, actions.register, actions.simulate)
    )
    for name in ("cancel_order", "recreate_order", "advance_order", "resend_order"):
        assert url(order, name) not in page.text


def test_in_production_nothing_is_simulated(alice_web, alice_production):
    page = alice_web.get(url(make_order(tenant=alice_production)))

    assert page.context["actions"].simulate is False
    assert page.context["actions"].cancel is True
    assert "Sandbox</h2>" not in page.text


def test_a_cancelled_order_ends_where_it_stood(alice_web, order):
    cancel_order(order=order, actor=ACTOR, why="Moved away")

    page = alice_web.get(url(order))

    assert [(s.state, s.has_problem) for s in page.context["stages"]][:2] == [
        ("done", False),
        ("now", True),
    ]
    assert page.context["history"][0].last.detail == "Moved away"
    assert page.context["actions"].cancel is False
    assert page.context["actions"].order_again is True
    assert page.context["poll_seconds"] is None


def test_a_status_nobody_knows_is_shown_as_it_came(alice_web, order):
    raw = "collecting_sample.walk_in_test.pooled"
    store_reported_status(order=order, actor=ACTOR, status=raw, detail="too_new")

    page = alice_web.get(url(order))

    assert page.context["history"][0].last.raw == raw
    assert page.context["history"][0].last.detail == "too_new"
    assert page.context["is_status_known"] is False
    assert page.context["stages"][2].state == "now"
    assert f"<code>{raw}</code>" in page.text


def test_a_recreated_order_and_the_one_before_link_to_each_other(
    alice_web, alice_tenant
):
    panel = make_lab_test(tenant=alice_tenant)
    make_lab_account(tenant=alice_tenant, lab=panel.lab, account_name="Old")
    old = make_order(tenant=alice_tenant, lab_test=panel)
    make_lab_account(tenant=alice_tenant, lab=panel.lab, account_name="New")
    new = recreate_order(
        order=old,
        actor=ACTOR,
        recreation=RecreationRequest(reason=UpdateReason.INCORRECT_LAB),
    )

    page = alice_web.get(url(new))

    assert page.context["account"] == "New"
    assert page.context["account_before"] == "Old"
    assert page.context["account_reason"] == "Only other active account for this lab"
    assert page.context["update_reason"] == "Wrong lab"
    assert [(r.origin, r.is_this) for r in page.context["relatives"]] == [
        ("Placed", False),
        ("Recreated", True),
    ]
    assert url(old) in page.text
    assert url(new) in alice_web.get(url(old)).text


def test_an_order_that_was_redrawn_is_not_offered_for_cancelling(
    alice_web, alice_tenant, order
):
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    redraw = place_redraw_order(order=order, actor=ACTOR)

    page = alice_web.get(url(order))

    assert page.context["actions"].cancel is False
    assert [r.origin for r in page.context["relatives"]] == ["Placed", "Redraw"]
    assert url(redraw) in page.text


def test_events_that_told_of_the_order_are_listed_the_latest_first(
    alice_web, alice_tenant, order
):
    make_order(tenant=alice_tenant, user=order.user)
    advance_order(order=order, actor=ACTOR, to="requisition_created")

    sent = alice_web.get(url(order)).context["sent"]

    assert [(event.event_type, event.says) for event in sent] == [
        ("labtest.order.updated", "received.walk_in_test.requisition_created"),
        ("labtest.order.created", "received.walk_in_test.ordered"),
    ]


def test_a_poll_without_news_is_empty_and_no_read(alice_web, order):
    alice_web.get(url(order))
    before = len(audited(order.tenant))
    seen = f"{url(order)}?seen={find_last_order_event_id(order)}&every=5"

    quiet = alice_web.get(seen, headers=HTMX)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    news = alice_web.get(seen, headers=HTMX)

    assert (quiet.status_code, quiet.content) == (204, b"")
    assert news.status_code == 200
    assert "Requisition ready" in news.text
    assert "<html" not in news.text
    assert len(audited(order.tenant)) == before + 1


def test_an_order_that_has_not_moved_for_a_while_is_asked_for_less_often(
    alice_web, order
):
    assert alice_web.get(url(order)).context["poll_seconds"] == 5

    with time_machine.travel(timezone.now() + timedelta(minutes=10)):
        # The page still asks often: it is told how seldom is enough.
        told = alice_web.get(
            f"{url(order)}?seen={find_last_order_event_id(order)}&every=5", headers=HTMX
        )

    assert told.context["poll_seconds"] == 30


def test_a_stranger_finds_no_order(charlie_web, order):
    for name in ("order", "cancel_order", "recreate_order", "advance_order"):
        assert charlie_web.get(url(order, name)).status_code == 404
    assert charlie_web.post(url(order, "order_patient")).status_code == 404


def test_the_page_takes_as_many_queries_for_ten_steps_and_markers_as_for_one(
    alice_web, alice_tenant, order
):
    lab = make_lab()
    markers = tuple(make_marker(lab=lab) for _ in range(10))
    panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=markers)
    long = make_order(tenant=alice_tenant, lab_test=panel)
    for step in ("requisition_created", "partial_results", "completed", "corrected"):
        advance_order(order=long, actor=ACTOR, to=step)
    alice_web.get(url(order))  # the first request does more

    with CaptureQueriesContext(connection) as few:
        alice_web.get(url(order))
    with CaptureQueriesContext(connection) as many:
        alice_web.get(url(long))

    # Of one that may still be booked two things more are asked. One is for its
    # approval, two are for versions of its panel and markers, one for the audit.
    assert (len(many), len(few)) == (16, 18)


def test_a_history_says_who_did_what_by_name_and_role(alice_team, alice_tenant, order):
    nora = make_member(team=alice_team, roles=(Role.ADMIN,))
    nora.name = "Nora Quist"
    nora.save(update_fields=["name"])
    web = Client()
    web.force_login(nora)
    nora_acts = Actor(ActorKind.MEMBER, str(nora.pk), nora.email)
    key = Actor(ActorKind.API_KEY, "7", "Intake server")
    with time_machine.travel(order.created_at + timedelta(hours=1), tick=False):
        advance_order(order=order, actor=ACTOR, to="requisition_created")
    with time_machine.travel(order.created_at + timedelta(days=2), tick=False):
        audit_order_change(order, key, "reissue_requisition_link")
    with time_machine.travel(order.created_at + timedelta(days=3), tick=False):
        cancel_order(order=order, actor=nora_acts, why="Moved away")

    def history(client):
        page = client.get(url(order))
        return [
            (group.who, group.kind, list(group.roles), [s.label for s in group.steps])
            for group in page.context["history"]
        ]

    by_nora = ("Nora Quist", "", ["Admin"], ["Cancelled"])
    by_key = ("Intake server", "API key", [], ["Reissued requisition link"])
    assert history(web)[:2] == [by_nora, by_key]
    # What jobs and labs did is one line, however long it took.
    assert [(row[0], len(row[3])) for row in history(web)[2:]] == [("Assay", 2)]
    # Of changes beside its steps only who may read the audit is told.
    viewer = signed_in(alice_tenant, Role.VIEWER)
    assert [group[0] for group in history(viewer)] == ["Nora Quist", "Assay"]


def test_results_that_came_late_say_by_how_many_days(alice_web, alice_tenant):
    panel = make_lab_test(
        tenant=alice_tenant, method=CollectionMethod.ON_SITE_COLLECTION
    )
    order = make_order(tenant=alice_tenant, lab_test=panel)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    advance_order(order=order, actor=ACTOR, to="draw_completed")
    with time_machine.travel(timezone.now() + timedelta(days=3), tick=False):
        waiting = alice_web.get(url(order)).context["turnaround"]
        advance_order(order=order, actor=ACTOR, to="completed")
    came = alice_web.get(url(order)).context["turnaround"]

    assert (waiting.state, waiting.late_by, waiting.came_on) == ("late", 1, None)
    assert (came.state, came.late_by) == ("late", 1)
    assert order.due_by is not None
    assert came.came_on == order.due_by + timedelta(days=1)


def test_an_order_is_not_settled_while_a_critical_result_waits(alice_web, alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(order=order, results=(make_reported_result(text="400", flag="HH"),))

    waiting = alice_web.get(url(order))
    order.critical_alerts.update(acknowledged_at=timezone.now())
    settled = alice_web.get(url(order))

    assert labels(waiting, "stages")[-1] == ("Results", "now")
    assert waiting.context["stages"][-1].has_problem
    assert "a clinician acknowledges" in waiting.context["next_step"]
    assert "A critical result is not acknowledged." in waiting.content.decode()
    assert labels(settled, "stages")[-1] == ("Results", "done")
    assert settled.context["next_step"] == "All results are in."
