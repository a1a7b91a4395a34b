from __future__ import annotations

import gzip

import pytest

from accounts.gateways import openid_http
from accounts.gateways.base import ProviderUnavailable
from accounts.gateways.openid_http import (
    compute_openid_call_deadline,
    request_json_without_redirects,
)
from tests.slow_server import HEAD, WAYS, serve_slowly


@pytest.fixture(autouse=True)
def _local(settings):
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = ["127.0.0.1"]


def test_an_exchange_takes_fifteen_seconds_in_all():
    assert openid_http.EXCHANGE_S == 15.0


@pytest.mark.parametrize("way", WAYS)
def test_a_provider_that_drips_is_cut_off(way, monkeypatch):
    monkeypatch.setattr(openid_http, "EXCHANGE_S", 0.2)

    with serve_slowly(*WAYS[way]) as server:
        with pytest.raises(ProviderUnavailable) as away:
            request_json_without_redirects(
                "POST",
                server.url,
                deadline=compute_openid_call_deadline(),
                form={"code": "c-1"},
            )

        assert server.is_left()
    assert away.value.reason == "timeout"


@pytest.mark.parametrize(
    ("head", "body", "reason"),
    [
        ("Content-Encoding: gzip", gzip.compress(b" " * 50_000_000), "not_json"),
        ("X-Plain: yes", b" " * (1024 * 1024 + 1), "too_long"),
    ],
    ids=["packed", "endless"],
)
def test_an_answer_takes_no_more_than_its_bound(head, body, reason):
    size = f"{head}\r\nContent-Length: {len(body)}\r\n\r\n"

    with (
        serve_slowly(HEAD + size.encode() + body) as server,
        pytest.raises(ProviderUnavailable) as away,
    ):
        request_json_without_redirects(
            "GET", server.url, deadline=compute_openid_call_deadline()
        )

    assert away.value.reason == reason
