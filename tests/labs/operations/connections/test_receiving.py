from __future__ import annotations

from datetime import timedelta

import pytest

from accounts.webhooks.models import Event
from labs.gateways.hl7.messages import parse_hl7_message
from labs.models import (
    CriticalAlert,
    Hl7Connection,
    InboundMessage,
    InboundReport,
    Order,
    Result,
    ResultVersion,
)
from labs.operations.connections.receiving import (
    CONTROL_ID_UNIQUE_FOR,
    receive_hl7_message,
)
from labs.operations.inbound.processing import reprocess_malformed_lab_message
from labs.operations.orders.placing import cancel_order
from labs.operations.outbound import send_hl7_message
from labs.queries.inbound import (
    UnmatchedResultFilters,
    count_lab_messages_and_reports_to_review,
    list_unmatched_results,
)
from labs.states.match_reviews import MatchReviewStatus
from tests.bench.hl7_messages import find_loss
from tests.factories.accounts import ACTOR
from tests.factories.connections import make_hl7_connection
from tests.factories.hl7 import make_oru, make_test, obx, obx_with_document
from tests.factories.inbound import make_order_sent_to_lab
from tests.factories.labs import make_lab_account
from tests.factories.reports import make_pdf

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


HELD = obx(status="?", id="718-7^Hemoglobin^LN")
CRITICAL = obx("29", flag="LL", id="2951-2^Sodium^LN")


def cancel(order):
    cancel_order(order=order, actor=ACTOR)


def leave_without_person(order):
    Order.objects.for_tenant(order.tenant).filter(pk=order.pk).update(
        patient_details=None
    )


def move_to_other_account(order):
    other = make_lab_account(tenant=order.tenant, lab=order.lab)
    Order.objects.for_tenant(order.tenant).filter(pk=order.pk).update(lab_account=other)


@pytest.mark.parametrize(
    ("lines", "change", "reasons"),
    [
        ([obx()], None, ["person_differs"]),
        ([obx(status="P")], None, ["person_differs"]),
        ([obx(status="C")], None, ["person_differs"]),
        ([obx(status="X")], None, ["person_differs"]),
        ([obx("", status="I")], None, ["person_differs"]),
        (["NTE|1||Quantity not sufficient"], None, ["person_differs"]),
        ([obx_with_document(make_pdf())], None, ["person_differs"]),
        ([CRITICAL], None, ["person_differs"]),
        ([obx(), HELD], None, ["held_lines", "person_differs"]),
        ([HELD], None, ["held_lines", "person_differs"]),
        ([CRITICAL.replace("|F|", "|?|")], None, ["held_lines", "person_differs"]),
        (
            [CRITICAL, obx_with_document(make_pdf())],
            cancel,
            ["not_expected", "person_differs"],
        ),
        ([CRITICAL], leave_without_person, ["no_person"] * 2),
        ([CRITICAL], move_to_other_account, ["other_account"] * 2),
    ],
    ids=range(14),
)
def test_what_is_accepted_is_on_its_order_or_in_the_queue_with_a_clock(
    order_at_lab, lines, change, reasons
):
    """Each message also has a patient of no order and one of the same number."""
    order, connection = order_at_lab
    if change is not None:
        change(order)
    placer = order.sample_id
    content = make_oru(
        make_test(*lines, placer=placer),
        ("PID|2||78||Example^Ben||19900517|F", *make_test(CRITICAL, placer=placer)),
        (
            "PID|3||79||Other^Cleo||19700101|F",
            *make_test(obx(), placer="NOBODYS", filler="F-9"),
        ),
    )

    found = receive(connection, content)

    assert answer(found)[:2] == ("AA", "C1")
    message = InboundMessage.objects.for_tenant(connection.tenant).get()
    rows = list(message.reports.select_related("order"))
    # Each line is stored, and what is not held is on the order.
    assert find_loss(content, rows) == ""
    waiting = [row for row in rows if row.order_id is None]
    assert sorted(row.reason for row in waiting) == sorted([*reasons, "no_order"])
    # What waits is counted and listed from the time it came, and announced once.
    queue = count_lab_messages_and_reports_to_review(tenant=connection.tenant)
    assert (queue.reports, queue.since) == (len(waiting), message.received_at)
    listed, number = list_unmatched_results(
        tenant=connection.tenant,
        filters=UnmatchedResultFilters(status=MatchReviewStatus.PENDING),
        after=None,
        limit=50,
    )
    assert ({row.pk for row in listed}, number) == (
        {row.pk for row in waiting},
        len(waiting),
    )
    created = Event.objects.for_tenant(connection.tenant).filter(
        event_type="labtest.match_review.created"
    )
    assert created.count() == len(waiting)
    # A critical value has a clock of its own, with its order or with what waits.
    alerts = CriticalAlert.objects.for_tenant(connection.tenant)
    on_order = Result.objects.for_tenant(connection.tenant).filter(name="Sodium")
    assert alerts.filter(order=order, acknowledged_at=None).count() == on_order.count()
    for row in waiting:
        opened = alerts.filter(reports=row, order=None, acknowledged_at=None)
        assert opened.count() == ("|LL|" in row.text)


@pytest.fixture
def order_at_lab(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=order.lab)
    order.lab_account = account
    order.save()
    return order, make_hl7_connection(tenant=alice_tenant, account=account)
