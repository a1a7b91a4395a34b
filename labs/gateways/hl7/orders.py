"""Orders and their cancellations as OML^O21 messages.

Each marker has an ORC and OBR; all share the order's sample id as placer number, as
reference laboratories expect of a requisition.
"""

from __future__ import annotations

import re
from datetime import UTC
from typing import TYPE_CHECKING, Any

from labs.gateways.hl7.acknowledgements import (
    APPLICATION,
    CHARACTER_SET,
    VERSION,
    format_hl7_timestamp,
)
from labs.gateways.hl7.escapes import escape_hl7_text
from labs.gateways.hl7.messages import (
    build_hl7_message,
    build_hl7_segment,
)
from labs.gateways.hl7.patient import (
    SEXES,
    build_hl7_patient_segment,
    format_hl7_address,
    format_hl7_date,
    format_hl7_name,
    format_hl7_physician,
    format_hl7_telecoms,
)
from labs.gateways.hl7.specimens import get_hl7_specimen
from labs.states.accounts import Billing
from labs.states.catalogue import CollectionMethod, QuestionType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from labs.gateways.hl7.messages import FieldValue
    from labs.models import LabAccount, Marker, Order

NEW, CANCEL = "NW", "CA"
# Who pays, as laboratories bill: client, third party, patient. A table of the site
# (0064), with the values of the orders interface of the United States (ELINCS, LOI).
_WHO_PAYS = {
    Billing.CLIENT_BILL: "C",
    Billing.COMMERCIAL_INSURANCE: "T",
    Billing.PATIENT_BILL_PASSTHROUGH: "C",
    Billing.PATIENT_BILL: "P",
    Billing.UPFRONT_PAYMENT: "C",
}
# Table 0063.
_RELATIONSHIPS = {"Self": "SEL", "Spouse": "SPO", "Other": "OTH"}
# Elsewhere the laboratory's own people take the sample and give it its number.
_OURS_TO_SEND = {CollectionMethod.TESTKIT, CollectionMethod.ON_SITE_COLLECTION}
# HL7's null: the standard requires a value that the order does not have.
_NULL = '""'
_NAMESPACE_LENGTH = 20
_STRING_LENGTH = 199
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)", re.ASCII)


def build_hl7_order_messages(
    order: Order, *, control: str, sample_id: str, comment: str, at: datetime
) -> dict[str, bytes]:
    """Return the OML^O21 of a new (`NW`) or cancelled (`CA`) order by their MSH-10.

    One message, or one a test where the account asks for it. The order's panel, lab,
    account and user are loaded. `comment` is what the requisition prints. The same
    order and wish make the same MSH-10, so that a lab sees a repetition. Source: HL7
    v2.5.1, 4.4.6.
    """
    markers = list(order.placed.markers)
    account = order.lab_account
    parts = [markers]
    if account and account.hl7_one_message_per_test:
        parts = [[marker] for marker in markers]
    messages = {}
    for number, part in enumerate(parts, start=1):
        control_id = _control_id(control, sample_id, number)
        messages[control_id] = build_hl7_message(
            [
                _header_segment(order, control_id, at),
                build_hl7_patient_segment(order),
                _visit_segment(order),
                *_insurance_segments(order),
                *_test_segments(order, part, control, sample_id, comment),
            ]
        )
    return messages


def _control_id(control: str, sample_id: str, number: int) -> str:
    return f"{control}{sample_id}" + (f".{number}" if number > 1 else "")


def get_sample_id_of_control_id(control_id: str) -> str:
    """Return the sample id of an order's message by its MSH-10."""
    return control_id[2:].partition(".")[0]


def get_hl7_account_number(order: Order) -> str:
    """Return the number by which laboratories know who sends."""
    account: LabAccount | None = order.lab_account
    return account.provider_account_id if account else order.tenant.team.slug


def _header_segment(order: Order, control_id: str, at: datetime) -> str:
    return build_hl7_segment(
        "MSH",
        {
            3: APPLICATION,
            4: get_hl7_account_number(order),
            5: order.lab.slug[:_NAMESPACE_LENGTH],
            6: order.lab.name[:_NAMESPACE_LENGTH].strip(),
            7: format_hl7_timestamp(at),
            9: ("OML", "O21", "OML_O21"),
            10: control_id,
            11: "T" if order.tenant.is_sandbox else "P",
            12: VERSION,
            18: CHARACTER_SET,
        },
    )


def _who_pays(order: Order) -> str:
    billing = Billing.known(order.billing_type)
    return _WHO_PAYS[billing] if billing else "C"


def _visit_segment(order: Order) -> str:
    return build_hl7_segment("PV1", {1: "1", 2: "O", 20: _who_pays(order)})


def _insurance_segments(order: Order) -> Iterator[str]:
    """Build IN1 and IN2 of an insurance, and GT1 where the team does not pay.

    Accounts may ask for IN1 on every order, with who pays in IN1-47: table 0309 knows
    other values, but laboratories read it there.
    """
    held: Mapping[str, Any] = order.health_insurance or {}
    account = order.lab_account
    payer = _who_pays(order) if account and account.hl7_payer_in_in1 else ""
    if held or payer:
        yield _insurance_segment(order, held, payer)
    insured = _insured_person(order, held)
    if held and insured.get("phone_number"):
        phone = {"phone_number": insured["phone_number"]}
        yield build_hl7_segment("IN2", {63: format_hl7_telecoms(phone)})
    if _who_pays(order) == "T" and insured:
        yield _guarantor_segment(insured, _relationship(held))
    elif _who_pays(order) == "P":
        patient = _patient(order)
        proxy = patient.get("medical_proxy")
        yield _guarantor_segment(proxy or patient, "" if proxy else "SEL")


def _insurance_segment(order: Order, held: Mapping[str, Any], payer: str) -> str:
    billing = Billing.known(order.billing_type)
    payor = str(held.get("payor_code") or payer or _NULL)
    fields: dict[int, FieldValue] = {
        1: "1",
        2: (payor, str(billing.label) if billing else order.billing_type),
        3: payor,
        47: payer,
    }
    if held:
        insured = _insured_person(order, held)
        fields |= {
            16: format_hl7_name(insured),
            17: _relationship(held),
            18: format_hl7_date(insured.get("dob")),
            19: format_hl7_address(insured.get("address") or {}),
            36: str(held.get("insurance_id") or ""),
            43: SEXES.get(str(insured.get("gender")), ""),
        }
    return build_hl7_segment("IN1", fields)


def _relationship(held: Mapping[str, Any]) -> str:
    named = str(held.get("responsible_relationship") or "")
    return _RELATIONSHIPS.get(named, "OTH") if named else ""


def _insured_person(order: Order, held: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the insured with their address; nothing where the order names nobody."""
    if details := held.get("responsible_details"):
        return details  # type: ignore[no-any-return]  # the wire's shape
    return _patient(order) if _relationship(held) == "SEL" else {}


def _patient(order: Order) -> Mapping[str, Any]:
    return {**(order.patient_details or {}), "address": order.patient_address or {}}


def _guarantor_segment(person: Mapping[str, Any], relationship: str) -> str:
    return build_hl7_segment(
        "GT1",
        {
            1: "1",
            3: format_hl7_name(person),
            5: format_hl7_address(person.get("address") or {}),
            6: format_hl7_telecoms(person),
            8: format_hl7_date(person.get("dob")),
            9: SEXES.get(str(person.get("gender")), ""),
            11: relationship,
        },
    )


def _test_segments(
    order: Order,
    markers: Sequence[Marker],
    control: str,
    sample_id: str,
    comment: str,
) -> Iterator[str]:
    physician = format_hl7_physician(order)
    priority = ("S", "Stat") if order.priority else ("R", "Routine")
    is_ours = order.method in _OURS_TO_SEND
    for number, marker in enumerate(markers, start=1):
        yield build_hl7_segment(
            "ORC",
            {
                1: control,
                2: sample_id,
                4: sample_id,
                9: format_hl7_timestamp(order.created_at.astimezone(UTC)),
                12: physician,
                21: order.tenant.team.name,
            },
        )
        yield build_hl7_segment("TQ1", {1: "1", 9: (*priority, "HL70485")})
        yield build_hl7_segment(
            "OBR",
            {
                1: str(number),
                2: sample_id,
                4: (marker.provider_id, marker.name, "L"),
                # Table 0065: a sample that is on its way, or that the lab takes.
                11: "P" if is_ours else "L",
                16: physician,
            },
        )
        if comment and number == 1:
            for line, text in enumerate(comment.splitlines(), start=1):
                yield build_hl7_segment("NTE", {1: str(line), 2: "P", 3: text})
        yield from _diagnosis_segments(order)
        yield from _answer_segments(order, marker)
        if is_ours:
            specimen = (*get_hl7_specimen(marker), "HL70487")
            yield build_hl7_segment("SPM", {1: "1", 2: sample_id, 4: specimen})
        yield _billing_segment(order)


def _billing_segment(order: Order) -> str:
    """Build BLG: the account to bill, or that the lab charges another payer.

    Without it the standard's grammar is ambiguous: HAPI and hl7apy read the next test
    as a result of an earlier order. BLG is the end of a test.
    """
    is_client = _who_pays(order) == "C"
    return build_hl7_segment(
        "BLG", {3: get_hl7_account_number(order)} if is_client else {2: "CH"}
    )


def _diagnosis_segments(order: Order) -> Iterator[str]:
    """Build DG1 of each code that the requisition prints."""
    insured = (order.health_insurance or {}).get("diagnosis_codes") or ()
    codes = dict.fromkeys((*order.icd_codes, *insured))
    for line, code in enumerate(codes, start=1):
        yield build_hl7_segment("DG1", {1: str(line), 3: (code, "", "I10"), 6: "W"})


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
                2: _answer_type(question, answer),
                3: (str(question["code"]), str(question["value"]), "L"),
                5: answer,
                11: "O",
            },
        )


def _answer_type(question: Mapping[str, Any], answer: str) -> str:
    if question.get("type") == QuestionType.NUMERIC and _NUMBER.fullmatch(answer):
        return "NM"
    return "ST" if len(escape_hl7_text(answer)) <= _STRING_LENGTH else "TX"
