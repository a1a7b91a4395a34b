from __future__ import annotations

from smtplib import SMTPException

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from labs.gateways.patient_messages import MessageRefused
from labs.models import PatientNotice
from labs.operations.order_status.patient_notices import (
    SEND_JOB,
    mark_queued_notices_refused,
    send_queued_notices,
)
from labs.operations.order_status.status import advance_order
from labs.operations.orders.requisitions import create_requisition
from tests.audit import audited
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR
from tests.factories.labs import PATIENT, make_lab_test, make_order
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.jobs import queued

pytestmark = pytest.mark.django_db
SETTINGS = "/v3/order/{order_id}/communication_settings"


def told(order):
    rows = PatientNotice.objects.for_tenant(order.tenant).filter(order=order)
    return list(rows.order_by("id").values_list("kind", "channel", "status"))


def send(order):
    send_queued_notices(tenant=order.tenant, order_id=str(order.pk))


def sent_jobs():
    return [job for job in queued() if job.name == SEND_JOB]


def make_kit(tenant):
    order = make_order(
        tenant=tenant, lab_test=make_lab_test(tenant=tenant, method="testkit")
    )
    create_requisition(tenant=tenant, actor=ACTOR, order_id=order.pk)
    order.refresh_from_db()
    return order


def test_a_patient_is_mailed_that_a_kit_is_on_its_way_once(alice_production):
    alice_production.brand_information = {
        "company_name": "Alice & Co",
        "support_email": "care@alice.example",
    }
    alice_production.save(update_fields=["brand_information"])
    order = make_kit(alice_production)
    order.tenant = alice_production

    for low in ("transit_customer", "problem_in_transit_customer", "transit_customer"):
        advance_order(order=order, actor=ACTOR, to=low)
    assert told(order) == [
        ("kit_sent", "email", "waiting"),
        ("kit_sent", "sms", "recorded"),
    ]
    send(order)
    send(order)

    (sent,) = mail.outbox
    assert (sent.to, sent.reply_to) == ([PATIENT["email"]], ["care@alice.example"])
    assert sent.subject == "Your test kit is on its way: Alice & Co"
    assert "care@alice.example" in sent.body
    assert order.lab_test.name not in sent.body + sent.subject
    assert told(order)[0] == ("kit_sent", "email", "sent")
    assert len(sent_jobs()) == 1


def test_nobody_is_told_what_the_team_or_the_order_switched_off(
    alice_production, alice_production_api
):
    order = make_kit(alice_production)
    path = SETTINGS.format(order_id=order.pk)
    before = alice_production_api.get(path)
    changed = alice_production_api.patch(path, {"sms_enabled": False})
    same = alice_production_api.patch(path, {})
    alice_production.lab_tests_patient_email_communication_enabled = False
    alice_production.save()
    order.refresh_from_db()
    order.tenant = alice_production

    advance_order(order=order, actor=ACTOR, to="transit_customer")

    check_answer(before, "get", SETTINGS)
    check_answer(changed, "patch", SETTINGS)
    assert before.json() == {"order_id": str(order.pk), "sms_enabled": True}
    assert changed.json() == same.json() == {**before.json(), "sms_enabled": False}
    assert (told(order), sent_jobs()) == ([], [])
    verbs = [verb for verb, *_ in audited(alice_production)]
    assert verbs.count("set_order_texts") == 1


def test_in_the_sandbox_messages_are_noted_and_nobody_gets_one(alice_tenant):
    order = make_kit(alice_tenant)
    order.tenant = alice_tenant

    advance_order(order=order, actor=ACTOR, to="transit_customer")

    assert told(order) == [
        ("kit_sent", "email", "recorded"),
        ("kit_sent", "sms", "recorded"),
    ]
    assert sent_jobs() == []


@pytest.mark.parametrize(
    ("flag", "kinds"),
    [("", ["requisition_ready", "results_ready"]), ("HH", ["requisition_ready"])],
    ids=["plain", "critical"],
)
def test_critical_results_are_told_by_people(alice_tenant, flag, kinds):
    order = make_order_awaiting_results(tenant=alice_tenant)

    make_results(order=order, results=(make_reported_result(text="400", flag=flag),))

    assert [kind for kind, channel, _ in told(order) if channel == "email"] == kinds


def test_a_mail_that_is_not_taken_waits_and_is_given_up(alice_production, monkeypatch):
    order = make_kit(alice_production)
    order.tenant = alice_production
    advance_order(order=order, actor=ACTOR, to="transit_customer")

    def refuse(*_args):
        raise SMTPException

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    with pytest.raises(MessageRefused):
        send(order)
    waiting = told(order)[0]
    mark_queued_notices_refused(tenant=alice_production, order_id=str(order.pk))

    assert waiting == ("kit_sent", "email", "waiting")
    assert told(order)[0] == ("kit_sent", "email", "refused")
