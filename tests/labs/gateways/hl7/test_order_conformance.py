"""Each kind of order is a valid OML^O21, whatever its facts, and reads back the same.

Validators: hl7apy, strictly, which knows the structures, data types and tables of
v2.5.1, and the reader of HL7 that labs' results are read by.
"""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labs.gateways.hl7.messages import parse_hl7_message
from labs.gateways.hl7.orders import CANCEL, NEW, build_hl7_order_messages
from labs.states.accounts import Billing
from labs.states.catalogue import CollectionMethod, Container, SampleType
from tests.labs.gateways.hl7.conformance import require_valid_hl7

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
PATIENT = {
    "first_name": "Ada",
    "last_name": "Example",
    "dob": "1990-05-17",
    "gender": "female",
    "phone_number": "+1 (602) 555-0101",
    "email": "ada@assay.example",
    "race": "asian",
    "ethnicity": "non_hispanic",
}
ADDRESS = {
    "first_line": "1 Sample Street",
    "second_line": None,
    "city": "Phoenix",
    "state": "AZ",
    "zip": "85004",
    "country": "US",
}
INSURANCE = {
    "payor_code": "60054",
    "insurance_id": "W1|2",
    "responsible_relationship": "Spouse",
    "responsible_details": {
        "first_name": "Ben",
        "last_name": "Example",
        "phone_number": "6025550102",
        "address": ADDRESS,
    },
    "diagnosis_codes": ["E11.9"],
}
QUESTIONS = [
    {"id": 7, "code": "SRC", "value": "Source?", "type": "choice"},
    {"id": 8, "code": "KG", "value": "Weight?", "type": "numeric"},
]
ANSWERS = [
    {"marker_id": 2, "question_id": 7, "answer": "V"},
    {"marker_id": 2, "question_id": 8, "answer": "70.5"},
]


def marker(number, **fields):
    return SimpleNamespace(
        **{
            "pk": number,
            "name": f"Marker {number}",
            "provider_id": f"00{number}",
            "container": "",
            "sample_type": SampleType.SERUM,
            "aoe_questions": QUESTIONS,
            **fields,
        }
    )


def make_order(**fields):
    """An order as the gateway gets it, without a database."""
    markers = fields.pop("markers", [marker(1), marker(2), marker(3)])
    account = {
        "provider_account_id": "ACC9",
        "hl7_one_message_per_test": False,
        "hl7_payer_in_in1": False,
        **fields.pop("account", {}),
    }
    return SimpleNamespace(
        **{
            "lab_account": SimpleNamespace(**account),
            "lab": SimpleNamespace(slug="northgate", name="Northgate Laboratories"),
            "tenant": SimpleNamespace(
                is_sandbox=False, team=SimpleNamespace(slug="clinic", name="Clinic")
            ),
            "user": SimpleNamespace(uuid=UUID(int=7)),
            "placed": SimpleNamespace(markers=markers),
            "patient_details": PATIENT,
            "patient_address": ADDRESS,
            "health_insurance": None,
            "physician": None,
            "billing_type": Billing.CLIENT_BILL,
            "method": CollectionMethod.WALK_IN_TEST,
            "priority": False,
            "icd_codes": [],
            "aoe_answers": [],
            "created_at": AT,
            **fields,
        }
    )


def write(order, control=NEW, comment=""):
    messages = build_hl7_order_messages(
        order, control=control, sample_id="AS123", comment=comment, at=AT
    )
    assert [parse_hl7_message(raw).control_id for raw in messages.values()] == [
        *messages
    ]
    return list(messages.values())


def named(raw, name):
    return [one for one in parse_hl7_message(raw).segments if one.name == name]


KINDS = {
    "walk_in": {},
    "kit": {"method": CollectionMethod.TESTKIT},
    "at_home": {"method": CollectionMethod.AT_HOME_PHLEBOTOMY},
    "on_site": {"method": CollectionMethod.ON_SITE_COLLECTION, "priority": True},
    "answers": {"aoe_answers": ANSWERS},
    "insured": {
        "billing_type": Billing.COMMERCIAL_INSURANCE,
        "health_insurance": INSURANCE,
    },
    "insured_self": {
        "billing_type": Billing.COMMERCIAL_INSURANCE,
        "health_insurance": {"responsible_relationship": "Self"},
    },
    "insured_unknown": {
        "billing_type": Billing.COMMERCIAL_INSURANCE,
        "health_insurance": {"insurance_id": "W1"},
    },
    "cash": {"billing_type": Billing.PATIENT_BILL},
    "cash_of_a_minor": {
        "billing_type": Billing.PATIENT_BILL,
        "patient_details": {
            **PATIENT,
            "medical_proxy": {
                "first_name": "Ben",
                "last_name": "Example",
                "phone_number": "6025550102",
                "address": ADDRESS,
            },
        },
    },
    "diagnoses": {"icd_codes": ["E11.9", "Z00.00"]},
    "physician": {
        "physician": {"first_name": "Vera", "last_name": "Ex", "npi": "1234567893"}
    },
    "platform_account": {"lab_account": None},
    "payer_in_in1": {"account": {"hl7_payer_in_in1": True}},
}


@pytest.mark.parametrize("control", [NEW, CANCEL])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_order_is_valid(kind, control, tmp_path):
    (raw,) = write(make_order(**KINDS[kind]), control, "Draw at rest.\nCall first.")

    parsed = require_valid_hl7(raw, tmp_path)

    assert [one.name for one in parsed.children].count("OML_O21_ORDER") == 3
    assert "PRIOR" not in str([one.name for one in parsed.children])


@pytest.mark.parametrize("container", Container)
@pytest.mark.parametrize("sample_type", SampleType)
def test_each_specimen_is_of_the_table(container, sample_type, tmp_path):
    markers = [
        marker(1, container=container),
        marker(2, sample_type=sample_type, container=""),
    ]

    (raw,) = write(make_order(markers=markers, method=CollectionMethod.TESTKIT))

    require_valid_hl7(raw, tmp_path)


def test_an_account_can_have_one_message_a_test(tmp_path):
    order = make_order(account={"hl7_one_message_per_test": True}, aoe_answers=ANSWERS)

    messages = write(order, comment="Call first.")

    for raw in messages:
        require_valid_hl7(raw, tmp_path)
    assert [parse_hl7_message(raw).control_id for raw in messages] == [
        "NWAS123", "NWAS123.2", "NWAS123.3"
    ]  # fmt: skip
    assert [[one.text(4) for one in named(raw, "OBR")] for raw in messages] == [
        ["001"], ["002"], ["003"]
    ]  # fmt: skip
    assert [len(named(raw, "OBX")) for raw in messages] == [0, 2, 0]
    assert [len(named(raw, "NTE")) for raw in messages] == [1, 1, 1]


def test_facts_stand_where_the_profile_says(tmp_path):
    (raw,) = write(make_order(**KINDS["insured"]))

    (patient,) = named(raw, "PID")
    assert patient.components(10) == ["2028-9", "Asian", "HL70005"]
    assert patient.components(11)[5] == "USA"
    assert patient.components(13) == [
        "+1 (602) 555-0101", "PRN", "PH", "", "1", "602", "5550101"
    ]  # fmt: skip
    assert patient.components(13, repeat=2) == [
        "", "NET", "Internet", "ada@assay.example"
    ]  # fmt: skip
    assert patient.text(22) == "N"
    assert named(raw, "PV1")[0].text(20) == "T"
    (insurance,) = named(raw, "IN1")
    assert (insurance.text(3), insurance.text(36)) == ("60054", "W1|2")
    assert insurance.components(16) == ["Example", "Ben"]
    assert (insurance.text(17), insurance.text(47)) == ("SPO", "")
    assert named(raw, "IN2")[0].text(63, 7) == "5550102"
    (guarantor,) = named(raw, "GT1")
    assert (guarantor.text(3), guarantor.text(11)) == ("Example", "SPO")
    assert {one.text(3) for one in named(raw, "DG1")} == {"E11.9"}
    assert [one.text(2) for one in named(raw, "BLG")] == ["CH"] * 3


def test_nothing_is_invented_of_an_insured_nobody_named():
    (raw,) = write(make_order(**KINDS["insured_unknown"]))

    (insurance,) = named(raw, "IN1")
    assert insurance.raw(3) == '""'
    assert [insurance.text(n) for n in (16, 17, 18, 43)] == [""] * 4
    assert named(raw, "GT1") == []


def test_a_client_pays_without_an_insurance_segment():
    (raw,) = write(make_order())

    assert named(raw, "PV1")[0].text(20) == "C"
    assert named(raw, "IN1") + named(raw, "GT1") == []
    assert [one.text(3) for one in named(raw, "BLG")] == ["ACC9"] * 3


def test_an_account_can_have_the_payer_in_in1():
    orders = [
        make_order(account={"hl7_payer_in_in1": True}, **KINDS[kind])
        for kind in ("walk_in", "insured", "cash")
    ]

    payers = [named(write(order)[0], "IN1")[0].text(47) for order in orders]

    assert payers == ["C", "T", "P"]


@pytest.mark.parametrize(
    ("country", "found"),
    [
        ("us", ["USA"]),
        ("United States", ["USA"]),
        ("CAN", ["CAN"]),
        ("Österreich", ["", "", "Österreich"]),
        ("", []),
    ],
)
def test_a_country_is_of_the_table_or_as_written(country, found, tmp_path):
    (raw,) = write(make_order(patient_address={**ADDRESS, "country": country}))

    assert named(raw, "PID")[0].components(11)[5:] == found


TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")),
    min_size=1,
    max_size=40,
).filter(lambda text: text.strip() == text and text != '""')
NAMES = st.one_of(
    TEXT,
    st.sampled_from(
        ["O'Neil|Example", "A^B&C~D\\E", "李 小龙", "\\.br\\", "Ñandú", "~"]
    ),
)
PEOPLE = st.fixed_dictionaries(
    {"first_name": NAMES, "last_name": NAMES, "dob": st.just("1990-05-17")},
    optional={
        "gender": st.sampled_from(["female", "male", "other", "unknown"]),
        "phone_number": TEXT,
        "email": TEXT,
        "race": st.sampled_from(["asian", "other", "unheard_of"]),
        "ethnicity": st.sampled_from(["hispanic", "ashkenazi_jewish", "other"]),
    },
)
ADDRESSES = st.fixed_dictionaries(
    {"first_line": TEXT, "city": TEXT, "state": st.just("AZ"), "zip": TEXT},
    optional={"second_line": TEXT, "country": st.sampled_from(["US", "USA"])},
)


@settings(
    deadline=None,
    max_examples=20,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ],
)
@given(
    patient=PEOPLE,
    address=ADDRESSES,
    physician=PEOPLE,
    insured=PEOPLE,
    relationship=st.sampled_from(["Self", "Spouse", "Other", "Aunt", ""]),
    billing=st.sampled_from(Billing),
    method=st.sampled_from(CollectionMethod),
    answer=TEXT,
    comment=st.lists(TEXT, max_size=3),
    is_single=st.booleans(),
)
def test_any_order_is_valid_and_reads_back(
    tmp_path,
    patient,
    address,
    physician,
    insured,
    relationship,
    billing,
    method,
    answer,
    comment,
    is_single,
):
    order = make_order(
        patient_details=patient,
        patient_address=address,
        physician={**physician, "npi": "1234567893"},
        billing_type=billing,
        method=method,
        account={"hl7_one_message_per_test": is_single},
        health_insurance={
            "responsible_relationship": relationship,
            "responsible_details": {**insured, "address": address},
        },
        aoe_answers=[{"marker_id": 1, "question_id": 7, "answer": answer}],
    )

    messages = write(order, comment="\n".join(comment))

    for raw in messages:
        require_valid_hl7(raw, tmp_path)
    raw = messages[0]
    (segment,) = named(raw, "PID")
    assert segment.components(5)[:2] == [patient["last_name"], patient["first_name"]]
    assert segment.text(7) == "19900517"
    lines = [address["first_line"], address.get("second_line", ""), address["city"]]
    assert [segment.text(11, n) for n in (1, 2, 3, 5)] == [*lines, address["zip"]]
    if "phone_number" in patient:
        assert segment.text(13) == patient["phone_number"]
    assert named(raw, "ORC")[0].components(12)[:3] == [
        "1234567893", physician["last_name"], physician["first_name"]
    ]  # fmt: skip
    assert named(raw, "IN1")[0].components(16) == [
        insured["last_name"], insured["first_name"]
    ]  # fmt: skip
    assert [one.text(5) for one in named(raw, "OBX")] == [answer]
    assert [one.text(3) for one in named(raw, "NTE")] == comment
