from __future__ import annotations

from datetime import timedelta

import pytest

from accounts.webhooks.models import Event
from labs.gateways.hl7.messages import parse_hl7_message
from labs.models import Hl7Connection, InboundMessage, InboundReport, ResultVersion
from labs.operations.connections.receiving import (
    CONTROL_ID_UNIQUE_FOR,
    receive_hl7_message,
)
from labs.operations.inbound.processing import reprocess_malformed_lab_message
from labs.operations.outbound import send_hl7_message
from tests.factories.accounts import ACTOR
from tests.factories.connections import make_hl7_connection
from tests.factories.hl7 import make_oru, make_test, obx

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(alice_tenant):
    return make_hl7_connection(tenant=alice_tenant)


def receive(connection, content):
    return receive_hl7_message(connection=connection, actor=ACTOR, content=content)


def answer(content):
    """MSA-1, MSA-2 and the code of ERR-3."""
    by_name = {one.name: one for one in parse_hl7_message(content).segments}
    error = by_name["ERR"].text(3) if "ERR" in by_name else ""
    return by_name["MSA"].text(1), by_name["MSA"].text(2), error


def oru(value="5.0", control_id="C1"):
    return make_oru(make_test(obx(value=value), placer="X1"), control_id=control_id)


def stored(connection):
    rows = InboundMessage.objects.for_tenant(connection.tenant)
    return sorted(rows.values_list("status", "control_id", "error_code"))


def test_a_message_is_stored_under_its_account_and_answered(connection):
    found = receive(connection, oru())

    assert answer(found) == ("AA", "C1", "")
    row = InboundMessage.objects.for_tenant(connection.tenant).get()
    assert (row.lab_account_id, row.lab_id) == (
        connection.account_id,
        connection.account.lab_id,
    )
    assert Hl7Connection.unscoped.get().last_received_at is not None


def test_the_same_message_again_is_answered_the_same_and_stored_once(connection):
    first = receive(connection, oru())
    events = Event.unscoped.count()

    again = receive(connection, oru().replace(b"\r", b"\r\n"))

    assert again == first
    assert stored(connection) == [("taken", "C1", "")]
    assert InboundReport.unscoped.count() == 1
    assert Event.unscoped.count() == events


def test_other_content_under_a_used_control_id_is_refused_and_shown(connection):
    receive(connection, oru("5.0"))
    versions, events = ResultVersion.unscoped.count(), Event.unscoped.count()

    refused = receive(connection, oru("9.9"))
    repeated = receive(connection, oru("9.9"))

    assert answer(refused) == ("AR", "C1", "205")
    assert repeated == refused
    assert stored(connection) == [("malformed", "C1", "205"), ("taken", "C1", "")]
    assert InboundReport.unscoped.count() == 1
    assert (ResultVersion.unscoped.count(), Event.unscoped.count()) == (
        versions,
        events,
    )


def test_a_person_can_take_what_was_refused_for_its_control_id(connection):
    receive(connection, oru("5.0"))
    receive(connection, oru("9.9"))
    message = InboundMessage.unscoped.get(status="malformed")
    message.tenant = connection.tenant

    reprocess_malformed_lab_message(message=message, actor=ACTOR)

    assert InboundReport.unscoped.count() == 2


def test_a_control_id_may_come_again_after_a_month(connection):
    receive(connection, oru("5.0"))
    row = InboundMessage.unscoped.get()
    InboundMessage.unscoped.update(
        received_at=row.received_at - CONTROL_ID_UNIQUE_FOR - timedelta(minutes=1)
    )

    assert answer(receive(connection, oru("9.9"))) == ("AA", "C1", "")


def test_the_control_ids_of_another_account_are_its_own(connection):
    other = make_hl7_connection(tenant=connection.tenant)
    receive(other, oru("5.0"))

    assert answer(receive(connection, oru("9.9"))) == ("AA", "C1", "")


def test_a_refused_message_may_be_mended_under_its_control_id(connection):
    bad = oru().replace(b"ORU^R01", b"ORU^R99")
    assert answer(receive(connection, bad))[0] == "AR"

    assert answer(receive(connection, oru())) == ("AA", "C1", "")


def test_two_messages_in_one_frame_are_refused(connection):
    found = receive(connection, oru() + oru(control_id="C2"))

    assert answer(found) == ("AE", "C1", "100")
    assert stored(connection) == [("malformed", "C1", "100")]
    assert not InboundReport.unscoped.exists()


def test_a_line_with_nul_is_held(connection):
    found = receive(connection, oru().replace(b"|5.0|", b"|5\x00|"))

    assert answer(found)[:2] == ("AA", "C1")
    assert b"ERR||OBX^1|102^" in found
    report = InboundReport.objects.for_tenant(connection.tenant).get()
    assert [(doubt["place"], doubt["code"]) for doubt in report.doubts] == [
        ("OBX", "102")
    ]
    assert "\x00" not in report.text


def test_no_message_at_all_is_refused(connection):
    found = receive(connection, b"\x00\xff")

    assert answer(found) == ("AE", "", "100")


def ack(kind, control_id, code="AA"):
    return (
        f"MSH|^~\\&|LIS|LAB|ASSAY|1|20261101||{kind}|L1|P|2.5.1\r"
        f"MSA|{code}|{control_id}\r"
    ).encode()


def test_an_acknowledgement_that_comes_by_itself_ends_its_message(connection):
    message = send_hl7_message(connection=connection, control_id="NW1", content=b"x")

    found = receive(connection, ack("ACK^O21", "NW1"))

    message.refresh_from_db()
    assert found == b""
    assert (message.status, message.answer, bytes(message.content)) == (
        "acknowledged",
        "AA",
        b"",
    )


def test_an_order_response_is_acknowledged_and_rejects_its_message(connection):
    message = send_hl7_message(connection=connection, control_id="NW1", content=b"x")

    found = receive(connection, ack("ORL^O22", "NW1", "AE"))

    message.refresh_from_db()
    assert answer(found) == ("AA", "L1", "")
    assert (message.status, bytes(message.content)) == ("rejected", b"x")
    assert stored(connection) == [("refused", "L1", "AE")]


def test_an_own_system_sends_nothing_to_us(alice_tenant):
    own = make_hl7_connection(tenant=alice_tenant)
    own.account = None
    own.save()

    assert receive(own, oru()) == b""
    assert not InboundMessage.unscoped.exists()
