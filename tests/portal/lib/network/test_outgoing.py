from __future__ import annotations

import socket
import ssl
import time
from threading import Event

import httpx
import pytest

from portal.lib.network.outgoing import DeadlineTransport
from tests.slow_server import GIVE_UP_S, WAYS, serve_slowly

# Seconds; the client's own timeout, which no wait of these tests comes near.
SHORT, SILENCE = 0.2, 20.0


def call(url, *, seconds=SHORT, **more):
    transport = DeadlineTransport(
        ssl_context=ssl.create_default_context(),
        ends=time.monotonic() + seconds,
        **more,
    )
    with httpx.Client(transport=transport, timeout=SILENCE) as client:
        return client.get(url)


@pytest.mark.parametrize("way", WAYS)
def test_a_call_ends_in_time_whatever_the_server_sends(way):
    with serve_slowly(*WAYS[way]) as server:
        with pytest.raises(httpx.TimeoutException):
            call(server.url)

        assert server.is_left()


def test_a_handshake_counts_as_well():
    with serve_slowly(b"") as server:
        with pytest.raises(httpx.TimeoutException):
            call(f"https://127.0.0.1:{server.port}/")

        assert server.is_left()


def test_a_look_up_counts_as_well(monkeypatch):
    over, begun = Event(), Event()

    def hang(*_asked, **_more):
        begun.set()
        over.wait(GIVE_UP_S)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", hang)

    with pytest.raises(httpx.TimeoutException):
        call("https://slow.north.example/")

    assert begun.is_set()
    over.set()


def test_nothing_is_asked_once_the_time_is_over(monkeypatch):
    items = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **_: items.append(a))

    with pytest.raises(httpx.TimeoutException):
        call("https://north.example/", seconds=0)

    assert items == []


def test_only_addresses_that_were_chosen_are_connected_to(monkeypatch):
    items = ["10.0.0.1", "192.0.2.7", "192.0.2.7", "192.0.2.8"]
    places = [(2, 1, 6, "", (address, 443)) for address in items]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: places)
    tried = []

    def refuse(address, *_, **__):
        tried.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)

    with pytest.raises(httpx.ConnectError):
        call("https://north.example/", seconds=SILENCE, choose=lambda _, a: a[1:])

    assert tried == [("192.0.2.7", 443), ("192.0.2.8", 443)]


def test_a_name_that_is_not_found_is_no_connection(monkeypatch):
    def fail(*_asked, **_more):
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", fail)

    with pytest.raises(httpx.ConnectError):
        call("https://nowhere.north.example/", seconds=SILENCE)
