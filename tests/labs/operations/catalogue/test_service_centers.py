from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from labs.models import Lab, ServiceCenter
from labs.operations.catalogue.reference_data import install_reference_data
from labs.states.service_centers import parse_opening_hours, serialize_opening_hours
from tests.factories.labs import make_lab

pytestmark = pytest.mark.django_db

HEADER = "lab,site_code,name,first_line,city,state,zip_code,hours"


@pytest.fixture
def lab():
    make_lab("desert-lab")  # the sandbox's, whose directory ships
    return make_lab("desert-lab", environment="production")


@pytest.fixture
def imported(tmp_path):
    """Import a file of these lines by the command; its words."""

    def work(*lines: str, header: str = HEADER, **options: bool) -> str:
        file = tmp_path / "centers.csv"
        file.write_text("\n".join((header, *lines)), encoding="utf-8")
        items: list[str] = []
        call_command(
            "import_service_centers",
            str(file),
            stdout=type("Out", (), {"write": lambda _, text: items.append(text)})(),
            **options,
        )
        return "".join(items).strip()

    return work


def centers(lab: Lab) -> dict[str, ServiceCenter]:
    return {one.site_code: one for one in ServiceCenter.objects.filter(lab=lab)}


def line(code: str, name: str = "North", hours: str = "mon 07:00-12:00") -> str:
    return f"desert-lab,{code},{name},1 Sample Street,Page,AZ,86040,{hours}"


def test_a_center_has_coordinates_and_zone_of_its_zip_code(lab, imported):
    said = imported(line("A1"))

    center = centers(lab)["A1"]
    assert said == "Centers imported: 1. Deactivated: 0."
    assert (round(center.latitude, 1), round(center.longitude, 1)) == (36.9, -111.5)
    # Page keeps no summer time, though the Navajo Nation around it does.
    assert center.time_zone == "America/Phoenix"
    assert (center.bill_types, center.capabilities) == (["client_bill"], [])
    assert (center.places, center.is_active) == (1, True)
    # Nobody said that the site works by this book.
    assert (center.confirmed_by, center.email) == ("staff", "")
    assert center.hours == serialize_opening_hours(
        parse_opening_hours("mon 07:00-12:00")
    )


def test_a_file_says_more_where_it_knows_more(lab, imported):
    imported(
        f"{line('A1')},36.5,-111.25,America/Denver,stat,patient_bill|client_bill,4",
        header=f"{HEADER},latitude,longitude,time_zone,capabilities,bill_types,places",
    )

    center = centers(lab)["A1"]
    assert (center.latitude, center.longitude) == (36.5, -111.25)
    assert (center.time_zone, center.places) == ("America/Denver", 4)
    assert center.bill_types == ["patient_bill", "client_bill"]
    assert center.capabilities == ["stat"]


def test_who_confirms_visits_is_said_by_the_file(lab, imported):
    more = f"{HEADER},confirmed_by,email"

    with pytest.raises(CommandError) as refusal:
        imported(
            f"{line('A1')},mail,",
            f"{line('A2')},carrier pigeon,",
            f"{line('A3')},mail,not an address",
            header=more,
        )
    assert centers(lab) == {}
    text = str(refusal.value)
    assert "Line 2: email is missing: the site is asked by mail." in text
    assert "Line 3: confirmed_by is none of book, mail, staff." in text
    assert "Line 4: not valid: email." in text

    imported(f"{line('A1')},mail,desk@site.example", f"{line('A2')},book,", header=more)
    assert {
        code: (one.confirmed_by, one.email) for code, one in centers(lab).items()
    } == {"A1": ("mail", "desk@site.example"), "A2": ("book", "")}


def test_a_later_file_changes_centers_and_closes_those_it_lacks(lab, imported):
    imported(line("A1"), line("A2"))
    before = centers(lab)["A1"].pk

    said = imported(line("A1", name="Northgate"), close_others=True)

    found = centers(lab)
    assert said == "Centers imported: 1. Deactivated: 1."
    assert (found["A1"].pk, found["A1"].name) == (before, "Northgate")
    assert (found["A1"].is_active, found["A2"].is_active) == (True, False)


@pytest.mark.parametrize(
    "fault",
    [
        "nobody,A2,North,1 Sample Street,Page,AZ,86040,mon 07:00-12:00",
        "desert-lab,,North,1 Sample Street,Page,AZ,86040,mon 07:00-12:00",
        "desert-lab,A2,North,1 Sample Street,Page,Arizona,86040,mon 07:00-12:00",
        "desert-lab,A2,North,1 Sample Street,Page,AZ,00000,mon 07:00-12:00",
        "desert-lab,A2,North,1 Sample Street,Page,AZ,86040,all day",
        f"desert-lab,A2,{'N' * 151},1 Sample Street,Page,AZ,86040,mon 07:00-12:00",
        f"{line('A2')},one column more",
        line("A1"),
    ],
)
def test_a_file_with_any_fault_changes_nothing(lab, imported, fault):
    with pytest.raises(CommandError):
        imported(line("A1"), fault)

    assert centers(lab) == {}


def test_a_file_without_a_needed_column_changes_nothing(lab, imported):
    with pytest.raises(CommandError):
        imported("desert-lab,A1", header="lab,site_code")

    assert centers(lab) == {}


def test_the_reference_set_has_centers_to_book(db):
    install_reference_data()
    install_reference_data()

    phoenix = ServiceCenter.objects.filter(zip_code="85004")
    assert ServiceCenter.objects.count() == 64
    assert {one.lab.slug for one in phoenix} == {"quest", "sonora_quest"}
    assert {one.places for one in phoenix} <= {1, 2, 3}
