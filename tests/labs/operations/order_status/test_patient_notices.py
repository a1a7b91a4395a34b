from __future__ import annotations

from datetime import timedelta
from smtplib import SMTPException

import pytest
import time_machine
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone
from django.utils.translation import get_language

from accounts.operations.teams.teams import change_team_settings
from labs.gateways.patient_messages.base import MessageRefused
from labs.models import Order, PatientNotice, TextProvider
from labs.operations.order_status.patient_notices import (
    SEND_JOB,
    build_text_status_url,
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
from tests.factories.texts import make_text_provider
from tests.jobs import queued
from tests.labs.gateways.twilio_server import MESSAGE, NUMBER
from users.models import User

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


@pytest.mark.parametrize(
    ("chosen", "subject"),
    [
        ("", "Ihr Testkit ist unterwegs: Alice Health"),
        ("fr", "Votre kit de prélèvement est en route : Alice Health"),
    ],
    ids=["team", "user"],
)
def test_a_message_is_in_the_language_of_its_user_else_of_the_team(
    alice_production, chosen, subject
):
    order = make_kit(alice_production)
    alice_production.patient_language = "de"
    alice_production.save(update_fields=["patient_language"])
    User.objects.for_tenant(alice_production).update(language=chosen)
    order = Order.objects.for_tenant(alice_production).get(pk=order.pk)
    order.tenant = alice_production

    advance_order(order=order, actor=ACTOR, to="transit_customer")
    send(order)

    assert [sent.subject for sent in mail.outbox] == [subject]
    assert get_language() == "en"


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
    without = alice_production_api.get(path)
    make_text_provider(tenant=alice_production)
    before = alice_production_api.get(path)
    changed = alice_production_api.patch(path, {"sms_enabled": False})
    same = alice_production_api.patch(path, {})
    alice_production.lab_tests_patient_email_communication_enabled = False
    alice_production.save()
    order.refresh_from_db()
    order.tenant = alice_production

    advance_order(order=order, actor=ACTOR, to="transit_customer")

    check_answer(before, "get", SETTINGS)
    assert without.json() == {"order_id": str(order.pk), "sms_enabled": False}
    check_answer(changed, "patch", SETTINGS)
    assert before.json() == {"order_id": str(order.pk), "sms_enabled": True}
    assert changed.json() == same.json() == {**before.json(), "sms_enabled": False}
    assert (told(order), sent_jobs()) == ([], [])
    verbs = [verb for verb, *_ in audited(alice_production)]
    assert verbs.count("set_order_texts") == 1


def test_texts_are_not_enabled_where_none_is_sent(
    alice_tenant, alice_api, alice_production, alice_production_api
):
    def is_enabled(api, order):
        return api.get(SETTINGS.format(order_id=order.pk)).json()["sms_enabled"]

    make_text_provider(tenant=alice_tenant)
    make_text_provider(tenant=alice_production)
    in_sandbox, order = make_kit(alice_tenant), make_kit(alice_production)
    asked = alice_api.patch(
        SETTINGS.format(order_id=in_sandbox.pk), {"sms_enabled": True}
    )
    assert asked.json() == {"order_id": str(in_sandbox.pk), "sms_enabled": False}
    assert is_enabled(alice_production_api, order)

    change_team_settings(
        tenant=alice_production,
        actor=ACTOR,
        settings={"lab_tests_patient_sms_communication_enabled": False},
    )

    assert not is_enabled(alice_production_api, order)


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


@pytest.fixture
def texted(alice_production, twilio_server):
    """An order whose patient is about to be texted, and mailed nothing."""
    alice_production.lab_tests_patient_email_communication_enabled = False
    alice_production.save()
    make_text_provider(tenant=alice_production)
    order = make_kit(alice_production)
    order.tenant = alice_production
    advance_order(order=order, actor=ACTOR, to="transit_customer")
    return order


def notice_of(order):
    return PatientNotice.objects.for_tenant(order.tenant).get(order=order)


def test_a_patient_is_texted_once_and_the_number_is_kept_masked(texted, twilio_server):
    send(texted)
    send(texted)

    (form,) = twilio_server.sent
    notice = notice_of(texted)
    number = PATIENT["phone_number"]
    assert (form["To"], form["From"]) == (number, NUMBER)
    assert form["StatusCallback"] == build_text_status_url(notice)
    assert texted.lab_test.name not in form["Body"]
    assert str(texted.pk) not in form["StatusCallback"]
    assert (notice.status, notice.provider_id) == ("accepted", MESSAGE)
    assert (notice.recipient, notice.error_code) == (f"•••{number[-4:]}", "")


def test_a_text_is_not_sent_where_the_account_was_removed(texted, twilio_server):
    TextProvider.objects.for_tenant(texted.tenant).delete()

    send(texted)

    assert (notice_of(texted).status, twilio_server.sent) == ("recorded", [])


def test_in_the_sandbox_no_account_sends(alice_tenant, twilio_server):
    make_text_provider(tenant=alice_tenant)
    order = make_kit(alice_tenant)
    order.tenant = alice_tenant

    advance_order(order=order, actor=ACTOR, to="transit_customer")
    send(order)

    assert told(order)[1] == ("kit_sent", "sms", "recorded")
    assert twilio_server.sent == []


def test_a_patient_who_has_opted_out_gets_no_more_texts(texted, twilio_server):
    twilio_server.faults = [(400, {"code": 21610}, {})]

    send(texted)

    notice = notice_of(texted)
    texted.refresh_from_db()
    assert (notice.status, notice.error_code) == ("refused", "21610")
    assert not texted.sms_enabled
    line = ("set_order_texts", "order", str(texted.pk))
    assert audited(texted.tenant)[-1] == line


def test_a_text_that_is_refused_for_another_reason_leaves_texts_on(
    texted, twilio_server
):
    twilio_server.faults = [(400, {"code": 21211}, {})]

    send(texted)

    texted.refresh_from_db()
    assert (notice_of(texted).error_code, texted.sms_enabled) == ("21211", True)


def test_a_provider_that_asks_for_a_pause_gets_it_for_a_day(texted, twilio_server):
    def refuse(times):
        twilio_server.faults = [(429, {"code": 20429}, {"Retry-After": "90"})] * times

    refuse(1)
    send(texted)
    (later,) = sent_jobs()[1:]
    assert later.inputs["order_id"] == str(texted.pk)
    assert notice_of(texted).status == "waiting"
    refuse(1)
    with (
        time_machine.travel(timezone.now() + timedelta(days=1, hours=1)),
        pytest.raises(MessageRefused),
    ):
        send(texted)
    assert len(sent_jobs()) == 2

    send(texted)

    assert notice_of(texted).status == "accepted"


def test_a_text_whose_answer_is_lost_is_sent_again(texted, twilio_server):
    twilio_server.faults = [(0, b"", {})]
    with pytest.raises(MessageRefused):
        send(texted)
    assert notice_of(texted).status == "waiting"

    send(texted)

    assert len(twilio_server.sent) == 2
    assert notice_of(texted).status == "accepted"


def test_a_mail_that_fails_does_not_hold_up_the_text(
    alice_production, twilio_server, monkeypatch
):
    make_text_provider(tenant=alice_production)
    order = make_kit(alice_production)
    order.tenant = alice_production
    advance_order(order=order, actor=ACTOR, to="transit_customer")

    def refuse(*_args):
        raise SMTPException

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    with pytest.raises(MessageRefused):
        send(order)

    assert [status for _, _, status in told(order)] == ["waiting", "accepted"]
