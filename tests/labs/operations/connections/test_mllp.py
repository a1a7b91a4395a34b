"""The whole process against the client and server of the `hl7` package."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from labs.models import Hl7Connection, Hl7OutboundMessage, InboundMessage
from labs.operations.connections import mllp as mllp_module
from labs.operations.connections.mllp import MllpProcess
from labs.operations.connections.receiving import receive_hl7_message
from labs.operations.inbound.repeated_failures import MAX_FAILURES
from labs.operations.outbound import send_hl7_message
from tests.factories.connections import make_hl7_connection
from tests.factories.hl7 import make_oru, make_test, obx
from tests.labs.gateways.hl7.mllp.peers import (
    acknowledge,
    ask,
    client_tls,
    free_port,
    lab_server,
    make_identity,
    raw_exchange,
    server_tls,
)

pytestmark = pytest.mark.django_db(transaction=True)

ORDER = b"MSH|^~\\&|ASSAY|1|lab|Lab|20261101||OML^O21^OML_O21|%s|P|2.5.1\rPID|1\r"


@pytest.fixture(autouse=True)
def _local(settings, monkeypatch):
    settings.LAB_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr(mllp_module, "QUEUE_POLL_S", 0.02)
    monkeypatch.setattr(mllp_module, "REPORT_POLL_S", 0.1)


@pytest.fixture
def connection(alice_tenant):
    return make_hl7_connection(
        tenant=alice_tenant, port=free_port(), listen_port=free_port()
    )


@asynccontextmanager
async def running():
    process = MllpProcess()
    task = asyncio.create_task(process.run())
    try:
        yield process
    finally:
        process.stop()
        await task


async def until(condition):
    """Poll by the database until something holds."""
    async with asyncio.timeout(20):
        while not await sync_to_async(condition)():
            await asyncio.sleep(0.01)


async def until_open(port):
    async with asyncio.timeout(20):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.01)
                continue
            writer.close()
            await writer.wait_closed()
            return


def run(body):
    async def whole():
        try:
            return await body()
        finally:
            await sync_to_async(connections.close_all)()

    return asyncio.run(whole())


def queue(connection, *control_ids):
    return [
        send_hl7_message(
            connection=connection, control_id=each, content=ORDER % each.encode()
        )
        for each in control_ids
    ]


def statuses():
    rows = Hl7OutboundMessage.unscoped.order_by("pk")
    return list(rows.values_list("control_id", "status", "answer", "answer_code"))


def ended():
    return not Hl7OutboundMessage.unscoped.filter(status="queued").exists()


def test_what_a_lab_sends_is_stored_and_answered(connection):
    async def body():
        async with running():
            await until_open(connection.listen_port)
            return await ask(connection.listen_port, make_oru(make_test(obx())))

    answer = run(body)

    assert str(answer.segment("MSA")) == "MSA|AA|C1"
    assert InboundMessage.unscoped.get().lab_account_id == connection.account_id
    assert Hl7Connection.unscoped.get().seen_at is not None


def test_tls_with_certificates_goes_both_ways(alice_tenant, tmp_path, settings):
    ours, lab = make_identity(tmp_path, "ours"), make_identity(tmp_path, "lab")
    settings.MLLP_CERTIFICATE, settings.MLLP_KEY = ours.certificate, ours.key
    connection = make_hl7_connection(
        tenant=alice_tenant,
        port=free_port(),
        listen_port=free_port(),
        is_unencrypted=False,
        peer_certificates=lab.pem,
    )
    queue(connection, "NW1")

    async def body():
        tls = server_tls(lab, ours)
        async with lab_server(acknowledge, port=connection.port, tls=tls), running():
            await until(ended)
            await until_open(connection.listen_port)
            message = make_oru(make_test(obx()))
            return await ask(connection.listen_port, message, tls=client_tls(lab, ours))

    assert str(run(body).segment("MSA")) == "MSA|AA|C1"
    assert statuses() == [("NW1", "acknowledged", "AA", "")]


def test_a_server_with_another_certificate_gets_nothing(
    alice_tenant, tmp_path, settings
):
    ours, lab, other = (make_identity(tmp_path, n) for n in ("ours", "lab", "other"))
    settings.MLLP_CERTIFICATE, settings.MLLP_KEY = ours.certificate, ours.key
    connection = make_hl7_connection(
        tenant=alice_tenant,
        port=free_port(),
        is_unencrypted=False,
        peer_certificates=lab.pem,
    )
    queue(connection, "NW1")
    seen = []

    async def body():
        tls = server_tls(other, ours)
        async with lab_server(seen.append, port=connection.port, tls=tls), running():
            await until(Hl7Connection.unscoped.exclude(fault="").exists)

    run(body)

    assert seen == []
    assert Hl7Connection.unscoped.get().fault == "certificate"
    assert statuses() == [("NW1", "queued", "", "")]


def test_messages_are_sent_in_order_on_one_connection(connection):
    names = [f"NW{number}" for number in range(20)]
    queue(connection, *names)
    seen = []

    def answer(message):
        seen.append(str(message.segment("MSH")[10]))
        return acknowledge(message)

    async def body():
        async with lab_server(answer, port=connection.port), running():
            await until(ended)

    run(body)

    assert seen == names
    assert {row[1] for row in statuses()} == {"acknowledged"}
    assert InboundMessage.unscoped.filter(status="taken").count() == 20


def test_a_message_without_answer_is_repeated_under_its_control_id(
    connection, monkeypatch
):
    monkeypatch.setattr("labs.operations.connections.answers.LONGEST_WAIT_S", 0)
    queue(connection, "NW1")
    seen = []

    def answer(message):
        seen.append(str(message))
        return acknowledge(message) if len(seen) == 3 else None

    async def body():
        async with lab_server(answer, port=connection.port), running():
            await until(ended)

    run(body)

    assert len(seen) == 3
    assert len(set(seen)) == 1
    assert statuses() == [("NW1", "acknowledged", "AA", "")]
    assert Hl7Connection.unscoped.get().failing_since is None


@pytest.mark.parametrize(("code", "error"), [("AE", "101"), ("AR", "200")])
def test_a_rejected_order_is_shown_and_the_next_one_sent(connection, code, error):
    queue(connection, "NW1", "NW2")

    def answer(message):
        is_first = str(message.segment("MSH")[10]) == "NW1"
        return acknowledge(message, *((code, error) if is_first else ()))

    async def body():
        async with lab_server(answer, port=connection.port), running():
            await until(ended)

    run(body)

    assert statuses() == [
        ("NW1", "rejected", code, error),
        ("NW2", "acknowledged", "AA", ""),
    ]
    assert InboundMessage.unscoped.filter(status="refused").count() == 1


def test_a_message_that_is_put_off_is_repeated_and_then_rejected(
    connection, monkeypatch
):
    monkeypatch.setattr("labs.operations.connections.answers.LONGEST_WAIT_S", 0)
    monkeypatch.setattr("labs.operations.connections.answers.MAX_PUT_OFF", 3)
    queue(connection, "NW1")
    seen = []

    def answer(message):
        seen.append(str(message.segment("MSH")[10]))
        return acknowledge(message, "AR")

    async def body():
        async with lab_server(answer, port=connection.port), running():
            await until(ended)

    run(body)

    assert seen == ["NW1"] * 3
    assert statuses() == [("NW1", "rejected", "AR", "")]


def test_a_message_whose_answer_fails_is_put_off_and_not_sent_without_end(
    connection, monkeypatch, caplog
):
    def fail(**_):
        raise RuntimeError("Example^Ada")

    monkeypatch.setattr(mllp_module, "record_hl7_answer", fail)
    (message,) = queue(connection, "NW1")
    seen = []

    def answer(received):
        seen.append(str(received.segment("MSH")[10]))
        return acknowledge(received)

    async def body():
        async with lab_server(answer, port=connection.port), running():
            await until(Hl7OutboundMessage.unscoped.filter(attempts=1).exists)
            await asyncio.sleep(0.2)  # ten looks at the queue

    run(body)

    message.refresh_from_db()
    assert seen == ["NW1"]
    assert (message.status, message.attempts) == ("queued", 1)
    assert Hl7Connection.unscoped.get().fault == "bad_answer"
    assert "sending failed: RuntimeError" in caplog.text
    assert "Example" not in caplog.text


def test_an_answer_to_another_message_is_not_taken_for_ours(connection, monkeypatch):
    queue(connection, "NW1")

    def answer(message):
        text = str(acknowledge(message)) + "\x1c\r\x0b" + str(acknowledge(message))
        return _Text(text.replace("|NW1", "|OLD", 1))

    async def body():
        async with lab_server(answer, port=connection.port), running():
            await until(ended)

    run(body)

    assert statuses() == [("NW1", "acknowledged", "AA", "")]


class _Text(str):
    """What the package's writer encodes as it is."""


def test_a_private_address_is_not_called_unless_allowed(connection, settings, caplog):
    settings.LAB_NETWORKS = []
    queue(connection, "NW1")
    seen = []

    async def body():
        async with lab_server(seen.append, port=connection.port), running():
            await until(Hl7Connection.unscoped.exclude(fault="").exists)

    run(body)

    assert seen == []
    assert Hl7Connection.unscoped.get().fault == "not_allowed"
    assert [
        one.getMessage() for one in caplog.records if one.levelno == logging.WARNING
    ] == [f"HL7 connection {connection.pk} fails: not_allowed"]


def test_a_suspended_account_is_neither_listened_to_nor_sent_to(connection):
    queue(connection, "NW1")
    connection.account.status = "suspended"
    connection.account.save()

    async def body():
        async with running():
            await asyncio.sleep(0.3)
            return await raw_open(connection.listen_port)

    assert run(body) is False
    assert statuses() == [("NW1", "queued", "", "")]


async def raw_open(port):
    try:
        await raw_exchange(port, b"", then_end=True)
    except OSError:
        return False
    return True


def test_only_one_process_sends(connection):
    Hl7Connection.unscoped.update(
        sender="00000000-0000-0000-0000-000000000001",
        sender_until="2100-01-01T00:00:00Z",
    )
    queue(connection, "NW1")
    seen = []

    async def body():
        async with lab_server(seen.append, port=connection.port), running():
            await until_open(connection.listen_port)
            await asyncio.sleep(0.2)

    run(body)

    assert seen == []
    assert statuses() == [("NW1", "queued", "", "")]


def test_the_same_message_over_two_connections_at_once_is_stored_once(connection):
    async def body():
        async with running():
            await until_open(connection.listen_port)
            message = make_oru(make_test(obx()))
            return await asyncio.gather(
                *(ask(connection.listen_port, message) for _ in range(3))
            )

    answers = run(body)

    assert {str(each.segment("MSA")) for each in answers} == {"MSA|AA|C1"}
    assert InboundMessage.unscoped.count() == 1


def test_a_message_that_could_not_be_stored_gets_no_answer(
    connection, monkeypatch, caplog
):
    calls = []

    def receive(**inputs):
        calls.append(inputs)
        if len(calls) == 1:
            raise RuntimeError("Example^Ada")
        return receive_hl7_message(**inputs)

    monkeypatch.setattr(mllp_module, "receive_hl7_message", receive)
    message = b"\x0b" + make_oru(make_test(obx())) + b"\x1c\r"

    async def body():
        async with running():
            await until_open(connection.listen_port)
            first = await raw_exchange(connection.listen_port, message)
            return first, await raw_exchange(
                connection.listen_port, message, then_end=True
            )

    first, again = run(body)

    assert first == b""
    assert b"MSA|AA|C1" in again
    assert "Example" not in caplog.text


def test_a_message_that_can_never_be_stored_does_not_hold_up_the_next(
    connection, monkeypatch, caplog
):
    def receive(*, content, **inputs):
        if b"|C1|" in content:
            raise RuntimeError("Example^Ada")
        return receive_hl7_message(content=content, **inputs)

    monkeypatch.setattr(mllp_module, "receive_hl7_message", receive)
    first, second = (
        b"\x0b" + make_oru(make_test(obx()), control_id=each) + b"\x1c\r"
        for each in ("C1", "C2")
    )

    async def body():
        async with running():
            await until_open(connection.listen_port)
            tries = [
                await raw_exchange(connection.listen_port, first)
                for _ in range(MAX_FAILURES - 1)
            ]
            # Both over one connection, as a lab sends its queue.
            last = await raw_exchange(
                connection.listen_port, first + second, then_end=True
            )
            return tries, last

    tries, last = run(body)

    assert tries == [b""] * (MAX_FAILURES - 1)
    assert b"MSA|AR|C1\rERR|||207" in last
    assert b"MSA|AA|C2\r" in last
    assert InboundMessage.unscoped.get().control_id == "C2"
    assert "rejected, not stored" in caplog.text
    assert "Example" not in caplog.text


def test_an_answer_is_only_given_once_the_message_is_committed(connection):
    """What is answered is read over another database connection, at that moment."""

    async def body():
        async with running():
            await until_open(connection.listen_port)
            await ask(connection.listen_port, make_oru(make_test(obx())))
            return await sync_to_async(InboundMessage.unscoped.count)()

    assert run(body) == 1
