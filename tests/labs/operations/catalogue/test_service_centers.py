from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.states import Environment
from labs.models import CatalogueUpdate, Lab, ServiceCenter
from labs.operations.catalogue.catalogue_export import export_lab_catalogue
from labs.operations.catalogue.import_catalogue import check_catalogue_update
from labs.operations.catalogue.reference_data import install_reference_data
from labs.queries.appointments.service_centers import find_service_center_by_code
from labs.states.service_centers import parse_opening_hours, serialize_opening_hours
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab
from tests.labs.operations.catalogue.conftest import update

pytestmark = pytest.mark.django_db

HEADER = "lab,site_code,name,first_line,city,state,zip_code,hours"


@pytest.fixture
def lab():
    make_lab("desert-lab")  # the sandbox's, whose directory ships
    return make_lab("desert-lab", environment="production")


@pytest.fixture
def imported(tmp_path):
    """Import a file of these lines by the command; its words."""

    def work(
        *lines: str, header: str = HEADER, lab: str = "desert-lab", **options: Any
    ) -> str:
        file = tmp_path / "centers.csv"
        text = "\n".join((header, *lines)).replace("desert-lab", lab)
        file.write_text(text, encoding="utf-8")
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
    assert said.splitlines() == [
        "added service_centers desert-lab A1: North",
        "service_centers added: 1",
        "Catalog update 1 is applied.",
    ]
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
    place = "service_centers.csv, line"
    assert f"{place} 2, column 10 (email): email is missing: the site is" in text
    assert f"{place} 3, column 9 (confirmed_by): confirmed_by is none of book," in text
    assert f"{place} 4, column 10 (email): not valid: email." in text

    imported(f"{line('A1')},mail,desk@site.example", f"{line('A2')},book,", header=more)
    assert {
        code: (one.confirmed_by, one.email) for code, one in centers(lab).items()
    } == {"A1": ("mail", "desk@site.example"), "A2": ("book", "")}


def test_a_later_file_changes_centers_and_closes_those_it_lacks(lab, imported):
    imported(line("A1"), line("A2"))
    before = centers(lab)["A1"].pk

    said = imported(line("A1", name="Northgate"), complete=True)

    found = centers(lab)
    assert said.splitlines() == [
        "changed service_centers desert-lab A1: Northgate (name: North -> Northgate)",
        "retired service_centers desert-lab A2: North (retired: false -> true)",
        "service_centers changed: 1",
        "service_centers retired: 1",
        "Catalog update 2 is applied.",
    ]
    assert (found["A1"].pk, found["A1"].name) == (before, "Northgate")
    assert (found["A1"].is_active, found["A2"].is_active) == (True, False)

    back = imported(line("A2"))

    assert "restored service_centers desert-lab A2: North" in back
    assert centers(lab)["A2"].is_active


def test_a_dry_run_says_what_would_change_and_changes_nothing(lab, imported):
    imported(line("A1"))

    said = imported(line("A1", hours="tue 08:00-09:00"), line("A2"), dry_run=True)

    assert said.splitlines() == [
        "changed service_centers desert-lab A1: North"
        " (hours: mon 07:00-12:00 -> tue 08:00-09:00)",
        "added service_centers desert-lab A2: North",
        "service_centers added: 1",
        "service_centers changed: 1",
        "Nothing was imported.",
    ]
    assert list(centers(lab)) == ["A1"]
    assert CatalogueUpdate.objects.count() == 1


def test_a_team_has_centers_of_its_own_lab_that_nobody_else_finds(
    imported, alice_tenant, charlie_tenant
):
    update(owner=alice_tenant)
    update(owner=charlie_tenant)
    row = line("A1").replace("desert-lab", "north")
    team = {"team": alice_tenant.team.slug, "environment": alice_tenant.environment}

    said = imported(row, **team)

    center = ServiceCenter.objects.get(site_code="A1")
    assert said.splitlines()[-1] == "Catalog update 2 is applied."
    assert center.lab.owner == alice_tenant
    key = {"lab_slug": "north", "site_code": "A1"}
    assert find_service_center_by_code(tenant=alice_tenant, **key) == center
    assert find_service_center_by_code(tenant=charlie_tenant, **key) is None
    # Neither the shared catalogue nor the team's other environment has this lab.
    other = next(one for one in Environment.values if one != alice_tenant.environment)
    for options in ({}, {**team, "environment": other}):
        with pytest.raises(CommandError) as refusal:
            imported(row, **options)
        assert "line 2, column 1 (lab): lab is not a lab of this" in str(refusal.value)
    with pytest.raises(CommandError, match="No team has the slug nobody"):
        imported(row, team="nobody")
    assert ServiceCenter.objects.filter(site_code="A1").count() == 1


def test_an_own_catalogue_goes_out_with_its_centers_and_comes_in_the_same(
    imported, alice_tenant
):
    update(owner=alice_tenant)
    header = f"{HEADER},phone_number,latitude,longitude,retired"
    imported(
        f"{line('A1', hours='mon-fri 06:30-12:00 12:30-15:30; sat 07:00-11:00')},"
        "+1 (602) 555-0101,36.5,-111.25,",
        f"{line('A2', hours='sun')},,,,true",
        header=header,
        team=alice_tenant.team.slug,
        environment=alice_tenant.environment,
        lab="north",
    )
    labs = Lab.objects.in_catalogue_of(alice_tenant)
    files = export_lab_catalogue(labs=labs)

    draft = check_catalogue_update(
        contents=files, actor=ACTOR, is_complete=True, owner=alice_tenant
    )

    assert files["service_centers"].decode().splitlines()[1:] == [
        "north,A1,North,1 Sample Street,,Page,AZ,86040,'+1 (602) 555-0101,,,36.5,"
        "-111.25,America/Phoenix,mon-fri 06:30-12:00 12:30-15:30; sat 07:00-11:00,,"
        "client_bill,1,staff,,false",
        "north,A2,North,1 Sample Street,,Page,AZ,86040,,,,36.9147,-111.4558,"
        "America/Phoenix,mon-sun,,client_bill,1,staff,,true",
    ]
    assert draft.changes == []
    assert export_lab_catalogue(labs=labs) == files


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
