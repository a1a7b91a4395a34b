from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labs.api.v3.results.outputs import (
    BiomarkerResult,
    LabResults,
    MissingResultAnswer,
    ResultMetadata,
    SampleAnswer,
)
from labs.gateways.results import ReportedGap, ReportedSample
from labs.operations.orders.redraws import place_redraw_order
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.orders import get_order_with_details
from tests.audit import audited
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)
from tests.factories.results import (
    REPORTED_AT,
    make_expected_result,
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db
COLLECTED_AT = REPORTED_AT - timedelta(days=1)


@pytest.fixture
def lipids():
    marker = make_marker(
        lab=make_lab(slug="north-lab", name="North Lab"),
        name="Lipids",
        slug="lipids",
        provider_id="7600",
    )
    make_expected_result(
        marker=marker, name="LDL", slug="ldl", provider_id="LDL", loinc_code="13457-7"
    )
    return marker


@pytest.fixture
def order(alice_tenant, lipids):
    account = make_lab_account(
        tenant=alice_tenant, lab=lipids.lab, provider_account_id="0042"
    )
    return make_order_awaiting_results(
        tenant=alice_tenant,
        lab_test=make_lab_test(tenant=alice_tenant, lab=lipids.lab, markers=(lipids,)),
        lab_account_id=account.pk,
        physician={"first_name": "Nora", "last_name": "Field", "npi": "1234567893"},
    )


def result_of(api, order, path="result"):
    reply = api.get(f"/v3/order/{order.pk}/{path}")
    assert reply.status_code == 200
    check_answer(reply, "get", f"/v3/order/{{order_id}}/{path}")
    return reply.json()


def test_results_have_every_key_of_the_contract(alice_api, order, lipids):
    make_results(
        order=order,
        results=(
            make_reported_result(
                "LDL",
                "130.5",
                reference_range="<100",
                flag="H",
                loinc="13457-7",
                notes="Fasting.",
                sample_id="S1",
                laboratory="North Lab",
                observed_at=COLLECTED_AT,
            ),
        ),
    )

    body = result_of(alice_api, order)

    assert set(body) == LabResults.__required_keys__
    assert set(body["metadata"]) == ResultMetadata.__required_keys__
    assert set(body["results"][0]) == BiomarkerResult.__required_keys__
    assert body["results"] == [
        {
            "name": "LDL",
            "slug": "ldl",
            "result": "130.5",
            "result_type": "numeric",
            "type": "numeric",
            "unit": "mg/dL",
            "timestamp": COLLECTED_AT.isoformat(),
            "notes": "Fasting.",
            "reference_range": "<100",
            "min_range_value": None,
            "max_range_value": 100.0,
            "is_above_max_range": True,
            "is_below_min_range": False,
            "interpretation": "abnormal",
            "source_interpretation": "H",
            "loinc": "13457-7",
            "loinc_slug": "ldl",
            "provider_id": "LDL",
            "source_markers": [
                {
                    "marker_id": lipids.pk,
                    "name": "Lipids",
                    "slug": "lipids",
                    "provider_id": "7600",
                }
            ],
            "performing_laboratory": "North Lab",
            "source_sample_id": "S1",
        }
    ]
    assert body["missing_results"] == []
    assert body["sample_information"] == {}
    transaction = body["order_transaction"]
    assert transaction["id"] == str(order.transaction_id)
    assert [one["last_status"] for one in transaction["orders"]] == ["completed"]


def test_metadata_is_text_throughout(alice_api, order):
    make_results(
        order=order,
        collected_at=COLLECTED_AT,
        received_at=COLLECTED_AT + timedelta(hours=3),
        clia_number="05D1234567",
        laboratory="North Lab West",
    )
    kept = get_order_with_details(tenant=order.tenant, order_id=order.pk)

    metadata = result_of(alice_api, order, "result/metadata")

    assert metadata == {
        "age": "36",
        "dob": "1990-05-17",
        "patient": "Ada Example",
        "date_reported": REPORTED_AT.isoformat(),
        "specimen_number": kept.sample_id,
        "clia_#": "05D1234567",
        "provider": "Nora Field",
        "laboratory": "North Lab West",
        "date_collected": COLLECTED_AT.isoformat(),
        "date_received": (COLLECTED_AT + timedelta(hours=3)).isoformat(),
        "status": "final",
        "interpretation": "normal",
        "patient_id": str(order.user.uuid),
        "account_id": "0042",
    }
    assert result_of(alice_api, order)["metadata"] == metadata


def test_each_type_of_result_is_written_in_its_form(alice_api, order):
    written = [
        ({"text": "12.3"}, ("numeric", "12.3", None)),
        ({"text": "< 5"}, ("range", "<5", "<5")),
        ({"text": ">= 40"}, ("range", ">=40", ">=40")),
        ({"text": "0-2", "notes": "Few."}, ("range", "0-2", "0-2\nFew.")),
        ({"text": "See note"}, ("comment", "See note", "See note")),
        ({"text": "NOT DETECTED"}, ("coded_value", "NOT DETECTED", None)),
        ({"text": "x", "type": "picture"}, ("picture", "x", None)),
    ]
    results = (
        make_reported_result(f"Result {number}", **fields)
        for number, (fields, _) in enumerate(written)
    )

    make_results(order=order, results=tuple(results))

    rows = result_of(alice_api, order)["results"]
    items = [(row["type"], row["result"], row["notes"]) for row in rows]
    assert items == [form for _, form in written]
    assert all(row["result_type"] == row["type"] for row in rows)
    assert not any("value" in row for row in rows)


def test_each_form_of_range_gives_its_bare_bounds(alice_api, order):
    bounds = {
        "<5": (None, 5.0),
        "<=10.5": (None, 10.5),
        ">3": (3.0, None),
        ">=7.25": (7.25, None),
        "1-10": (1.0, 10.0),
        "< OR = 9.9": (None, 9.9),
        "> or = 2": (2.0, None),
        "NEGATIVE": (None, None),
        "See the leaflet": (None, None),
    }
    results = (make_reported_result(text, reference_range=text) for text in bounds)

    make_results(order=order, results=tuple(results))

    assert {
        row["reference_range"]: (row["min_range_value"], row["max_range_value"])
        for row in result_of(alice_api, order)["results"]
    } == bounds


def test_above_and_below_follow_from_the_range(alice_api, order):
    outside = {
        ("5", "<5"): (True, False),
        ("5", "<=5"): (False, False),
        ("3", ">3"): (False, True),
        ("11", "1-10"): (True, False),
        ("10", "1-10"): (False, False),
        ("<5", "1-10"): (False, None),
        ("5", "NEGATIVE"): (None, None),
    }
    results = (
        make_reported_result(f"{text} of {reference}", text, reference_range=reference)
        for text, reference in outside
    )

    make_results(order=order, results=tuple(results))

    assert {
        (row["result"], row["reference_range"]): (
            row["is_above_max_range"],
            row["is_below_min_range"],
        )
        for row in result_of(alice_api, order)["results"]
    } == outside


def test_missing_results_say_why(alice_api, order, lipids):
    make_expected_result(marker=lipids, name="HDL", slug="hdl", provider_id="HDL")
    gap = ReportedGap("LDL", "insufficient_volume", "A drop.", provider_id="LDL")

    make_results(
        order=order,
        results=(make_reported_result("Ratio", ordered_code="", provider_id="HDL"),),
        missing=(gap,),
    )

    (missing,) = result_of(alice_api, order)["missing_results"]
    assert set(missing) == MissingResultAnswer.__required_keys__
    assert missing["inferred_failure_type"] == "insufficient_volume"
    assert (missing["name"], missing["slug"]) == ("LDL", "ldl")
    assert (missing["note"], missing["loinc"]) == ("A drop.", "13457-7")
    assert missing["source_markers"][0]["marker_id"] == lipids.pk
    body = alice_api.get(f"/v3/order/{order.pk}").json()
    assert (body["has_missing_results"], body["interpretation"]) == (True, "normal")


def test_samples_are_told_by_their_id(alice_api, order):
    laboratory = {
        "name": "North Lab West",
        "phone_number": None,
        "medical_director": "Dr. Ida Vole",
        "address": {"first_line": "1 West Street", "city": "Tempe", "zip": "85281"},
    }
    nameless = {"name": "Somewhere", "address": {"city": "Tempe", "zip": "85281"}}
    make_results(
        order=order,
        samples=(
            ReportedSample(
                "S1",
                control_number="C9",
                collected_at=COLLECTED_AT,
                collected_offset=-25200,
                received_at=REPORTED_AT,
                laboratories={"NLW": laboratory, "X": nameless},
                fasting=True,
            ),
            ReportedSample("S2"),
        ),
    )

    samples = result_of(alice_api, order)["sample_information"]

    assert set(samples) == {"S1", "S2"}
    assert set(samples["S2"]) == SampleAnswer.__required_keys__
    assert samples["S1"] == {
        "sample_id": "S1",
        "control_number": "C9",
        "date_collected": {
            "timestamp": COLLECTED_AT.isoformat(),
            "timezone_offset": -25200,
        },
        "date_received": REPORTED_AT.isoformat(),
        "date_reported": None,
        "performing_laboratories": {
            "NLW": {
                **laboratory,
                "address": {
                    "first_line": "1 West Street",
                    "second_line": None,
                    "city": "Tempe",
                    "state": "AZ",
                    "zip": "85281",
                    "country": "US",
                    "access_notes": None,
                },
            },
            "X": {
                "name": "Somewhere",
                "phone_number": None,
                "medical_director": None,
                "address": None,
            },
        },
        "clinical_information": {
            "fasting": True,
            "notes": None,
            "information": None,
            "total_volume": None,
        },
    }
    assert samples["S2"]["clinical_information"] is None


def test_partial_results_are_read_as_soon_as_they_exist(alice_api, order):
    make_results(order=order, status="partial")

    body = result_of(alice_api, order)

    assert body["metadata"]["status"] == "partial"
    assert [row["name"] for row in body["results"]] == ["Glucose"]


def test_a_correction_is_what_is_read(alice_api, order):
    make_results(order=order, results=(make_reported_result(text="120"),))
    later = REPORTED_AT + timedelta(hours=1)
    make_results(
        order=order, results=(make_reported_result(text="90"),), reported_at=later
    )

    body = result_of(alice_api, order)

    assert [row["result"] for row in body["results"]] == ["90"]
    assert body["metadata"]["interpretation"] == "normal"
    assert body["metadata"]["date_reported"] == later.isoformat()
    order_body = alice_api.get(f"/v3/order/{order.pk}").json()
    assert order_body["last_event"]["status"] == "completed.walk_in_test.corrected"


@pytest.mark.parametrize("path", ["result", "result/metadata"])
def test_before_any_result_there_is_none(alice_api, alice_tenant, order, path):
    before = audited(alice_tenant)

    reply = alice_api.get(f"/v3/order/{order.pk}/{path}")

    assert reply.status_code == 404
    assert audited(alice_tenant) == before


@pytest.mark.parametrize("path", ["result", "result/metadata"])
def test_results_of_somebody_else_are_not_found(charlie_api, order, path):
    make_results(order=order)

    assert charlie_api.get(f"/v3/order/{order.pk}/{path}").status_code == 404


def test_a_transaction_gives_the_results_of_its_orders_as_one(
    alice_tenant, alice_api, order
):
    make_results(
        order=order,
        status="partial",
        results=(make_reported_result(), make_reported_result("LDL", "300", flag="HH")),
        missing=(ReportedGap("Zinc", provider_id="ZINC"),),
    )
    path = f"/v3/order_transaction/{order.transaction_id}/result"
    redraw = place_redraw_order(order=order, actor=ACTOR)
    assert alice_api.get(path).json()["metadata"]["status"] == "partial"
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=redraw.pk)
    redraw = get_order_with_details(tenant=alice_tenant, order_id=redraw.pk)
    later = REPORTED_AT + timedelta(days=3)
    make_results(
        order=redraw,
        results=(make_reported_result("LDL", "90"), make_reported_result("Zinc", "70")),
        reported_at=later,
    )

    body = alice_api.get(path).json()

    assert {row["name"]: row["result"] for row in body["results"]} == {
        "Glucose": "85",
        "LDL": "90",
        "Zinc": "70",
    }
    assert body["missing_results"] == []
    assert body["metadata"]["status"] == "final"
    assert body["metadata"]["interpretation"] == "normal"
    assert body["metadata"]["date_reported"] == later.isoformat()
    assert len(body["order_transaction"]["orders"]) == 2


def test_a_transaction_without_results_or_of_a_stranger_is_not_found(
    alice_api, charlie_api, order
):
    path = f"/v3/order_transaction/{order.transaction_id}/result"
    assert alice_api.get(path).status_code == 404

    make_results(order=order)

    assert charlie_api.get(path).status_code == 404
    unknown = f"/v3/order_transaction/{uuid.uuid4()}/result"
    assert alice_api.get(unknown).status_code == 404


def test_reading_results_is_audited(alice_tenant, alice_api, order):
    make_results(order=order)
    before = len(audited(alice_tenant))

    result_of(alice_api, order)
    result_of(alice_api, order, "result/metadata")
    alice_api.get(f"/v3/order_transaction/{order.transaction_id}/result")

    assert audited(alice_tenant)[before:] == [
        ("read", "result", str(order.pk)),
        ("read", "result", str(order.pk)),
        ("read", "transaction_result", str(order.transaction_id)),
    ]


def test_reading_costs_the_same_for_one_result_and_for_fifty(alice_api, alice_tenant):
    alice_api.get("/v3/orders")  # the key is asked for once
    counts = []
    for number in (1, 50):
        one = make_order_awaiting_results(tenant=alice_tenant)
        many = tuple(make_reported_result(f"Result {index}") for index in range(number))
        make_results(order=one, results=many)
        with CaptureQueriesContext(connection) as queries:
            assert len(result_of(alice_api, one)["results"]) == number
        counts.append(len(queries))

    assert counts == [counts[0]] * 2


def test_the_list_of_orders_is_narrowed_by_what_results_say(alice_api, alice_tenant):
    fields = {
        "normal": make_reported_result(),
        "abnormal": make_reported_result(text="120"),
        "critical": make_reported_result(text="20", flag="LL"),
        "unknown": make_reported_result(text="See note", reference_range=""),
    }
    panel = make_lab_test(tenant=alice_tenant)
    make_order(tenant=alice_tenant, lab_test=panel)
    for result in fields.values():
        order = make_order_awaiting_results(tenant=alice_tenant, lab_test=panel)
        make_results(order=order, results=(result,))

    def listed(query):
        orders = alice_api.get(f"/v3/orders?{query}").json()["orders"]
        return sorted(str(one["interpretation"]) for one in orders)

    assert {name: listed(f"interpretation={name}") for name in fields} == {
        name: [name] for name in fields
    }
    assert listed("interpretation=Abnormal") == ["abnormal"]
    assert listed("is_critical=true") == ["critical"]
    assert listed("is_critical=false") == ["None", "abnormal", "normal", "unknown"]


def test_the_sandbox_takes_flags_in_its_body(alice_api, alice_tenant, lipids):
    panel = make_lab_test(tenant=alice_tenant, lab=lipids.lab, markers=(lipids,))
    order = make_order(tenant=alice_tenant, lab_test=panel)

    reply = alice_api.post(
        f"/v3/order/{order.pk}/test",
        {
            "interpretation": "Critical",
            "result_types": ["range"],
            "has_missing_results": False,
        },
    )

    assert reply.status_code == 200
    (row,) = result_of(alice_api, order)["results"]
    assert (row["type"], row["interpretation"]) == ("range", "critical")
    assert emitted_types(alice_tenant).count("labtest.result.critical") == 1


@pytest.mark.parametrize(
    "body",
    [
        {"interpretation": "alarming"},
        {"result_types": ["picture"]},
        {"result_types": "numeric"},
        {"has_missing_results": "yes"},
    ],
)
def test_flags_that_are_none_are_refused(alice_api, alice_tenant, body):
    order = make_order(tenant=alice_tenant)

    reply = alice_api.post(f"/v3/order/{order.pk}/test", body)

    assert reply.status_code == 422
    kept = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
    assert kept.status == "received.walk_in_test.ordered"
