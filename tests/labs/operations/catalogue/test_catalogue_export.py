from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from labs.models import Lab, Marker
from labs.operations.catalogue.catalogue_export import export_lab_catalogue
from labs.operations.catalogue.import_catalogue import check_catalogue_update
from tests.factories.accounts import ACTOR
from tests.labs.operations.catalogue.conftest import update


def test_a_command_writes_the_files_of_a_lab_and_replaces_none(north, tmp_path):
    call_command(
        "export_lab_catalogue", tmp_path / "out", lab=["north"], stdout=StringIO()
    )

    found = {one.stem: one.read_bytes() for one in (tmp_path / "out").iterdir()}
    assert found == exported(north)
    for options, said in (
        (
            {},
            "Already there: expected_results.csv, labs.csv, markers.csv,"
            " questions.csv, service_centers.csv.",
        ),
        ({"lab": ["north", "south"]}, "No such lab: south."),
    ):
        with pytest.raises(CommandError) as caught:
            call_command("export_lab_catalogue", tmp_path / "out", **options)
        assert str(caught.value) == said
    assert {one.stem: one.read_bytes() for one in (tmp_path / "out").iterdir()} == found


def exported(lab):
    return export_lab_catalogue(labs=Lab.objects.filter(pk=lab.pk))


def test_an_export_imports_without_a_difference_and_has_the_same_bytes_again(north):
    update(
        ("markers", "north,Glucose,", 'north,"\'=HYPERLINK(""x""), ""ä""\n2",'),
        ("markers", "north,Lipids,", "north,'-,"),
        ("expected_results", ",40,", ",-0.25,"),
    )
    files = exported(north)

    draft = check_catalogue_update(contents=files, actor=ACTOR, is_complete=True)

    assert draft.changes == []
    assert exported(north) == files
    assert Marker.objects.get(lab=north, provider_id="G1").name.startswith("=HYPERLINK")
    assert b"north,G1,\"'=HYPERLINK(" in files["markers"]


def test_an_export_names_rows_by_their_codes_and_is_sorted(north):
    files = {name: text.decode() for name, text in exported(north).items()}

    assert files == {
        "labs": (
            "slug,name,first_line_address,city,zipcode,collection_methods,sample_types\n"
            "north,North Lab,1 Sample Street,Page,86040,walk_in_test|testkit,serum\n"
        ),
        "questions": (
            "id,key,code,value,type,required,constraint,answers\n"
            "7,fasting,fasting,Fasted?,choice,false,,Y=Yes|N=No\n"
        ),
        "markers": (
            "lab,provider_id,name,type,sample_type,container,stability,unit,price,"
            "fasting,a_la_carte_enabled,is_orderable,retired,common_tat_days,"
            "worst_case_tat_days,questions,description\n"
            "north,G1,Glucose,biomarker,serum,,,,4.00,false,true,true,false,,,fasting,\n"
            "north,L1,Lipids,panel,serum,,,,12.50,false,true,true,false,,,,\n"
        ),
        "expected_results": (
            "lab,marker,provider_id,name,loinc_code,loinc_name,unit,result_type,low,"
            "high,coded_values,required\n"
            "north,G1,G1,Glucose,2345-7,,mg/dL,numeric,70,99,,true\n"
            "north,L1,HDL,HDL,,,mg/dL,numeric,40,,,true\n"
        ),
        "service_centers": (
            "lab,site_code,name,first_line,second_line,city,state,zip_code,"
            "phone_number,fax_number,website,latitude,longitude,time_zone,hours,"
            "capabilities,bill_types,places,confirmed_by,email,retired\n"
        ),
    }


def test_the_catalogue_that_ships_goes_out_and_comes_in_as_the_same_bytes(db):
    sandbox = export_lab_catalogue(labs=Lab.objects.filter(environment="sandbox"))

    update(files={name: text.decode() for name, text in sandbox.items()})

    own = export_lab_catalogue(labs=Lab.objects.filter(environment="production"))
    assert own == sandbox
