"""The parser's values as rows and notes."""

from __future__ import annotations

from reports.operations.reading.parsed_rows import (
    build_unsaved_result_rows,
    serialize_check_notes,
)
from reports.parser.report import Fact, Note, NoteCode, RowState
from tests.factories.reports import make_parsed, make_parsed_result


def test_rows_keep_their_order_and_notes_name_their_facts():
    note = Note(
        NoteCode.IMPLAUSIBLE,
        RowState.LOOK,
        (1,),
        (Fact("value", number=105.0), Fact("unit", text="mg/dL")),
    )
    report = make_parsed(
        results=(make_parsed_result(), make_parsed_result(test_name="Sodium")),
        notes=(note,),
    )

    rows = [
        (row.position, row.test_name, row.state)
        for row in build_unsaved_result_rows(report)
    ]

    assert rows == [(0, "Glucose", "auto"), (1, "Sodium", "look")]
    assert serialize_check_notes(report) == [
        {
            "code": "implausible",
            "severity": "look",
            "rows": [1],
            "facts": {"value": 105.0, "unit": "mg/dL"},
        }
    ]
