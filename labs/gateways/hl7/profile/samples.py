"""Examples of the messages that Assay sends; the people are made up.

They are written by the code that writes messages, from orders that no database has.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from accounts.models import Team, Tenant
from labs.gateways.hl7.catalogue import build_hl7_catalogue_messages
from labs.gateways.hl7.orders import CANCEL, NEW, build_hl7_order_messages
from labs.gateways.hl7.results_out import (
    ResultsToSend,
    build_hl7_document_message,
    build_hl7_results_message,
)
from labs.models import (
    ExpectedResult,
    Lab,
    LabAccount,
    LabTest,
    Marker,
    MissingResult,
    Order,
    Result,
    ResultVersion,
    SampleData,
)
from labs.states.accounts import Billing
from labs.states.catalogue import (
    CollectionMethod,
    Container,
    MarkerType,
    ResultType,
    SampleType,
)
from labs.states.orders import Interpretation
from labs.states.results import ResultStatus

SAMPLE_ID = "K7Q2M4X9TB3C"
_AT = datetime(2026, 3, 1, 15, 30, tzinfo=UTC)
_ADDRESS = {
    "first_line": "1 Sample Street",
    "city": "Phoenix",
    "state": "AZ",
    "zip": "85004",
    "country": "US",
}
_PATIENT = {
    "first_name": "Ada",
    "last_name": "Example",
    "dob": "1990-05-17",
    "gender": "female",
    "phone_number": "+16025550101",
    "email": "ada@clinic.example",
    "race": "white_caucasian",
    "ethnicity": "non_hispanic",
}
_INSURANCE = {
    "payor_code": "60054",
    "insurance_id": "W123456",
    "responsible_relationship": "Self",
    "diagnosis_codes": ["E11.9"],
}
_QUESTION = {"id": 1, "code": "FAST", "value": "Fasting?", "type": "choice"}


def write_sample_order_messages() -> dict[str, list[bytes]]:
    """Return messages of orders by what they show."""
    insured: dict[str, Any] = {
        "billing_type": Billing.COMMERCIAL_INSURANCE,
        "health_insurance": _INSURANCE,
    }
    sampled: dict[str, Any] = {
        "method": CollectionMethod.ON_SITE_COLLECTION,
        "priority": True,
    }
    asked: dict[str, Any] = {
        "aoe_answers": [{"marker_id": 1, "question_id": 1, "answer": "Y"}]
    }
    return {
        "Walk-in order of two tests": _write(_make_order()),
        "Order whose sample follows, with an answer and a comment": _write(
            _make_order(**sampled, **asked), comment="Draw at rest."
        ),
        "Insured order": _write(_make_order(**insured)),
        "Order that the patient pays": _write(
            _make_order(billing_type=Billing.PATIENT_BILL)
        ),
        "Insured order with the payer in IN1-47": _write(
            _make_order(account={"hl7_payer_in_in1": True}, **insured)
        ),
        "One message per test": _write(
            _make_order(account={"hl7_one_message_per_test": True})
        ),
        "Cancellation": _write(_make_order(), control=CANCEL),
    }


def write_sample_results_messages() -> dict[str, list[bytes]]:
    """Return messages of results by what they show."""
    glucose, potassium, ratio = (
        _make_result(1, "Glucose", "91", "2345-7", reference_range="65-99"),
        _make_result(2, "Potassium", "4.2", "2823-3", unit="mmol/L"),
        _make_result(2, "Titer", "1:160", "", notes="Repeated once."),
    )
    early = _make_result(2, "Potassium", "4.3", "2823-3", is_preliminary=True)
    gap = MissingResult(
        name="Titer",
        slug="titer",
        provider_id="T-Titer",
        note="Sample hemolyzed.",
        source_markers=ratio.source_markers,
    )
    key = frozenset({("T-Potassium", "")})
    gone = frozenset({("T-Titer", "")})
    partial, final = ResultStatus.PARTIAL, ResultStatus.FINAL
    document = build_hl7_document_message(
        _make_order(),
        content=b"%PDF-1.7",
        sub_id="1",
        is_correction=False,
        control_id="D1",
        at=_AT,
    )
    return {
        "Partial results": [_write_results(partial, glucose, early)],
        "Final results": [_write_results(final, glucose, potassium, ratio)],
        "Correction, with one result withdrawn": [
            _write_results(
                final, glucose, potassium, gaps=[gap], corrected=key, withdrawn=gone
            )
        ],
        "The lab's PDF": [document],
    }


def write_sample_catalogue_messages() -> dict[str, list[bytes]]:
    """Return messages of a lab's tests by what they show."""
    glucose = ExpectedResult(
        provider_id="2001",
        name="Glucose",
        loinc_code="2345-7",
        loinc_name="Glucose [Mass/volume] in Serum or Plasma",
        unit="mg/dL",
        result_type=ResultType.NUMERIC,
        low=70.0,
        high=99.0,
    )
    potassium = ExpectedResult(provider_id="1002", name="Potassium")
    single = _make_marker(1, "Glucose", container=Container.SERUM_GEL, fasting=True)
    battery = _make_marker(3, "Glucose and potassium", type=MarkerType.PANEL)
    single.type, single.common_tat_days = MarkerType.BIOMARKER, 1
    for marker, results in ((single, [glucose]), (battery, [glucose, potassium])):
        cache: Any = marker
        cache._prefetched_objects_cache = {"expected_results": results}
    lab = Lab(slug="northgate", name="Northgate Laboratories", environment="production")
    return {
        "A test and a battery": build_hl7_catalogue_messages(
            lab=lab, markers=[single, battery], at=_AT
        )
    }


def _write(order: Order, *, control: str = NEW, comment: str = "") -> list[bytes]:
    messages = build_hl7_order_messages(
        order, control=control, sample_id=SAMPLE_ID, comment=comment, at=_AT
    )
    return list(messages.values())


def _make_order(*, account: dict[str, Any] | None = None, **fields: Any) -> Order:
    order = Order(
        **{
            "id": UUID(int=1),
            "tenant": _make_tenant(),
            "user": _make_user(),
            "lab": Lab(slug="northgate", name="Northgate Laboratories"),
            "lab_account": LabAccount(provider_account_id="48213", **(account or {})),
            "sample_id": SAMPLE_ID,
            "method": CollectionMethod.WALK_IN_TEST,
            "billing_type": Billing.CLIENT_BILL,
            "patient_details": _PATIENT,
            "patient_address": _ADDRESS,
            "physician": {
                "first_name": "Vera",
                "last_name": "Example",
                "npi": "1234567893",
            },
            "created_at": _AT,
            **fields,
        }
    )
    markers = [
        _make_marker(1, "Glucose", aoe_questions=[_QUESTION]),
        _make_marker(2, "Potassium", container=Container.SERUM_GEL),
    ]
    panel = LabTest(id=UUID(int=3))
    for row, loaded in ((panel, {"markers": markers}), *((m, {}) for m in markers)):
        cache: Any = row
        cache._prefetched_objects_cache = {"versions": [], **loaded}
    order.lab_test = panel
    return order


def _make_tenant() -> Tenant:
    return Tenant(environment="production", team=Team(slug="clinic", name="Clinic"))


def _make_user() -> Any:
    user_model: Any = Order._meta.get_field("user").related_model
    return user_model(uuid=UUID(int=2), client_user_id="EHR-77")


def _make_marker(number: int, name: str, **fields: Any) -> Marker:
    return Marker(
        **{
            "id": number,
            "name": name,
            "provider_id": f"100{number}",
            "sample_type": SampleType.SERUM,
            **fields,
        }
    )


def _make_result(
    marker: int, name: str, text: str, loinc: str, **fields: Any
) -> Result:
    sources = {1: "Glucose", 2: "Potassium"}
    return Result(
        **{
            "name": name,
            "slug": name.lower(),
            "result": text,
            "unit": "mg/dL",
            "loinc": loinc,
            "provider_id": f"T-{name}",
            "observed_at": _AT,
            "reported_at": _AT,
            "source_interpretation": "N",
            "interpretation": Interpretation.NORMAL,
            "source_sample_id": SAMPLE_ID,
            "source_markers": [
                {
                    "marker_id": marker,
                    "name": sources[marker],
                    "provider_id": f"100{marker}",
                }
            ],
            **fields,
        }
    )


def _write_results(
    status: ResultStatus,
    *rows: Result,
    gaps: list[MissingResult] | None = None,
    **fields: Any,
) -> bytes:
    order = _make_order()
    results = ResultsToSend(
        order=order,
        version=ResultVersion(
            status=status,
            laboratory=order.lab.name,
            clia_number="05D0000000",
            collected_at=_AT,
            received_at=_AT,
            reported_at=_AT,
        ),
        rows=rows,
        gaps=gaps or [],
        samples=[SampleData(sample_id=SAMPLE_ID, collected_at=_AT, received_at=_AT)],
        markers={one.pk: one for one in order.lab_test.markers.all()},
        **fields,
    )
    return build_hl7_results_message(results, control_id="R1", at=_AT)
