"""What a whole parse says of a row beside its texts, and of the report as a whole."""

from __future__ import annotations

from pathlib import Path

from reports.parser.parsing import parse_report
from reports.parser.report import (
    LoincMatchStatus,
    LoincReason,
    NoteCode,
    ParsedReport,
    RowState,
)
from tests.reports.parser.drawing import HEIGHT, WIDTH, Drawn, draw, row

XS = (40, 190, 250, 320, 420)
TITLES = row(XS, "Test", "Result", "Flag", "Units", "Reference Range")
ROBIN = "Patient: Robin Sample   DOB: 1971-06-21   Sex: F"


def parse(path: Path, *pages: list[Drawn] | list[str]) -> ParsedReport:
    return parse_report(draw(path / "a.pdf", *pages))


def chemistry(*rows: list[Drawn], head: str = ROBIN) -> list[list[Drawn] | str]:
    filler = [
        row(XS, "Sodium", "140", "", "mmol/L", "135 - 145"),
        row(XS, "Chloride", "104", "", "mmol/L", "98 - 107"),
        row(XS, "Calcium", "9.4", "", "mg/dL", "8.5 - 10.5"),
    ]
    return ["Willow Diagnostics Laboratory", head, TITLES, *filler, *rows]


def test_a_row_tells_its_unit_flag_and_reasons(tmp_path: Path) -> None:
    report = parse(
        tmp_path,
        chemistry(row(XS, "Creatinine", "160", "H", "µmol/L", "45 - 90")),
    )

    creatinine = report.results[-1]
    (best, *_) = creatinine.loinc_matches
    assert (creatinine.units, creatinine.ucum, creatinine.flag) == (
        "µmol/L",
        "umol/L",
        "H",
    )
    assert best.loinc_code == "14682-9"
    assert best.reasons[:2] == (LoincReason.NAME, LoincReason.UNIT_AGREES)
    assert report.notes == ()
    assert report.state_of(3) is RowState.AUTO


def test_the_header_chooses_among_ranges(tmp_path: Path) -> None:
    report = parse(
        tmp_path,
        chemistry(
            row(XS, "Ferritin", "14", "", "ng/mL", "Male: 22 - 322 Female: 10 - 291")
        ),
    )

    ferritin = report.results[-1]
    assert (ferritin.min_reference_range, ferritin.max_reference_range) == (10, 291)
    assert ferritin.reference_range == "Male: 22 - 322 Female: 10 - 291"


def test_rows_that_speak_against_each_other_are_less_sure(tmp_path: Path) -> None:
    rows = [
        row(XS, "Hemoglobin", "13.5", "", "g/dL", "12.0 - 16.0"),
        row(XS, "RBC", "4.50", "", "10^6/uL", "4.00 - 5.20"),
    ]
    mch = [row(XS, "MCH", value, "", "pg", "27.0 - 33.0") for value in ("30.0", "33.0")]

    agreeing = parse(tmp_path, chemistry(*rows, mch[0])).results[-1]
    report = parse(tmp_path, chemistry(*rows, mch[1]))

    (note,) = report.notes
    assert (note.code, note.rows) == (NoteCode.ARITHMETIC, (5, 3, 4))
    assert report.state_of(5) is RowState.CONTRADICTION
    assert report.state_of(0) is RowState.AUTO
    assert report.results[-1].value == "33.0"
    assert report.results[-1].confidence.overall is not None
    assert agreeing.confidence.overall is not None
    assert report.results[-1].confidence.overall < agreeing.confidence.overall


def test_a_second_persons_rows_are_marked(tmp_path: Path) -> None:
    other = "Patient: Casey Pretend   DOB: 1990-01-02   Sex: M"
    potassium = row(XS, "Potassium", "4.1", "", "mmol/L", "3.5 - 5.1")

    report = parse(
        tmp_path,
        chemistry(),
        ["Willow Diagnostics Laboratory", other, TITLES, potassium],
    )

    (note,) = [n for n in report.notes if n.code is NoteCode.SECOND_PERSON]
    assert report.metadata.patient_last_name == "Sample"
    assert [report.results[position].test_name for position in note.rows] == [
        "Potassium"
    ]
    assert report.state_of(note.rows[0]) is RowState.CONTRADICTION
    statuses = {r.test_name: r.loinc_match_status for r in report.results}
    assert statuses["Potassium"] is LoincMatchStatus.NEEDS_REVIEW
    assert statuses["Sodium"] is LoincMatchStatus.AUTO_MATCH


def test_the_size_of_each_page_is_told(tmp_path: Path) -> None:
    report = parse(tmp_path, chemistry(), chemistry())

    assert [(size.page, size.width, size.height) for size in report.page_sizes] == [
        (1, WIDTH, HEIGHT),
        (2, WIDTH, HEIGHT),
    ]
