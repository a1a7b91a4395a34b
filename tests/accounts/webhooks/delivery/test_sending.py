from __future__ import annotations

import pytest

from accounts.webhooks.delivery.connections import Origin
from accounts.webhooks.delivery.sending import parse_endpoint_target


@pytest.mark.parametrize(
    ("url", "origin", "line", "host"),
    [
        (
            "https://hooks.north.example/in?a=b&c=%20d",
            ("hooks.north.example", 443, True),
            "POST /in?a=b&c=%20d HTTP/1.1",
            "hooks.north.example",
        ),
        (
            "https://Hooks.North.example:8443",
            ("hooks.north.example", 8443, True),
            "POST / HTTP/1.1",
            "hooks.north.example:8443",
        ),
        (
            "http://[2001:db8::1]:80/ä/;x?q=ü",
            ("2001:db8::1", 80, False),
            "POST /%C3%A4/;x?q=%C3%BC HTTP/1.1",
            "[2001:db8::1]",
        ),
        (
            "https://bücher.example/",
            ("xn--bcher-kva.example", 443, True),
            "POST / HTTP/1.1",
            "xn--bcher-kva.example",
        ),
        (
            "https://hooks..example/",
            ("hooks..example", 443, True),
            "POST / HTTP/1.1",
            "hooks..example",
        ),
    ],
    ids=["query", "port", "literal", "international", "no name"],
)
def test_a_url_is_taken_apart_for_the_request(url, origin, line, host):
    target = parse_endpoint_target(url, {"X-Team": "north"})

    assert target.origin == Origin(*origin)
    assert target.head.decode().split("\r\n") == [
        line,
        f"Host: {host}",
        "Accept: */*",
        "X-Team: north",
        "Content-Type: application/json",
        "User-Agent: Assay-Webhooks/1.0",
    ]


def test_a_teams_own_accept_is_sent_alone():
    head = parse_endpoint_target(
        "https://hooks.north.example/", {"accept": "text/x"}
    ).head

    assert head.lower().count(b"accept:") == 1


@pytest.mark.parametrize("header", [{"X": "a\r\nY: b"}, {"X\n": "a"}])
def test_a_header_that_would_begin_another_is_never_sent(header):
    with pytest.raises(ValueError, match="breaks"):
        parse_endpoint_target("https://hooks.north.example/", header)
