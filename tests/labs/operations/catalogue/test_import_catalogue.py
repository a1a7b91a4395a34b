from __future__ import annotations

import shutil
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from labs.models import CatalogueUpdate, ExpectedResult, Lab, Marker
from labs.operations.catalogue.reference_data import REFERENCE_FOLDER

pytestmark = pytest.mark.django_db

LABS = """slug,name,first_line_address,city,zipcode,collection_methods,sample_types
north,North Lab,1 Sample Street,Page,86040,walk_in_test|testkit,serum
"""
QUESTIONS = """id,key,code,value,type,required,answers
7,fast,fasting,Fasted?,choice,false,Y=Yes|N=No
"""
MARKERS = """id,lab,name,provider_id,type,sample_type,questions,price
1,north,Glucose,G1,biomarker,serum,fast,
2,north,Lipids,L1,panel,serum,,12.50
"""
RESULTS = """id,marker_id,name,provider_id,result_type,unit,low,high,loinc_code
1,1,Glucose,G1,numeric,mg/dL,70,99,2345-7
2,2,HDL,HDL,numeric,mg/dL,40,,
"""


@pytest.fixture
def folder(tmp_path):
    for name, text in (
        ("labs", LABS),
        ("questions", QUESTIONS),
        ("markers", MARKERS),
        ("expected_results", RESULTS),
    ):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def rows():
    return [list(model.objects.order_by("pk").values()) for model in KEPT]


KEPT = (Lab, Marker, ExpectedResult)


def run(folder):
    items: list[str] = []
    out = type("Out", (), {"write": lambda _, text: items.append(text)})()
    call_command("import_lab_catalogue", str(folder), stdout=out)
    return "".join(items).strip()


def replace(folder, name, old, new):
    file = folder / f"{name}.csv"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_folder_becomes_production_rows_beside_those_that_ship(folder):
    before = rows()

    said = run(folder)

    assert said.splitlines() == [
        "added labs north: North Lab",
        "added markers north G1: Glucose",
        "added expected_results north G1 G1: Glucose",
        "added markers north L1: Lipids",
        "added expected_results north L1 HDL: HDL",
        "expected_results added: 2",
        "labs added: 1",
        "markers added: 2",
        "Catalog update 1 is applied.",
    ]
    lab = Lab.objects.get(slug="north")
    assert (lab.environment, lab.name) == ("production", "North Lab")
    glucose, lipids = Marker.objects.filter(lab=lab).order_by("provider_id")
    assert (glucose.price, str(lipids.price)) == (None, "12.50")
    assert glucose.aoe_questions[0]["answers"][1]["value"] == "No"
    result = glucose.expected_results.get()
    assert (result.low, result.high, result.loinc_code) == (70.0, 99.0, "2345-7")
    assert min(lab.pk, glucose.pk, lipids.pk, result.pk) > 10_000_000
    after = rows()
    assert [
        old for old, new in zip(before, after, strict=True) if old != new[: len(old)]
    ] == []


def test_importing_again_keeps_ids_and_changes_what_changed(folder):
    run(folder)
    ids = [[row["id"] for row in table] for table in rows()]
    replace(folder, "markers", "Glucose,G1", "Glucose fasting,G1")
    replace(folder, "markers", "1,north", "9,north")
    replace(folder, "expected_results", "1,1,Glucose", "1,9,Glucose")

    run(folder)

    assert [[row["id"] for row in table] for table in rows()] == ids
    assert Marker.objects.get(provider_id="G1", lab__slug="north").name == (
        "Glucose fasting"
    )


def test_a_dry_run_prints_the_differences_and_stores_nothing(folder):
    run(folder)
    before = rows()
    replace(folder, "markers", ",12.50", ",13.00")

    said = StringIO()
    call_command("import_lab_catalogue", str(folder), dry_run=True, stdout=said)

    assert said.getvalue().splitlines() == [
        "changed markers north L1: Lipids (price: 12.50 -> 13.00)",
        "markers changed: 1",
        "Nothing was imported.",
    ]
    assert rows() == before
    assert CatalogueUpdate.objects.count() == 1


def test_a_slug_of_the_sandbox_is_another_lab_in_production(folder):
    sandbox = Lab.objects.get(slug="quest")
    replace(folder, "labs", "north,", "quest,")
    replace(folder, "markers", ",north,", ",quest,")

    run(folder)

    assert Lab.objects.get(slug="quest", environment="sandbox") == sandbox
    assert Lab.objects.get(slug="quest", environment="production").name == "North Lab"


def test_the_files_that_ship_are_of_the_format(tmp_path):
    for name in ("labs", "questions", "markers", "expected_results"):
        shutil.copy(REFERENCE_FOLDER / f"{name}.csv", tmp_path)

    assert run(tmp_path).splitlines()[-4:] == [
        "expected_results added: 488",
        "labs added: 15",
        "markers added: 215",
        "Catalog update 1 is applied.",
    ]


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("labs", "slug,", "short,", "labs.csv, line 1: add the missing columns"),
        (
            "labs",
            "testkit",
            "post",
            "column 6 (collection_methods): collection_methods has",
        ),
        (
            "labs",
            "north,North",
            "n n,North",
            "line 2, column 1 (slug): not valid: slug.",
        ),
        (
            "labs",
            "North Lab",
            "",
            "line 2, column 2 (name): name is missing.",
        ),
        (
            "questions",
            "choice",
            "guess",
            "line 2, column 5 (type): type has an",
        ),
        (
            "questions",
            "Y=Yes",
            "Y",
            "line 2, column 7 (answers): answers are",
        ),
        (
            "markers",
            "2,north",
            "2,south",
            "line 3, column 2 (lab): lab is not in labs.csv.",
        ),
        (
            "markers",
            "12.50",
            "-1",
            "line 3, column 8 (price): price is not an amount.",
        ),
        (
            "markers",
            "12.50",
            "nan",
            "line 3, column 8 (price): price is not an amount.",
        ),
        (
            "markers",
            "serum,fast",
            "serum,x",
            "line 2, column 7 (questions): questions are",
        ),
        (
            "markers",
            "Lipids,L1",
            "Lipids,G1",
            "line 3, column 4 (provider_id): provider_id is listed",
        ),
        (
            "markers",
            "2,north",
            "x,north",
            "line 3, column 1 (id): id is not a whole",
        ),
        (
            "expected_results",
            "2,2,",
            "2,3,",
            "line 3, column 2 (marker_id): marker_id has no valid row in markers.csv.",
        ),
        (
            "expected_results",
            ",40,",
            ",low,",
            "line 3, column 7 (low): low is not a number.",
        ),
        (
            "expected_results",
            "70,99",
            "70,99,a,b",
            "line 2, column 10: more values than columns.",
        ),
    ],
)
def test_a_fault_is_named_by_file_and_line_and_nothing_is_written(
    folder, name, old, new, said
):
    before = rows()
    replace(folder, name, old, new)

    with pytest.raises(CommandError) as caught:
        run(folder)

    assert said in str(caught.value)
    assert rows() == before


def test_a_folder_without_its_files_is_refused(tmp_path):
    with pytest.raises(CommandError, match="FileNotFoundError"):
        run(tmp_path)
