from __future__ import annotations

import pytest

from labs.models import Hl7OutboundMessage
from labs.operations.connections.files import exchange_hl7_files
from labs.operations.gateways import get_lab_gateway
from labs.operations.order_status.lab_cancellations import cancel_order_at_lab
from labs.operations.orders import requisitions
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.requisitions import create_requisition
from labs.operations.outbound import EXCHANGE_JOB, send_hl7_message
from tests.factories.accounts import ACTOR
from tests.factories.connections import make_hl7_connection
from tests.factories.labs import make_lab_account, make_lab_test, make_order
from tests.jobs import queued

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hl7_dir")]


@pytest.fixture
def order(alice_production):
    panel = make_lab_test(tenant=alice_production)
    account = make_lab_account(tenant=alice_production, lab=panel.lab)
    make_hl7_connection(tenant=alice_production, account=account)
    return make_order(tenant=alice_production, lab_test=panel)


def sent():
    rows = Hl7OutboundMessage.unscoped.order_by("pk")
    return [(row.control_id[:2], row.order_id, row.status) for row in rows]


def test_an_order_of_a_connected_account_is_queued_and_has_its_requisition(
    order, hl7_dir
):
    create_requisition(tenant=order.tenant, actor=ACTOR, order_id=order.pk)

    order.refresh_from_db()
    row = Hl7OutboundMessage.unscoped.get()
    assert row.control_id == f"NW{order.sample_id}"
    assert f"|{row.control_id}|".encode() in bytes(row.content)
    assert sent() == [("NW", order.pk, "queued")]
    assert order.status.endswith("requisition_created")
    assert not hl7_dir.exists()
    assert EXCHANGE_JOB not in [job.name for job in queued()]


def test_the_same_order_is_queued_once_and_its_cancellation_behind_it(order):
    create_requisition(tenant=order.tenant, actor=ACTOR, order_id=order.pk)
    order.refresh_from_db()
    order.requisition_comment = ""
    get_lab_gateway(order.tenant).request_requisition(order).queue()
    cancel_order_at_lab(tenant=order.tenant, order_id=order.pk)

    assert sent() == [("NW", order.pk, "queued"), ("CA", order.pk, "queued")]


def test_an_order_is_queued_with_its_sample_id_or_not_at_all(order, monkeypatch):
    """A lab answers within milliseconds: its results must find the order."""
    emit = requisitions.enqueue_requisition_mails

    def break_down(locked):
        emit(locked)
        raise LookupError

    with monkeypatch.context() as patched:
        patched.setattr(requisitions, "enqueue_requisition_mails", break_down)
        with pytest.raises(LookupError):
            create_requisition(tenant=order.tenant, actor=ACTOR, order_id=order.pk)
    order.refresh_from_db()
    assert (sent(), order.sample_id) == ([], "")

    def cancel_meanwhile(found):
        cancel_order(order=found, actor=ACTOR)
        return ""

    with monkeypatch.context() as patched:
        patched.setattr(requisitions, "_requisition_comment", cancel_meanwhile)
        create_requisition(tenant=order.tenant, actor=ACTOR, order_id=order.pk)
    assert sent() == []


def test_a_message_for_a_folder_is_written_by_a_worker(alice_tenant, hl7_dir):
    connection = make_hl7_connection(tenant=alice_tenant, transport="folder")
    message = send_hl7_message(
        connection=connection, control_id="R/1", content=b"MSH|x\r"
    )

    assert [(job.name, job.inputs["connection_id"]) for job in queued()] == [
        (EXCHANGE_JOB, str(connection.pk))
    ]
    for _ in range(2):
        exchange_hl7_files(
            tenant=alice_tenant, actor=ACTOR, connection_id=connection.pk
        )

    (path,) = hl7_dir.rglob("*.hl7")
    assert path.name == f"{message.pk:012}-R1.hl7"
    assert path.parent.name == "out"
    assert path.read_bytes() == b"MSH|x\r"
    assert sent() == [("R/", None, "sent")]


def test_a_folder_that_cannot_be_written_keeps_the_message(
    alice_tenant, settings, tmp_path
):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    settings.HL7_DIR = blocked
    connection = make_hl7_connection(tenant=alice_tenant, transport="folder")
    send_hl7_message(connection=connection, control_id="R1", content=b"MSH|x\r")

    exchange_hl7_files(tenant=alice_tenant, actor=ACTOR, connection_id=connection.pk)

    connection.refresh_from_db()
    assert sent() == [("R1", None, "queued")]
    assert connection.fault == "folder"
