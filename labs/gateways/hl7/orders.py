"""Orders and their cancellations as OML^O21 messages.

Each marker has an ORC and OBR; all share the order's sample id as placer number, as
reference laboratories expect of a requisition.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from labs.gateways.hl7.acknowledgements import (
    APPLICATION,
    CHARACTER_SET,
    VERSION,
    format_hl7_timestamp,
)
from labs.gateways.hl7.messages import build_hl7_message, build_hl7_segment
from labs.states.accounts import Billing
from labs.states.catalogue import (
    SPECIMENS,
    CollectionMethod,
    Container,
    SampleType,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from labs.models import Marker, Order

NEW, CANCEL = "NW", "CA"
_SEX = {"female": "F", "male": "M", "other": "O"}
# Table 0173 as laboratories bill by it: client, third party, patient.
_WHO_PAYS = {
    Billing.CLIENT_BILL: "C",
    Billing.COMMERCIAL_INSURANCE: "T",
    Billing.PATIENT_BILL_PASSTHROUGH: "C",
    Billing.PATIENT_BILL: "P",
    Billing.UPFRONT_PAYMENT: "C",
}
_RELATIONSHIPS = {"Self": "SEL", "Spouse": "SPO", "Other": "OTH"}
# Table 0487.
_SPECIMENS = {
    SampleType.DRIED_BLOOD_SPOT: ("BLDC", "Blood capillary"),
    SampleType.ARM_COLLECTOR: ("BLDC", "Blood capillary"),
    SampleType.SERUM: ("SER", "Serum"),
    SampleType.SALIVA: ("SAL", "Saliva"),
    SampleType.URINE: ("UR", "Urine"),
    SampleType.STOOL: ("STL", "Stool"),
}
# Elsewhere the laboratory's own people take the sample and give it its number.
_OURS_TO_SEND = {CollectionMethod.TESTKIT, CollectionMethod.ON_SITE_COLLECTION}


def build_hl7_order_message(
    order: Order,
    *,
    control: str,
    sample_id: str,
    control_id: str,
    comment: str,
    at: datetime,
) -> bytes:
    """Write an OML^O21 for a new (`NW`) or cancelled (`CA`) order.

    The order's panel, lab, account and user are loaded. `comment` is what the
    requisition prints. Source: HL7 v2.5.1, 4.4.6.
    """
    segments = [
        _header_segment(order, control_id, at),
        _patient_segment(order),
        build_hl7_segment("PV1", {1: "1", 2: "O"}),
        _insurance_segment(order),
    ]
    for number, marker in enumerate(order.lab_test.markers.order_by("pk"), start=1):
        segments += _test_segments(order, marker, number, control, sample_id, comment)
    return build_hl7_message(segments)


def _header_segment(order: Order, control_id: str, at: datetime) -> str:
    account = order.lab_account
    is_sandbox = order.tenant.is_sandbox
    return build_hl7_segment(
        "MSH",
        {
            3: APPLICATION,
            # Laboratories know who sends by the number of the account.
            4: account.provider_account_id if account else order.tenant.team.slug,
            5: order.lab.slug,
            6: order.lab.name,
            7: format_hl7_timestamp(at),
            9: ("OML", "O21", "OML_O21"),
            10: control_id,
            11: "T" if is_sandbox else "P",
            12: VERSION,
            18: CHARACTER_SET,
        },
    )


def _patient_segment(order: Order) -> str:
    details: Mapping[str, Any] = order.patient_details or {}
    address: Mapping[str, Any] = order.patient_address or {}
    return build_hl7_segment(
        "PID",
        {
            1: "1",
            3: (str(order.user.uuid), "", "", APPLICATION, "PI"),
            5: (
                str(details.get("last_name", "")),
                str(details.get("first_name", "")),
                *[""] * 4,
                "L",
            ),
            7: str(details.get("dob", ""))[:10].replace("-", ""),
            8: _SEX.get(str(details.get("gender", "")), "U"),
            11: _address_field(address),
            13: str(details.get("phone_number") or ""),
        },
    )


def _insurance_segment(order: Order) -> str:
    """Build IN1: the payer (IN1-47) and, with insurance, the insured."""
    billing = Billing.known(order.billing_type)
    code = _WHO_PAYS[billing] if billing else "C"
    held: Mapping[str, Any] = order.health_insurance or {}
    details: Mapping[str, Any] = order.patient_details or {}
    insured = held.get("responsible_details") or details
    payor = str(held.get("payor_code") or code)
    fields: dict[int, str | Sequence[str]] = {
        1: "1",
        2: (payor, str(billing.label) if billing else order.billing_type),
        3: payor,
        47: code,
    }
    if held:
        relationship = str(held.get("responsible_relationship") or "Self")
        fields |= {
            16: (str(insured.get("last_name", "")), str(insured.get("first_name", ""))),
            17: _RELATIONSHIPS.get(relationship, "OTH"),
            19: _address_field(insured.get("address") or order.patient_address or {}),
            36: str(held.get("insurance_id") or ""),
        }
    return build_hl7_segment("IN1", fields)


def _test_segments(
    order: Order,
    marker: Marker,
    number: int,
    control: str,
    sample_id: str,
    comment: str,
) -> Iterator[str]:
    physician = _physician_field(order)
    yield build_hl7_segment(
        "ORC",
        {
            1: control,
            2: sample_id,
            4: sample_id,
            9: format_hl7_timestamp(order.created_at.astimezone(UTC)),
            12: physician,
        },
    )
    yield build_hl7_segment("TQ1", {1: "1", 9: "S" if order.priority else "R"})
    yield build_hl7_segment(
        "OBR",
        {
            1: str(number),
            2: sample_id,
            4: (marker.provider_id, marker.name, "L"),
            16: physician,
        },
    )
    if comment and number == 1:
        for line, text in enumerate(comment.splitlines(), start=1):
            yield build_hl7_segment("NTE", {1: str(line), 2: "P", 3: text})
    for line, code in enumerate(order.icd_codes, start=1):
        yield build_hl7_segment("DG1", {1: str(line), 3: (code, "", "I10"), 6: "W"})
    yield from _answer_segments(order, marker)
    if order.method in _OURS_TO_SEND:
        specimen = _specimen_of(marker)
        yield build_hl7_segment(
            "SPM", {1: "1", 2: sample_id, 4: (*specimen, "HL70487")}
        )


def _specimen_of(marker: Marker) -> tuple[str, str]:
    if container := Container.known(marker.container):
        return SPECIMENS[container]
    kind = SampleType.known(marker.sample_type)
    return _SPECIMENS[kind] if kind else (marker.sample_type, "")


def _answer_segments(order: Order, marker: Marker) -> Iterator[str]:
    """Build the answers to order entry questions; choices by code."""
    questions = {question["id"]: question for question in marker.aoe_questions}
    answers = [
        (questions[answer["question_id"]], str(answer["answer"]))
        for answer in order.aoe_answers
        if answer["marker_id"] == marker.pk and answer["question_id"] in questions
    ]
    for line, (question, answer) in enumerate(answers, start=1):
        yield build_hl7_segment(
            "OBX",
            {
                1: str(line),
                2: "ST",
                3: (str(question["code"]), str(question["value"]), "L"),
                5: answer,
                11: "O",
            },
        )


def _physician_field(order: Order) -> Sequence[str]:
    named: Mapping[str, Any] = order.physician or {}
    if not named:
        return ""
    return (
        str(named.get("npi", "")),
        str(named.get("last_name", "")),
        str(named.get("first_name", "")),
        *[""] * 5,
        "NPI",
        *[""] * 3,
        "NPI",
    )


def _address_field(address: Mapping[str, Any]) -> Sequence[str]:
    keys = ("first_line", "second_line", "city", "state", "zip", "country")
    return tuple(str(address.get(key) or "") for key in keys)
