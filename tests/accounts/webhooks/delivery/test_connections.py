"""Connections to a server that says what a test wrote, byte by byte."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from asyncio import selector_events

import pytest

from accounts.webhooks.delivery import connections
from accounts.webhooks.delivery.connections import Connections, NotConnected, Origin

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
REQUEST = b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"


class Server:
    """Answers each request of REQUEST's form by the next of its `answers`."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.serving = []
        self.ended = asyncio.Event()

    async def serve(self, reader, writer):
        self.serving.append(asyncio.current_task())
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while self.answers and await reader.readuntil(b"\r\n\r\n"):
                writer.write(self.answers.pop(0))
            await reader.read()
        self.ended.set()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@pytest.fixture(autouse=True)
def _loopback_is_let_through(settings):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1", "hooks.local"]


def run(scene, *answers):
    """Run a scene with open connections, a server and the server's origin."""

    async def play():
        server = Server(*answers)
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        origin = Origin("127.0.0.1", port, is_tls=False)
        async with listening:
            async with Connections() as opened:
                seen = await scene(opened, server, origin)
            await asyncio.gather(*server.serving)
        return seen

    return asyncio.run(asyncio.wait_for(play(), 10))


def soon(seconds=5.0):
    return asyncio.get_running_loop().time() + seconds


async def post(opened, origin, request=REQUEST, until=None):
    connection = opened.take(origin) or await opened.open(origin, until=soon())
    answer = await connection.post(request, until=until or soon())
    opened.keep(connection)
    return answer


def test_a_connection_carries_one_message_after_the_other():
    async def scene(opened, server, origin):
        codes = [(await post(opened, origin)).code for _ in range(3)]
        return codes, len(server.serving)

    closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    assert run(scene, NO_CONTENT, closing, NO_CONTENT) == ([204, 200, 204], 2)


@pytest.mark.parametrize(
    "extra", [b"", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["idle", "said"]
)
def test_a_kept_connection_ends_when_it_idles_or_says_what_nobody_asked(
    monkeypatch, extra
):
    monkeypatch.setattr(connections, "KEPT_S", 0.01 if not extra else 5.0)

    async def scene(opened, server, origin):
        await post(opened, origin)
        await server.ended.wait()
        return opened.take(origin)

    assert run(scene, NO_CONTENT + extra) is None


def test_an_answer_before_the_end_of_a_large_body_is_not_held_up_by_it():
    async def scene(opened, _server, origin):
        answer = await post(opened, origin, REQUEST + b"x" * 2**24)
        return answer.code, opened.take(origin)

    assert run(scene, b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n") == (
        413,
        None,
    )


def test_no_answer_in_time_closes_the_connection():
    async def scene(opened, server, origin):
        with pytest.raises(TimeoutError):
            await post(opened, origin, until=soon(-1))
        await server.ended.wait()
        return opened.take(origin)

    assert run(scene, NO_CONTENT) is None


class Names:
    """In place of getaddrinfo: the same addresses for any name, failures before."""

    def __init__(self, port, *addresses, failures=0):
        self.port, self.addresses, self.failures = port, addresses, failures
        self.asked = 0

    def __call__(self, *_asked, **_wanted):
        self.asked += 1
        if self.asked <= self.failures:
            raise socket.gaierror
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, self.port)) for address in self.addresses]


def connecting(monkeypatch, how):
    """Let `how` be asked before each connect; returns the addresses, in turn."""
    tried = []
    really = selector_events.BaseSelectorEventLoop.sock_connect

    async def connect(loop, sock, address):
        tried.append(address[0])
        await how(address[0])
        await really(loop, sock, address)

    monkeypatch.setattr(selector_events.BaseSelectorEventLoop, "sock_connect", connect)
    return tried


async def _refuse(_address):
    raise ConnectionRefusedError


def test_of_a_names_addresses_only_public_ones_are_tried(monkeypatch):
    private = [
        *("10.0.0.1", "127.0.0.1", "169.254.169.254", "192.168.0.1", "192.0.0.8"),
        *("168.63.129.16", "64:ff9b:1::1", "5f00::1", "fec0::1", "::ffff:0:7f00:1"),
    ]
    names = Names(443, *private, "93.184.215.14", "93.184.215.15")
    monkeypatch.setattr(socket, "getaddrinfo", names)
    tried = connecting(monkeypatch, _refuse)

    async def scene(opened, _server, _origin):
        await opened.open(Origin("hooks.north.example", 443, is_tls=True), until=soon())

    with pytest.raises(NotConnected) as refused:
        run(scene)

    assert refused.value.fault == "refused"
    assert tried == ["93.184.215.14", "93.184.215.15"]


def test_an_address_that_hangs_is_passed_over(monkeypatch):
    monkeypatch.setattr(connections, "STAGGER_S", 0.01)

    async def hang(address):
        if address == "192.0.2.1":
            await asyncio.Event().wait()

    async def scene(opened, _server, origin):
        names = Names(origin.port, "192.0.2.1", "127.0.0.1")
        monkeypatch.setattr(socket, "getaddrinfo", names)
        tried = connecting(monkeypatch, hang)
        local = Origin("hooks.local", origin.port, is_tls=False)
        connection = await opened.open(local, until=soon())
        connection.close()
        return tried, connection.address

    assert run(scene) == (["192.0.2.1", "127.0.0.1"], "127.0.0.1")


def test_a_name_is_looked_up_once_for_all_and_again_after_a_failure(monkeypatch):
    async def scene(opened, _server, origin):
        local = Origin("hooks.local", origin.port, is_tls=False)
        names = Names(origin.port, "127.0.0.1", failures=1)
        monkeypatch.setattr(socket, "getaddrinfo", names)
        with pytest.raises(NotConnected) as failed:
            await opened.open(local, until=soon())
        together = await asyncio.gather(
            *(opened.open(local, until=soon()) for _ in range(3))
        )
        later = await opened.open(local, until=soon())
        for each in [*together, later]:
            each.close()
        known = [each.dns_ms is None for each in [*together, later]]
        return failed.value.fault, names.asked, known

    assert run(scene) == ("dns", 2, [False, False, False, True])
