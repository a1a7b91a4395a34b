from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest
from django.utils import timezone

from tests.slow_server import WAYS, serve_slowly
from tests.users.gateways.oura_server import cut, garbage, status
from users.gateways import http as gateway_http
from users.gateways.base import SourceUnavailable
from users.gateways.http import SourceHttp

PATH = "/v2/usercollection/personal_info"


def ask(oura, **limits):
    with SourceHttp(**limits) as http:
        return http.get(f"{oura.url}{PATH}", params={}, access_token="access-1")


def slow(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "10")
    handler.end_headers()
    handler.wfile.write(b"{")
    handler.wfile.flush()
    handler.connection.settimeout(5)
    handler.rfile.read(1)  # until the caller hangs up


def test_an_answer_is_read_and_no_address_logged(oura, caplog):
    answer = ask(oura)

    assert caplog.records == []
    assert answer.is_success
    assert answer.body["id"] == "oura-user-1"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (status(500), "http_500"),
        (status(503), "http_503"),
        (status(429), "rate_limited"),
        (garbage, "not_json"),
        (cut, "no_answer"),
    ],
    ids=["500", "503", "429", "garbage", "cut"],
)
def test_what_may_be_repeated_says_why(oura, fault, reason):
    oura.faults["personal_info"] = [fault]

    with pytest.raises(SourceUnavailable) as away:
        ask(oura)

    assert away.value.reason == reason
    assert away.value.retry_after is None
    assert oura.url not in str(away.value)


def test_a_source_that_falls_silent_is_hung_up_on(oura):
    oura.faults["personal_info"] = [slow]

    with pytest.raises(SourceUnavailable) as away:
        ask(oura, silence_timeout=timedelta(milliseconds=50))

    assert away.value.reason == "timeout"


@pytest.mark.parametrize("way", WAYS)
def test_a_source_that_drips_is_hung_up_on(way):
    with serve_slowly(*WAYS[way]) as server:
        with pytest.raises(SourceUnavailable) as away:
            ask(server, call_timeout=timedelta(milliseconds=200))

        assert server.is_left()
    assert away.value.reason == "timeout"


def test_an_endless_answer_is_not_kept(oura, monkeypatch):
    monkeypatch.setattr(gateway_http, "ANSWER_MAX_BYTES", 10)

    with pytest.raises(SourceUnavailable) as away:
        ask(oura)

    assert away.value.reason == "too_long"


def test_nobody_at_home_is_no_answer(oura):
    oura.url = "http://127.0.0.1:1"

    with pytest.raises(SourceUnavailable) as away:
        ask(oura)

    assert away.value.reason == "no_answer"


def test_a_redirect_is_not_followed(oura):
    oura.faults["personal_info"] = [status(302, Location=f"{oura.url}/elsewhere")]

    answer = ask(oura)

    assert answer.status == 302
    assert oura.asked_for("/elsewhere") == []


def test_a_wait_is_told_in_seconds_or_as_a_date_and_has_a_limit(oura):
    soon = format_datetime(timezone.now() + timedelta(minutes=10), usegmt=True)
    items = ["90", soon, "9" * 5000, "-1", "soon"]
    oura.faults["personal_info"] = [status(429, Retry_After=each) for each in items]

    waits = []
    for _ in items:
        with pytest.raises(SourceUnavailable) as away:
            ask(oura)
        waits.append(away.value.retry_after)

    seconds, date, *unusable = waits
    assert seconds == timedelta(seconds=90)
    assert date is not None
    assert timedelta(minutes=9) < date <= timedelta(minutes=10)
    assert unusable == [None, None, None]
