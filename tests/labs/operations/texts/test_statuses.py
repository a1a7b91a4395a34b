from __future__ import annotations

import base64
import hmac
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from labs.models import PatientNotice, TextProvider
from labs.operations.order_status import patient_notices
from labs.operations.order_status.patient_notices import (
    build_text_status_url,
    send_queued_notices,
)
from labs.operations.order_status.status import advance_order
from labs.operations.orders.requisitions import create_requisition
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_test, make_order
from tests.factories.texts import make_text_provider
from tests.labs.gateways.twilio_server import MESSAGE, SID, TOKEN
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def notice(alice_production, twilio_server):
    """A text that waits to be sent."""
    alice_production.lab_tests_patient_email_communication_enabled = False
    alice_production.save()
    make_text_provider(tenant=alice_production)
    panel = make_lab_test(tenant=alice_production, method="testkit")
    order = make_order(tenant=alice_production, lab_test=panel)
    create_requisition(tenant=alice_production, actor=ACTOR, order_id=order.pk)
    order.refresh_from_db()
    order.tenant = alice_production
    advance_order(order=order, actor=ACTOR, to="transit_customer")
    return PatientNotice.objects.for_tenant(alice_production).get(order=order)


def send(notice):
    send_queued_notices(tenant=notice.tenant, order_id=str(notice.order_id))


def post(notice, status, *, token=TOKEN, changed=None, url="", **told):
    """What Twilio posts, signed; `changed` after that."""
    url = url or build_text_status_url(notice)
    form = {
        "MessageSid": MESSAGE,
        "MessageStatus": status,
        "AccountSid": SID,
        "To": "+15555550123",
        **told,
    }
    text = url + "".join(f"{name}{form[name]}" for name in sorted(form))
    digest = hmac.digest(token.encode(), text.encode(), "sha1")
    parts = urlsplit(url)
    return Client(enforce_csrf_checks=True).post(
        f"{parts.path}?{parts.query}",
        {**form, **(changed or {})},
        headers={"X-Twilio-Signature": base64.b64encode(digest).decode()},
    )


def told(notice):
    notice.refresh_from_db()
    return notice.status, notice.error_code


def test_a_text_becomes_sent_and_delivered(notice):
    send(notice)
    steps = [told(notice)]
    for status in ("queued", "sent", "delivered"):
        assert post(notice, status).status_code == 204
        steps.append(told(notice))

    accepted, sent, delivered = ("accepted", ""), ("sent", ""), ("delivered", "")
    assert steps == [accepted, accepted, sent, delivered]
    assert notice.reported_at is not None


def test_a_text_that_was_not_delivered_says_why(notice):
    send(notice)

    post(notice, "undelivered", ErrorCode="30006")

    assert told(notice) == ("undelivered", "30006")
    assert notice.order.sms_enabled


def test_statuses_that_come_late_or_twice_change_nothing(notice):
    send(notice)
    post(notice, "delivered")
    told(notice)
    reported = notice.reported_at
    replies = [post(notice, status) for status in ("sent", "delivered", "nonsense")]

    assert [reply.status_code for reply in replies] == [204] * 3
    assert told(notice) == ("delivered", "")
    assert notice.reported_at == reported


def test_a_callback_before_the_answer_counts_and_nothing_is_sent_again(
    notice, twilio_server
):
    post(notice, "sent")

    send(notice)

    assert (told(notice), twilio_server.sent) == (("sent", ""), [])
    assert (notice.provider_id, notice.recipient) == (MESSAGE, "•••0123")


def die_before_the_answer_is_stored(notice, monkeypatch):
    def die(**_given):
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(patient_notices, "set_notice_status", die)
        with pytest.raises(SystemExit):
            send(notice)


def test_a_worker_that_dies_after_sending_sends_once_where_the_callback_came(
    notice, twilio_server, monkeypatch
):
    die_before_the_answer_is_stored(notice, monkeypatch)
    post(notice, "sent")

    send(notice)

    assert (told(notice), len(twilio_server.sent)) == (("sent", ""), 1)


def test_a_worker_that_dies_after_sending_sends_again_where_none_came(
    notice, twilio_server, monkeypatch
):
    die_before_the_answer_is_stored(notice, monkeypatch)
    assert told(notice) == ("waiting", "")

    send(notice)

    assert (told(notice), len(twilio_server.sent)) == (("accepted", ""), 2)


def test_the_callback_of_another_message_of_the_notice_is_not_its(notice):
    send(notice)

    assert post(notice, "failed", MessageSid="SM" + "9" * 32).status_code == 204

    assert told(notice) == ("accepted", "")


def test_an_opt_out_by_callback_switches_the_orders_texts_off(notice):
    send(notice)

    post(notice, "failed", ErrorCode="21610")

    notice.order.refresh_from_db()
    assert told(notice) == ("undelivered", "21610")
    assert not notice.order.sms_enabled


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": "another"},
        {"changed": {"MessageStatus": "failed"}},
        {"changed": {"More": "1"}},
    ],
)
def test_what_is_not_signed_by_the_account_changes_nothing(notice, wrong):
    send(notice)

    assert post(notice, "delivered", **wrong).status_code == 403

    assert told(notice) == ("accepted", "")


def test_a_url_that_is_not_ours_or_of_a_deleted_user_is_not_found(notice):
    send(notice)
    url = build_text_status_url(notice)
    token = parse_qs(urlsplit(url).query)["notice"][0]
    forged = url.replace(token, token[:-3] + "AAA")
    answers = [
        post(notice, "sent", url=forged),
        post(notice, "sent", url=url.partition("?")[0]),
    ]
    assert [reply.status_code for reply in answers] == [404, 404]
    delete_user(user=notice.order.user, actor=ACTOR)

    assert post(notice, "sent").status_code == 404


def test_without_the_account_no_status_is_taken_and_only_posts_are(notice):
    assert Client().get(build_text_status_url(notice)).status_code == 405
    TextProvider.objects.for_tenant(notice.tenant).delete()

    assert post(notice, "sent").status_code == 404

    assert told(notice) == ("waiting", "")
