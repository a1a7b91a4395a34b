"""The listener against the client of the `hl7` package, and against hostile peers."""

from __future__ import annotations

import asyncio
import logging
import ssl
import uuid
from contextlib import asynccontextmanager

import pytest
from django.utils import timezone

from labs.gateways.hl7.acknowledgements import (
    build_hl7_acknowledgement,
    parse_hl7_message_header,
)
from labs.gateways.hl7.messages import MAX_FILE_BYTES
from labs.gateways.hl7.mllp import frames as frames_module
from labs.gateways.hl7.mllp import listener as listener_module
from labs.gateways.hl7.mllp.listener import MllpListener, PortSettings
from labs.gateways.hl7.mllp.tls import make_server_context
from tests.factories.hl7 import make_oru, make_test, obx
from tests.labs.gateways.hl7.mllp.peers import (
    HOST,
    ask,
    client_tls,
    free_port,
    lab_client,
    make_identity,
    raw_exchange,
)

MESSAGE = make_oru(make_test(obx()))
ACCOUNT = uuid.uuid4()


@pytest.fixture
def received():
    return []


@pytest.fixture
def identities(tmp_path, settings):
    ours, lab, other = (make_identity(tmp_path, n) for n in ("ours", "lab", "other"))
    settings.MLLP_CERTIFICATE, settings.MLLP_KEY = ours.certificate, ours.key
    return ours, lab, other


@asynccontextmanager
async def listening(received, *, tls=None, pinned=""):
    async def receive(key, content):
        received.append((key, content))
        return build_hl7_acknowledgement(
            parse_hl7_message_header(content), control_id="A1", at=timezone.now()
        )

    listener = MllpListener(host=HOST, receive=receive, now=timezone.now)
    port = free_port()
    listener.set_ports([PortSettings(ACCOUNT, port, tls, pinned)])
    try:
        yield listener, port
    finally:
        await listener.stop()


def run(function, received, **options):
    async def body():
        async with listening(received, **options) as (listener, port):
            return await function(listener, port)

    return asyncio.run(body())


def warnings(caplog):
    return [
        one.getMessage().partition(" closed: ")[2]
        or one.getMessage().partition(" refused: ")[2]
        for one in caplog.records
        if one.levelno == logging.WARNING and one.name == listener_module.__name__
    ]


def msa(acknowledgement):
    segment = acknowledgement.segment("MSA")
    return str(segment[1]), str(segment[2])


def test_a_message_is_answered_on_its_connection(received):
    async def body(_, port):
        async with lab_client(port) as (reader, writer):
            answers = []
            for _ in range(3):
                writer.writeblock(MESSAGE)
                answers.append(msa(await reader.readmessage()))
            return answers

    assert run(body, received) == [("AA", "C1")] * 3
    assert received == [(ACCOUNT, MESSAGE)] * 3


def test_messages_sent_without_waiting_are_answered_in_order(received):
    async def body(_, port):
        async with lab_client(port) as (reader, writer):
            for number in range(5):
                writer.writeblock(MESSAGE.replace(b"|C1|", b"|C%d|" % number))
            return [msa(await reader.readmessage())[1] for _ in range(5)]

    assert run(body, received) == ["C0", "C1", "C2", "C3", "C4"]


def test_line_ends_between_frames_are_skipped(received):
    frame = b"\x0b" + MESSAGE + b"\x1c\r"

    answer = run(
        lambda _, port: raw_exchange(port, frame + b"\r\n" + frame, then_end=True),
        received,
    )

    assert answer.count(b"MSA|AA|C1") == 2


def test_a_lab_with_its_certificate_is_served(received, identities):
    ours, lab, _ = identities
    tls = make_server_context(lab.pem)

    answer = run(
        lambda _, port: ask(port, MESSAGE, tls=client_tls(lab, ours)),
        received,
        tls=tls,
        pinned=lab.pem,
    )

    assert msa(answer) == ("AA", "C1")


@pytest.mark.parametrize("who", ["other", "nobody"])
def test_another_certificate_or_none_is_not_served(received, identities, who, caplog):
    ours, lab, other = identities
    shown = other if who == "other" else None

    with pytest.raises((ssl.SSLError, OSError, asyncio.IncompleteReadError)):
        run(
            lambda _, port: ask(port, MESSAGE, tls=client_tls(shown, ours)),
            received,
            tls=make_server_context(lab.pem),
            pinned=lab.pem,
        )

    assert received == []
    assert len(warnings(caplog)) == 1
    assert warnings(caplog)[0].startswith("TLS failed")


def test_a_certificate_signed_by_the_labs_is_not_the_labs(
    received, identities, caplog, monkeypatch
):
    # As if it had the lab's signature: TLS alone would take it.
    ours, lab, other = identities
    tls = make_server_context(lab.pem + other.pem)

    with pytest.raises((OSError, asyncio.IncompleteReadError)):
        run(
            lambda _, port: ask(port, MESSAGE, tls=client_tls(other, ours)),
            received,
            tls=tls,
            pinned=lab.pem,
        )

    assert received == []
    assert warnings(caplog) == ["certificate of another account"]


def test_without_tls_only_named_networks_connect(
    received, settings, caplog, monkeypatch
):
    monkeypatch.setattr(listener_module, "may_go_unencrypted", lambda _: False)

    answer = run(lambda _, port: raw_exchange(port, b""), received)

    assert answer == b""
    assert warnings(caplog) == ["not a network without TLS"]


@pytest.mark.parametrize(
    ("sent", "answered", "logged"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"", "unframed"),
        (MESSAGE, b"MSA|AE|C1\rERR||", "unframed"),
        (b"\x0b" + MESSAGE + b"\x0b" + MESSAGE + b"\x1c\r", b"MSA|AE|C1", "unframed"),
        (b"\r" * 500, b"", "unframed"),
        (b"\x00" * 100, b"", "unframed"),
        (b"\x0b" + b"\x00" * 100, b"", "cutoff"),
        (b"\x0b" + MESSAGE, b"", "cutoff"),
        (b"\x0b" + MESSAGE + b"\x1c", b"", "cutoff"),
    ],
)
def test_what_is_no_frame_is_answered_or_closed_and_logged_once(
    received, caplog, sent, answered, logged
):
    answer = run(lambda _, port: raw_exchange(port, sent, then_end=True), received)

    assert answered in answer
    assert bool(answer) == bool(answered)
    assert received == []
    assert warnings(caplog) == [logged]


def test_a_message_that_is_too_long_is_refused_at_its_limit(
    received, caplog, monkeypatch
):
    monkeypatch.setattr(frames_module, "MAX_FILE_BYTES", 300_000)
    endless = b"\x0b" + MESSAGE + b"OBX|" + b"x" * 2_000_000

    answer = run(lambda _, port: raw_exchange(port, endless), received)

    # The bytes that were not read may reset the connection before the answer is seen.
    assert answer == b"" or b"MSA|AE|C1\r" in answer
    assert received == []
    assert warnings(caplog) == ["oversized"]


def test_a_message_of_the_largest_size_is_taken(received):
    large = MESSAGE + b"NTE|1||" + b"x" * (MAX_FILE_BYTES - len(MESSAGE) - 8) + b"\r"

    async def body(_, port):
        async with lab_client(port) as (reader, writer):
            writer.writeblock(large)
            return msa(await asyncio.wait_for(reader.readmessage(), 30))

    assert run(body, received) == ("AA", "C1")
    assert received == [(ACCOUNT, large)]


def test_a_message_that_stops_is_given_up(received, caplog, monkeypatch):
    monkeypatch.setattr(listener_module, "MESSAGE_S", 0.2)

    answer = run(lambda _, port: raw_exchange(port, b"\x0bMSH|^~"), received)

    assert answer == b""
    assert warnings(caplog) == ["stalled"]


def test_a_handshake_that_stops_is_given_up(received, identities, caplog, monkeypatch):
    _, lab, _ = identities
    monkeypatch.setattr(listener_module, "HANDSHAKE_S", 0.2)

    answer = run(
        lambda _, port: raw_exchange(port, b"\x16\x03"),
        received,
        tls=make_server_context(lab.pem),
        pinned=lab.pem,
    )

    assert answer == b""
    assert len(warnings(caplog)) == 1


def test_a_port_has_a_limit_of_connections_and_serves_again(received, caplog):
    async def body(listener, port):
        opened = [
            await asyncio.open_connection(HOST, port)
            for _ in range(listener_module.CONNECTIONS_PER_PORT)
        ]
        refused = await raw_exchange(port, b"\x0b")
        counted = listener.count_open(ACCOUNT)
        for _, writer in opened:
            writer.close()
            await writer.wait_closed()
        while listener.count_open(ACCOUNT):
            await asyncio.sleep(0)
        return refused, counted, msa(await ask(port, MESSAGE))

    assert run(body, received) == (b"", 4, ("AA", "C1"))
    assert warnings(caplog) == ["too many connections to this port"]


def test_an_address_has_a_limit_of_connections(received, caplog, monkeypatch):
    monkeypatch.setattr(listener_module, "CONNECTIONS_PER_PEER", 0)

    assert run(lambda _, port: raw_exchange(port, b"\x0b"), received) == b""
    assert warnings(caplog) == ["too many connections of this address"]


def test_what_was_not_stored_is_not_answered(caplog):
    async def receive(_key, _content):
        return None

    async def body():
        listener = MllpListener(host=HOST, receive=receive, now=timezone.now)
        port = free_port()
        listener.set_ports([PortSettings(ACCOUNT, port)])
        answer = await raw_exchange(port, b"\x0b" + MESSAGE + b"\x1c\r")
        await listener.stop()
        return answer

    assert asyncio.run(body()) == b""
    assert warnings(caplog) == ["message not stored"]


def test_no_log_line_has_health_data(received, caplog):
    run(lambda _, port: raw_exchange(port, MESSAGE, then_end=True), received)

    assert "Example" not in caplog.text
    assert "19900517" not in caplog.text


def test_a_stop_lets_the_message_at_hand_be_answered():
    began = asyncio.Event()

    async def receive(_key, content):
        began.set()
        await asyncio.sleep(0.1)
        return build_hl7_acknowledgement(
            parse_hl7_message_header(content), control_id="A1", at=timezone.now()
        )

    async def body():
        listener = MllpListener(host=HOST, receive=receive, now=timezone.now)
        port = free_port()
        listener.set_ports([PortSettings(ACCOUNT, port)])
        asking = asyncio.create_task(raw_exchange(port, b"\x0b" + MESSAGE + b"\x1c\r"))
        await began.wait()
        await listener.stop()
        return await asking

    assert b"MSA|AA|C1" in asyncio.run(body())


def test_a_port_that_is_no_longer_wanted_is_closed(received):
    async def body(listener, port):
        idle = await asyncio.open_connection(HOST, port)
        while not listener.count_open(ACCOUNT):
            await asyncio.sleep(0)
        listener.set_ports([])
        ended = await asyncio.wait_for(idle[0].read(), 5)
        idle[1].close()
        with pytest.raises(OSError):
            await asyncio.open_connection(HOST, port)
        return ended

    assert run(body, received) == b""
