from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from portal.lib.errors import DomainError
from reports.operations.reading.loinc_table import (
    get_imported_loinc_folder,
    import_loinc_table,
)
from reports.parser.loinc import search_loinc_codes

TABLE = """\
LOINC_NUM,COMPONENT,PROPERTY,TIME_ASPCT,SYSTEM,SCALE_TYP,METHOD_TYP,LONG_COMMON_NAME,STATUS
78987-5,Copeptin,SCnc,Pt,Ser/Plas,Qn,,Copeptin [Moles/volume] in Serum or Plasma,ACTIVE
"""


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.LOINC_DIR = tmp_path / "var" / "loinc"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "Loinc.csv"
    path.write_text(TABLE)
    return path


def test_an_imported_table_is_searched(table):
    assert import_loinc_table(source=table) == 1

    (found,) = search_loinc_codes("copeptin", release=get_imported_loinc_folder())
    assert found.loinc_code == "78987-5"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a,b\n1,2\n", "not_a_loinc_table"),
        (TABLE.replace("78987-5", "78987-4"), "damaged_loinc_table"),
        (TABLE.replace("ACTIVE", "DEPRECATED"), "empty_loinc_table"),
    ],
)
def test_another_file_is_refused_and_the_last_import_stays(text, code, table):
    import_loinc_table(source=table)
    table.write_text(text)

    with pytest.raises(DomainError) as refusal:
        import_loinc_table(source=table)

    assert refusal.value.code == code
    assert len(search_loinc_codes("copeptin", release=get_imported_loinc_folder())) == 1


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DomainError) as refusal:
        import_loinc_table(source=tmp_path / "none.csv")

    assert refusal.value.code == "file_not_found"
    assert search_loinc_codes("copeptin", release=get_imported_loinc_folder()) == ()


def test_the_command_says_how_many_codes_it_took(table):
    written = StringIO()

    call_command("import_loinc", str(table), stdout=written)

    assert written.getvalue().startswith("Imported 1 codes into ")


def test_the_command_refuses_with_a_sentence(table):
    table.write_text("a,b\n")

    with pytest.raises(CommandError):
        call_command("import_loinc", str(table))
