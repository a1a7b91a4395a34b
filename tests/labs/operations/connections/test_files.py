"""Exchange by SFTP with a real server, that of asyncssh."""

from __future__ import annotations

import hashlib

import asyncssh
import pytest

from labs.gateways.hl7.messages import MAX_FILE_BYTES, parse_hl7_message
from labs.jobs import enqueue_connections_with_files
from labs.models import (
    Hl7Connection,
    Hl7OutboundMessage,
    InboundMessage,
    InboundReport,
)
from labs.operations.connections import files as files_module
from labs.operations.connections.files import exchange_hl7_files
from labs.operations.inbound.repeated_failures import MAX_FAILURES
from labs.operations.outbound import EXCHANGE_JOB, send_hl7_message
from portal.lib.secrets.encryption import encrypt_secret
from tests.factories.accounts import ACTOR
from tests.factories.connections import make_hl7_connection
from tests.factories.hl7 import make_oru, make_test, obx
from tests.jobs import queued
from tests.labs.operations.connections.sftp_server import (
    PASSWORD,
    USER,
    running_sftp_server,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(tmp_path):
    with running_sftp_server(tmp_path / "sftp") as running:
        yield running


@pytest.fixture
def connection(server, alice_tenant, settings):
    settings.LAB_NETWORKS = ["127.0.0.0/8"]
    return make_hl7_connection(
        tenant=alice_tenant,
        transport="sftp",
        port=server.port,
        is_unencrypted=False,
        user_name=USER,
        secret=encrypt_secret(PASSWORD),
        host_key=server.host_key,
        incoming_folder="/from-lab",
        outgoing_folder="/to-lab",
    )


def visit(connection):
    exchange_hl7_files(
        tenant=connection.tenant, actor=ACTOR, connection_id=connection.pk
    )
    connection.refresh_from_db()


def change(connection, **fields):
    Hl7Connection.unscoped.filter(pk=connection.pk).update(**fields)


def codes(server):
    found = []
    for name in server.names("to-lab"):
        content = (server.folder / "to-lab" / name).read_bytes()
        segments = parse_hl7_message(content).segments
        found += [one.text(1) for one in segments if one.name == "MSA"]
    return found


ORU = make_oru(make_test(obx()))


def test_a_file_is_taken_answered_and_removed(server, connection):
    server.put("results.hl7", ORU)

    visit(connection)

    assert InboundMessage.unscoped.get().file_name == "results.hl7"
    assert server.names("from-lab") == []
    assert codes(server) == ["AA"]
    assert (connection.fault, connection.failing_since) == ("", None)
    assert connection.last_received_at is not None


def test_no_name_of_a_file_is_logged(server, connection, caplog):
    server.put("Example-Ada-results.hl7", ORU)

    visit(connection)

    assert "Example" not in caplog.text


def test_a_key_signs_in_as_well(server, connection):
    change(connection, secret=encrypt_secret(server.client_key))
    server.put("results.hl7", ORU)

    visit(connection)

    assert codes(server) == ["AA"]


def test_an_order_is_written_under_its_final_name_once(server, connection):
    message = send_hl7_message(
        connection=connection, control_id="NW1", content=b"MSH|x\r"
    )

    visit(connection)
    (server.folder / "to-lab" / f"{message.pk:012}-NW1.hl7").unlink()
    visit(connection)

    message.refresh_from_db()
    assert server.names("to-lab") == []
    assert message.status == "sent"
    assert connection.last_sent_at is not None


def test_the_answer_of_a_file_ends_the_message(server, connection):
    message = send_hl7_message(
        connection=connection, control_id="NW1", content=b"MSH|x\r"
    )
    visit(connection)
    server.put(
        "ack.hl7",
        b"MSH|^~\\&|LIS|LAB|ASSAY|1|20261101||ACK|L1|P|2.5.1\rMSA|AE|NW1\r",
    )

    visit(connection)

    message.refresh_from_db()
    assert (message.status, message.answer) == ("rejected", "AE")
    assert InboundMessage.unscoped.get().status == "refused"


def test_a_visit_that_ended_before_the_removal_is_repeated(server, connection):
    server.fails.add("remove")
    server.put("results.hl7", ORU)

    visit(connection)
    failed = connection.fault
    server.fails.clear()
    visit(connection)

    assert failed == "folder"
    assert connection.fault == ""
    assert InboundReport.unscoped.count() == 1
    assert codes(server) == ["AA"]
    assert server.names("from-lab") == []


def test_a_file_that_can_never_be_stored_does_not_hold_up_the_next(
    server, connection, monkeypatch, caplog
):
    process = files_module.process_hl7_file_content

    def fail_for_first(*, dropped, **inputs):
        if dropped.name == "1.hl7":
            raise RuntimeError("Example^Ada")
        return process(dropped=dropped, **inputs)

    monkeypatch.setattr(files_module, "process_hl7_file_content", fail_for_first)
    server.put("1.hl7", ORU, age_s=90)
    server.put("2.hl7", make_oru(make_test(obx()), control_id="C2"))

    for _ in range(MAX_FAILURES - 1):
        with pytest.raises(RuntimeError):
            visit(connection)
    assert not InboundMessage.unscoped.exists()
    visit(connection)

    assert InboundMessage.unscoped.get().control_id == "C2"
    assert server.names("from-lab") == ["1.hl7"]
    assert "was not stored: RuntimeError" in caplog.text
    assert "Example" not in caplog.text


def test_files_that_are_being_written_and_other_things_are_left_alone(
    server, connection
):
    folder = server.folder / "from-lab"
    server.put("new.hl7", ORU, age_s=0)
    server.put(".hidden.hl7", ORU)
    server.put("half.part", ORU)
    (folder / "folder.hl7").mkdir()
    (folder / "link.hl7").symlink_to("/etc/hostname")
    before = server.names("from-lab")

    visit(connection)

    assert server.names("from-lab") == before
    assert not InboundMessage.unscoped.exists()


def test_a_file_that_is_too_large_is_refused_once_and_left(server, connection):
    server.put("large.hl7", b"x" * (MAX_FILE_BYTES + 1))

    visit(connection)
    visit(connection)

    assert InboundMessage.unscoped.get().status == "malformed"
    assert server.names("from-lab") == ["large.hl7"]
    assert codes(server) == ["AE"]


@pytest.mark.parametrize(
    ("fault", "changed"),
    [
        ("sign_in", {"secret": "wrong"}),
        ("host_key", {"host_key": "other"}),
        ("folder", {"incoming_folder": "/nowhere"}),
        ("folder", {"outgoing_folder": "/nowhere"}),
        ("unreachable", {"port": 1}),
        ("not_allowed", {"host": "127.0.0.1"}),
    ],
)
def test_a_server_that_cannot_be_used_says_why_and_loses_nothing(
    server, connection, settings, fault, changed, caplog
):
    if "secret" in changed:
        changed = {"secret": encrypt_secret("wrong")}
    if "host_key" in changed:
        other = asyncssh.generate_private_key("ssh-ed25519")
        changed = {"host_key": other.export_public_key().decode()}
    if fault == "not_allowed":
        settings.LAB_NETWORKS = []
    change(connection, **changed)
    server.put("results.hl7", ORU)
    send_hl7_message(connection=connection, control_id="NW1", content=b"MSH|x\r")

    visit(connection)
    visit(connection)

    assert connection.fault == fault
    # A folder to write to is missed once the file is stored: it is answered later.
    assert "results.hl7" in server.names("from-lab")
    assert PASSWORD not in caplog.text
    assert len([r for r in caplog.records if " fails: " in r.getMessage()]) == 1
    if changed != {"incoming_folder": "/nowhere"}:
        assert Hl7OutboundMessage.unscoped.get().status == "queued"


def test_the_clock_visits_every_sftp_server(server, connection):
    make_hl7_connection(tenant=connection.tenant)

    enqueue_connections_with_files()

    assert [(job.name, job.inputs["connection_id"]) for job in queued()] == [
        (EXCHANGE_JOB, str(connection.pk))
    ]


def test_a_digest_of_a_file_is_that_of_its_message(server, connection):
    server.put("results.hl7", ORU.replace(b"\r", b"\r\n"))

    visit(connection)

    assert InboundMessage.unscoped.get().digest == hashlib.sha256(ORU).hexdigest()
