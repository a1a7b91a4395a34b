"""Rows that the catalogue does not know, against an imported LOINC table."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser import ParsedReport, add_loinc_table_candidates
from reports.parser.loinc import import_loinc_release
from reports.parser.report import (
    LoincMatch,
    LoincMatchStatus,
    LoincReason,
    Metadata,
    ParsedResult,
)

HEAD = (
    "LOINC_NUM,COMPONENT,PROPERTY,TIME_ASPCT,SYSTEM,SCALE_TYP,METHOD_TYP,"
    "LONG_COMMON_NAME,STATUS,EXAMPLE_UCUM_UNITS\n"
)
TABLE = HEAD + (
    "78987-5,Copeptin,SCnc,Pt,Ser/Plas,Qn,,"
    "Copeptin [Moles/volume] in Serum or Plasma,ACTIVE,pmol/L\n"
    "2951-2,Sodium,SCnc,Pt,Ser/Plas,Qn,,"
    "Sodium [Moles/volume] in Serum or Plasma,ACTIVE,mmol/L\n"
)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    table = tmp_path / "Loinc.csv"
    table.write_text(TABLE)
    import_loinc_release(table, tmp_path / "loinc")
    return tmp_path / "loinc"


def widened(release: Path, result: ParsedResult) -> ParsedResult:
    report = ParsedReport(metadata=Metadata(), results=(result,), pages=1)
    return add_loinc_table_candidates(report, release=release).results[0]


def test_a_name_of_the_table_alone_gets_its_code(release: Path) -> None:
    found = widened(release, ParsedResult("Copeptin", "9.1", units="pmol/L"))

    (match,) = found.loinc_matches
    assert match.loinc_code == "78987-5"
    assert match.loinc_name == "Copeptin [Moles/volume] in Serum or Plasma"
    assert match.display_name is None
    assert match.reasons == (LoincReason.NAME, LoincReason.UNIT_AGREES)
    assert found.loinc_match_status is LoincMatchStatus.AUTO_MATCH
    assert found.confidence.loinc == match.confidence_score


@pytest.mark.parametrize("units", ["mg/dL", None])
def test_without_an_agreeing_unit_a_person_decides(
    units: str | None, release: Path
) -> None:
    found = widened(release, ParsedResult("Copeptin", "9.1", units=units))

    assert [match.loinc_code for match in found.loinc_matches] == ["78987-5"]
    assert found.loinc_match_status is LoincMatchStatus.NEEDS_REVIEW


@pytest.mark.parametrize("name", ["Cope", "Co", "Copeptin receptor"])
def test_a_part_of_a_name_or_more_than_it_finds_nothing(
    name: str, release: Path
) -> None:
    row = ParsedResult(name, "9.1", units="pmol/L")

    assert widened(release, row) == row


def test_what_the_catalogue_knows_stays_as_it_was(release: Path) -> None:
    own = LoincMatch("2947-0", "Sodium [Moles/volume] in Blood", "Sodium", (), 0.9)
    row = ParsedResult("Sodium", "140", units="mmol/L", loinc_matches=(own,))

    assert widened(release, row) == row


def test_without_a_table_nothing_changes(tmp_path: Path) -> None:
    row = ParsedResult("Copeptin", "9.1", units="pmol/L")

    assert widened(tmp_path, row) == row
