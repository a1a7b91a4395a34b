from __future__ import annotations

import dataclasses

import orjson
import pytest

from reports.operations.reading.extraction import parse_stored_report_files
from reports.parser.report import ParsedReport, UnreadableReport
from tests.factories.reports import make_parsed, make_parsed_result
from tests.reports.operations.reading.children import answer


def test_an_answer_is_read_back_as_it_was(child, report):
    child(answer())

    assert parse_stored_report_files(report) == make_parsed()


LIES = {
    "a number for text": {"test_name": 5},
    "text for a number": {"min_reference_range": "70"},
    "true for a number": {"min_reference_range": True},
    "a number for true": {"is_above_max_range": 1},
    "an unknown value": {"type": "poem"},
    "an unknown key": {"secret": "x"},
    "text for a list": {"loinc_matches": "none"},
    "a point of three": {
        "provenance": {
            "name": {"page": 1, "polygon": [[1.0, 2.0, 3.0]]},
            "value": None,
            "units": None,
            "reference_range": None,
        }
    },
}


@pytest.mark.parametrize("changes", LIES.values(), ids=LIES.keys())
def test_an_answer_no_parser_gives_is_not_believed(changes, child, report):
    child(answer(**changes))

    with pytest.raises(UnreadableReport) as refusal:
        parse_stored_report_files(report)

    assert refusal.value.reason == "processing_error"


def test_a_nul_is_dropped_as_the_database_takes_none(child, report):
    child(answer(test_name="Glu\0cose"))

    assert parse_stored_report_files(report).results[0].test_name == "Glucose"


def test_a_whole_number_is_a_bound_too(child, report):
    child(answer(min_reference_range=70))

    assert parse_stored_report_files(report).results[0].min_reference_range == 70.0


def test_every_field_of_a_report_survives_the_way(child, report):
    full = make_parsed(
        results=(
            make_parsed_result(
                **{
                    field.name: "x"
                    for field in dataclasses.fields(make_parsed_result())
                    if field.name in {"source_panel_name", "reference_range"}
                }
            ),
        )
    )
    plain = orjson.dumps({"report": full}, default=list).decode()
    child(f"sys.stdout.write({plain!r})")

    found = parse_stored_report_files(report)

    assert isinstance(found, ParsedReport)
    assert found == full
