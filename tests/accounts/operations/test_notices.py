from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
import time_machine
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from accounts.models import Membership, Notice, NoticeCopy, NoticeMail
from accounts.operations.members.members import remove_member, set_member_roles
from accounts.operations.notices import (
    MAIL_JOB,
    NOTICE_RETENTION,
    REST,
    MailRefused,
    change_notice_preferences,
    delete_old_notices,
    enqueue_due_notice_mails,
    record_notice_mailed_by_caller,
    requeue_notices_of_refused_mail,
    send_notice_mail,
)
from accounts.queries.notices import (
    NoticePreferences,
    list_team_notice_recipients,
    preview_notice_mails,
)
from accounts.states import Environment, NoticeKind, NoticeLevel, Role
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member, make_tenant
from tests.factories.notices import choose, make_notice, make_notice_event
from tests.jobs import empty_queue, queued

pytestmark = pytest.mark.django_db
NIGHT = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
MORNING = datetime(2026, 3, 3, 8, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _no_jobs(db):
    empty_queue()


@pytest.fixture
def ada(alice_team, alice_tenant):
    """An owner without choices in the team of the tenant."""
    return make_member(team=alice_team, email="ada@alice.example")


def run(tenant, at):
    """Send what is due; returns (subject, body) of each mail."""
    mail.outbox.clear()
    empty_queue()
    with time_machine.travel(at, tick=False), across_tenants(why="a test"):
        enqueue_due_notice_mails(at=at)
        for job in queued():
            assert job.name == MAIL_JOB
            send_notice_mail(tenant=tenant, mail_id=job.inputs["mail_id"])
    return [(sent.subject, sent.body) for sent in mail.outbox]


def test_a_day_is_one_mail_at_the_hour_of_the_members_zone(alice_tenant, ada, settings):
    settings.PUBLIC_URL = "https://assay.example"
    ada.time_zone = "America/New_York"
    ada.save(update_fields=["time_zone"])
    make_notice(alice_tenant, NIGHT)
    make_notice(alice_tenant, NIGHT + MINUTE, key="fitbit:1")

    early = run(alice_tenant, MORNING)
    ((subject, body),) = run(alice_tenant, MORNING + timedelta(hours=5))
    headers = mail.outbox[0].extra_headers
    again = run(alice_tenant, MORNING + timedelta(hours=6))

    assert (early, again) == ([], [])
    assert subject == "[Sandbox] Daily summary of 3 Mar 2026: 2 notices (Alice Health)"
    assert body.count("  2 Mar, 18:30 EST: Oura has gone silent for 3 users.") == 1
    assert body.count("  2 Mar, 18:31 EST: Oura has gone silent for 3 users.") == 1
    place = "https://assay.example/t/alice-health/sandbox"
    assert f"  {place}/users/?source=oura\n" in body
    assert f"{place}/settings/notifications/" in body
    sent = NoticeMail.objects.for_tenant(alice_tenant).get()
    assert headers == {
        "Message-ID": f"<notices-{sent.pk}@assay.example>",
        "List-Unsubscribe": f"<{place}/settings/notifications/>",
    }


def test_what_comes_late_for_a_digest_waits_for_the_next_day(alice_tenant, ada):
    make_notice(alice_tenant, NIGHT)
    run(alice_tenant, MORNING)
    make_notice(alice_tenant, MORNING - MINUTE, key="late")

    same_day = run(alice_tenant, MORNING + timedelta(hours=9))
    next_day = run(alice_tenant, MORNING + DAY)

    assert (len(same_day), len(next_day)) == (0, 1)
    assert NoticeMail.objects.for_tenant(alice_tenant).count() == 2


def test_a_deleted_team_is_not_mailed(alice_team, alice_tenant, ada):
    make_notice(alice_tenant, NIGHT)
    alice_team.deleted_at = NIGHT
    alice_team.save(update_fields=["deleted_at"])

    assert run(alice_tenant, MORNING) == []


def test_a_mail_is_sent_once_however_often_its_job_runs(alice_tenant, ada):
    make_notice(alice_tenant, NIGHT)
    run(alice_tenant, MORNING)
    mail_id = NoticeMail.objects.for_tenant(alice_tenant).get().pk

    assert send_notice_mail(tenant=alice_tenant, mail_id=mail_id) is False
    assert len(mail.outbox) == 1


def test_a_mail_that_every_run_was_refused_waits_for_another(
    alice_tenant, ada, monkeypatch
):
    def hang_up(_self, _messages):
        raise ConnectionRefusedError

    make_notice(alice_tenant, NIGHT)
    with monkeypatch.context() as patched:
        patched.setattr(EmailBackend, "send_messages", hang_up)
        with pytest.raises(MailRefused):
            run(alice_tenant, MORNING)
    refused = NoticeMail.objects.for_tenant(alice_tenant).get()
    requeue_notices_of_refused_mail(tenant=alice_tenant, mail_id=refused.pk, at=MORNING)

    soon = run(alice_tenant, MORNING + REST - MINUTE)
    later = run(alice_tenant, MORNING + REST)

    assert (len(soon), len(later)) == (0, 1)


@pytest.mark.parametrize(
    ("hour", "held_until"),
    [(21, None), (22, 7), (23, 7), (3, 7), (7, None)],
)
def test_quiet_hours_hold_what_would_come_at_once(alice_tenant, ada, hour, held_until):
    choose(alice_tenant, ada, quiet=(22, 7), silent_source="at_once")
    at = datetime(2026, 3, 2, hour, tzinfo=UTC)

    make_notice(alice_tenant, at)

    copy = NoticeCopy.objects.for_tenant(alice_tenant).get()
    assert not copy.by_digest
    if held_until is None:
        assert copy.due_at == at
    else:
        day = at.date() + DAY * (hour > 12)
        assert copy.due_at == datetime.combine(day, time(held_until), UTC)
    ((subject, _),) = run(alice_tenant, copy.due_at)
    assert subject == ("[Sandbox] Oura has gone silent for 3 users (Alice Health)")


@pytest.mark.parametrize(
    ("environment", "now"),
    [(Environment.PRODUCTION, ["ada@alice.example"]), (Environment.SANDBOX, [])],
)
def test_a_critical_result_of_a_patient_pierces_quiet_hours(
    alice_team, ada, environment, now
):
    tenant = make_tenant(team=alice_team, environment=environment)
    choose(tenant, ada, quiet=(22, 7), critical_result="at_once")
    critical = make_notice_event(NoticeKind.CRITICAL_RESULT, "1-0")

    items = [
        record_notice_mailed_by_caller(tenant=tenant, event=critical, at=NIGHT)
        for _ in range(2)
    ]

    assert items == [now, now]
    copies = NoticeCopy.objects.for_tenant(tenant)
    assert [copy.due_at for copy in copies] == (
        [] if now else [datetime(2026, 3, 3, 7, tzinfo=UTC)]
    )


def test_a_digest_does_not_come_in_quiet_hours(alice_tenant, ada):
    choose(alice_tenant, ada, quiet=(22, 10), digest_hour=6)

    make_notice(alice_tenant, NIGHT)

    copy = NoticeCopy.objects.for_tenant(alice_tenant).get()
    assert copy.due_at == datetime(2026, 3, 3, 10, tzinfo=UTC)


def test_what_was_switched_off_or_is_no_longer_theirs_is_not_sent(
    alice_team, alice_tenant, ada
):
    other, gone, idle = (
        make_member(team=alice_team, email=f"{name}@alice.example")
        for name in ("other", "gone", "idle")
    )
    make_notice(alice_tenant, NIGHT)
    choose(alice_tenant, ada, silent_source="off")
    remove_member(
        membership=Membership.objects.get(team=alice_team, member=gone), actor=ACTOR
    )
    idle.is_active = False
    idle.save(update_fields=["is_active"])

    run(alice_tenant, MORNING)

    assert [sent.to for sent in mail.outbox] == [[other.email]]
    assert NoticeMail.objects.for_tenant(alice_tenant).filter(sent_at=None).count() == 0


def test_choices_keep_what_differs_from_the_usual_and_are_audited(alice_tenant, ada):
    empty = audited(alice_tenant)
    kept = choose(alice_tenant, ada, quiet=(22, 7), failing_endpoint="daily")
    again = choose(alice_tenant, ada, quiet=(22, 7), failing_endpoint="daily")

    assert kept.levels == again.levels == {"failing_endpoint": "daily"}
    assert len(audited(alice_tenant)) == len(empty) + 1


def test_a_role_that_goes_takes_its_kinds_along(alice_team, alice_tenant):
    dev = make_member(
        team=alice_team, email="dev@alice.example", roles=(Role.DEVELOPER,)
    )
    make_member(team=alice_team, email="boss@alice.example")
    choose(alice_tenant, dev, failing_endpoint="daily")
    membership = Membership.objects.get(team=alice_team, member=dev)
    set_member_roles(membership=membership, actor=ACTOR, roles=(Role.CLINICIAN,))

    levels = {
        one.membership.pk: one.preferences.levels
        for one in list_team_notice_recipients(alice_tenant)
    }

    assert levels[membership.pk] == {
        NoticeKind.CRITICAL_RESULT: NoticeLevel.LATE,
        NoticeKind.SILENT_SOURCE: NoticeLevel.OFF,
        NoticeKind.FAILED_SOURCE: NoticeLevel.OFF,
    }


@pytest.mark.parametrize(
    ("preferences", "code"),
    [
        (
            NoticePreferences({NoticeKind.SILENT_SOURCE: NoticeLevel.LATE}),
            "level_unknown",
        ),
        (NoticePreferences({}, quiet=(time(7), time(7))), "quiet_empty"),
        (NoticePreferences({}, digest_hour=24), "hour_invalid"),
    ],
    ids=["level", "quiet", "hour"],
)
def test_what_can_not_be_meant_is_refused(alice_tenant, ada, preferences, code):
    before = audited(alice_tenant)
    membership = Membership.objects.get(member=ada)

    with pytest.raises(DomainError) as caught:
        change_notice_preferences(
            tenant=alice_tenant,
            actor=ACTOR,
            membership=membership,
            preferences=preferences,
        )

    assert caught.value.code == code
    assert audited(alice_tenant) == before


def test_a_preview_tells_the_mails_of_a_week_by_wishes_not_kept_yet(alice_tenant, ada):
    week_ago = MORNING - timedelta(days=7)
    for number, at in enumerate(
        (week_ago - MINUTE, NIGHT - DAY, NIGHT, MORNING - 2 * MINUTE, MORNING)
    ):
        make_notice(alice_tenant, at, key=f"oura:{number}")
    recipients = list_team_notice_recipients(alice_tenant)
    (recipient,) = recipients

    def mails(**chosen):
        preferences = NoticePreferences(
            **{"levels": recipient.preferences.levels, **chosen}
        )
        changed = type(recipient)(recipient.membership, preferences, recipient.zone)
        return [
            (each.at, each.is_digest, each.was_held, len(each.notices))
            for each in preview_notice_mails(
                tenant=alice_tenant,
                recipient=changed,
                recipients=recipients,
                now=MORNING,
            )
        ]

    at_once = {NoticeKind.SILENT_SOURCE: NoticeLevel.AT_ONCE}
    assert mails() == [(MORNING, True, False, 2), (MORNING - DAY, True, False, 1)]
    assert mails(levels=at_once, quiet=(time(22), time(7))) == [
        (MORNING, False, False, 1),
        (MORNING - 2 * MINUTE, False, False, 1),
        (MORNING.replace(hour=7), False, True, 1),
        (MORNING.replace(hour=7) - DAY, False, True, 1),
    ]
    assert mails(levels={}) == []


def test_old_notices_go_with_their_mails_unless_they_wait(alice_tenant, ada):
    make_notice(alice_tenant, NIGHT)
    run(alice_tenant, MORNING)
    make_notice(alice_tenant, MORNING, key="waits")

    with across_tenants(why="a test"):
        kept = delete_old_notices(at=NIGHT + NOTICE_RETENTION)
        gone = delete_old_notices(at=MORNING + NOTICE_RETENTION + DAY)

    assert (kept, gone) == (0, 1)
    assert Notice.objects.for_tenant(alice_tenant).get().key == "waits"
    assert NoticeMail.objects.for_tenant(alice_tenant).count() == 0
