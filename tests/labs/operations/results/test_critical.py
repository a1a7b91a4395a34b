from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core import mail

from accounts.models import NoticeCopy
from accounts.states import Role
from labs.models import CriticalAlert
from labs.operations.results import critical
from labs.operations.results.critical import (
    Acknowledgement,
    MailNotAccepted,
    acknowledge_critical_alert,
    escalate_overdue_alerts,
    mail_critical_alert,
    post_failed_critical_mail_notice,
)
from labs.states.critical import NotificationMethod, compute_next_escalation_time
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.notices import choose
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.jobs import queued
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
CAME = datetime(2026, 3, 2, 9, tzinfo=UTC)
CLINICIAN = Actor(
    ActorKind.MEMBER, "6f0c7f7e-5e52-4a27-9d0b-8f9c3a1f2e10", "nora@assay.example"
)
HIGH = make_reported_result("Potassium", "7.1", flag="HH")
DONE = Acknowledgement(
    action="Sent to hospital",
    notification_method=NotificationMethod.PHONE,
    notified_person="Dr Whitfield",
    notified_at=CAME + timedelta(minutes=10),
    was_read_back=True,
)


def alerts(tenant):
    return list(CriticalAlert.objects.for_tenant(tenant).order_by("pk"))


def mails():
    return [job.inputs for job in queued() if job.name == critical.MAIL_JOB]


@pytest.fixture
def order(alice_tenant):
    with time_machine.travel(CAME, tick=False):
        order = make_order_awaiting_results(tenant=alice_tenant)
        make_results(order=order, results=(HIGH,))
    return order


@pytest.fixture
def alert(order, alice_tenant):
    (alert,) = alerts(alice_tenant)
    return alert


@pytest.fixture
def half_past():
    with time_machine.travel(CAME + timedelta(minutes=30), tick=False):
        yield


def test_a_critical_result_starts_the_clock_of_the_teams_limit(alice_tenant):
    alice_tenant.critical_result_limit_minutes = 45
    alice_tenant.save(update_fields=["critical_result_limit_minutes"])
    order = make_order_awaiting_results(tenant=alice_tenant)

    with time_machine.travel(CAME, tick=False):
        version = make_results(order=order, results=(HIGH,))

    (alert,) = alerts(alice_tenant)
    due = CAME + timedelta(minutes=45)
    assert (alert.order_id, alert.version_id) == (order.pk, version.pk)
    assert (alert.opened_at, alert.due_at, alert.escalate_at) == (CAME, due, due)
    fields = {"tenant_pk": alice_tenant.pk, "alert_id": alert.pk, "escalation": 0}
    assert mails() == [fields]


def test_results_that_are_not_critical_start_no_clock(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)

    make_results(order=order, results=(make_reported_result(text="140", flag="H"),))

    assert alerts(alice_tenant) == []


def test_a_clock_that_runs_is_kept_and_a_new_one_follows_an_acknowledged_one(
    alice_tenant, order, alert, half_past
):
    make_results(
        order=order, results=(make_reported_result("Potassium", "7.4", flag="HH"),)
    )
    running = alerts(alice_tenant)
    acknowledge_critical_alert(
        tenant=alice_tenant,
        actor=CLINICIAN,
        alert_id=alert.pk,
        acknowledgement=DONE,
        name="Nora",
    )
    later = make_results(
        order=order, results=(make_reported_result("Potassium", "7.9", flag="HH"),)
    )

    assert running == [alert]
    first, second = alerts(alice_tenant)
    assert (first.pk, first.version_id) == (alert.pk, alert.version_id)
    assert (second.version_id, second.acknowledged_at) == (later.pk, None)


def test_an_acknowledgement_says_who_when_and_what_was_done(
    alice_tenant, alert, half_past
):
    acknowledge_critical_alert(
        tenant=alice_tenant,
        actor=CLINICIAN,
        alert_id=alert.pk,
        acknowledgement=DONE,
        name="Nora Whitfield",
    )

    (kept,) = alerts(alice_tenant)
    assert kept.acknowledged_at == CAME + timedelta(minutes=30)
    assert (str(kept.member_id), kept.member_name) == (CLINICIAN.key, "Nora Whitfield")
    assert (kept.action, kept.notified_person, kept.notification_method) == (
        "Sent to hospital",
        "Dr Whitfield",
        "phone",
    )
    assert (kept.notified_at, kept.was_read_back) == (DONE.notified_at, True)
    line = ("acknowledge_critical", "critical_alert", str(alert.pk))
    assert audited(alice_tenant)[-1] == line


def test_who_treats_the_patient_tells_nobody(alice_tenant, alert, half_past):
    given = Acknowledgement(
        action="Called the patient in", notification_method=NotificationMethod.TREATING
    )

    kept = acknowledge_critical_alert(
        tenant=alice_tenant,
        actor=CLINICIAN,
        alert_id=alert.pk,
        acknowledgement=given,
        name="N",
    )

    assert (kept.notified_person, kept.notified_at, kept.was_read_back) == (
        "",
        None,
        False,
    )


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"action": "  "}, "action_missing"),
        ({"action": "x" * 1001}, "action_too_long"),
        ({"notification_method": "pigeon"}, "told_by_unknown"),
        ({"notified_person": ""}, "told_missing"),
        ({"notified_person": "x" * 151}, "told_too_long"),
        ({"notified_at": None}, "told_at_missing"),
        ({"notified_at": CAME - timedelta(minutes=1)}, "told_at_early"),
        ({"notified_at": CAME + timedelta(minutes=31)}, "told_at_late"),
        ({"was_read_back": False}, "read_back_missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "given",
)
def test_what_is_not_whole_stops_no_clock(alice_tenant, alert, half_past, wrong, code):
    given = {name: getattr(DONE, name) for name in DONE.__slots__} | wrong
    before = audited(alice_tenant)

    with pytest.raises(DomainError) as caught:
        acknowledge_critical_alert(
            tenant=alice_tenant,
            actor=CLINICIAN,
            alert_id=alert.pk,
            acknowledgement=Acknowledgement(**given),
            name="Nora",
        )

    (kept,) = alerts(alice_tenant)
    assert caught.value.code == code
    assert (kept.acknowledged_at, kept.action) == (None, "")
    assert audited(alice_tenant) == before


@pytest.mark.parametrize(
    ("actor", "whose", "code"),
    [
        (Actor.system("job"), "alice", "actor_not_a_member"),
        (CLINICIAN, "charlie", "critical_alert_not_found"),
    ],
    ids=["system", "stranger"],
)
def test_only_a_member_of_the_team_acknowledges(
    alice_tenant, charlie_tenant, alert, half_past, actor, whose, code
):
    tenant = {"alice": alice_tenant, "charlie": charlie_tenant}[whose]

    with pytest.raises(DomainError) as caught:
        acknowledge_critical_alert(
            tenant=tenant,
            actor=actor,
            alert_id=alert.pk,
            acknowledgement=DONE,
            name="Nora",
        )

    (kept,) = alerts(alice_tenant)
    assert caught.value.code == code
    assert kept.acknowledged_at is None


def test_of_two_acknowledgements_the_first_stands(alice_tenant, alert, half_past):
    fields = {"tenant": alice_tenant, "alert_id": alert.pk, "acknowledgement": DONE}
    acknowledge_critical_alert(**fields, actor=CLINICIAN, name="Nora")

    with pytest.raises(DomainError) as caught:
        acknowledge_critical_alert(**fields, actor=CLINICIAN, name="Yara")

    (kept,) = alerts(alice_tenant)
    assert (caught.value.code, kept.member_name) == ("already_acknowledged", "Nora")


def test_the_teams_address_is_mailed_at_once_and_reads_nothing_of_the_patient(
    alice_tenant,
):
    alice_tenant.critical_result_notification_email = "desk@alice.example"
    alice_tenant.save(update_fields=["critical_result_notification_email"])
    order = make_order_awaiting_results(tenant=alice_tenant)
    with time_machine.travel(CAME, tick=False):
        make_results(order=order, results=(HIGH,))
    (asked,) = mails()

    mail_critical_alert(
        tenant=alice_tenant, alert_id=asked["alert_id"], escalation=asked["escalation"]
    )

    (sent,) = mail.outbox
    assert sent.to == ["desk@alice.example"]
    assert "2 Mar 2026, 09:00 UTC" in sent.body
    assert str(order.pk)[:8] in sent.body
    for secret in ("Potassium", "7.1", "Ada", order.user.client_user_id):
        assert secret not in f"{sent.body}{sent.subject}"


@pytest.mark.parametrize(
    ("minutes", "number"), [(59, 0), (60, 1), (61, 1)], ids=["before", "at", "after"]
)
def test_mail_follows_once_the_limit_has_passed(alice_tenant, alert, minutes, number):
    with across_tenants(why="a test"):
        found = escalate_overdue_alerts(at=CAME + timedelta(minutes=minutes))
        again = escalate_overdue_alerts(at=CAME + timedelta(minutes=minutes))

    (kept,) = alerts(alice_tenant)
    assert (found, again, kept.escalations) == (number, 0, number)
    first, *later = mails()
    fields = {"tenant_pk": alice_tenant.pk, "alert_id": alert.pk}
    assert first == {**fields, "escalation": 0}
    assert later == [{**fields, "escalation": 1}] * number


def test_waits_between_mails_double_up_to_a_day():
    limit, at = timedelta(hours=1), CAME
    waits = []
    for number in range(1, 8):
        following = compute_next_escalation_time(at=at, limit=limit, number=number)
        waits.append((following - at) / timedelta(hours=1))
        at = following

    assert waits == [1, 2, 4, 8, 16, 24, 24]


def test_an_acknowledged_result_is_neither_escalated_nor_mailed(
    alice_tenant, alert, half_past
):
    acknowledge_critical_alert(
        tenant=alice_tenant,
        actor=CLINICIAN,
        alert_id=alert.pk,
        acknowledgement=DONE,
        name="N",
    )

    with across_tenants(why="a test"):
        found = escalate_overdue_alerts(at=CAME + timedelta(days=2))
    mail_critical_alert(tenant=alice_tenant, alert_id=alert.pk, escalation=1)

    assert (found, len(mails()), mail.outbox) == (0, 1, [])


def told(tenant, alert, escalation):
    """To whom one step is mailed."""
    mail.outbox.clear()
    mail_critical_alert(tenant=tenant, alert_id=alert.pk, escalation=escalation)
    return [to.partition("@")[0] for sent in mail.outbox for to in sent.to]


def test_members_are_told_as_they_chose_and_all_who_may_acknowledge_at_last(
    alice_team, alice_tenant, alert
):
    alice_tenant.critical_result_notification_email = "desk@alice.example"
    members = {
        name: make_member(team=alice_team, email=f"{name}@alice.example", roles=(role,))
        for name, role in (
            *(("late", Role.CLINICIAN), ("now", Role.CLINICIAN)),
            *(("off", Role.CLINICIAN), ("daily", Role.VIEWER), ("dev", Role.DEVELOPER)),
        )
    }
    choose(alice_tenant, members["now"], critical_result="at_once")
    choose(alice_tenant, members["off"], critical_result="off")
    choose(alice_tenant, members["daily"], critical_result="daily")

    steps = [told(alice_tenant, alert, escalation) for escalation in (0, 1)]

    assert steps == [["desk", "now"], ["desk", "late", "now"]]
    copies = NoticeCopy.objects.for_tenant(alice_tenant).order_by("pk")
    assert [
        (copy.membership.member.email, copy.by_digest, copy.notice.is_late)
        for copy in copies
    ] == [("daily@alice.example", True, False), ("daily@alice.example", True, True)]
    for name in ("late", "now"):
        choose(alice_tenant, members[name], critical_result="daily")
    assert told(alice_tenant, alert, 2) == ["desk", "late", "now", "off"]
    assert copies.last().membership.member == members["daily"]


def test_where_nobody_may_acknowledge_the_owners_are_mailed(
    alice_team, alice_tenant, alert
):
    for name, role in (("olga", Role.OWNER), ("dev", Role.DEVELOPER)):
        make_member(team=alice_team, email=f"{name}@alice.example", roles=(role,))

    assert told(alice_tenant, alert, 0) == []
    assert told(alice_tenant, alert, 1) == ["olga"]


def test_a_mail_that_the_server_refuses_is_tried_again(
    alice_team, alice_tenant, alert, monkeypatch
):
    make_member(team=alice_team, email="n@alice.example", roles=(Role.CLINICIAN,))

    def refuse(self):
        raise ConnectionRefusedError

    monkeypatch.setattr(critical.EmailMessage, "send", refuse)

    with pytest.raises(MailNotAccepted):
        mail_critical_alert(tenant=alice_tenant, alert_id=alert.pk, escalation=1)
    waiting = NoticeCopy.objects.for_tenant(alice_tenant)
    assert not waiting.exists()
    for _ in range(2):  # after the last run, which may itself run again
        post_failed_critical_mail_notice(
            tenant=alice_tenant, alert_id=alert.pk, escalation=1
        )
    assert [copy.membership.member.email for copy in waiting] == ["n@alice.example"]


def test_a_deleted_users_result_calls_nobody(alice_tenant, order, alert):
    delete_user(user=order.user, actor=ACTOR)

    with across_tenants(why="a test"):
        assert escalate_overdue_alerts(at=CAME + timedelta(days=2)) == 0
