"""Which LOINC code a row has: mapping, catalogue, imported table, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.loinc import import_loinc_release
from reports.parser.loinc.decision import (
    build_loinc_mapping_key,
    choose_loinc_code,
    clear_loinc_code,
    confirm_loinc_code,
    decide_loinc_codes,
    withhold_loinc_code,
)
from reports.parser.report import (
    LoincMatch,
    LoincMatchStatus,
    LoincReason,
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
    (found,) = decide_loinc_codes([result], release=release, mappings={})
    return found


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


def codes(row: ParsedResult) -> list[str]:
    return [match.loinc_code for match in row.loinc_matches]


def test_each_source_puts_its_code_before_those_of_the_weaker_ones(
    release: Path,
) -> None:
    bare = ParsedResult("Copeptin", "9.1", units="pmol/L")
    mapped = LoincMatch("2951-2", "Sodium", "Sodium", (), 0.4)

    (by_table,) = decide_loinc_codes([bare], release=release, mappings={})
    (by_team,) = decide_loinc_codes(
        [bare], release=release, mappings={build_loinc_mapping_key(bare): mapped}
    )
    by_reviewer = choose_loinc_code(by_team, "2947-0", release=release)

    assert codes(by_table) == ["78987-5"]
    assert codes(by_team) == ["2951-2", "78987-5"]
    assert by_reviewer is not None
    assert codes(by_reviewer) == ["2947-0", "2951-2", "78987-5"]
    assert codes(clear_loinc_code(by_reviewer)) == []


def test_a_mapping_comes_before_the_catalogue_and_the_table_is_not_asked(
    release: Path,
) -> None:
    own = LoincMatch("2947-0", "Sodium [Moles/volume] in Blood", "Sodium", (), 0.9)
    row = ParsedResult("Copeptin", "9.1", units="pmol/L", loinc_matches=(own,))
    mapped = LoincMatch("2951-2", "Sodium", "Sodium", (), 0.4)

    (found,) = decide_loinc_codes(
        [row], release=release, mappings={build_loinc_mapping_key(row): mapped}
    )

    assert codes(found) == ["2951-2", "2947-0"]
    assert found.loinc_matches[0].confidence_score == 1.0
    assert found.loinc_matches[0].reasons[0] is LoincReason.TEAM_ALIAS


def test_a_reviewer_chooses_a_candidate_of_the_row_or_a_code_of_the_table(
    release: Path,
) -> None:
    row = ParsedResult("Copeptin", "9.1", units="pmol/L")

    chosen = choose_loinc_code(row, "78987-5", release=release)

    assert chosen is not None
    assert codes(chosen) == ["78987-5"]
    assert chosen.loinc_match_status is LoincMatchStatus.AUTO_MATCH
    assert choose_loinc_code(chosen, "78987-5", release=release) == chosen
    assert choose_loinc_code(row, "99999-9", release=release) is None


def test_a_doubtful_code_is_confirmed_by_signing_and_a_certain_one_withheld() -> None:
    kinds = LoincMatchStatus
    statuses = (kinds.AUTO_MATCH, kinds.NEEDS_REVIEW, kinds.NO_MATCH)
    rows = [ParsedResult("a", "1", loinc_match_status=status) for status in statuses]

    confirmed = [confirm_loinc_code(row).loinc_match_status for row in rows]
    withheld = [withhold_loinc_code(row).loinc_match_status for row in rows]

    assert confirmed == [kinds.AUTO_MATCH, kinds.AUTO_MATCH, kinds.NO_MATCH]
    assert withheld == [kinds.NEEDS_REVIEW, kinds.NEEDS_REVIEW, kinds.NO_MATCH]
