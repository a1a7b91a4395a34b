from __future__ import annotations

from datetime import UTC, datetime

import pytest

from labs.gateways.hl7.messages import parse_hl7_message
from labs.gateways.hl7.orders import CANCEL, NEW, build_hl7_order_messages
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod
from tests.factories.labs import (
    PATIENT,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
QUESTION = {
    "id": 7,
    "code": "LEAD_SOURCE",
    "value": "How was the blood drawn?",
    "type": "choice",
    "required": True,
    "answers": [{"code": "V", "value": "Venous"}],
}


def written(order, control=NEW, comment=""):
    order = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    (raw,) = build_hl7_order_messages(
        order, control=control, sample_id="AS123", comment=comment, at=AT
    ).values()
    return parse_hl7_message(raw)


def named(message, name):
    return [segment for segment in message.segments if segment.name == name]


@pytest.fixture
def order(alice_tenant):
    lab = make_lab()
    markers = (
        make_marker(lab=lab, name="Glucose & more", provider_id="001"),
        make_marker(lab=lab, provider_id="002", aoe_questions=[QUESTION]),
    )
    make_lab_account(tenant=alice_tenant, lab=lab, provider_account_id="ACC|9")
    return make_order(
        tenant=alice_tenant,
        lab_test=make_lab_test(
            tenant=alice_tenant,
            lab=lab,
            markers=markers,
            method=CollectionMethod.ON_SITE_COLLECTION,
        ),
        patient_details={**PATIENT, "last_name": "O'Neil-Example"},
        priority=True,
        icd_codes=("E11.9", "Z00.00"),
        physician={"first_name": "Grace", "last_name": "Hopper", "npi": "1234567893"},
        aoe_answers=({"marker_id": markers[1].pk, "question_id": 7, "answer": "V"},),
    )


def test_an_order_is_written_with_its_patient_account_physician_and_tests(order):
    message = written(order, comment="Draw at rest.\nCall first.")

    assert [segment.name for segment in message.segments] == (
        "MSH PID PV1 ORC TQ1 OBR NTE NTE DG1 DG1 SPM BLG"
        " ORC TQ1 OBR DG1 DG1 OBX SPM BLG".split()
    )
    header = message.header
    assert (message.kind, message.control_id) == ("OML^O21", "NWAS123")
    assert (header.text(4), header.text(7)) == ("ACC|9", "20260301123000+0000")
    (patient,) = named(message, "PID")
    assert patient.components(5)[:2] == ["O'Neil-Example", "Ada"]
    assert (patient.text(7), patient.text(8)) == ("19900517", "F")
    assert patient.components(11) == [
        "1 Sample Street", "", "Phoenix", "AZ", "85004", "USA"
    ]  # fmt: skip
    assert named(message, "PV1")[0].text(20) == "C"
    assert [one.components(4) for one in named(message, "OBR")] == [
        ["001", "Glucose & more", "L"],
        ["002", order.lab_test.markers.get(provider_id="002").name, "L"],
    ]
    assert {one.text(2) for one in named(message, "ORC")} == {"AS123"}
    assert named(message, "ORC")[0].components(12)[:3] == [
        "1234567893", "Hopper", "Grace"
    ]  # fmt: skip
    assert [one.text(9) for one in named(message, "TQ1")] == ["S", "S"]
    assert [one.text(3) for one in named(message, "NTE")] == [
        "Draw at rest.", "Call first."
    ]  # fmt: skip
    assert [one.text(3) for one in named(message, "DG1")[:2]] == ["E11.9", "Z00.00"]
    (answer,) = named(message, "OBX")
    assert (answer.text(3), answer.text(5)) == ("LEAD_SOURCE", "V")
    assert named(message, "SPM")[0].components(4)[:2] == ["SER", "Serum"]


@pytest.mark.parametrize(
    ("container", "specimen"),
    [
        ("edta", ["BLD", "Whole blood"]),
        ("citrate", ["PLAS", "Plasma"]),
        ("serum_plain", ["SER", "Serum"]),
        ("of_tomorrow", ["SER", "Serum"]),
    ],
)
def test_a_sample_is_what_its_tube_holds(order, container, specimen):
    order.lab_test.markers.update(container=container)

    message = written(order)

    assert named(message, "SPM")[0].components(4)[:2] == specimen


def test_a_cancellation_names_the_same_tests(order):
    message = written(order, control=CANCEL)

    assert {one.text(1) for one in named(message, "ORC")} == {"CA"}
    assert [one.text(4) for one in named(message, "OBR")] == ["001", "002"]
    assert {one.text(2) for one in named(message, "OBR")} == {"AS123"}
