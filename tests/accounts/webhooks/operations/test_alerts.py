from __future__ import annotations

from datetime import UTC, datetime, timedelta
from smtplib import SMTPServerDisconnected
from uuid import UUID

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from accounts.models import Notice, NoticeCopy, Team
from accounts.states import Role
from accounts.webhooks.models import Attempt, Delivery, Endpoint
from accounts.webhooks.operations import UserRef
from accounts.webhooks.operations.alerts import (
    MAIL_JOB,
    MailRefused,
    enqueue_failing_endpoint_alerts,
    post_endpoint_alert_notice,
    send_endpoint_alert_mail,
)
from accounts.webhooks.operations.endpoints import change_endpoint, delete_endpoint
from tests.factories.accounts import ACTOR, make_member
from tests.factories.notices import choose
from tests.factories.webhooks import make_endpoint, make_event
from tests.jobs import empty_queue, queued

pytestmark = pytest.mark.django_db

BEGAN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
URL = "https://hooks.north.example/assay/s3cret?token=s3cret"


@pytest.fixture(autouse=True)
def _no_jobs(db):
    empty_queue()


def fail(endpoint, **health):
    """Set the health of an endpoint as the worker would."""
    health = {
        "first_failed_at": BEGAN - timedelta(hours=12),
        "failing_since": BEGAN,
        "last_success_at": BEGAN - timedelta(hours=13),
        **health,
    }
    Endpoint.objects.for_tenant(endpoint.tenant).filter(pk=endpoint.pk).update(**health)


def alerts():
    """The endpoint and step of each mail that is enqueued."""
    return [
        (job.inputs["endpoint_id"], job.inputs["percent"])
        for job in queued()
        if job.name == MAIL_JOB
    ]


@pytest.mark.parametrize(
    ("hours", "percent"),
    [(59, None), (60, 50), (83, 50), (84, 70), (107, 70), (108, 90), (119, 90)],
)
def test_each_step_of_the_five_days_is_told_once(alice_tenant, hours, percent):
    endpoint = make_endpoint(tenant=alice_tenant)
    fail(endpoint)
    at = BEGAN + timedelta(hours=hours)

    items = [
        enqueue_failing_endpoint_alerts(at=at),
        enqueue_failing_endpoint_alerts(at=at + timedelta(minutes=5)),
    ]

    expected = [] if percent is None else [(str(endpoint.uuid), percent)]
    assert items == [len(expected), 0]
    assert alerts() == expected


def test_a_later_step_is_told_after_an_earlier_one(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    fail(endpoint)

    for hours in range(0, 120, 6):
        enqueue_failing_endpoint_alerts(at=BEGAN + timedelta(hours=hours))

    assert [percent for _, percent in alerts()] == [50, 70, 90]


@pytest.mark.parametrize(
    ("disabled_by", "number"), [("failing", 1), ("gone", 1), ("member", 0)]
)
def test_a_disabled_endpoint_is_told_unless_a_member_did_it(
    alice_tenant, disabled_by, number
):
    endpoint = make_endpoint(tenant=alice_tenant)
    fail(endpoint, disabled_at=BEGAN, disabled_by=disabled_by, warned_percent=90)

    items = [
        enqueue_failing_endpoint_alerts(at=BEGAN),
        enqueue_failing_endpoint_alerts(at=BEGAN),
    ]

    assert items == [number, 0]
    assert alerts() == [(str(endpoint.uuid), 100)] * number


def test_an_endpoint_that_is_well_or_deleted_is_not_told(alice_tenant):
    make_endpoint(tenant=alice_tenant)
    ended = make_endpoint(tenant=alice_tenant)
    fail(ended)
    delete_endpoint(endpoint=ended, actor=ACTOR)

    assert enqueue_failing_endpoint_alerts(at=BEGAN + timedelta(days=9)) == 0
    assert alerts() == []


def test_who_may_change_endpoints_is_told_unless_they_chose_otherwise(
    alice_team, alice_tenant, charlie
):
    members = {
        role: make_member(team=alice_team, email=f"{role}@assay.example", roles=(role,))
        for role in Role
    }
    gone = make_member(team=alice_team, email="gone@assay.example")
    gone.is_active = False
    gone.save(update_fields=["is_active"])
    choose(alice_tenant, members[Role.ADMIN], failing_endpoint="off")
    choose(alice_tenant, members[Role.OWNER], failing_endpoint="daily")
    endpoint = make_endpoint(tenant=alice_tenant, url=URL)
    fail(endpoint, warned_percent=50)

    for _ in range(2):  # as a job may run again
        send_endpoint_alert_mail(
            tenant=alice_tenant, endpoint_id=str(endpoint.uuid), percent=50
        )

    assert [sent.to for sent in mail.outbox] == [["developer@assay.example"]] * 2
    (notice,) = Notice.objects.for_tenant(alice_tenant)
    assert notice.words == (
        "hooks.north.example is failing: 50% of the time until it is disabled has"
        " passed."
    )
    (copy,) = notice.copies.select_related("membership__member")
    assert copy.membership.member.email == "owner@assay.example"
    assert copy.by_digest


def test_a_mail_says_what_is_missed_of_whom_and_where_to_look(
    alice, alice_tenant, settings
):
    settings.PUBLIC_URL = "https://assay.example"
    Team.objects.filter(pk=alice_tenant.team_id).update(time_zone="Europe/Lisbon")
    alice_tenant.team.refresh_from_db()
    endpoint = make_endpoint(tenant=alice_tenant, url=URL)
    users = [UserRef(UUID(int=number), "jane@patient.example") for number in range(12)]
    for user in users:
        make_event(tenant=alice_tenant, user=user)
    make_event(
        tenant=alice_tenant, user=users[0], event_type="provider.connection.created"
    )
    delivered = make_event(tenant=alice_tenant)
    log = Delivery.objects.for_tenant(alice_tenant)
    log.filter(event=delivered).update(status="delivered")
    Attempt(
        tenant=alice_tenant,
        delivery=log.first(),
        endpoint=endpoint,
        number=1,
        succeeded=False,
        started_at=BEGAN,
        sent_timestamp=1,
        signature="v1,",
        code=502,
        fault="status",
        body=b"s3cret",
        total_ms=1.0,
    ).save(force_insert=True)
    fail(endpoint, warned_percent=50)

    send_endpoint_alert_mail(
        tenant=alice_tenant, endpoint_id=str(endpoint.uuid), percent=50
    )

    (sent,) = mail.outbox
    assert sent.to == ["alice@assay.example"]
    assert (
        sent.subject
        == "[Sandbox] Webhook endpoint failing: hooks.north.example (Alice Health)"
    )
    lines = sent.body.splitlines()
    assert "since 1 Mar 2026, 21:30 WET" in lines[0]
    assert "on 7 Mar 2026, 09:30 WET" in lines[0]
    assert "50%" in lines[0]
    assert "Last failure: response with status 502." in lines
    assert "Not delivered since then: 13 events." in lines
    assert "12 users affected:" in lines
    assert "  12  lab_report.parsing_job.created" in lines
    assert "  1  provider.connection.created" in lines
    assert [line.strip() for line in lines if line.startswith("  0000")] == [
        str(user.user_uuid) for user in users[:10]
    ]
    assert "  and 2 more" in lines
    link = f"https://assay.example/t/alice-health/sandbox/webhooks/{endpoint.uuid}/"
    assert link in lines
    assert "s3cret" not in sent.body
    assert "jane" not in sent.body


@pytest.mark.parametrize(
    ("disabled_by", "says"), [("failing", "disabled the endpoint"), ("gone", "410")]
)
def test_a_mail_of_the_end_says_that_events_are_kept(
    alice, alice_tenant, disabled_by, says
):
    endpoint = make_endpoint(tenant=alice_tenant, url=URL)
    fail(endpoint, disabled_at=BEGAN, disabled_by=disabled_by, warned_percent=100)

    send_endpoint_alert_mail(
        tenant=alice_tenant, endpoint_id=str(endpoint.uuid), percent=100
    )

    (sent,) = mail.outbox
    assert "Webhook endpoint disabled: hooks.north.example" in sent.subject
    assert says in sent.body
    assert "30 days" in sent.body


def test_an_endpoint_that_was_enabled_meanwhile_is_not_mailed(alice, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    fail(endpoint, disabled_at=BEGAN, disabled_by="failing", warned_percent=100)
    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=False)

    send_endpoint_alert_mail(
        tenant=alice_tenant, endpoint_id=str(endpoint.uuid), percent=100
    )

    assert mail.outbox == []


def test_a_stranger_s_endpoint_is_not_mailed(alice, alice_tenant, charlie_tenant):
    endpoint = make_endpoint(tenant=charlie_tenant)
    fail(endpoint, warned_percent=50)

    send_endpoint_alert_mail(
        tenant=alice_tenant, endpoint_id=str(endpoint.uuid), percent=50
    )

    assert mail.outbox == []


def test_a_mail_that_is_not_taken_is_tried_again(alice, alice_tenant, monkeypatch):
    endpoint = make_endpoint(tenant=alice_tenant)
    fail(endpoint, warned_percent=50)

    def hang_up(_self, _messages):
        raise SMTPServerDisconnected("jane@patient.example")

    monkeypatch.setattr(EmailBackend, "send_messages", hang_up)

    fields = {"tenant": alice_tenant, "endpoint_id": str(endpoint.uuid), "percent": 50}
    with pytest.raises(MailRefused):
        send_endpoint_alert_mail(**fields)
    post_endpoint_alert_notice(**fields)
    (copy,) = NoticeCopy.objects.for_tenant(alice_tenant)
    assert (copy.membership.member, copy.by_digest) == (alice, False)
