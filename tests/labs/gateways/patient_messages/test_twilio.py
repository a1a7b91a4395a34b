from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from labs.gateways.patient_messages import twilio
from labs.gateways.patient_messages.base import (
    MessageRefused,
    MessageRejected,
    PatientMessage,
    Receipt,
)
from labs.gateways.patient_messages.twilio import (
    TwilioMessenger,
    find_notice_status,
    is_status_callback_signed,
)
from tests.labs.gateways.twilio_server import MESSAGE, NUMBER, SERVICE, SID, TOKEN
from tests.slow_server import WAYS, serve_slowly

# The example of Twilio's security page and of its client libraries' own tests.
URL = "https://mycompany.com/myapp.php?foo=1&bar=2"
POSTED = {
    "CallSid": ["CA1234567890ABCDE"],
    "Caller": ["+14158675309"],
    "Digits": ["1234"],
    "From": ["+14158675309"],
    "To": ["+18005551212"],
}
SIGNATURE = "RSOYDt4T1cUTdK1PDd93/VVr8B8="
TEXT = PatientMessage(
    to="+15555550123",
    subject="",
    text="North Clinic: your visit is booked.",
    status_url="https://assay.example/texts/status/?notice=x",
)


def messenger(sender=NUMBER, token=TOKEN):
    return TwilioMessenger(SID, token, sender)


def signed(**told):
    given = {"auth_token": "12345", "url": URL, "parameters": POSTED}
    return is_status_callback_signed(**{**given, "signature": SIGNATURE, **told})


def test_a_text_is_a_form_under_the_accounts_token(twilio_server):
    receipt = messenger().send(TEXT)

    assert receipt == Receipt("accepted", MESSAGE)
    assert twilio_server.sent == [
        {
            "To": TEXT.to,
            "Body": TEXT.text,
            "From": NUMBER,
            "StatusCallback": TEXT.status_url,
        }
    ]
    messenger(SERVICE).send(TEXT)
    assert twilio_server.sent[1]["MessagingServiceSid"] == SERVICE
    assert "From" not in twilio_server.sent[1]


@pytest.mark.parametrize("body", [b"no json", [], {}], ids=["text", "list", "empty"])
def test_what_was_taken_counts_as_taken_whatever_the_answer_says(twilio_server, body):
    twilio_server.faults = [(201, body, {})]

    assert messenger().send(TEXT) == Receipt("accepted", "")


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, {"code": 21610, "message": "+15555550123 has unsubscribed"}, "21610"),
        (400, {"code": 21211}, "21211"),
        (404, b"<html>", "404"),
    ],
)
def test_what_is_refused_for_good_says_the_code_alone(
    twilio_server, status, body, code
):
    twilio_server.faults = [(status, body, {})]

    with pytest.raises(MessageRejected) as caught:
        messenger().send(TEXT)

    assert (caught.value.code, str(caught.value)) == (code, code)


@pytest.mark.parametrize("status", [0, 301, 500, 503])
def test_what_may_be_repeated_is_told_apart_and_names_nobody(
    twilio_server, status, caplog
):
    caplog.set_level(logging.DEBUG)
    twilio_server.faults = [(status, {"code": 1, "message": TEXT.to}, {})]

    with pytest.raises(MessageRefused) as caught:
        messenger().send(TEXT)

    assert caught.value.retry_after is None
    for secret in (TEXT.to, TEXT.text, TOKEN):
        assert secret not in f"{caught.value!r}{caplog.text}{messenger()!r}{TEXT!r}"


@pytest.mark.parametrize(
    ("header", "seconds"), [("30", 30), ("0", 1), ("soon", 1), ("99999", 3600)]
)
def test_too_many_requests_say_how_long_to_wait(twilio_server, header, seconds):
    twilio_server.faults = [(429, {"code": 20429}, {"Retry-After": header})]

    with pytest.raises(MessageRefused) as caught:
        messenger().send(TEXT)

    assert caught.value.retry_after == timedelta(seconds=seconds)


@pytest.mark.parametrize("way", ["silent", "head", "body"])
def test_a_server_that_is_never_done_is_given_up(monkeypatch, way):
    monkeypatch.setattr(twilio, "CALL_TIMEOUT", timedelta(seconds=0.3))
    with serve_slowly(*WAYS[way]) as slow:
        monkeypatch.setattr(twilio, "API_URL", slow.url)

        with pytest.raises(MessageRefused):
            messenger().send(TEXT)


def test_an_account_is_looked_up_and_nothing_sent(twilio_server):
    assert messenger().is_account_active()
    twilio_server.account_status = "suspended"
    assert not messenger().is_account_active()
    with pytest.raises(MessageRejected) as caught:
        messenger(token="another").is_account_active()

    assert caught.value.code == "20003"
    assert twilio_server.sent == []


def test_the_published_examples_of_signatures_are_valid():
    several = {"Sid": ["CA123"], "SidAccount": ["AC123"]}

    assert signed()
    assert signed(
        parameters={**several, "Digits": ["5678", "1234", "1234"]},
        signature="IK+Dwps556ElfBT0I3Rgjkr1wJU=",
    )
    assert signed(url=URL.replace(".com/", ".com:443/"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"auth_token": "54321"},
        {"url": f"{URL}&more=1"},
        {"url": URL.replace("https", "http")},
        {"parameters": {**POSTED, "Digits": ["1235"]}},
        {"parameters": {}},
        {"signature": ""},
        {"signature": "ü"},
    ],
)
def test_what_was_changed_is_not_signed(wrong):
    assert not signed(**wrong)


def test_statuses_that_say_nothing_of_a_text_are_none():
    assert find_notice_status("read") == "delivered"
    assert find_notice_status("failed") == "undelivered"
    assert (find_notice_status("received"), find_notice_status("")) == (None, None)
