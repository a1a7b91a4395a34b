from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core import mail
from django.db import connection

from labs.models import CriticalAlert, InboundMessage, InboundReport
from labs.operations.inbound import critical_reports
from labs.operations.inbound.review import (
    match_lab_report_manually,
    reject_lab_report,
    restore_rejected_lab_report,
)
from labs.operations.orders.placing import cancel_order
from labs.operations.results import critical
from labs.operations.results.critical import (
    Acknowledgement,
    acknowledge_critical_alert,
    escalate_overdue_alerts,
    mail_critical_alert,
)
from labs.operations.retention import delete_old_lab_messages
from labs.states.critical import NotificationMethod
from labs.states.inbound import MatchStatus, UnmatchedReason
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants, acting_for
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab, take
from tests.jobs import queued
from tests.outbox import emitted_types
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
CAME = datetime(2026, 3, 2, 9, tzinfo=UTC)
CLINICIAN = Actor(
    ActorKind.MEMBER, "6f0c7f7e-5e52-4a27-9d0b-8f9c3a1f2e10", "nora@assay.example"
)
DONE = Acknowledgement(
    action="Called the laboratory", notification_method=NotificationMethod.TREATING
)
WHY = "The lab misspelt the name; called them."
OTHER = "PID|1||77||Exampel^Ada||19900517|F"


def send(order, *, control="C1", value="412", flag="HH", filler="F-1", patient=OTHER):
    """A report of the order's number and another name, which waits for a person."""
    test = make_test(obx(value, flag=flag), placer=order.sample_id, filler=filler)
    content = make_oru(test, patient=patient, control_id=control)
    row = take(order.tenant, content, lab=order.lab).reports.get()
    row.tenant = order.tenant
    return row


def alerts(tenant):
    return list(CriticalAlert.objects.for_tenant(tenant).order_by("pk"))


def mails():
    return [job.inputs for job in queued() if job.name == critical.MAIL_JOB]


def acknowledge(tenant, alert):
    return acknowledge_critical_alert(
        tenant=tenant,
        actor=CLINICIAN,
        alert_id=alert.pk,
        acknowledgement=DONE,
        name="Nora",
    )


def match(report, order):
    return match_lab_report_manually(
        report=report, actor=ACTOR, order_id=order.pk, why=WHY
    )


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


@pytest.fixture
def report(order):
    with time_machine.travel(CAME, tick=False):
        return send(order)


def test_a_critical_result_without_an_order_starts_the_clock_and_the_mails(
    alice_tenant, order
):
    before = emitted_types(alice_tenant)
    with time_machine.travel(CAME, tick=False):
        report = send(order)

    (alert,) = alerts(alice_tenant)
    due = CAME + timedelta(hours=1)
    assert (report.status, report.reason) == ("unmatched", "person_differs")
    assert report.alert_id == alert.pk
    assert (alert.order_id, alert.version_id) == (None, None)
    assert (alert.opened_at, alert.due_at, alert.escalate_at) == (CAME, due, due)
    fields = {"tenant_pk": alice_tenant.pk, "alert_id": alert.pk}
    assert mails() == [{**fields, "escalation": 0}]
    told = emitted_types(alice_tenant)
    assert told == [*before, "labtest.match_review.created"]
    assert report.critical_results == [
        {
            "name": "Glucose",
            "code": "2345-7",
            "loinc": "2345-7",
            "sub_id": "",
            "result": "412",
            "unit": "mg/dL",
            "reference_range": "65-99",
            "flag": "HH",
            "observed_at": "2026-02-28T08:30:00-05:00",
        }
    ]
    with across_tenants(why="a test"):
        assert escalate_overdue_alerts(at=due) == 1
    assert mails()[1:] == [{**fields, "escalation": 1}]


@pytest.mark.parametrize("flag", ["LL", "AA", "N~HH", "PANIC"])
def test_each_flag_that_is_critical_with_an_order_is_without_one(order, flag):
    send(order, flag=flag)

    assert len(alerts(order.tenant)) == 1


@pytest.mark.parametrize("flag", ["", "H", "A", ">"])
def test_a_report_without_critical_results_starts_no_clock(order, flag):
    report = send(order, flag=flag)

    assert (report.critical_results, report.alert_id) == ([], None)
    assert (alerts(order.tenant), mails()) == ([], [])


def test_results_that_an_order_does_not_take_now_start_the_clock_too(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    cancel_order(order=order, actor=ACTOR)

    report = send(order, patient="PID|1||77||Example^Ada||19900517|F")

    assert report.reason == UnmatchedReason.NOT_EXPECTED
    assert len(alerts(alice_tenant)) == 1


def test_mails_of_it_name_no_patient_test_or_value(alice_tenant, report):
    alice_tenant.critical_result_notification_email = "desk@alice.example"
    alice_tenant.save(update_fields=["critical_result_notification_email"])
    (alert,) = alerts(alice_tenant)

    for escalation in (0, 1):
        mail_critical_alert(
            tenant=alice_tenant, alert_id=alert.pk, escalation=escalation
        )

    assert [one.to for one in mail.outbox] == [["desk@alice.example"]] * 2
    assert "in a lab report that matches no order" in mail.outbox[0].body
    assert "has passed your team's time limit" in mail.outbox[1].body
    for sent in mail.outbox:
        for secret in ("Glucose", "412", "Ada", "Exampel", "None", str(report.pk)):
            assert secret not in f"{sent.body}{sent.subject}"


def test_the_same_results_sent_twice_open_one_alert(order, report):
    again = send(order, control="C2")
    settled = acknowledge(order.tenant, again.alert)
    third = send(order, control="C3")

    assert alerts(order.tenant) == [settled]
    assert {one.alert_id for one in (report, again, third)} == {settled.pk}
    assert len(mails()) == 1


@pytest.mark.parametrize(
    "differing",
    [
        {"value": "430"},
        {"filler": "F-2", "value": "430"},
        {"patient": "PID|1||78||Sample^Eve||19910517|F"},
    ],
    ids=["value", "number", "patient"],
)
def test_what_differs_opens_its_own_alert(order, report, differing):
    other = send(order, control="C2", **differing)

    assert [one.pk for one in alerts(order.tenant)] == [report.alert_id, other.alert_id]
    assert len(mails()) == 2


def test_a_match_keeps_the_alert_and_its_clock_and_sends_the_event(order, report):
    (before,) = alerts(order.tenant)

    match(report, order)

    (alert,) = alerts(order.tenant)
    assert alert.pk == before.pk
    assert (alert.order_id, alert.version.number) == (order.pk, 1)
    for name in ("opened_at", "due_at", "escalate_at", "escalations"):
        assert getattr(alert, name) == getattr(before, name)
    assert len(mails()) == 1
    assert emitted_types(order.tenant).count("labtest.result.critical") == 1


def test_an_acknowledged_alert_moves_too_and_nobody_is_called_again(order, report):
    kept = acknowledge(order.tenant, report.alert)

    match(report, order)

    (alert,) = alerts(order.tenant)
    assert (alert.pk, alert.order_id) == (kept.pk, order.pk)
    assert (alert.version.number, alert.action) == (1, "Called the laboratory")
    assert len(mails()) == 1


def test_of_two_clocks_of_an_order_the_earlier_one_runs(order, report):
    with time_machine.travel(CAME + timedelta(minutes=20), tick=False):
        later = send(order, control="C2", value="430")
    match(later, order)
    with across_tenants(why="a test"):
        assert escalate_overdue_alerts(at=CAME + timedelta(hours=1)) == 1

    match(report, order)

    (alert,) = alerts(order.tenant)
    assert (alert.pk, alert.order_id) == (later.alert_id, order.pk)
    assert (alert.opened_at, alert.due_at) == (CAME, CAME + timedelta(hours=1))
    assert alert.escalations == 1
    assert mails()[-1] == {
        "tenant_pk": order.tenant.pk,
        "alert_id": alert.pk,
        "escalation": 1,
    }
    report.refresh_from_db()
    assert report.alert_id == alert.pk


def test_a_report_is_rejected_only_once_its_critical_result_is_acknowledged(
    order, report
):
    before = audited(order.tenant)
    with pytest.raises(DomainError) as caught:
        reject_lab_report(report=report, actor=ACTOR, why=WHY)

    kept = InboundReport.objects.for_tenant(order.tenant).get()
    assert caught.value.code == "critical_not_acknowledged"
    assert (kept.status, kept.why) == (MatchStatus.UNMATCHED, "")
    assert audited(order.tenant) == before
    acknowledge(order.tenant, report.alert)
    line = ("acknowledge_critical", "critical_alert", str(report.alert_id))
    assert audited(order.tenant)[-1] == line

    rejected = reject_lab_report(report=report, actor=ACTOR, why=WHY)

    assert rejected.status == MatchStatus.REJECTED
    restore_rejected_lab_report(report=report, actor=ACTOR)
    match(report, order)
    (alert,) = alerts(order.tenant)
    assert alert.order_id == order.pk


def test_a_worker_that_dies_leaves_nothing_and_the_next_run_opens_one(
    order, monkeypatch
):
    def die(**given):
        open_alert(**given)
        raise SystemExit

    open_alert = critical_reports.open_critical_alert_without_order
    with monkeypatch.context() as patched:
        patched.setattr(critical_reports, "open_critical_alert_without_order", die)
        with pytest.raises(SystemExit):
            send(order)
    left = (alerts(order.tenant), mails(), InboundMessage.objects.for_tenant)
    assert left[:2] == ([], [])
    assert not left[2](order.tenant).exists()

    send(order)

    assert (len(alerts(order.tenant)), len(mails())) == (1, 1)


def test_an_order_takes_its_alert_along_and_other_teams_see_none(
    order, report, charlie_tenant
):
    assert alerts(charlie_tenant) == []
    match(report, order)

    delete_user(user=order.user, actor=ACTOR)

    with across_tenants(why="a test"):
        assert escalate_overdue_alerts(at=CAME + timedelta(days=2)) == 0


def test_old_messages_go_with_alerts_that_came_to_no_order(order, report):
    later = CAME + timedelta(days=400)
    assert sum(delete_old_lab_messages(order.tenant, later)) == 0
    acknowledge(order.tenant, report.alert)
    reject_lab_report(report=report, actor=ACTOR, why=WHY)

    assert sum(delete_old_lab_messages(order.tenant, later)) == 1

    assert alerts(order.tenant) == []


@pytest.mark.django_db(transaction=True)
def test_racing_messages_of_the_same_results_open_one_alert(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)

    def take_one(number):
        try:
            with acting_for(alice_tenant):
                return send(order, control=f"C{number}").alert_id
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(take_one, range(4)))

    assert [alert.pk for alert in alerts(alice_tenant)] == [opened[0]]
    assert len(set(opened)) == 1


@pytest.mark.django_db(transaction=True)
def test_a_match_that_races_the_escalation_loses_no_step(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    with time_machine.travel(CAME, tick=False):
        report = send(order)

    def escalate():
        try:
            with across_tenants(why="a test"):
                return escalate_overdue_alerts(at=CAME + timedelta(hours=1))
        finally:
            connection.close()

    def give():
        try:
            with acting_for(alice_tenant):
                match(report, order)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        steps = [pool.submit(escalate), pool.submit(give), pool.submit(escalate)]
        done = sum(step.result() or 0 for step in steps)
    done += escalate()

    (alert,) = alerts(alice_tenant)
    assert (alert.order_id, alert.escalations, done) == (order.pk, 1, 1)
    assert [each["escalation"] for each in mails()] == [0, 1]
