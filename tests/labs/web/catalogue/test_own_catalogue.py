from __future__ import annotations

import io
import zipfile
from http import HTTPStatus

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import AuditEntry
from accounts.states import Role
from labs.models import CatalogueUpdate, ExpectedResult, Lab, Marker, ServiceCenter
from labs.web.catalogue.own_catalogue import BODY_MAX_BYTES
from tests.factories.accounts import make_member
from tests.factories.labs import make_lab_test, make_order
from tests.labs.operations.catalogue.conftest import update, with_changes

PAGE = "/t/alice-health/sandbox/own-catalog/"

pytestmark = pytest.mark.django_db


def upload(client, *changes, files=None, **fields):
    contents = files or {
        f"{name}.csv": text for name, text in with_changes(*changes).items()
    }
    chosen = [SimpleUploadedFile(name, text) for name, text in contents.items()]
    return client.post(PAGE, {"chosen": chosen, **fields})


def applied(client, *changes, **fields):
    draft = upload(client, *changes, **fields)
    client.post(draft["Location"], {"action": "apply"})
    return draft["Location"]


def test_files_are_checked_then_applied_and_exported_with_the_same_bytes(
    alice_web, alice_tenant
):
    checked = upload(alice_web)
    page = alice_web.get(checked["Location"])
    before = Lab.objects.filter(owner=alice_tenant).count()
    done = alice_web.post(checked["Location"], {"action": "apply"}, follow=True)

    assert (checked.status_code, before) == (HTTPStatus.FOUND, 0)
    assert page.context["counts"] == [
        ("labs", "Added", 1),
        ("markers", "Added", 2),
        ("expected_results", "Added", 2),
    ]
    assert "Update 1 is applied." in done.content.decode()
    assert Lab.objects.get(owner=alice_tenant).name == "North Lab"
    first = alice_web.get(f"{PAGE}file/").content
    again = upload(alice_web, files={"catalog.zip": first}, is_complete="on")
    assert alice_web.get(again["Location"]).context["changes"] == []
    assert alice_web.get(f"{PAGE}file/").content == first
    (entry,) = AuditEntry.unscoped.filter(verb="update_own_catalogue")
    assert (entry.tenant, entry.changes) == (alice_tenant, {"number": [0, 1]})


def test_each_rows_fault_has_its_line_and_column_and_nothing_is_stored(alice_web):
    answer = upload(
        alice_web,
        ("markers", "L1,panel,serum", "L1,panel,mud"),
        ("markers", "north,Glucose", "north,=1+1"),
        ("expected_results", "mg/dL,40", "bogus,40"),
    )

    absent = "has no valid row in markers.csv"
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert [
        (fault.file, fault.line, fault.column, fault.message)
        for fault in answer.context["faults"]
    ] == [
        (
            "markers.csv",
            2,
            "2 (name)",
            "the value begins like a formula: put ' before it",
        ),
        ("markers.csv", 3, "5 (sample_type)", "sample_type has an unknown value"),
        *(
            ("expected_results.csv", n, "2 (marker)", f"marker {absent}")
            for n in (2, 3)
        ),
    ]
    assert "5 (sample_type)" in answer.content.decode()
    assert not CatalogueUpdate.objects.exists()
    assert not Lab.objects.filter(slug="north").exists()


def test_service_centers_of_an_own_lab_come_in_by_the_page(alice_web, charlie_web):
    applied(alice_web)
    header = b"lab,site_code,name,first_line,city,state,zip_code,hours\n"
    row = b"north,A1,North,1 Sample Street,Page,AZ,86040,mon 07:00-12:00\n"
    wrong = {"service_centers.csv": header + row.replace(b"86040", b"00000")}

    refused = upload(alice_web, files=wrong)
    # Charlie has no such lab.
    theirs = charlie_web.post(
        "/t/charlie-care/sandbox/own-catalog/",
        {"chosen": SimpleUploadedFile("service_centers.csv", header + row)},
    )

    assert [str(fault) for fault in refused.context["faults"]] == [
        "service_centers.csv, line 2, column 7 (zip_code): zip_code is not a known US"
        " ZIP code."
    ]
    assert [fault.column for fault in theirs.context["faults"]] == ["1 (lab)"]
    assert not ServiceCenter.objects.filter(site_code="A1").exists()

    applied(alice_web, files={"service_centers.csv": header + row})

    assert alice_web.get(PAGE).context["center_count"] == 1
    assert ServiceCenter.objects.get(site_code="A1").lab.owner.team.slug == (
        "alice-health"
    )
    again = upload(
        alice_web,
        files={"catalog.zip": alice_web.get(f"{PAGE}file/").content},
        is_complete="on",
    )
    assert alice_web.get(again["Location"]).context["changes"] == []


def test_two_rows_of_one_code_and_an_unknown_unit_are_named(alice_web):
    answer = upload(
        alice_web,
        ("markers", "Lipids,L1", "Lipids,G1"),
        ("expected_results", "L1,HDL", "G1,HDL"),
        ("expected_results", "mg/dL,40", "bogus,40"),
    )

    assert [str(fault) for fault in answer.context["faults"]] == [
        "markers.csv, line 3, column 3 (provider_id): provider_id is listed twice.",
        "expected_results.csv, line 3, column 6 (unit): the unit is unknown.",
    ]


def test_what_orders_and_panels_forbid_is_refused_by_the_page(alice_web, alice_tenant):
    applied(alice_web)
    glucose, lipids = Marker.objects.filter(lab__owner=alice_tenant).order_by(
        "provider_id"
    )
    order = make_order(
        tenant=alice_tenant,
        lab_test=make_lab_test(
            tenant=alice_tenant, lab=glucose.lab, markers=(glucose,)
        ),
    )
    panel = make_lab_test(tenant=alice_tenant, lab=lipids.lab, markers=(lipids,))
    before = alice_web.get(f"{PAGE}file/").content

    def refused(*changes, files=None):
        answer = upload(alice_web, *changes, files=files)
        assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        return [str(fault) for fault in answer.context["faults"]]

    in_order = refused(("markers", "fast,4.00,", "fast,4.00,true"))
    emptied = refused(("markers", "12.50,", "12.50,true"))
    messages = alice_web.get(f"{PAGE}file/?format=hl7").content
    wrong_table = messages.replace(b"MFI|OMA^", b"MFI|CDM^", 1)

    assert f"{glucose.provider_id} is in 1 open order" in in_order[0]
    assert in_order[0].startswith("markers.csv, line 2, column 8 (retired): ")
    assert emptied == [
        f"markers.csv, line 3, column 8 (retired): panel {panel.name} of"
        f" {alice_tenant.team.name} would be empty: archive it first."
    ]
    assert refused(files={"catalog.hl7": wrong_table})[0] == (
        "catalog.hl7, line 2, column MFI-1: the master file of M08 is OMA (table 0175)."
    )
    assert alice_web.get(f"{PAGE}file/").content == before
    assert [each.number for each in CatalogueUpdate.objects.all()] == [1]
    assert order.lab_test.markers.get() == glucose


def test_a_name_that_is_too_long_is_named_with_its_bound(alice_web):
    answer = upload(alice_web, ("markers", "Glucose", "G" * 201))

    assert str(answer.context["faults"][0]) == (
        "markers.csv, line 2, column 2 (name): name has 201 characters, at most 200"
        " are stored."
    )


def test_differences_are_shown_before_and_kept_after(alice_web, alice_tenant):
    applied(alice_web)
    address = upload(alice_web, ("markers", "4.00", "9.00"))["Location"]

    page = alice_web.get(address).content.decode()
    assert "<del>4.00</del>" in page
    assert "9.00" in page
    assert str(Marker.objects.get(lab__owner=alice_tenant, name="Glucose").price) == (
        "4.00"
    )
    alice_web.post(address, {"action": "apply"})
    history = alice_web.get(PAGE)
    assert [one.number for one in history.context["updates"]] == [2, 1]
    packed = alice_web.get(f"{address}file/").content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert b"9.00" in archive.read("markers.csv")


def test_an_outdated_check_and_a_second_apply_change_nothing(alice_web, alice_tenant):
    old = upload(alice_web, ("markers", "4.00", "1.00"))["Location"]
    new = applied(alice_web)

    outdated = alice_web.post(old, {"action": "apply"}, follow=True)
    twice = alice_web.post(new, {"action": "apply"}, follow=True)

    assert "The catalog was updated since this was checked" in outdated.content.decode()
    assert "This update is applied already." in twice.content.decode()
    assert CatalogueUpdate.objects.filter(owner=alice_tenant, number=1).count() == 1


def test_a_discarded_check_is_gone(alice_web, alice_tenant):
    address = upload(alice_web)["Location"]

    alice_web.post(address, {"action": "discard"})

    assert alice_web.get(address).status_code == HTTPStatus.NOT_FOUND
    assert not CatalogueUpdate.objects.exists()


def test_no_file_and_an_unknown_file_are_refused(alice_web):
    nothing = alice_web.post(PAGE, {})
    unknown = upload(alice_web, files={"prices.csv": b"a\n"})

    assert nothing.context["form"].errors == {"chosen": ["Choose a file."]}
    assert unknown.context["faults"][0].file == "prices.csv"
    assert unknown.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_a_body_of_100_mb_is_refused_before_it_is_read(alice_web):
    from labs.web.catalogue.own_catalogue import show_own_catalogue

    assert show_own_catalogue.accepts_body[0] == BODY_MAX_BYTES < 100 * 1024 * 1024


def test_a_viewer_reads_and_changes_nothing(client, alice_team, alice_tenant):
    update(owner=alice_tenant)
    client.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))
    address = f"{PAGE}updates/{CatalogueUpdate.objects.get().pk}/"

    pages = [client.get(one) for one in (PAGE, address, f"{PAGE}loinc/")]
    refused = [
        upload(client),
        client.post(address, {"action": "apply"}),
        client.post(f"{PAGE}loinc/", {}),
    ]

    assert [page.status_code for page in pages] == [HTTPStatus.OK] * 3
    text = "".join(page.content.decode() for page in pages)
    assert "Check files</button>" not in text
    assert "Confirm chosen codes" not in text
    assert [one.status_code for one in refused] == [HTTPStatus.FORBIDDEN] * 3
    assert CatalogueUpdate.objects.count() == 1


def test_another_teams_update_is_not_found_below_ones_own_team(
    charlie_web, alice_tenant
):
    update(owner=alice_tenant)
    address = f"updates/{CatalogueUpdate.objects.get().pk}/"

    for path in (address, f"{address}file/"):
        for page in (PAGE, "/t/charlie-care/sandbox/own-catalog/"):
            assert charlie_web.get(page + path).status_code == HTTPStatus.NOT_FOUND
    own = charlie_web.get("/t/charlie-care/sandbox/own-catalog/")
    assert (list(own.context["labs"]), own.context["marker_count"]) == ([], 0)


def test_a_proposed_code_is_confirmed_on_the_page(alice_web, alice_tenant):
    update(owner=alice_tenant)
    hdl = ExpectedResult.objects.get(marker__lab__owner=alice_tenant, name="HDL")

    page = alice_web.get(f"{PAGE}loinc/").content.decode()
    alice_web.post(f"{PAGE}loinc/", {f"result-{hdl.pk}": "2085-9"})

    assert '<option value="2085-9">2085-9 Cholesterol in HDL' in page
    hdl.refresh_from_db()
    assert hdl.loinc_code == "2085-9"
    rest = alice_web.get(f"{PAGE}loinc/").content.decode()
    assert "Every result has a LOINC code" in rest


def test_a_wrong_code_is_told_and_not_stored(alice_web, alice_tenant):
    update(owner=alice_tenant)
    hdl = ExpectedResult.objects.get(marker__lab__owner=alice_tenant, name="HDL")

    answer = alice_web.post(
        f"{PAGE}loinc/", {f"result-{hdl.pk}": "2085-1"}, follow=True
    )

    hdl.refresh_from_db()
    assert "its check digit is wrong" in answer.content.decode()
    assert hdl.loinc_code == ""
