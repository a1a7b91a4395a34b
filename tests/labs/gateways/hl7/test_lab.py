from __future__ import annotations

import pytest

from labs.gateways.base import LabUnavailable
from labs.gateways.hl7.drop import OUT, DropFolder
from labs.gateways.hl7.lab import Hl7Lab
from labs.gateways.hl7.messages import parse_hl7_message
from labs.operations.outbound import send_hl7_messages_of_order
from labs.queries.orders.orders import get_order_with_details
from tests.factories.labs import (
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hl7_dir")]


@pytest.fixture
def order(alice_production):
    panel = make_lab_test(tenant=alice_production)
    make_lab_account(tenant=alice_production, lab=panel.lab)
    placed = make_order(tenant=alice_production, lab_test=panel)
    return get_order_with_details(tenant=alice_production, order_id=placed.pk)


def make_gateway():
    return Hl7Lab(send_hl7_messages_of_order)


def sent(order):
    drop = DropFolder.for_account(
        tenant=order.tenant, lab=order.lab, account=order.lab_account
    )
    return {path.name: path.read_bytes() for path in (drop.path / OUT).iterdir()}


def test_an_order_is_put_into_the_folder_of_its_account_once(order):
    lab = make_gateway()

    answers = {lab.request_requisition(order).sample_id for _ in range(2)}

    ((name, content),) = sent(order).items()
    (sample_id,) = answers
    message = parse_hl7_message(content)
    assert name == f"nw-{order.pk}.hl7"
    assert len(sample_id) == 12
    assert message.header.text(11) == "P"
    assert {one.text(2) for one in message.segments if one.name == "ORC"} == answers


def test_one_message_a_test_is_a_file_each(order):
    order.lab_account.hl7_one_message_per_test = True
    order.lab_test.markers.add(make_marker(lab=order.lab))

    make_gateway().request_requisition(order)

    assert sorted(sent(order)) == [f"nw-{order.pk}-1.hl7", f"nw-{order.pk}-2.hl7"]
    assert len({parse_hl7_message(one).control_id for one in sent(order).values()}) == 2


def test_a_kit_keeps_the_sample_id_that_is_printed_on_it(order):
    order.sample_id = "KIT-1"

    assert make_gateway().request_requisition(order).sample_id == "KIT-1"


def test_a_cancellation_is_a_file_of_its_own(order):
    order.sample_id = "AS1"

    make_gateway().cancel_requisition(order)

    ((name, content),) = sent(order).items()
    assert name == f"ca-{order.pk}.hl7"
    assert b"\rORC|CA|AS1|" in content


def test_a_folder_that_cannot_be_written_is_a_lab_that_cannot_be_reached(
    order, settings, tmp_path
):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    settings.HL7_DIR = blocked

    with pytest.raises(LabUnavailable):
        make_gateway().request_requisition(order)
