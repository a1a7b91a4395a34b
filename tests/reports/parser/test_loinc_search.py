from __future__ import annotations

import pytest

from reports.parser.loinc import (
    has_valid_loinc_check_digit,
    is_loinc_hit_contradicted,
    search_loinc_codes,
)
from reports.parser.loinc.release import (
    FILE_NAME,
    ReleaseFault,
    ReleaseRefused,
    import_loinc_release,
    search_loinc_release,
)
from reports.parser.report import LoincReason, SampleType

HEAD = (
    "LOINC_NUM,COMPONENT,PROPERTY,TIME_ASPCT,SYSTEM,SCALE_TYP,METHOD_TYP,"
    "LONG_COMMON_NAME,SHORTNAME,EXAMPLE_UCUM_UNITS,RELATEDNAMES2,STATUS,"
    "COMMON_TEST_RANK,CLASSTYPE"
)
COPEPTIN = (
    "78987-5,Copeptin,SCnc,Pt,Ser/Plas,Qn,,Copeptin [Moles/volume] in Serum or Plasma,"
    "Copeptin SerPl-sCnc,pmol/L,CT-proAVP; vasopressin,ACTIVE,0,1"
)
GLUCOSE = (
    "2345-7,Glucose,MCnc,Pt,Ser/Plas,Qn,,Glucose [Mass/volume] in Serum or Plasma,"
    "Glucose SerPl-mCnc,mg/dL,Gluc; Glu,ACTIVE,2,1"
)
SURVEY = (
    "45706-9,Syncope,Find,7D,^Patient,Ord,MDS,Syncope [Minimum Data Set],,,,ACTIVE,0,4"
)
RETIRED = "1003-3,Old,MCnc,Pt,Ser/Plas,Qn,,Old [Mass/volume] in Serum,,,,DEPRECATED,0,1"


@pytest.fixture
def table(tmp_path):
    def write(*lines: str, head: str = HEAD):
        path = tmp_path / "Loinc.csv"
        path.write_text("\n".join((head, *lines)) + "\n", encoding="utf-8")
        return path

    return write


def codes(*found) -> list[str]:
    return [hit.loinc_code for hit in found]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("vit d 25", "1989-3"),
        ("hba1c", "4548-4"),
        ("ferri", "2276-4"),
        ("Hämoglobin", "718-7"),
        ("colesterol hdl", "2085-9"),
        ("2160-0", "2160-0"),
    ],
)
def test_a_name_its_beginning_or_a_code_is_found(text, first):
    assert codes(*search_loinc_codes(text))[0] == first


def test_the_unit_and_the_specimen_decide_among_homonyms():
    (hit,) = search_loinc_codes(
        "glucose", unit="mmol/L", specimen=SampleType.URINE, limit=1
    )

    assert hit.loinc_code == "22705-8"
    assert hit.reasons == (
        LoincReason.NAME,
        LoincReason.UNIT_AGREES,
        LoincReason.SPECIMEN_AGREES,
    )


def test_what_the_unit_contradicts_is_shown_last():
    found = search_loinc_codes("creatinine", unit="umol/L", limit=50)

    verdicts = [is_loinc_hit_contradicted(hit) for hit in found]
    assert verdicts == sorted(verdicts)
    assert True in verdicts
    assert found[0].loinc_code == "14682-9"


@pytest.mark.parametrize("text", ["", "  ", "xyzzy", "!!"])
def test_what_is_no_name_finds_nothing(text):
    assert search_loinc_codes(text) == ()


def test_a_release_widens_the_search(table, tmp_path):
    count = import_loinc_release(
        table(COPEPTIN, GLUCOSE, SURVEY, RETIRED), tmp_path / "loinc"
    )

    (found,) = search_loinc_codes("copep", unit="pmol/L", release=tmp_path / "loinc")
    assert count == 2
    assert found.loinc_code == "78987-5"
    assert found.loinc_name == "Copeptin [Moles/volume] in Serum or Plasma"
    assert found.display_name is None
    assert (found.specimen, found.units) == ("serum", ("pmol/L",))
    assert found.reasons == (LoincReason.NAME, LoincReason.UNIT_AGREES)
    assert search_loinc_codes("copep") == ()


def test_a_release_is_found_by_related_names_and_common_tests_come_first(
    table, tmp_path
):
    import_loinc_release(table(COPEPTIN, GLUCOSE), tmp_path)

    assert [row.code for row in search_loinc_release(tmp_path, "vasopressin")] == [
        "78987-5"
    ]
    assert [row.code for row in search_loinc_release(tmp_path, "serum plasma")] == [
        "2345-7",
        "78987-5",
    ]


def test_our_own_row_stands_for_a_code_that_both_have(table, tmp_path):
    import_loinc_release(table(GLUCOSE), tmp_path)

    found = search_loinc_codes("glucose", release=tmp_path, limit=50)

    (ours,) = [hit for hit in found if hit.loinc_code == "2345-7"]
    assert ours.display_name == "Glucose"


@pytest.mark.parametrize("folder", ["nothing", "."])
def test_without_a_release_nothing_is_missing(folder, tmp_path):
    assert search_loinc_release(tmp_path / folder, "glucose") == []


def test_a_file_that_is_no_release_is_not_read(tmp_path):
    (tmp_path / FILE_NAME).write_bytes(b"not a database at all, by any means")

    assert search_loinc_release(tmp_path, "glucose") == []


@pytest.mark.parametrize(
    ("lines", "head", "fault"),
    [
        ((GLUCOSE,), "name,value,units", ReleaseFault.FOREIGN),
        ((GLUCOSE.replace("2345-7", "2345-8"),), HEAD, ReleaseFault.DAMAGED),
        ((GLUCOSE, GLUCOSE), HEAD, ReleaseFault.DAMAGED),
        (("2345-7,Glucose",), HEAD, ReleaseFault.DAMAGED),
        ((SURVEY, RETIRED), HEAD, ReleaseFault.EMPTY),
        ((), HEAD, ReleaseFault.EMPTY),
    ],
)
def test_a_file_that_is_no_whole_table_leaves_the_last_import(
    lines, head, fault, table, tmp_path
):
    import_loinc_release(table(COPEPTIN), tmp_path / "loinc")

    with pytest.raises(ReleaseRefused) as refusal:
        import_loinc_release(table(*lines, head=head), tmp_path / "loinc")

    assert refusal.value.fault is fault
    kept = [path.name for path in (tmp_path / "loinc").iterdir()]
    assert kept == [FILE_NAME]
    assert len(search_loinc_release(tmp_path / "loinc", "copeptin")) == 1


def test_a_picture_is_no_table(tmp_path):
    picture = tmp_path / "loinc.csv"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")

    with pytest.raises(ReleaseRefused) as refusal:
        import_loinc_release(picture, tmp_path / "loinc")

    assert refusal.value.fault is ReleaseFault.FOREIGN


@pytest.mark.parametrize(
    ("code", "is_valid"),
    [("2345-7", True), ("2345-8", False), ("2345", False), ("", False), ("x-1", False)],
)
def test_the_check_digit_is_held(code, is_valid):
    assert has_valid_loinc_check_digit(code) is is_valid


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("hba1c", "4548-4"),
        ("vit d", "1989-3"),
        ("sgpt", "1742-6"),
        ("plt", "777-3"),
        ("k", "2823-3"),
        ("urine prot", "20454-5"),
        ("urine wbc", "5821-4"),
        ("creatinine urine", "2161-8"),
        ("urine sodium", "2955-3"),
        ("protein 24h", "2889-4"),
        ("neutrophils absolute", "751-8"),
        ("ldl direct", "18262-6"),
        ("cbc platelets", "777-3"),
        ("vanco trough", "4092-3"),
    ],
)
def test_what_the_text_says_of_specimen_share_and_method_leads(
    text: str, code: str
) -> None:
    assert search_loinc_codes(text)[0].loinc_code == code
