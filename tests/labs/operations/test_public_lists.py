from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from labs.models import DiagnosisCode, ListedPayor
from labs.operations.catalogue.diagnoses import (
    describe_diagnoses,
    search_diagnoses,
    validate_diagnosis_codes,
)
from labs.operations.insurance import find_payor, search_payors
from labs.operations.public_lists import PAYOR_COLUMNS

pytestmark = pytest.mark.django_db


def order_line(number, code, flag, long, short="Short"):
    return f"{number:05d} {code:<7} {flag} {short:<60} {long}"


CODES = (
    order_line(1, "E11", 0, "Type 2 diabetes mellitus"),
    order_line(2, "E119", 1, "Type 2 diabetes mellitus without complications"),
    order_line(3, "S52521A", 1, "Torus fracture of lower end of right radius"),
    order_line(4, "Z7985", 1, "Long-term (current) use of injectable drugs"),
)
PAYORS = (
    ",".join((*PAYOR_COLUMNS, "Directory Contact Last Name")),
    "H1234,Example Health Plan,Example Gold,Example Group,1 Main St,,Page,AZ,"
    "860400012,Nobody",
    'H5678,"Sample Care, Inc.",Sample Care,,2 Main St,Suite 3,Reno,NV,89501,Nobody',
)


@pytest.fixture
def imported(tmp_path):
    def work(command, *lines):
        file = tmp_path / "list.txt"
        file.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8")
        out = StringIO()
        call_command(command, str(file), stdout=out)
        return out.getvalue().strip()

    return work


def test_icd_10_cm_is_imported_without_its_headers(imported):
    said = imported("import_diagnoses", *CODES)

    assert said == "Diagnosis codes imported: 3."
    assert describe_diagnoses(["S52.521A"]) == [
        ("S52.521A", "Torus fracture of lower end of right radius")
    ]
    assert [one.code for one in search_diagnoses("s5252")] == ["S52.521A"]
    assert [one.code for one in search_diagnoses("right torus")] == ["S52.521A"]
    assert [one.code for one in search_diagnoses("current")] == ["Z79.85"]
    assert search_diagnoses("orus") == []  # in the middle of a word
    # Words are no expressions, nor malformed ones.
    assert search_diagnoses("t.rus") == search_diagnoses("torus|x") == []
    assert search_diagnoses("[z-a") == search_diagnoses("(tor") == []


def test_what_icd_10_cm_has_not_is_refused_once_it_is_there(imported, alice_api):
    codes = ["e119", "E11", "E11.X"]
    before = validate_diagnosis_codes(codes)
    imported("import_diagnoses", *CODES)

    after = alice_api.post("/v3/insurance/validate_icd_codes", {"codes": codes}).json()

    assert before.is_valid
    assert [one.diagnosis_code for one in before.warnings] == ["E11", "E11.X"]
    assert after["valid"] is False
    assert {one.partition(":")[0] for one in after["errors"]} == {"E11", "E11.X"}


def test_a_second_import_replaces_the_first(imported):
    imported("import_diagnoses", *CODES)
    imported("import_diagnoses", CODES[1])

    assert list(DiagnosisCode.objects.values_list("code", flat=True)) == ["E11.9"]


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (("A000    Cholera",), "Line 1: not a line of the ICD-10-CM order file."),
        (
            (CODES[1], order_line(3, "E119", 1, "Again")),
            "Line 2: code E119 is listed twice.",
        ),
        (
            (order_line(1, "E119", 2, "Long"),),
            "Line 1: not a line of the ICD-10-CM order file.",
        ),
        (
            (order_line(1, "E119", 1, ""),),
            "Line 1: the long description is missing or too long.",
        ),
        ((order_line(1, "E11", 0, "Header"),), "The file has no rows."),
    ],
)
def test_a_faulty_line_is_named_and_nothing_is_imported(imported, lines, fault):
    imported("import_diagnoses", *CODES)

    with pytest.raises(CommandError) as refusal:
        imported("import_diagnoses", *lines)

    assert str(refusal.value) == fault
    assert DiagnosisCode.objects.count() == 3


def test_a_contract_of_digits_alone_is_one(imported):
    said = imported("import_payors", PAYORS[0], "90091,A,B,C,1 St,,Page,AZ,86040")

    assert said == "Insurers imported: 1."
    assert ListedPayor.objects.get().payor_code == "CMS-90091"


def test_a_public_list_of_insurers_is_productions(
    imported, alice_tenant, alice_production, alice_production_api
):
    said = imported("import_payors", *PAYORS)

    assert said == "Insurers imported: 2."
    answer = alice_production_api.get(
        "/v3/insurance/search/payor", {"insurance_name": "gold"}
    ).json()
    assert answer == [
        {
            "payor_code": "CMS-H1234",
            "name": "Example Health Plan",
            "aliases": ["Example Gold", "Example Group"],
            "org_address": {
                "first_line": "1 Main St",
                "second_line": None,
                "city": "Page",
                "state": "AZ",
                "zip": "86040-0012",
                "country": "US",
                "access_notes": None,
            },
            "source": "platform",
        }
    ]
    found = find_payor(tenant=alice_production, payor_code="CMS-H5678")
    assert found is not None
    assert found.name == "Sample Care, Inc."
    by_number = search_payors(
        tenant=alice_production, provider="cms_ma", provider_payor_id="H5678"
    )
    assert [one.payor_code for one in by_number] == ["CMS-H5678"]
    assert find_payor(tenant=alice_tenant, payor_code="CMS-H5678") is None
    assert search_payors(tenant=alice_tenant, name="sample care") == []
    assert "Nobody" not in str(list(ListedPayor.objects.values()))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("H123,A,B,C,1 St,,Page,AZ,86040", "Contract Number is not a letter or"),
        ("H1234,,B,C,1 St,,Page,AZ,86040", "Legal Entity Name is missing"),
        ("H1234,A,B,C,1 St,,Page,XX,86040", "State Code is not a US state"),
        ("H1234,A,B,C,1 St,,Page,AZ,8604", "Zip is not a US ZIP code"),
        (f"H1234,{'A' * 201},B,C,1 St,,Page,AZ,86040", "Name is too long"),
        ("H5678,A,B,C,1 St,,Page,AZ,86040", "contract H5678 is listed twice"),
        ('H9,"A', "unexpected end of data"),
    ],
)
def test_a_faulty_insurer_is_named_and_nothing_is_imported(imported, line, fault):
    with pytest.raises(CommandError) as refusal:
        imported("import_payors", PAYORS[0], PAYORS[2], line)

    assert fault in str(refusal.value)
    assert "Line 3" in str(refusal.value)
    assert not ListedPayor.objects.exists()


def test_a_file_without_a_column_is_refused(imported):
    with pytest.raises(CommandError) as refusal:
        imported("import_payors", "Contract Number,Legal Entity Name", "H1,A")

    assert "Add the missing columns to the header: Organization" in str(refusal.value)
