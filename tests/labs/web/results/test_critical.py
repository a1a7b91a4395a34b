from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.states import Role
from labs.models import CriticalAlert
from tests.audit import audited
from tests.factories.accounts import make_member
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import take
from tests.factories.labs import make_lab
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
NORA = "nora@alice.example"


def place(tenant, name, **ids):
    team = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"labs:{name}", kwargs={**team, **ids})


def signed_in(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles, email=NORA))
    return client


@pytest.fixture
def nora(alice_team):
    return signed_in(alice_team, Role.CLINICIAN)


@pytest.fixture
def alert(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(
        order=order, results=(make_reported_result("Potassium", "7.1", flag="HH"),)
    )
    return CriticalAlert.objects.for_tenant(alice_tenant).get()


def test_the_queue_shows_what_waits_how_long_and_whose_it_is(alice_tenant, nora, alert):
    queue = place(alice_tenant, "critical")
    now = timezone.now()

    fresh = nora.get(queue).context["waiting"]
    with time_machine.travel(now + timedelta(minutes=50), tick=False):
        soon = nora.get(queue).context["waiting"]
    with time_machine.travel(now + timedelta(minutes=125), tick=False):
        over = nora.get(queue).context["waiting"]

    (row,) = fresh
    assert [result.name for result in row.results] == ["Potassium"]
    assert row.countdown.family == "rev"
    assert (soon[0].countdown.family, soon[0].countdown.words[-8:]) == (
        "warn",
        "min left",
    )
    assert over[0].countdown.family == "bad"
    assert over[0].countdown.words.startswith("1 h ")
    assert audited(alice_tenant)[-1] == (
        "read",
        "critical_results",
        "waiting=1 acknowledged=0",
    )


def test_a_poll_that_finds_what_was_seen_is_no_new_read(alice_tenant, nora, alert):
    queue = place(alice_tenant, "critical")
    nora.get(queue)
    before = audited(alice_tenant)

    poll = nora.get(queue, {"seen": str(alert.pk)}, headers=HTMX)

    assert poll.status_code == 200
    assert "<html" not in poll.content.decode()
    assert audited(alice_tenant) == before
    nora.get(queue, {"seen": ""}, headers=HTMX)
    assert len(audited(alice_tenant)) == len(before) + 1


def test_a_clinician_acknowledges_and_comes_to_the_results(alice_tenant, nora, alert):
    address = place(alice_tenant, "acknowledge", alert_id=alert.pk)
    fields = {"action": "Called the patient in", "notification_method": "treating"}

    asked = nora.get(address)
    reply = nora.post(address, fields)

    alert.refresh_from_db()
    assert "notified_at" in asked.context["form"].fields
    assert reply["Location"] == place(alice_tenant, "results", order_id=alert.order_id)
    assert (alert.member_name, alert.action) == (
        NORA,
        "Called the patient in",
    )
    page = nora.get(place(alice_tenant, "critical"))
    assert page.context["waiting"] == []
    (done,) = page.context["done"]
    assert (done.notification_method, done.was_late) == (
        "I am the treating clinician",
        False,
    )


def test_what_is_refused_stays_in_the_form(alice_tenant, nora, alert):
    fields = {
        "action": "Told",
        "notification_method": "phone",
        "notified_person": "Dr Ingram",
    }
    fields["notified_at"] = timezone.now().strftime("%Y-%m-%dT%H:%M")

    reply = nora.post(place(alice_tenant, "acknowledge", alert_id=alert.pk), fields)

    alert.refresh_from_db()
    assert reply.status_code == 422
    assert set(reply.context["form"].errors) == {"was_read_back"}
    assert alert.acknowledged_at is None


def test_who_comes_second_is_told_that_it_is_done(alice_tenant, nora, alert):
    address = place(alice_tenant, "acknowledge", alert_id=alert.pk)
    nora.post(address, {"action": "First", "notification_method": "treating"})

    reply = nora.post(
        address, {"action": "Second", "notification_method": "treating"}, follow=True
    )

    alert.refresh_from_db()
    assert alert.action == "First"
    assert f"Already acknowledged by {NORA}." in reply.content.decode()


@pytest.mark.parametrize("role", [Role.OWNER, Role.LAB_STAFF, Role.VIEWER])
def test_who_is_no_clinician_sees_the_queue_and_acknowledges_nothing(
    alice_team, alice_tenant, alert, role
):
    client = signed_in(alice_team, role)
    address = place(alice_tenant, "acknowledge", alert_id=alert.pk)

    reply = client.post(address, {"action": "Done", "notification_method": "treating"})

    alert.refresh_from_db()
    assert client.get(place(alice_tenant, "critical")).status_code == 200
    assert (reply.status_code, alert.acknowledged_at) == (403, None)


@pytest.fixture
def report(alice_tenant):
    content = make_oru(make_test(obx("412", flag="HH"), placer="NOBODYS"))
    return take(alice_tenant, content, lab=make_lab()).reports.get()


def test_a_result_without_an_order_waits_in_the_queue_and_on_the_overview(
    alice_tenant, nora, report
):
    make_order_awaiting_results(tenant=alice_tenant)
    opened = place(alice_tenant, "unmatched_report", lab_report_id=report.pk)

    page = nora.get(place(alice_tenant, "critical"))
    home = nora.get("/t/alice-health/sandbox/").content.decode()

    (row,) = page.context["waiting"]
    assert (row.report, row.countdown.words) == (report, "59 min left")
    assert [one["result"] for one in row.results] == ["412"]
    assert f'href="{opened}"' in page.content.decode()
    assert "Ada" not in page.content.decode()
    assert "1 critical result matches no order" in home


def test_a_result_without_an_order_is_acknowledged_before_its_report_is_rejected(
    alice_team, alice_tenant, nora, report
):
    reject = place(alice_tenant, "unmatched_reject", lab_report_id=report.pk)
    staff = Client()
    staff.force_login(
        make_member(team=alice_team, roles=(Role.LAB_STAFF,), email="li@alice.example")
    )
    asked = staff.get(reject).content.decode()
    refused = staff.post(reject, {"why": "Not ours."})
    done = nora.post(
        place(alice_tenant, "acknowledge", alert_id=report.alert_id),
        {"action": "Called the laboratory", "notification_method": "treating"},
    )

    rejected = staff.post(reject, {"why": "Not ours."})

    assert "A clinician must acknowledge it first." in asked
    assert refused.status_code == 422
    assert refused.context["form"].errors == {
        "why": ["Acknowledge the critical result before you reject the report."]
    }
    queue = place(alice_tenant, "critical")
    assert (done["Location"], rejected.status_code) == (queue, 302)
    (row,) = nora.get(queue).context["done"]
    assert (row.report, row.alert.action) == (report, "Called the laboratory")
    page = staff.get(place(alice_tenant, "unmatched_report", lab_report_id=report.pk))
    assert "<b>Critical result acknowledged</b>" in page.content.decode()


@pytest.mark.parametrize("role", [Role.OWNER, Role.LAB_STAFF])
def test_the_report_page_says_that_its_critical_result_waits(
    alice_team, alice_tenant, report, role
):
    client = signed_in(alice_team, role)

    page = client.get(place(alice_tenant, "unmatched_report", lab_report_id=report.pk))
    reply = client.post(
        place(alice_tenant, "acknowledge", alert_id=report.alert_id),
        {"action": "Done", "notification_method": "treating"},
    )

    alert = CriticalAlert.objects.for_tenant(alice_tenant).get()
    assert "A critical result is not acknowledged." in page.content.decode()
    assert (reply.status_code, alert.acknowledged_at) == (403, None)
