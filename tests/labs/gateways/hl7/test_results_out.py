"""Results that we send: valid ORU^R01, which read back as the order's values."""

from __future__ import annotations

from base64 import b64decode
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from uuid import UUID

import hl7
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labs.gateways.hl7.documents import parse_hl7_attached_documents
from labs.gateways.hl7.messages import parse_hl7_message
from labs.gateways.hl7.reports import ObservationStatus
from labs.gateways.hl7.results import parse_hl7_result_reports
from labs.gateways.hl7.results_out import (
    ResultsToSend,
    build_hl7_document_message,
    build_hl7_results_message,
)
from labs.models import MissingResult, Result, ResultVersion, SampleData
from labs.queries.results.results import get_result_identity_key
from labs.states.orders import Interpretation
from labs.states.results import FailureType, ResultStatus
from tests.labs.gateways.hl7.conformance import require_valid_hl7
from tests.labs.gateways.hl7.test_order_conformance import TEXT, make_order, marker

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
COLLECTED = datetime(2026, 3, 1, 8, 30, tzinfo=timezone(timedelta(hours=-7)))
ORDER_ID = UUID(int=9)


def source(number):
    return {
        "marker_id": number,
        "name": f"Marker {number}",
        "slug": f"marker-{number}",
        "provider_id": f"00{number}",
    }


def make_row(name="Glucose", result="91", **fields):
    return Result(
        **{
            "name": name,
            "slug": name.lower(),
            "result": result,
            "unit": "mg/dL",
            "reference_range": "65-99",
            "provider_id": f"P-{name}"[:50],
            "loinc": "2345-7",
            "reported_at": AT,
            "observed_at": COLLECTED,
            "source_interpretation": "N",
            "interpretation": Interpretation.NORMAL,
            "source_sample_id": "S1",
            "source_markers": [source(1)],
            **fields,
        }
    )


def make_gap(name="Sodium", **fields):
    return MissingResult(
        **{
            "name": name,
            "slug": name.lower(),
            "provider_id": f"P-{name}",
            "source_markers": [source(2)],
            **fields,
        }
    )


def write(*rows, gaps=(), status=ResultStatus.FINAL, **fields):
    order = make_order(
        pk=ORDER_ID,
        sample_id="AS123",
        user=SimpleNamespace(uuid=UUID(int=7), client_user_id="EHR-77"),
    )
    version = ResultVersion(
        status=status,
        laboratory="Northgate Laboratories",
        clia_number="05D0000000",
        collected_at=COLLECTED,
        received_at=AT - timedelta(hours=4),
        reported_at=AT,
    )
    results = ResultsToSend(
        order=order,
        version=version,
        rows=rows,
        gaps=gaps,
        samples=[SampleData(sample_id="S1", collected_at=COLLECTED)],
        markers={1: marker(1, container="edta")},
        **fields,
    )
    return build_hl7_results_message(results, control_id="R5", at=AT)


def read(raw):
    (report,) = parse_hl7_result_reports(parse_hl7_message(raw))
    return report


def observations(raw):
    return [one for test in read(raw).tests for one in test.observations]


def named(raw, name):
    return [one for one in parse_hl7_message(raw).segments if one.name == name]


def test_results_read_back_as_they_are(tmp_path):
    raw = write(
        make_row(notes="Fasting sample.\nCall with questions."),
        make_row("Ratio", "1:160", provider_id="", loinc="", sub_id="1"),
        make_row("Culture", "No growth\nafter 48 h", loinc="", unit=""),
        gaps=[make_gap(note="Hemolyzed.", failure_type=FailureType.DROP_OFF)],
    )

    require_valid_hl7(raw, tmp_path)
    report = read(raw)
    assert (report.patient.family, report.patient.given) == ("Example", "Ada")
    assert report.patient.birth_date.isoformat() == "1990-05-17"
    assert [test.code for test in report.tests] == ["001", "002"]
    assert report.placers == {str(ORDER_ID)}
    assert report.fillers == {"AS123.001", "AS123.002"}
    assert report.reported_at.at == AT
    glucose, ratio, culture, sodium = observations(raw)
    assert (glucose.code, glucose.name, glucose.loinc) == (
        "P-Glucose", "Glucose", "2345-7"
    )  # fmt: skip
    assert (glucose.text, glucose.unit, glucose.reference_range) == (
        "91", "mg/dL", "65-99"
    )  # fmt: skip
    assert (glucose.flags, glucose.standing) == (("N",), ObservationStatus.FINAL)
    assert glucose.observed_at.at == COLLECTED
    assert glucose.notes == ["Fasting sample.", "Call with questions."]
    assert glucose.laboratory == "Northgate Laboratories"
    assert (ratio.code, ratio.sub_id, ratio.text) == ("ratio", "1", "1:160")
    assert culture.text == "No growth\nafter 48 h"
    assert (sodium.standing, sodium.text) == (ObservationStatus.IMPOSSIBLE, "")
    assert sodium.notes == ["Sample dropped off too late", "Hemolyzed."]
    assert [one.sample_id for one in report.tests[0].specimens] == ["S1"]


def test_the_library_reads_the_same(tmp_path):
    found = hl7.parse(write(make_row()).decode())

    assert str(found.segment("MSH")(9)) == "ORU^R01^ORU_R01"
    assert [str(found.segment("OBX")(n)) for n in (2, 5, 6, 7, 11)] == [
        "NM", "91", "mg/dL", "65-99", "F"
    ]  # fmt: skip
    assert str(found.segment("PID")(3)) == (
        f"EHR-77^^^clinic^PI~{UUID(int=7)}^^^ASSAY^PI"
    )
    assert str(found.segment("SPM")(4)) == "BLD^Whole blood^HL70487"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("5.40", "NM"),
        ("-3", "NM"),
        ("<5", "SN"),
        (">=100", "SN"),
        ("5-10", "SN"),
        ("120/80", "SN"),
        ("< 5", "ST"),
        ("1,234", "ST"),
        ("5e3", "ST"),
        ("٥", "ST"),
        ("Negative", "ST"),
        ("a\n\nb", "TX"),
        ("x" * 200, "TX"),
    ],
)
def test_a_value_has_the_type_that_keeps_its_text(text, kind, tmp_path):
    raw = write(make_row(result=text))

    if len(text) < 200:  # hl7apy takes a TX for an ST of at most 199 characters
        require_valid_hl7(raw, tmp_path)
    assert named(raw, "OBX")[0].text(2) == kind
    assert observations(raw)[0].text == text


@pytest.mark.parametrize(
    ("fields", "flags"),
    [
        ({"source_interpretation": "H~A", "interpretation": "abnormal"}, ["H", "A"]),
        (
            {
                "source_interpretation": "N",
                "interpretation": "abnormal",
                "is_above_max_range": True,
            },
            ["H"],
        ),
        (
            {
                "source_interpretation": "PANIC",
                "interpretation": "critical",
                "is_below_min_range": True,
            },
            ["LL"],
        ),
        ({"source_interpretation": "PANIC", "interpretation": "critical"}, ["AA"]),
        ({"source_interpretation": "", "interpretation": ""}, []),
    ],
)
def test_a_flag_is_of_the_table_and_says_the_interpretation(fields, flags, tmp_path):
    raw = write(make_row(**fields))

    require_valid_hl7(raw, tmp_path)
    assert list(observations(raw)[0].flags) == flags


def test_partial_results_are_not_done(tmp_path):
    raw = write(
        make_row(),
        make_row("Potassium", source_markers=[source(2)], is_preliminary=True),
        status=ResultStatus.PARTIAL,
    )

    require_valid_hl7(raw, tmp_path)
    assert [one.text(25) for one in named(raw, "OBR")] == ["A", "P"]
    assert [one.text(5) for one in named(raw, "ORC")] == ["A", "A"]
    assert [one.text(11) for one in named(raw, "OBX")] == ["F", "P"]
    assert [test.is_done for test in read(raw).tests] == [False, False]


def test_a_correction_marks_what_changed_under_the_same_numbers(tmp_path):
    rows = [make_row(sub_id="1"), make_row("Potassium", source_markers=[source(2)])]
    before = write(*rows)
    raw = write(
        rows[0],
        gaps=[make_gap("Potassium")],
        corrected=frozenset({("P-Glucose", "1")}),
        withdrawn=frozenset({("P-Potassium", "")}),
    )

    require_valid_hl7(raw, tmp_path)
    assert [one.text(25) for one in named(raw, "OBR")] == ["C", "C"]
    assert [one.text(11) for one in named(raw, "OBX")] == ["C", "D"]
    for name, numbers in (("OBR", (2, 3, 4)), ("OBX", (4,))):
        assert [[one.text(n) for n in numbers] for one in named(raw, name)] == [
            [one.text(n) for n in numbers] for one in named(before, name)
        ]


@pytest.mark.parametrize("limits", ["Adults: 1-2." * 20, "Adults: 1-2\nMinors: 2-3"])
def test_a_long_range_is_a_note(limits, tmp_path):
    raw = write(make_row(reference_range=limits, notes="Fasting."))

    require_valid_hl7(raw, tmp_path)
    (found,) = observations(raw)
    assert found.reference_range == ""
    assert found.notes == [*f"Reference range: {limits}".split("\n"), "Fasting."]


@pytest.mark.parametrize("is_correction", [False, True])
def test_a_document_is_sent_whole(is_correction):
    order = make_order(
        pk=ORDER_ID,
        sample_id="AS123",
        user=SimpleNamespace(uuid=UUID(int=7), client_user_id="EHR-77"),
    )
    content = b"%PDF-1.7 \x00\xff" * 9000

    raw = build_hl7_document_message(
        order,
        content=content,
        sub_id="1",
        is_correction=is_correction,
        control_id="D5",
        at=AT,
    )

    (segment,) = named(raw, "OBX")
    (found,) = parse_hl7_attached_documents(segment)
    assert b64decode(found.data) == content
    assert (found.declared, found.sub_id) == (("ap", "pdf", "base64"), "1")
    assert found.status == ("C" if is_correction else "F")
    assert named(raw, "OBR")[0].text(3) == "AS123.REPORT"


ROWS = st.builds(
    make_row,
    name=TEXT,
    result=st.one_of(TEXT, st.from_regex(r"[<>]?\d{1,5}(\.\d{1,3})?", fullmatch=True)),
    # The reader holds a number in the unit's place, and a range that is none.
    unit=st.sampled_from(["mg/dL", "10*3/uL", "%", "", "Å|^&~"]),
    reference_range=st.sampled_from(
        ["65-99", "<5", "Negative", "", "a|b~c", ">=1 & <3"]
    ),
    notes=st.lists(TEXT, max_size=3).map("\n".join),
    provider_id=TEXT,
    sub_id=st.sampled_from(["", "1", "2|3"]),
    loinc=st.sampled_from(["", "2345-7"]),
    performing_laboratory=st.one_of(st.just(""), TEXT),
    is_preliminary=st.booleans(),
)


@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ],
)
@given(rows=st.lists(ROWS, min_size=1, max_size=4, unique_by=get_result_identity_key))
def test_any_results_are_valid_and_read_back(tmp_path, rows):
    raw = write(*rows)

    require_valid_hl7(raw, tmp_path)
    found = observations(raw)
    assert [
        (one.name, one.code, one.loinc, one.sub_id, one.text, one.unit) for one in found
    ] == [
        (row.name, row.provider_id, row.loinc, row.sub_id, row.result, row.unit)
        for row in rows
    ]
    assert [(one.reference_range, "\n".join(one.notes)) for one in found] == [
        (row.reference_range, row.notes) for row in rows
    ]
    assert [one.standing is ObservationStatus.PRELIMINARY for one in found] == [
        row.is_preliminary for row in rows
    ]
