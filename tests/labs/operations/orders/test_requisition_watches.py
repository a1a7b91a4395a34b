from __future__ import annotations

from smtplib import SMTPException

import pytest
from django.core import mail

from accounts.states import Role
from labs.models import RequisitionWatch
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.requisition_watches import (
    READY_JOB,
    MailNotAccepted,
    mail_requisition_subscribers,
    subscribe_to_requisition,
)
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.requisition_watches import is_subscribed_to_requisition
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.labs import make_order
from tests.jobs import queued
from tests.labs.holdings import refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(alice_tenant):
    return make_order(tenant=alice_tenant)


def watch(order, member):
    subscribe_to_requisition(order=order, actor=ACTOR, member=member)


def make(order):
    create_requisition(tenant=order.tenant, actor=ACTOR, order_id=order.pk)


def tell(order):
    mail_requisition_subscribers(tenant=order.tenant, order_id=order.pk)


def test_who_waits_for_a_requisition_is_mailed_once_it_is_made(alice, order):
    watch(order, alice)
    watch(order, alice)

    make(order)
    tell(order)
    tell(order)

    (sent,) = mail.outbox
    assert sent.to == [alice.email]
    assert sent.subject.startswith(
        f"[Sandbox] The requisition of order {str(order.pk)[:8]} is ready"
    )
    assert f"/orders/{order.pk}/" in sent.body
    assert not is_subscribed_to_requisition(order=order, member=alice)
    assert [verb for verb, *_ in audited(order.tenant)].count("watch_requisition") == 1


def test_the_mail_is_enqueued_with_the_requisition_and_only_where_somebody_waits(
    alice, alice_tenant, order
):
    watch(order, alice)

    make(order)
    make(make_order(tenant=alice_tenant))

    (job,) = (job for job in queued() if job.name == READY_JOB)
    assert job.inputs == {"tenant_pk": alice_tenant.pk, "order_id": str(order.pk)}


def test_nobody_waits_for_what_is_made_or_called_off(alice, alice_tenant, order):
    make(order)
    ended = make_order(tenant=alice_tenant)
    cancel_order(order=ended, actor=ACTOR)

    for one in (order, ended):
        with refused(alice_tenant, "requisition_not_awaited"):
            watch(one, alice)

    assert not RequisitionWatch.objects.for_tenant(alice_tenant).exists()


def test_who_may_book_no_more_is_not_told(alice_team, order):
    viewer = make_member(team=alice_team, roles=[Role.VIEWER])
    watch(order, viewer)

    make(order)
    tell(order)

    assert mail.outbox == []
    assert not is_subscribed_to_requisition(order=order, member=viewer)


def test_a_mail_that_is_not_taken_is_tried_again(alice, order, monkeypatch):
    watch(order, alice)
    make(order)
    with monkeypatch.context() as broken:
        broken.setattr(
            "labs.operations.orders.requisition_watches.EmailMessage.send", _refuse
        )
        with pytest.raises(MailNotAccepted):
            tell(order)
    assert is_subscribed_to_requisition(order=order, member=alice)

    tell(order)

    assert [sent.to for sent in mail.outbox] == [[alice.email]]


def _refuse(_mail):
    raise SMTPException
