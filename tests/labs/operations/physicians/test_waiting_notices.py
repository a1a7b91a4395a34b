from __future__ import annotations

from datetime import date, timedelta

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import Notice, NoticeMail
from accounts.operations.notices import enqueue_due_notice_mails, send_notice_mail
from labs.operations.physicians.profiles import save_physician_profile
from labs.operations.physicians.waiting_notices import post_approval_notices
from tests.factories.labs import make_order
from tests.factories.notices import choose
from tests.factories.physicians import (
    PhysicianProfile,
    actor_of,
    make_physician,
    require_approval,
)

pytestmark = pytest.mark.django_db
SECOND = "1245319599"


@pytest.fixture(autouse=True)
def now():
    with time_machine.travel("2026-11-24T18:00:00Z", tick=False) as clock:
        yield clock


@pytest.fixture
def tenant(alice_production, alice_tenant):
    require_approval(alice_tenant)
    return alice_tenant


def run(tenant):
    """What the jobs do now; the mails that went out, as (to, number of lines)."""
    mail.outbox.clear()
    post_approval_notices(at=timezone.now())
    enqueue_due_notice_mails(at=timezone.now())
    for one in NoticeMail.objects.for_tenant(tenant).filter(sent_at=None):
        send_notice_mail(tenant=tenant, mail_id=one.pk)
    return sorted(sent.to[0] for sent in mail.outbox)


def test_several_orders_are_one_mail_an_hour_without_health_data(tenant, now):
    make_physician(tenant=tenant)
    orders = [make_order(tenant=tenant) for _ in range(3)]

    first = run(tenant)
    [sent] = mail.outbox
    now.shift(timedelta(minutes=30))
    make_order(tenant=tenant)
    soon = run(tenant)
    now.shift(timedelta(minutes=30))
    later = run(tenant)
    fourth = mail.outbox[0].body
    now.shift(timedelta(hours=2))
    silent = run(tenant)
    now.shift(timedelta(hours=22))
    reminded = run(tenant)

    assert first == later == reminded == ["1234567893@assay.example"]
    assert soon == silent == []
    assert "3 orders wait for your approval." in sent.body
    assert "4 orders wait for your approval." in fourth
    assert "/approvals/" in sent.body
    for said in (
        orders[0].patient_details["last_name"],
        orders[0].lab_test.name,
        orders[0].user.client_user_id,
        str(orders[0].pk)[:8],
    ):
        assert said not in f"{sent.subject}{sent.body}"


def test_who_chose_never_and_who_has_no_license_there_gets_none(tenant):
    quiet = make_physician(tenant=tenant)
    make_physician(tenant=tenant, npi=SECOND, states=("NM",))
    choose(tenant, quiet.member, order_approval="off")
    make_order(tenant=tenant)

    assert run(tenant) == []


def test_a_stand_in_is_mailed_for_who_went_away(tenant, now):
    stand_in = make_physician(tenant=tenant, npi=SECOND, name="Sam Example")
    away = make_physician(tenant=tenant)
    asked = {
        "first_name": away.first_name,
        "last_name": away.last_name,
        "npi": away.npi,
    }
    make_order(tenant=tenant, physician=asked)
    assert run(tenant) == ["1234567893@assay.example"]

    now.shift(timedelta(hours=2))
    save_physician_profile(
        tenant=tenant,
        actor=actor_of(away.member),
        profile=PhysicianProfile(
            first_name=away.first_name,
            last_name=away.last_name,
            npi=away.npi,
            licensed_states=("AZ",),
            stand_in_id=stand_in.pk,
            away_from=date(2026, 11, 24),
            away_until=date(2026, 11, 30),
        ),
    )

    assert run(tenant) == [f"{SECOND}@assay.example"]
    now.shift(timedelta(hours=2))
    assert run(tenant) == []


def test_a_mail_that_a_killed_worker_left_is_sent_by_the_next(tenant, now):
    make_physician(tenant=tenant)
    make_order(tenant=tenant)
    post_approval_notices(at=timezone.now())
    enqueue_due_notice_mails(at=timezone.now())
    # The worker dies here: the mail is a row and a job, neither is lost or doubled.
    post_approval_notices(at=timezone.now())
    enqueue_due_notice_mails(at=timezone.now())

    assert Notice.objects.for_tenant(tenant).count() == 1
    [left] = NoticeMail.objects.for_tenant(tenant)
    assert send_notice_mail(tenant=tenant, mail_id=left.pk)
    assert not send_notice_mail(tenant=tenant, mail_id=left.pk)
    assert len(mail.outbox) == 1
