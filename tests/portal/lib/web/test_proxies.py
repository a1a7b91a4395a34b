from __future__ import annotations

from ipaddress import ip_network

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpResponse

from portal.lib.web.proxies import TrustedProxyMiddleware, find_client_ip_address

TRUSTED = [ip_network("10.0.0.0/8"), ip_network("2001:db8:ffff::/48")]
PROXY = "10.0.0.1"
CASES = {
    "nobody in between": ("198.51.100.9", "", "198.51.100.9"),
    "a client says it is another": ("198.51.100.9", "192.0.2.1", "198.51.100.9"),
    "one proxy": (PROXY, "192.0.2.1", "192.0.2.1"),
    "one proxy, and what the client said": (
        PROXY,
        "203.0.113.5, 192.0.2.1",
        "192.0.2.1",
    ),
    "two proxies": (PROXY, "203.0.113.5, 192.0.2.1, 10.9.9.9", "192.0.2.1"),
    "a client that says it is a proxy": (PROXY, "10.1.1.1, 192.0.2.1", "192.0.2.1"),
    "a client inside": (PROXY, "10.9.9.9", "10.9.9.9"),
    "a proxy that tells nobody": (PROXY, "", PROXY),
    "no address": (PROXY, "203.0.113.5, unknown", PROXY),
    "an empty entry": (PROXY, "192.0.2.1,", PROXY),
    "with its port": (PROXY, "192.0.2.1:4711", "192.0.2.1"),
    "of ipv6": ("2001:db8:ffff::1", "2001:db8::5", "2001:db8::5"),
    "of ipv6 with its port": (PROXY, "[2001:db8::5]:4711", "2001:db8::5"),
    "a proxy on a socket of ipv6": ("::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"),
    "no peer": ("", "192.0.2.1", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_a_client_is_whom_trusted_proxies_saw(case):
    peer, forwarded, client = CASES[case]

    found = find_client_ip_address(peer=peer, forwarded=forwarded, trusted=TRUSTED)

    assert found == client


def test_the_address_of_a_request_is_its_client_s(rf, settings):
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    serve = TrustedProxyMiddleware(
        lambda request: HttpResponse(request.META["REMOTE_ADDR"])
    )

    answers = [
        serve(
            rf.get("/", REMOTE_ADDR=peer, headers={"X-Forwarded-For": "192.0.2.1"})
        ).content
        for peer in (PROXY, "198.51.100.9")
    ]

    assert answers == [b"192.0.2.1", b"198.51.100.9"]


def test_without_proxies_there_is_nothing_to_do(settings):
    settings.TRUSTED_PROXIES = []

    with pytest.raises(MiddlewareNotUsed):
        TrustedProxyMiddleware(lambda _request: HttpResponse())
